// Kernels that several programs launch.

#pragma once

#define PTX_HEADER ".version 6.4\n.target sm_52\n.address_size 64\n"

static const char KERNELS[] =
    PTX_HEADER ".visible .global .align 4 .u32 counter = 5;\n"
               ".visible .const .align 4 .b8 table[64];\n"
               ".extern .shared .align 16 .b8 dynamic_memory[];\n"
               ".visible .entry empty() { ret; }\n"
               ".visible .entry empty_too() { ret; }\n"
               // Stores a value to the first elements of an array.
               ".visible .entry fill(.param .u64 array, .param .u32 value, .param .u32 count)\n"
               "{\n"
               "    .reg .pred %outside;\n"
               "    .reg .b32 %value, %count, %index, %block, %size;\n"
               "    .reg .b64 %array, %offset;\n"
               "    ld.param.u64 %array, [array];\n"
               "    ld.param.u32 %value, [value];\n"
               "    ld.param.u32 %count, [count];\n"
               "    mov.u32 %index, %tid.x;\n"
               "    mov.u32 %block, %ctaid.x;\n"
               "    mov.u32 %size, %ntid.x;\n"
               "    mad.lo.u32 %index, %block, %size, %index;\n"
               "    setp.ge.u32 %outside, %index, %count;\n"
               "    @%outside ret;\n"
               "    mul.wide.u32 %offset, %index, 4;\n"
               "    add.u64 %array, %array, %offset;\n"
               "    st.global.u32 [%array], %value;\n"
               "    ret;\n"
               "}\n"
               // Uses 1,024 bytes of static shared memory.
               ".visible .entry static_shared(.param .u64 result)\n"
               "{\n"
               "    .shared .align 4 .b8 memory[1024];\n"
               "    .reg .b32 %value;\n"
               "    .reg .b64 %result;\n"
               "    ld.param.u64 %result, [result];\n"
               "    mov.u32 %value, 7;\n"
               "    st.shared.u32 [memory], %value;\n"
               "    ld.shared.u32 %value, [memory];\n"
               "    st.global.u32 [%result], %value;\n"
               "    ret;\n"
               "}\n"
               // Uses 4 bytes of dynamic shared memory.
               ".visible .entry dynamic_shared(.param .u64 result)\n"
               "{\n"
               "    .reg .b32 %value;\n"
               "    .reg .b64 %result;\n"
               "    ld.param.u64 %result, [result];\n"
               "    mov.u32 %value, 9;\n"
               "    st.shared.u32 [dynamic_memory], %value;\n"
               "    ld.shared.u32 %value, [dynamic_memory];\n"
               "    st.global.u32 [%result], %value;\n"
               "    ret;\n"
               "}\n"
               ".visible .entry at_most_64() .maxntid 64, 1, 1 { ret; }\n"
               ".visible .entry exactly_32() .reqntid 32, 1, 1 { ret; }\n"
               // Stores 4 bytes at an address.
               ".visible .entry store(.param .u64 address)\n"
               "{\n"
               "    .reg .b32 %value;\n"
               "    .reg .b64 %address;\n"
               "    ld.param.u64 %address, [address];\n"
               "    mov.u32 %value, 1;\n"
               "    st.global.u32 [%address], %value;\n"
               "    ret;\n"
               "}\n"
               ".visible .entry trapping() { trap; ret; }\n";

static CUmodule kernels;

// Returns a function of `KERNELS`, which the first call loads into the current context.
static CUfunction function(const char *name) {
    CUfunction result;
    if (!kernels) {
        NEED(cuModuleLoadData(&kernels, KERNELS));
    }
    NEED(cuModuleGetFunction(&result, kernels, name));
    return result;
}

// Launches one block of one thread in a stream.
static CUresult launch_one(CUfunction kernel, CUstream stream, void **arguments) {
    return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}
