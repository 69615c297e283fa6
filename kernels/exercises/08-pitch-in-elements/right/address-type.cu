// `std::uintptr_t`.
#include "cuda_device.h"
#include <cstdint>
template <typename T>
class PitchedView {
    std::uintptr_t base_; std::size_t pitch_;
public:
    __device__ PitchedView(T *base, std::size_t pitch) : base_(reinterpret_cast<std::uintptr_t>(base)), pitch_(pitch) {}
    __device__ T *operator[](std::size_t y) const { return reinterpret_cast<T *>(base_ + y * pitch_); }
};
struct Pixel {
    float red, green, blue;
    __device__ __forceinline__ float luma() const { return 0.25f * (red + blue) + 0.5f * green; }
};
extern "C" __global__ void __launch_bounds__(16 * 16)
to_grey(const Pixel *__restrict__ image, std::size_t pitch, float *__restrict__ grey, int width, int height) {
    const int2 p = make_int2(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
    if (p.x >= width || p.y >= height) return;
    const PitchedView<const Pixel> view{image, pitch};
    grey[p.y * width + p.x] = view[p.y][p.x].luma();
}
