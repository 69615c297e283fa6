// NVTX ranges, with this project's headers; with ATTACHED, with an NVTX that the program contains, to which cuda-run
// attaches its functions as a tool.

__global__ void kernel() {}

#ifdef ATTACHED

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

typedef void (*Function)();
static int (*push)(const char *);
static int (*pop)();
static void *(*create_domain)(const char *);
struct Attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
};
static int (*push_in_domain)(void *, const Attributes *);
static int (*pop_in_domain)(void *);

// The tables of functions without and with domains, of which a tool sets those that it has.
static Function *core[16], *core2[16];

static int module_functions(int module, Function ***table, unsigned *size) {
    *table = module == 1 ? core : core2;
    *size = 16;
    return module == 1 || module == 5;
}
static struct {
    size_t size;
    int (*module_functions)(int, Function ***, unsigned *);
} callbacks = {sizeof callbacks, module_functions};
static const void *export_table(uint32_t table) { return table == 1 ? &callbacks : nullptr; }

int main() {
    static Function ignored;
    for (Function *&place : core) place = &ignored;
    for (Function *&place : core2) place = &ignored;
    core[9] = (Function *)&push, core[11] = (Function *)&pop;
    core2[12] = (Function *)&create_domain;
    core2[4] = (Function *)&push_in_domain, core2[5] = (Function *)&pop_in_domain;
    void *tool = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY);
    if (!tool) return 1;
    const auto attach = (int (*)(const void *(*)(uint32_t)))dlsym(tool, "InitializeInjectionNvtx2");
    if (!attach || !attach(export_table)) return 1;
    if (push("inner") != 0 || pop() != 0) return 2;
    void *domain = create_domain("library");
    const Attributes attributes = {3, sizeof attributes, 0, 0, 0, 0, 0, 0, 1, "inner"};
    push_in_domain(domain, &attributes);
    kernel<<<1, 1>>>();
    pop_in_domain(domain);
}

#else

#include <nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvtx3.hpp>
#include <thread>

struct other {
    static constexpr const char *name = "other";
};

int main() {
    // Nested ranges.
    if (nvtxRangePush("outer") != 0) return 1;
    for (int i = 0; i < 3; i++) {
        if (nvtxRangePushA("inner") != 1) return 2;
        kernel<<<1, 1>>>();
        if (nvtxRangePop() != 1) return 3;
    }
    kernel<<<1, 1>>>();
    if (nvtxRangePop() != 0 || nvtxRangePop() >= 0) return 4;
    // Of another domain, a range of the same name.
    nvtxDomainHandle_t domain = nvtx3::domain::get<other>();
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "inner";
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    // Ranges that overlap, and end in another thread.
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(nullptr, "registered");
    const nvtxRangeId_t wide = nvtxRangeStartW(L"wide"), first = nvtxRangeStartEx(&attributes);
    kernel<<<1, 1>>>();
    nvtxRangeEnd(wide);
    std::thread([&] { nvtxRangeEnd(first); }).join();
    nvtxRangeEnd(nvtxRangeStartEx(&attributes));
    {
        nvtx3::scoped_range_in<other> scope{"scope", nvtx3::rgb{1, 2, 3}, nvtx3::payload{5}};
        kernel<<<1, 1>>>();
    }
    nvtx3::mark("mark");
    nvtxNameCudaStream(nullptr, "name");
    cudaDeviceSynchronize();
}

#endif
