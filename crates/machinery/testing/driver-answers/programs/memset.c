// Memory fills, linear and pitched, synchronous and asynchronous.

#include "answers.h"

static unsigned char bytes[256];

static void read_back(CUdeviceptr address, size_t size) {
    NEED(cuCtxSynchronize());
    NEED(cuMemcpyDtoH_v2(bytes, address, size));
}

static void linear(void) {
    CUdeviceptr memory;
    start();
    memory = allocate(64);
    CALL("8-bit-none", cuMemsetD8_v2(memory, 1, 0));
    CALL("8-bit", cuMemsetD8_v2(memory + 1, 0xab, 3));
    read_back(memory, 64);
    VALUE("8-bit-values", "%02x%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3], bytes[4]);
    CALL("16-bit-misaligned", cuMemsetD16_v2(memory + 1, 1, 2));
    CALL("32-bit-misaligned", cuMemsetD32_v2(memory + 2, 1, 2));
    CALL("16-bit", cuMemsetD16_v2(memory + 2, 0x1234, 2));
    read_back(memory, 64);
    VALUE("16-bit-values", "%02x%02x%02x%02x", bytes[2], bytes[3], bytes[4], bytes[5]);
    CALL("32-bit", cuMemsetD32_v2(memory + 4, 0x12345678, 1));
    read_back(memory, 64);
    VALUE("32-bit-values", "%02x%02x%02x%02x", bytes[4], bytes[5], bytes[6], bytes[7]);
    CALL("32-bit-null", cuMemsetD32_v2(0, 1, 1));
    CALL("32-bit-null-none", cuMemsetD32_v2(0, 1, 0));
    CALL("8-bit-unknown", cuMemsetD8_v2(0x1234, 1, 1));
    CALL("8-bit-host", cuMemsetD8_v2((CUdeviceptr)bytes, 1, 1));
}

static void pitched(void) {
    CUdeviceptr memory;
    start();
    memory = allocate(256);
    CALL("8-bit", cuMemsetD2D8_v2(memory, 32, 7, 20, 3));
    read_back(memory, 256);
    VALUE("8-bit-edges", "%d %d %d %d %d", bytes[19], bytes[20], bytes[32], bytes[83], bytes[96]);
    CALL("8-bit-pitch-below-width", cuMemsetD2D8_v2(memory, 10, 7, 20, 3));
    CALL("8-bit-pitch-below-width-1-row", cuMemsetD2D8_v2(memory, 10, 7, 20, 1));
    CALL("8-bit-pitch-0", cuMemsetD2D8_v2(memory, 0, 7, 20, 3));
    CALL("8-bit-width-0", cuMemsetD2D8_v2(memory, 32, 7, 0, 3));
    CALL("8-bit-height-0", cuMemsetD2D8_v2(memory, 32, 7, 20, 0));
    CALL("8-bit-whole-rows", cuMemsetD2D8_v2(memory, 64, 7, 64, 4));
    CALL("8-bit-far-outside", cuMemsetD2D8_v2(memory, 1 << 28, 7, 20, 9));
    CALL("16-bit", cuMemsetD2D16_v2(memory, 32, 7, 8, 3));
    CALL("16-bit-pitch-33", cuMemsetD2D16_v2(memory, 33, 7, 8, 3));
    CALL("16-bit-width-17-pitch-32", cuMemsetD2D16_v2(memory, 32, 7, 17, 3));
    CALL("32-bit-misaligned", cuMemsetD2D32_v2(memory + 2, 32, 7, 4, 3));
    CALL("32-bit-pitch-34", cuMemsetD2D32_v2(memory, 34, 7, 4, 3));
    CALL("32-bit", cuMemsetD2D32_v2(memory, 64, 0x01020304, 4, 4));
    read_back(memory, 256);
    VALUE("32-bit-values", "%d %d %d", bytes[0], bytes[3], bytes[64]);
}

static void asynchronous(void) {
    CUdeviceptr memory;
    CUstream stream;
    start();
    memory = allocate(256);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    CALL("8-bit", cuMemsetD8Async(memory, 0x11, 3, stream));
    CALL("16-bit", cuMemsetD16Async(memory + 4, 0x2233, 1, stream));
    CALL("32-bit", cuMemsetD32Async(memory + 8, 0x44556677, 1, stream));
    read_back(memory, 256);
    VALUE("values", "%02x%02x %02x%02x %02x%02x", bytes[2], bytes[3], bytes[4], bytes[5], bytes[8], bytes[11]);
    CALL("8-bit-none", cuMemsetD8Async(memory, 1, 0, stream));
    CALL("8-bit-null", cuMemsetD8Async(0, 1, 1, stream));
    CALL("8-bit-null-none", cuMemsetD8Async(0, 1, 0, stream));
    CALL("8-bit-257-of-256", cuMemsetD8Async(memory, 1, 257, stream));
    CALL("16-bit-misaligned", cuMemsetD16Async(memory + 1, 1, 1, stream));
    CALL("32-bit-misaligned", cuMemsetD32Async(memory + 2, 1, 1, stream));
    CALL("32-bit-unknown", cuMemsetD32Async(0x1234, 1, 1, stream));
    NEED(cuMemsetD8_v2(memory, 0, 256));
    CALL("2d-8-bit", cuMemsetD2D8Async(memory, 32, 0x15, 20, 3, stream));
    CALL("2d-16-bit", cuMemsetD2D16Async(memory + 96, 16, 0x1617, 4, 2, stream));
    CALL("2d-32-bit", cuMemsetD2D32Async(memory + 160, 32, 0x18191a1b, 4, 2, stream));
    read_back(memory, 256);
    VALUE("2d-values", "%02x%02x %02x%02x %02x%02x", bytes[83], bytes[84], bytes[96 + 23], bytes[96 + 24],
          bytes[160 + 32], bytes[160 + 48]);
    CALL("2d-8-bit-pitch-below-width", cuMemsetD2D8Async(memory, 10, 7, 20, 3, stream));
    CALL("2d-8-bit-width-0", cuMemsetD2D8Async(memory, 32, 7, 0, 3, stream));
    CALL("2d-8-bit-height-0", cuMemsetD2D8Async(memory, 32, 7, 20, 0, stream));
    CALL("2d-16-bit-pitch-33", cuMemsetD2D16Async(memory, 33, 7, 8, 3, stream));
    CALL("2d-32-bit-pitch-34", cuMemsetD2D32Async(memory, 34, 7, 4, 3, stream));
    CALL("2d-32-bit-misaligned", cuMemsetD2D32Async(memory + 2, 32, 7, 4, 3, stream));
    CALL("2d-32-bit-null", cuMemsetD2D32Async(0, 32, 7, 4, 3, stream));
    CALL("synchronize", cuCtxSynchronize());
}

int main(void) {
    RUN(linear);
    RUN(pitched);
    RUN(asynchronous);
}
