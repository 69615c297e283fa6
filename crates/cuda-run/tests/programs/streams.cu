// Races between streams. The first argument selects the case; with a second one, the program orders the two calls.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

const int n = 1024;

__global__ void fill(int *p, int v)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void copy(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void fetch(cudaTextureObject_t from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = tex1D<int>(from, i + 0.5f);
}

__global__ void draw(cudaSurfaceObject_t to, int v)
{
    surf1Dwrite(v, to, (blockIdx.x * blockDim.x + threadIdx.x) * 4);
}

// Not optimized, because the compiler would merge equal calls at the ends of the cases, which then have no line.
__attribute__((optnone)) int main(int argc, char **argv)
{
    auto is = [&](const char *name) { return strcmp(argv[1], name) == 0; };
    bool ordered = argc > 2;
    cudaStream_t s, t, free_running;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking);
    cudaEvent_t done;
    cudaEventCreate(&done);
    int *p, *q, *host;
    cudaMalloc(&p, n * sizeof(int));
    cudaMalloc(&q, n * sizeof(int));
    cudaMallocHost(&host, n * sizeof(int));
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaMallocArray(&array, &format, n, 0, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &resource);
    auto event = [&](cudaStream_t from, cudaStream_t to) {
        if (ordered) {
            cudaEventRecord(done, from);
            cudaStreamWaitEvent(to, done, 0);
        }
    };
    if (is("kernels")) {
        fill<<<4, 256, 0, s>>>(p, 1); // earlier kernels
        event(s, t);
        copy<<<4, 256, 0, t>>>(p, q); // later kernels
    } else if (is("copy")) {
        for (int i = 0; i < n; i++) host[i] = i;
        cudaMemcpyAsync(p, host, n * sizeof(int), cudaMemcpyHostToDevice, s); // earlier copy
        if (ordered) cudaStreamSynchronize(s);
        copy<<<4, 256, 0, t>>>(p, q); // later copy
    } else if (is("reused")) {
        fill<<<4, 256, 0, s>>>(p, 1);
        cudaMemcpyAsync(host, p, n * sizeof(int), cudaMemcpyDeviceToHost, s); // earlier reused
        event(s, t);
        fill<<<4, 256, 0, t>>>(p, 2); // later reused
    } else if (is("non-blocking")) {
        cudaMemset(p, 0, n * sizeof(int)); // earlier non-blocking
        if (ordered) cudaDeviceSynchronize();
        copy<<<4, 256, 0, free_running>>>(p, q); // later non-blocking
    } else if (is("result")) {
        fill<<<4, 256, 0, free_running>>>(p, 1); // earlier result
        if (ordered) cudaStreamSynchronize(free_running);
        cudaMemcpy(host, p, n * sizeof(int), cudaMemcpyDeviceToHost); // later result
    } else if (is("freed")) {
        int *pooled;
        cudaMallocAsync((void **)&pooled, n * sizeof(int), s);
        fill<<<4, 256, 0, s>>>(pooled, 1);
        cudaStreamSynchronize(s);
        copy<<<4, 256, 0, t>>>(pooled, q); // earlier freed
        event(t, s);
        cudaFreeAsync(pooled, s); // later freed
    } else if (is("allocated")) {
        int *pooled;
        cudaMallocAsync((void **)&pooled, n * sizeof(int), s); // earlier allocated
        event(s, t);
        fill<<<4, 256, 0, t>>>(pooled, 1); // later allocated
        cudaFreeAsync(pooled, t);
    } else if (is("pooled")) {
        int *pooled;
        cudaMallocAsync((void **)&pooled, n * sizeof(int), s);
        fill<<<4, 256, 0, s>>>(pooled, 1); // earlier pooled
        if (ordered) cudaStreamSynchronize(s);
        cudaFree(pooled); // later pooled
    } else if (is("used")) {
        int *pooled;
        cudaMallocAsync((void **)&pooled, n * sizeof(int), s);
        fill<<<4, 256, 0, s>>>(pooled, 1);
        if (!ordered) cudaFreeAsync(pooled, s); // later used
        copy<<<4, 256, 0, s>>>(pooled, q);
        if (ordered) cudaFreeAsync(pooled, s);
    } else if (is("texture")) {
        for (int i = 0; i < n; i++) host[i] = i;
        cudaMemcpy2DToArrayAsync(array, 0, 0, host, n * 4, n * 4, 1, cudaMemcpyHostToDevice, s); // earlier texture
        event(s, t);
        fetch<<<4, 256, 0, t>>>(texture, q); // later texture
    } else if (is("surface")) {
        draw<<<4, 256, 0, s>>>(surface, 1); // earlier surface
        event(s, t);
        cudaMemcpy2DFromArrayAsync(host, n * 4, array, 0, 0, n * 4, 1, cudaMemcpyDeviceToHost, t); // later surface
    } else if (is("halves")) {
        // Two halves of one buffer are no race.
        fill<<<2, 256, 0, s>>>(p, 1);
        fill<<<2, 256, 0, t>>>(p + n / 2, 2);
    } else if (is("pipeline")) {
        // The usual overlap of copies and kernels: each stream has its own chunk, and the host waits at the end.
        int chunk = n / 4;
        for (int i = 0; i < 4; i++) {
            cudaStream_t stream = i % 2 ? s : t;
            cudaMemcpyAsync(p + i * chunk, host + i * chunk, chunk * sizeof(int), cudaMemcpyHostToDevice, stream);
            copy<<<1, 256, 0, stream>>>(p + i * chunk, q + i * chunk);
            cudaMemcpyAsync(host + i * chunk, q + i * chunk, chunk * sizeof(int), cudaMemcpyDeviceToHost, stream);
        }
    }
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
    cudaFree(p);
    cudaFree(q);
    cudaFreeHost(host);
    cudaEventDestroy(done);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaStreamDestroy(free_running);
}
