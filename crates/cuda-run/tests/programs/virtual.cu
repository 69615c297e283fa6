// Objects of a class with a pure virtual function: one kernel creates them, another calls the function.
#include <cstdio>

__device__ int gone;

class Shape {
  public:
    int number = threadIdx.x;
    // Not inlined, so that during its execution the object is a plain shape, whose vtable lacks the function.
    __device__ __noinline__ virtual ~Shape() { atomicAdd(&gone, 1); }
    __device__ virtual float area() const = 0;
};

class Square : public Shape {
    float side;

  public:
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};

class Circle : public Shape {
    float radius;

  public:
    __device__ Circle(float radius) : radius(radius) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};

const int count = 64;

__global__ void make(Shape **shapes) {
    int i = threadIdx.x;
    shapes[i] = i % 2 ? (Shape *)new Circle(i) : (Shape *)new Square(i);
}

__global__ void measure(Shape **shapes, float *areas) {
    areas[threadIdx.x] = shapes[threadIdx.x]->area() + shapes[threadIdx.x]->number;
    delete shapes[threadIdx.x];
}

int main() {
    Shape **shapes;
    float *areas, found[count];
    cudaMalloc(&shapes, count * sizeof(*shapes));
    cudaMalloc(&areas, sizeof(found));
    make<<<1, count>>>(shapes);
    measure<<<1, count>>>(shapes, areas);
    cudaError_t error = cudaMemcpy(found, areas, sizeof(found), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return printf("%s\n", cudaGetErrorString(error)), 1;
    for (int i = 0; i < count; i++)
        if (found[i] != (i % 2 ? 3.0f : 1.0f) * i * i + i) return printf("wrong at %d\n", i), 1;
    int ended = 0;
    cudaMemcpyFromSymbol(&ended, gone, sizeof(ended));
    printf(ended == count ? "areas: right\n" : "shapes are left\n");
}
