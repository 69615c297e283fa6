// case: `cudaMemset` of an array of structures with the size of one of their members
// thread: https://github.com/jkjung-avt/tensorrt_demos/pull/185
struct Detection {
    float box[4], confidence, label, score;
};
#ifdef GOOD
typedef Detection Element;
#else
typedef float Element;
#endif
__global__ void best(float *out, const Detection *detections, int n) {
    float confidence = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        confidence = fmaxf(confidence, detections[i].confidence); //~ read of uninitialized device memory | only the first 400 bytes of 2800 bytes have been written | a copy, a fill or an earlier launch covers fewer elements
    out[threadIdx.x] = confidence;
}
int main() {
    const int n = 100;
    Detection *detections;
    float *out;
    cudaMalloc(&detections, n * sizeof(Detection));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(detections, 0, n * sizeof(Element));
    best<<<1, 32>>>(out, detections, n);
    cudaDeviceSynchronize();
    cudaFree(detections);
    cudaFree(out);
}
