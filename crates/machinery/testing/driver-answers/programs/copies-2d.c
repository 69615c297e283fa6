// Two-dimensional copies, and copies to and from arrays.

#include "answers.h"

static unsigned char source[400], result[400];

static CUDA_MEMCPY2D host_to_device(CUdeviceptr memory) {
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = source;
    copy.srcPitch = 20;
    copy.srcXInBytes = 3;
    copy.srcY = 2;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory;
    copy.dstPitch = 25;
    copy.dstXInBytes = 5;
    copy.dstY = 1;
    copy.WidthInBytes = 7;
    copy.Height = 4;
    return copy;
}

static void linear(void) {
    CUdeviceptr memory;
    CUDA_MEMCPY2D copy;
    start();
    memory = allocate(400);
    for (int i = 0; i < 400; i++) {
        source[i] = i;
    }
    copy = host_to_device(memory);
    CALL("with-offsets", cuMemcpy2D_v2(&copy));
    NEED(cuMemcpyDtoH_v2(result, memory, 400));
    VALUE("with-offsets-values", "%d %d %d %d", result[30], result[36], result[37], result[105]);
    CALL("unaligned", cuMemcpy2DUnaligned_v2(&copy));
    copy.srcPitch = 6;
    CALL("pitch-below-width", cuMemcpy2D_v2(&copy));
    copy.srcPitch = 9;
    CALL("pitch-below-x-plus-width", cuMemcpy2D_v2(&copy));
    copy.srcPitch = 0;
    copy.Height = 1;
    CALL("pitch-0-1-row", cuMemcpy2D_v2(&copy));
    copy.Height = 4;
    CALL("pitch-0", cuMemcpy2D_v2(&copy));
    copy = host_to_device(memory);
    copy.WidthInBytes = 0;
    CALL("width-0", cuMemcpy2D_v2(&copy));
    copy = host_to_device(memory);
    copy.Height = 0;
    CALL("height-0", cuMemcpy2D_v2(&copy));
    copy = host_to_device(memory);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = result;
    memset(result, 0, sizeof result);
    CALL("within-host", cuMemcpy2D_v2(&copy));
    VALUE("within-host-value", "%d", result[30]);
    copy = host_to_device(memory);
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    CALL("unified", cuMemcpy2D_v2(&copy));
    copy = host_to_device(memory);
    copy.dstY = 1 << 24;
    CALL("far-outside", cuMemcpy2D_v2(&copy));
    copy = host_to_device(memory);
    CALL("asynchronous", cuMemcpy2DAsync_v2(&copy, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

// Memory types that do not exist.
static void types(void) {
    CUdeviceptr memory;
    CUDA_MEMCPY2D copy;
    start();
    memory = allocate(400);
    copy = host_to_device(memory);
    copy.srcMemoryType = 0;
    CALL("type-0", cuMemcpy2D_v2(&copy));
    copy.srcMemoryType = 9;
    CALL("type-9", cuMemcpy2D_v2(&copy));
}

static void no_host_memory(void) {
    CUdeviceptr memory;
    CUDA_MEMCPY2D copy;
    start();
    memory = allocate(400);
    copy = host_to_device(memory);
    copy.srcHost = NULL;
    CALL("source-null", cuMemcpy2D_v2(&copy));
}

static void no_parameters(void) {
    start();
    CALL("null", cuMemcpy2D_v2(NULL));
}

static void arrays(void) {
    CUDA_ARRAY_DESCRIPTOR shape = {16, 8, CU_AD_FORMAT_FLOAT, 1};
    CUDA_MEMCPY2D copy;
    CUarray array;
    float values[256], read[16] = {0};
    start();
    NEED(cuArrayCreate_v2(&array, &shape));
    for (int i = 0; i < 256; i++) {
        values[i] = i;
    }
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = values;
    copy.srcPitch = 64;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = 64;
    copy.Height = 8;
    CALL("whole", cuMemcpy2D_v2(&copy));
    copy.Height = 9;
    CALL("9-of-8-rows", cuMemcpy2D_v2(&copy));
    copy.Height = 8;
    copy.WidthInBytes = copy.srcPitch = 68;
    CALL("17-of-16-elements", cuMemcpy2D_v2(&copy));
    copy.srcPitch = 64;
    copy.WidthInBytes = 8;
    copy.dstXInBytes = 60;
    copy.Height = 1;
    CALL("x-past-end", cuMemcpy2D_v2(&copy));
    copy.dstXInBytes = 0;
    copy.WidthInBytes = 6;
    CALL("width-of-part-of-an-element", cuMemcpy2D_v2(&copy));
    copy.dstXInBytes = 2;
    copy.WidthInBytes = 4;
    CALL("x-inside-an-element", cuMemcpy2D_v2(&copy));
    CALL("from-host", cuMemcpyHtoA_v2(array, 0, values, 64));
    CALL("from-host-two-rows", cuMemcpyHtoA_v2(array, 0, values, 128));
    CALL("from-host-past-end", cuMemcpyHtoA_v2(array, 0, values, 600));
    CALL("to-host", cuMemcpyAtoH_v2(read, array, 8, 8));
    VALUE("to-host-values", "%g %g", read[0], read[1]);
}

// Copies of one row between one-dimensional arrays and linear memory.
static void rows(void) {
    CUDA_ARRAY_DESCRIPTOR shape = {16, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUarray one, two;
    CUdeviceptr memory;
    CUstream stream;
    unsigned *values;
    start();
    memory = allocate(64);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemAllocHost_v2((void **)&values, 128));
    NEED(cuArrayCreate_v2(&one, &shape));
    NEED(cuArrayCreate_v2(&two, &shape));
    for (int i = 0; i < 32; i++) {
        values[i] = 100 + i;
    }
    CALL("host-to-array-asynchronous", cuMemcpyHtoAAsync_v2(one, 0, values, 64, stream));
    CALL("synchronize", cuStreamSynchronize(stream));
    CALL("array-to-device", cuMemcpyAtoD_v2(memory, one, 8, 16));
    VALUE("array-to-device-value", "%u", word_at(memory));
    CALL("device-to-array", cuMemcpyDtoA_v2(two, 4, memory, 16));
    CALL("array-to-array", cuMemcpyAtoA_v2(one, 32, two, 4, 16));
    CALL("array-to-host", cuMemcpyAtoH_v2(values, one, 32, 16));
    VALUE("array-to-host-value", "%u", values[3]);
    CALL("array-to-host-asynchronous", cuMemcpyAtoHAsync_v2(values + 16, one, 0, 64, stream));
    CALL("synchronize-again", cuStreamSynchronize(stream));
    VALUE("array-to-host-asynchronous-value", "%u", values[17]);
    CALL("host-to-array-past-end", cuMemcpyHtoA_v2(one, 60, values, 8));
    CALL("array-to-host-past-end", cuMemcpyAtoH_v2(values, one, 60, 8));
    CALL("array-to-device-past-end", cuMemcpyAtoD_v2(memory, one, 60, 8));
    CALL("device-to-array-past-end", cuMemcpyDtoA_v2(one, 60, memory, 8));
    CALL("array-to-array-past-end", cuMemcpyAtoA_v2(one, 60, two, 0, 8));
    CALL("array-to-array-no-bytes", cuMemcpyAtoA_v2(one, 0, two, 0, 0));
    CALL("host-to-array-no-bytes", cuMemcpyHtoA_v2(one, 0, values, 0));
    CALL("host-to-array-inside-element", cuMemcpyHtoA_v2(one, 2, values, 4));
    CALL("device-to-array-from-null", cuMemcpyDtoA_v2(one, 0, 0, 4));
    CALL("array-to-device-to-null", cuMemcpyAtoD_v2(0, one, 0, 4));
    CALL("host-to-array-asynchronous-past-end", cuMemcpyHtoAAsync_v2(one, 60, values, 8, stream));
    CALL("array-to-host-asynchronous-past-end", cuMemcpyAtoHAsync_v2(values, one, 60, 8, stream));
}

// Memory of different kinds, of 4096 bytes.
static CUdeviceptr memory_of(int kind) {
    CUmemAllocationProp properties = {CU_MEM_ALLOCATION_TYPE_PINNED};
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr memory = 0;
    size_t granularity, pitch;
    void *host;
    switch (kind) {
    case 0:
        NEED(cuMemAlloc_v2(&memory, 4096));
        break;
    case 1:
        NEED(cuMemAllocAsync(&memory, 4096, NULL));
        break;
    case 2:
        NEED(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
        break;
    case 3:
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        NEED(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        NEED(cuMemCreate(&handle, granularity, &properties, 0));
        NEED(cuMemAddressReserve(&memory, granularity, 0, 0, 0));
        NEED(cuMemMap(memory, granularity, 0, handle, 0));
        NEED(cuMemSetAccess(memory, granularity, &access, 1));
        break;
    case 4:
        NEED(cuMemAllocPitch_v2(&memory, &pitch, 64, 64, 4));
        break;
    default:
        NEED(cuMemAllocHost_v2(&host, 4096));
        NEED(cuMemHostGetDevicePointer_v2(&memory, host, 0));
    }
    return memory;
}

static const char *const kinds[] = {"allocated", "pool", "managed", "mapped", "pitched", "pinned"};

// Copies whose rows end beyond the pitch of one side.
static void beyond_pitch(void) {
    CUdeviceptr memory[2][6];
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {16, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    start();
    NEED(cuArrayCreate_v2(&array, &shape));
    for (int i = 0; i < 12; i++) {
        memory[i / 6][i % 6] = memory_of(i % 6);
    }
    for (int from = 0; from < 6; from++) {
        for (int to = 0; to < 6; to++) {
            for (int side = 0; side < 2; side++) {
                CUDA_MEMCPY2D copy;
                CUDA_MEMCPY3D volume;
                const char *name = label("%s-to-%s-%s", kinds[from], kinds[to], side ? "destination" : "source");
                memset(&copy, 0, sizeof copy);
                copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
                copy.srcDevice = memory[0][from];
                copy.dstDevice = memory[1][to];
                copy.srcPitch = copy.dstPitch = copy.WidthInBytes = 16;
                copy.Height = 4;
                memset(&volume, 0, sizeof volume);
                volume.srcMemoryType = volume.dstMemoryType = CU_MEMORYTYPE_DEVICE;
                volume.srcDevice = memory[0][from];
                volume.dstDevice = memory[1][to];
                volume.srcPitch = volume.dstPitch = volume.WidthInBytes = 16;
                volume.srcHeight = volume.dstHeight = volume.Height = 4;
                volume.Depth = 1;
                *(side ? &copy.dstXInBytes : &copy.srcXInBytes) = 64;
                *(side ? &volume.dstXInBytes : &volume.srcXInBytes) = 64;
                CALL(name, cuMemcpy2D_v2(&copy));
                CALL(label("%s-3d", name), cuMemcpy3D_v2(&volume));
            }
        }
    }
    for (int kind = 0; kind < 6; kind++) {
        for (int side = 0; side < 2; side++) {
            CUDA_MEMCPY2D copy;
            memset(&copy, 0, sizeof copy);
            if (side) {
                copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
                copy.srcArray = array;
                copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
                copy.dstDevice = memory[0][kind];
                copy.dstXInBytes = 64;
                copy.dstPitch = 16;
            } else {
                copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
                copy.srcDevice = memory[0][kind];
                copy.srcXInBytes = 64;
                copy.srcPitch = 16;
                copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
                copy.dstArray = array;
            }
            copy.WidthInBytes = 16;
            copy.Height = 4;
            CALL(label("%s-%s-array", kinds[kind], side ? "from" : "to"), cuMemcpy2D_v2(&copy));
        }
    }
    // A pitch below the width, rows beyond the allocation, and what a copy with rows beyond the pitch writes.
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = memory[0][1];
    copy.dstDevice = memory[1][1];
    copy.srcPitch = copy.dstPitch = 8;
    copy.WidthInBytes = 16;
    copy.Height = 4;
    CALL("pool-pitch-below-width", cuMemcpy2D_v2(&copy));
    for (int i = 0; i < 400; i++) {
        source[i] = i;
    }
    NEED(cuMemcpyHtoD_v2(memory[0][1], source, 400));
    NEED(cuMemsetD8_v2(memory[1][1], 0xee, 400));
    copy.srcPitch = 24;
    copy.srcXInBytes = 16;
    copy.dstPitch = 8;
    copy.dstXInBytes = 100;
    copy.WidthInBytes = 8;
    CALL("pool-rows", cuMemcpy2D_v2(&copy));
    NEED(cuMemcpyDtoH_v2(result, memory[1][1], 400));
    VALUE("pool-rows-values", "%d %d %d %d %d %d", result[99], result[100], result[107], result[108], result[131],
          result[132]);
}

int main(void) {
    RUN(linear);
    RUN(types);
    RUN(arrays);
    RUN(rows);
    RUN(no_host_memory);
    RUN(no_parameters);
    RUN(beyond_pitch);
}
