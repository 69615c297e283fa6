// Three-dimensional copies.

#include "answers.h"

static unsigned char source[1000], result[1000];

static CUDA_MEMCPY3D host_to_device(CUdeviceptr memory) {
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = source;
    copy.srcPitch = 10;
    copy.srcHeight = 10;
    copy.srcXInBytes = 1;
    copy.srcY = 2;
    copy.srcZ = 3;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory;
    copy.dstPitch = 12;
    copy.dstHeight = 8;
    copy.dstXInBytes = 2;
    copy.dstY = 1;
    copy.dstZ = 4;
    copy.WidthInBytes = 5;
    copy.Height = 4;
    copy.Depth = 3;
    return copy;
}

static void linear(void) {
    CUdeviceptr memory;
    CUDA_MEMCPY3D copy;
    int equal = 0, written = 0;
    start();
    memory = allocate(1000);
    for (int i = 0; i < 1000; i++) {
        source[i] = i * 7;
    }
    copy = host_to_device(memory);
    CALL("with-offsets", cuMemcpy3D_v2(&copy));
    NEED(cuMemcpyDtoH_v2(result, memory, 1000));
    for (int z = 0; z < 3; z++) {
        for (int y = 0; y < 4; y++) {
            for (int x = 0; x < 5; x++) {
                equal += result[((4 + z) * 8 + 1 + y) * 12 + 2 + x] == source[((3 + z) * 10 + 2 + y) * 10 + 1 + x];
            }
        }
    }
    for (int i = 0; i < 1000; i++) {
        written += result[i] != 0;
    }
    VALUE("with-offsets-equal", "%d", equal);
    VALUE("with-offsets-written", "%d", written);
    copy.srcHeight = 3;
    CALL("source-height-below-height", cuMemcpy3D_v2(&copy));
    copy.srcHeight = 5;
    CALL("source-height-below-y-plus-height", cuMemcpy3D_v2(&copy));
    copy.srcHeight = 0;
    copy.Depth = 1;
    CALL("source-height-0-depth-1", cuMemcpy3D_v2(&copy));
    copy.Depth = 3;
    CALL("source-height-0-depth-3", cuMemcpy3D_v2(&copy));
    copy = host_to_device(memory);
    copy.srcLOD = 1;
    CALL("level-of-detail-1", cuMemcpy3D_v2(&copy));
    copy = host_to_device(memory);
    copy.reserved0 = (void *)1;
    CALL("reserved-field-set", cuMemcpy3D_v2(&copy));
    copy = host_to_device(memory);
    copy.Depth = 0;
    CALL("depth-0", cuMemcpy3D_v2(&copy));
    copy = host_to_device(memory);
    copy.dstZ = 1 << 24;
    CALL("far-outside", cuMemcpy3D_v2(&copy));
    copy = host_to_device(memory);
    copy.dstPitch = 4;
    CALL("destination-pitch-below-width", cuMemcpy3D_v2(&copy));
    copy = host_to_device(memory);
    copy.dstMemoryType = 0;
    CALL("destination-type-0", cuMemcpy3D_v2(&copy));
    CALL("null", cuMemcpy3D_v2(NULL));
    copy = host_to_device(memory);
    CALL("asynchronous", cuMemcpy3DAsync_v2(&copy, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

static void arrays(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {8, 4, 3, CU_AD_FORMAT_UNSIGNED_INT16, 2, 0};
    unsigned short values[384], read[16] = {0};
    CUDA_MEMCPY3D write, from;
    CUarray array;
    start();
    NEED(cuArray3DCreate_v2(&array, &shape));
    for (int i = 0; i < 384; i++) {
        values[i] = i;
    }
    memset(&write, 0, sizeof write);
    write.srcMemoryType = CU_MEMORYTYPE_HOST;
    write.srcHost = values;
    write.srcPitch = 32;
    write.srcHeight = 4;
    write.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    write.dstArray = array;
    write.WidthInBytes = 32;
    write.Height = 4;
    write.Depth = 3;
    CALL("whole", cuMemcpy3D_v2(&write));
    memset(&from, 0, sizeof from);
    from.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    from.srcArray = array;
    from.srcXInBytes = 4;
    from.srcY = 1;
    from.srcZ = 2;
    from.dstMemoryType = CU_MEMORYTYPE_HOST;
    from.dstHost = read;
    from.dstPitch = 8;
    from.dstHeight = 2;
    from.WidthInBytes = 8;
    from.Height = 2;
    from.Depth = 1;
    CALL("part", cuMemcpy3D_v2(&from));
    VALUE("part-values", "%d %d %d", read[0], read[3], read[4]);
    from.srcZ = 3;
    CALL("z-past-end", cuMemcpy3D_v2(&from));
    write.Depth = 4;
    CALL("depth-past-end", cuMemcpy3D_v2(&write));
    write.Depth = 3;
    write.dstY = 1;
    CALL("y-past-end", cuMemcpy3D_v2(&write));
}

int main(void) {
    RUN(linear);
    RUN(arrays);
}
