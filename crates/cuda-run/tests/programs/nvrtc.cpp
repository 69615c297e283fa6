// Kernels compiled while the program runs. Prints the log of a source that does not compile.

#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <string>
#include <vector>
#define NVRTC_GET_TYPE_NAME 1
#include <nvrtc.h>

static const char source[] = R"(
#include <cuda_fp16.h>
#include "scale.h"
#include <inner/offset.h>

constexpr int twice(int x) { return 2 * x; }
int thrice(int x) { return 3 * x; }

namespace shapes {
template <typename T> __global__ void fill(T *to) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = T(SCALE * i) + T(twice(2)) + T(thrice(1)) + T(__half2float(__float2half(offset)));
}
}
static __device__ int counter = 41;
extern "C" __global__ void count(int *to) { *to = ++counter; }
static __constant__ int limits[2] = {5, 6};
extern "C" __global__ void read_limits(int *to) { *to = limits[1]; }
)";

static int failures;
static void expect(const char *what, bool holds) {
    if (!holds) printf("%s: wrong\n", what), failures++;
}
#define CHECK(call) expect(#call, (call) == 0)

static nvrtcProgram create(const char *text, const char *name) {
    const char *headers[] = {"#define SCALE 10\n", "__constant__ float offset = 0.5f;\n"};
    const char *names[] = {"scale.h", "inner/offset.h"};
    nvrtcProgram program;
    CHECK(nvrtcCreateProgram(&program, text, name, 2, headers, names));
    return program;
}

static std::string log_of(nvrtcProgram program) {
    size_t size = 0;
    CHECK(nvrtcGetProgramLogSize(program, &size));
    std::string log(size, '?');
    CHECK(nvrtcGetProgramLog(program, &log[0]));
    log.resize(size - 1);
    return log;
}

// Loads the program's machine code if it was compiled for a real architecture, otherwise its PTX.
static CUmodule load(nvrtcProgram program, bool is_real) {
    size_t size = 0, cubin_size = 0;
    CHECK(nvrtcGetPTXSize(program, &size));
    CHECK(nvrtcGetCUBINSize(program, &cubin_size));
    expect("size of the machine code", (cubin_size > 0) == is_real);
    std::vector<char> code(is_real ? cubin_size : size);
    CHECK(is_real ? nvrtcGetCUBIN(program, code.data()) : nvrtcGetPTX(program, code.data()));
    CUmodule module = nullptr;
    CHECK(cuModuleLoadData(&module, code.data()));
    return module;
}

static void run(const char *arch) {
    nvrtcProgram program = create(source, "shapes.cu");
    std::string type;
    CHECK(nvrtcGetTypeName<unsigned int>(&type));
    const std::string fill = "shapes::fill<" + type + ">";
    for (const char *expression : {fill.c_str(), "shapes::fill<double>", "&counter", "count"})
        CHECK(nvrtcAddNameExpression(program, expression));
    const char *lowered = nullptr;
    expect("names before", nvrtcGetLoweredName(program, "count", &lowered) ==
                               NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    const char *options[] = {arch, "--std=c++14", "-default-device", "-lineinfo"};
    const nvrtcResult result = nvrtcCompileProgram(program, 4, options);
    if (result) printf("%s\n%s\n", nvrtcGetErrorString(result), log_of(program).c_str());
    CUmodule module = load(program, strstr(arch, "sm_"));

    CUfunction function;
    CUdeviceptr to;
    unsigned int host[64];
    CHECK(cuMemAlloc(&to, sizeof host));
    void *arguments[] = {&to};
    CHECK(nvrtcGetLoweredName(program, fill.c_str(), &lowered));
    CHECK(cuModuleGetFunction(&function, module, lowered));
    CHECK(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, 0, arguments, 0));
    CHECK(cuMemcpyDtoH(host, to, sizeof host));
    for (unsigned int i = 0; i < 64; i++) expect("element", host[i] == 10 * i + 7);

    CUdeviceptr counter;
    size_t bytes;
    CHECK(nvrtcGetLoweredName(program, "&counter", &lowered));
    expect("name of a static variable", !strcmp(lowered, "counter"));
    CHECK(cuModuleGetGlobal(&counter, &bytes, module, lowered));
    expect("size of the variable", bytes == 4);
    CHECK(nvrtcGetLoweredName(program, "count", &lowered));
    expect("name", !strcmp(lowered, "count"));
    CHECK(cuModuleGetFunction(&function, module, lowered));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0));
    int count = 0;
    CHECK(cuMemcpyDtoH(&count, counter, 4));
    expect("counter", count == 42);
    // A static variable that only the host writes.
    CUdeviceptr limits;
    CHECK(cuModuleGetGlobal(&limits, &bytes, module, "limits"));
    const int both[] = {7, 8};
    CHECK(cuMemcpyHtoD(limits, both, sizeof both));
    CHECK(cuModuleGetFunction(&function, module, "read_limits"));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0));
    CHECK(cuMemcpyDtoH(&count, to, 4));
    expect("constant", count == 8);
    expect("unknown name", nvrtcGetLoweredName(program, "unknown", &lowered) == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    expect("names after", nvrtcAddNameExpression(program, "count") == NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    CHECK(cuMemFree(to));
    nvrtcProgram copy = program;
    CHECK(nvrtcDestroyProgram(&program));
    expect("destroyed", !program && nvrtcCompileProgram(copy, 0, nullptr) == NVRTC_ERROR_INVALID_PROGRAM);
}

int main() {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    int major = 0, minor = 0, archs = 0;
    CHECK(nvrtcVersion(&major, &minor));
    CHECK(nvrtcGetNumSupportedArchs(&archs));
    std::vector<int> numbers(archs);
    CHECK(nvrtcGetSupportedArchs(numbers.data()));
    expect("version", major >= 12 && archs > 5 && numbers[0] == 50);

    // A GPU newer than the compiler gets PTX for the newest architecture that the compiler supports.
    for (const char *arch : {"--gpu-architecture=compute_90", "-arch=sm_80"}) run(arch);

    nvrtcProgram wrong = create("#include \"scale.h\"\n__global__ void k(int *p) { *p = undeclared; }\n", "wrong.cu");
    expect("error", nvrtcCompileProgram(wrong, 0, nullptr) == NVRTC_ERROR_COMPILATION);
    printf("%s", log_of(wrong).c_str());
    size_t size;
    expect("no PTX", nvrtcGetPTXSize(wrong, &size) == NVRTC_ERROR_INVALID_PROGRAM);
    const char *unknown[] = {"--fast"};
    expect("option", nvrtcCompileProgram(wrong, 1, unknown) == NVRTC_ERROR_INVALID_OPTION);
    printf("%s\n", log_of(wrong).c_str());
    nvrtcProgram calls = create("__device__ int f(int); __global__ void k(int *p) { *p = f(1); }\n", nullptr);
    expect("undefined", nvrtcCompileProgram(calls, 0, nullptr) == NVRTC_ERROR_COMPILATION);
    printf("%s", log_of(calls).c_str());
    expect("null", nvrtcCreateProgram(&calls, nullptr, nullptr, 0, nullptr, nullptr) == NVRTC_ERROR_INVALID_INPUT);
    printf("%d failures\n", failures);
    return failures;
}
