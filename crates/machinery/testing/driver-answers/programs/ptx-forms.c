// Forms of PTX that compilers generate: vectors of bytes, indexed arrays, local labels, parameterized names.

#include "answers.h"
#include "kernels.h"

#define HEADER ".version 7.0\n.target sm_75\n.address_size 64\n"
#define HEADER_SM_30 ".version 6.0\n.target sm_30\n.address_size 64\n"
#define HEADER_SM_90 ".version 7.8\n.target sm_90\n.address_size 64\n"
#define KERNEL                                                                                                         \
    ".visible .entry kernel(.param .u64 result)\n"                                                                     \
    "{\n"                                                                                                              \
    "    .reg .b64 %d<8>;\n"                                                                                           \
    "    .reg .b32 %r<12>;\n"                                                                                          \
    "    .reg .b16 %h<8>;\n"                                                                                           \
    "    .reg .b8 %b<8>;\n"                                                                                            \
    "    .reg .pred %p<4>;\n"                                                                                          \
    "    ld.param.u64 %d1, [result];\n"
#define STORE(register) "    st.global.u32 [%d1], " register ";\n    ret;\n}\n"

static const struct {
    const char *name, *ptx;
} forms[] = {
    {"word-to-bytes",
     HEADER KERNEL "mov.u32 %r1, 0x04030201; mov.b32 {%b0, %b1, %b2, %b3}, %r1; cvt.u32.u8 %r2, %b2;" STORE("%r2")},
    {"bytes-to-word", HEADER KERNEL
     "mov.u32 %r1, 0x04030201; mov.b32 {%b0, %b1, %b2, %b3}, %r1; mov.b32 %r2, {%b3, %b2, %b1, %b0};" STORE("%r2")},
    {"half-word-to-bytes",
     HEADER KERNEL "mov.u16 %h1, 0x0201; mov.b16 {%b0, %b1}, %h1; cvt.u32.u8 %r2, %b1;" STORE("%r2")},
    {"array-indexed-by-register", HEADER ".visible .global .align 4 .u32 table[4] = {10, 20, 30, 40};\n" KERNEL
                                         "mov.u32 %r1, 2; ld.global.u32 %r2, table[%r1];" STORE("%r2")},
    {"array-of-64-bit-indexed-by-register",
     HEADER ".visible .global .align 8 .u64 table[4] = {10, 20, 30, 40};\n" KERNEL
            "mov.u32 %r1, 2; ld.global.u64 %d2, table[%r1];" STORE("%d2")},
    {"local-array-indexed-by-register",
     HEADER KERNEL ".local .align 4 .b32 array[4]; mov.u32 %r1, 3; mov.u32 %r2, 7; st.local.b32 array[%r1], %r2;"
                   "ld.local.b32 %r3, array[3];" STORE("%r3")},
    {"label-in-two-scopes",
     HEADER KERNEL "mov.u32 %r2, 0;\n"
                   "{ setp.eq.u32 %p1, %r2, 9; @%p1 bra done; add.u32 %r2, %r2, 1;\ndone: }\n"
                   "{ setp.eq.u32 %p1, %r2, 9; @%p1 bra done; add.u32 %r2, %r2, 1;\ndone: }\n" STORE("%r2")},
    {"parameterized-names",
     HEADER ".func store_value(.param .u64 to, .param .u32 value)\n"
            "{ .reg .b64 %x; .reg .b32 %y; ld.param.u64 %x, [to]; ld.param.u32 %y, [value]; st.global.u32 [%x], %y; "
            "ret; }\n" KERNEL "mov.u32 %r1, 6; mov.u64 %d2, %d1;\n"
            "{ .param .b64 %P<1>; .param .b32 %Q<2>; st.param.b64 [%P0], %d2; st.param.b32 [%Q1], %r1;\n"
            "  call.uni store_value, (%P0, %Q1); }\n"
            "ret; }\n"},
    {"vector-register", HEADER_SM_30 KERNEL
     ".reg .v2 .u32 %v; mov.v2.u32 %v, { 0, -1 }; mov.u32 %v.x, 4; st.global.v2.u32 [%d1], %v; ret; }\n"},
    {"video-subtraction-with-addition", HEADER_SM_30 KERNEL
     "mov.u32 %r1, 9; mov.u32 %r2, 4; mov.u32 %r3, 100; vsub.u32.u32.u32.add %r4, %r1, %r2, %r3;" STORE("%r4")},
    {"rank-in-cluster", HEADER_SM_90 KERNEL
     "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; add.u32 %r1, %r1, %r2;" STORE("%r1")},
    {"barrier-of-cluster",
     HEADER_SM_90 KERNEL "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %r1, 5;" STORE("%r1")},
};

static void single_kernels(void) {
    start();
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        CUdeviceptr result = allocate(64);
        void *arguments[] = {&result};
        CUmodule module;
        CUfunction kernel;
        if (CALL(label("load-%s", forms[i].name), cuModuleLoadData(&module, forms[i].ptx)) != CUDA_SUCCESS) {
            continue;
        }
        NEED(cuModuleGetFunction(&kernel, module, "kernel"));
        NEED(launch_one(kernel, NULL, arguments));
        CALL(label("run-%s", forms[i].name), cuCtxSynchronize());
        VALUE(label("result-of-%s", forms[i].name), "%u", word_at(result));
    }
}

int main(void) {
    RUN(single_kernels);
}
