// Code 4.2 of the note "Chapter 4 - 内存": the pitch of rows of 15, 128 and 255 floats, in two and three dimensions.

#include "check.h"

const size_t HEIGHT = 15, DEPTH = 3;
const size_t WIDTHS[] = {15 * sizeof(float), 128 * sizeof(float), 255 * sizeof(float)};

// Returns true if rows of `width` bytes fit into the pitch, and every row begins with a sector of 32 bytes.
static bool fits(const cudaPitchedPtr &ptr, size_t width)
{
    return ptr.pitch >= width && ptr.pitch % 32 == 0 && size_t(ptr.ptr) % 32 == 0;
}

int main()
{
    cudaPitchedPtr ptr;
    size_t wrong = 0;

    for (size_t width : WIDTHS) {
        CHECK(cudaMallocPitch(&ptr.ptr, &ptr.pitch, width, HEIGHT));
        printf("%zu\n", ptr.pitch);
        wrong += !fits(ptr, width);
        CHECK(cudaFree(ptr.ptr));
    }
    for (size_t width : WIDTHS) {
        CHECK(cudaMalloc3D(&ptr, make_cudaExtent(width, HEIGHT, DEPTH)));
        printf("%zu %zu %zu\n", ptr.pitch, ptr.xsize, ptr.ysize);
        wrong += !fits(ptr, width) || ptr.xsize != width || ptr.ysize != HEIGHT;
        CHECK(cudaFree(ptr.ptr));
    }
    return verdict("pitches", wrong);
}
