// One warp's access per launch, to be counted by a profiler: which addresses cost how many
// sectors and wavefronts. crates/machinery/simulator/cuda-sim/src/profile/traffic/h200.txt has the
// cases and an H200's counts. To measure them on this machine's GPU, run
//
//   scripts/accesses
//
// which compiles this file and runs it under Nsight Compute, once for each kind of memory:
//
//   nvcc -O3 -arch=native scripts/accesses.cu -o accesses && ncu ... ./accesses shared h200.txt

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t error = (call);                                                         \
        if (error != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));  \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

constexpr unsigned SHARED_BYTES = 48 * 1024, CONSTANT_BYTES = 60 * 1024, GLOBAL_BYTES = 1 << 22;

// Byte offsets of the lanes: kernel parameters are read through the constant cache, so only
// the access itself reaches the memory that is measured.
struct Lanes {
    unsigned offset[32];
};

__constant__ __align__(1024) unsigned char constants[CONSTANT_BYTES];

// The type that a lane moves. The loads are inline PTX, so that no compiler can predict
// their results; a store that is never executed keeps the result alive.
template <int BYTES> struct Value;
#define VALUE(BYTES, TYPE, PTX, CONSTRAINT)                                                 \
    template <> struct Value<BYTES> {                                                       \
        TYPE x;                                                                             \
        __device__ void load_shared(unsigned at) {                                          \
            asm volatile("ld.shared." PTX " %0, [%1];" : CONSTRAINT(x) : "r"(at));          \
        }                                                                                   \
        __device__ void load_global(const char *at) {                                       \
            asm volatile("ld.global." PTX " %0, [%1];" : CONSTRAINT(x) : "l"(at));          \
        }                                                                                   \
        __device__ void store_shared(unsigned at) {                                         \
            asm volatile("st.shared." PTX " [%0], %1;" ::"r"(at), STORED(x) : "memory");    \
        }                                                                                   \
        __device__ void store_global(char *at) {                                            \
            asm volatile("st.global." PTX " [%0], %1;" ::"l"(at), STORED(x) : "memory");    \
        }                                                                                   \
        __device__ bool odd() { return x == TYPE(BYTES == 1 ? 77 : 0x9e3779b97f4a7c15); }   \
        __device__ void fill(unsigned with) { x = TYPE(with); }                             \
    };
#define STORED "h"
VALUE(1, uint16_t, "u8", "=h")
VALUE(2, uint16_t, "u16", "=h")
#undef STORED
#define STORED "r"
VALUE(4, uint32_t, "u32", "=r")
#undef STORED
#define STORED "l"
VALUE(8, uint64_t, "u64", "=l")
#undef STORED

template <> struct Value<16> {
    unsigned long long x, y;
    __device__ void load_shared(unsigned at) {
        asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "r"(at));
    }
    __device__ void load_global(const char *at) {
        asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "l"(at));
    }
    __device__ void store_shared(unsigned at) {
        asm volatile("st.shared.v2.u64 [%0], {%1, %2};" ::"r"(at), "l"(x), "l"(y) : "memory");
    }
    __device__ void store_global(char *at) {
        asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(x), "l"(y) : "memory");
    }
    __device__ bool odd() { return (x ^ y) == 0x9e3779b97f4a7c15; }
    __device__ void fill(unsigned with) { x = with, y = ~with; }
};

enum Operation { LOAD, STORE, ATOMIC };

template <int BYTES, Operation OPERATION>
__global__ void shared_access(Lanes at, unsigned mask, int *out) {
    __shared__ __align__(1024) char memory[SHARED_BYTES];
    unsigned place = unsigned(__cvta_generic_to_shared(memory)) + at.offset[threadIdx.x];
    if (!(mask >> threadIdx.x & 1)) return;
    Value<BYTES> value;
    value.fill(place);
    if (OPERATION == ATOMIC) {
        asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(place), "r"(place) : "memory");
    } else if (OPERATION == STORE) {
        value.store_shared(place);
    } else {
        value.load_shared(place);
        if (value.odd()) *out = 1;
    }
}

template <int BYTES, Operation OPERATION>
__global__ void global_access(Lanes at, unsigned mask, int *out, char *memory) {
    char *place = memory + at.offset[threadIdx.x];
    if (!(mask >> threadIdx.x & 1)) return;
    Value<BYTES> value;
    value.fill(mask);
    if (OPERATION == ATOMIC) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(place), "r"(mask) : "memory");
    } else if (OPERATION == STORE) {
        value.store_global(place);
    } else {
        value.load_global(place);
        if (value.odd()) *out = 1;
    }
}

// The offsets come from device memory here, so that the constant cache serves only the access itself.
template <class T>
__global__ void constant_access(const Lanes *at, unsigned mask, T *out) {
    unsigned place = at->offset[threadIdx.x];
    if (!(mask >> threadIdx.x & 1)) return;
    out[threadIdx.x] = *reinterpret_cast<const T *>(constants + place);
}

// Starts a copy from global to shared memory without waiting for it.
template <int BYTES, bool CACHED>
__global__ void async_copy(Lanes from, Lanes to, unsigned mask, const char *global) {
    __shared__ __align__(1024) char memory[SHARED_BYTES];
    unsigned place = unsigned(__cvta_generic_to_shared(memory)) + to.offset[threadIdx.x];
    const char *source = global + from.offset[threadIdx.x];
    if (!(mask >> threadIdx.x & 1)) return;
    if (CACHED)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     :: "r"(place), "l"(source), "n"(BYTES) : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(place), "l"(source) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// Returns the offset of lane `lane`, in units of the bytes that it moves.
unsigned unit(std::istringstream &words, unsigned lane) {
    std::string kind;
    words >> kind;
    unsigned a = 0, b = 0, c = 0, at = 0;
    if (kind == "step") {
        words >> a;
        at = lane * a;
    } else if (kind == "rows") {
        words >> a >> b >> c;
        at = lane / a * b + lane % a * c;
    } else if (kind == "xor") {
        words >> a;
        at = lane ^ a;
    } else if (kind == "random") {
        words >> a >> b >> c;
        unsigned bits = (a << 8 | (lane & c)) * 0x9e3779b1u;
        bits = (bits ^ bits >> 15) * 0x85ebca77u;
        at = (bits ^ bits >> 13) % b;
    } else {
        fprintf(stderr, "no pattern: %s\n", kind.c_str());
        exit(1);
    }
    while (words >> kind && kind != "=" && kind != "to") {
        words >> a;
        if (kind == "from") at += a;
        if (kind == "but" && lane == a) at += 1;
    }
    return at;
}

template <int BYTES>
void launch(const std::string &memory, const std::string &operation, Lanes lanes, unsigned mask,
            int *out, char *global, Lanes *lanes_there) {
    if (memory == "shared" && operation == "load")
        shared_access<BYTES, LOAD><<<1, 32>>>(lanes, mask, out);
    else if (memory == "shared" && operation == "store")
        shared_access<BYTES, STORE><<<1, 32>>>(lanes, mask, out);
    else if (memory == "shared")
        shared_access<4, ATOMIC><<<1, 32>>>(lanes, mask, out);
    else if (memory == "global" && operation == "load")
        global_access<BYTES, LOAD><<<1, 32>>>(lanes, mask, out, global);
    else if (memory == "global" && operation == "store")
        global_access<BYTES, STORE><<<1, 32>>>(lanes, mask, out, global);
    else if (memory == "global")
        global_access<4, ATOMIC><<<1, 32>>>(lanes, mask, out, global);
    else {
        CHECK(cudaMemcpy(lanes_there, &lanes, sizeof lanes, cudaMemcpyHostToDevice));
        if (BYTES == 1)
            constant_access<<<1, 32>>>(lanes_there, mask, (uint8_t *)out);
        else if (BYTES == 2)
            constant_access<<<1, 32>>>(lanes_there, mask, (uint16_t *)out);
        else if (BYTES == 4)
            constant_access<<<1, 32>>>(lanes_there, mask, (uint32_t *)out);
        else
            constant_access<<<1, 32>>>(lanes_there, mask, (uint64_t *)out);
    }
    CHECK(cudaGetLastError());
}

void launch_copy(const std::string &operation, unsigned bytes, Lanes from, Lanes to, unsigned mask,
                 const char *global) {
    if (operation == "past")
        async_copy<16, false><<<1, 32>>>(from, to, mask, global);
    else if (bytes == 4)
        async_copy<4, true><<<1, 32>>>(from, to, mask, global);
    else if (bytes == 8)
        async_copy<8, true><<<1, 32>>>(from, to, mask, global);
    else
        async_copy<16, true><<<1, 32>>>(from, to, mask, global);
    CHECK(cudaGetLastError());
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: accesses shared|global|constant|copy TABLE\n");
        return 1;
    }
    int *out;
    char *global;
    Lanes *lanes_there;
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMalloc(&global, GLOBAL_BYTES));
    CHECK(cudaMalloc(&lanes_there, sizeof(Lanes)));
    std::ifstream table(words[2]);
    for (std::string line; std::getline(table, line);) {
        std::istringstream start(line);
        std::string memory, operation;
        unsigned bytes, mask;
        start >> memory >> operation >> bytes >> std::hex >> mask >> std::dec;
        if (memory != words[1]) continue;
        std::istringstream patterns(line.substr(size_t(start.tellg())));
        auto lanes_within = [&](unsigned room) {
            Lanes lanes;
            auto here = patterns.tellg();
            for (unsigned lane = 0; lane < 32; lane++) {
                patterns.clear();
                patterns.seekg(here);
                lanes.offset[lane] = unit(patterns, lane) * bytes;
                if (lanes.offset[lane] + bytes > room) {
                    fprintf(stderr, "too far: %s\n", line.c_str());
                    exit(1);
                }
            }
            return lanes;
        };
        if (memory == "copy") {
            Lanes from = lanes_within(GLOBAL_BYTES), to = lanes_within(SHARED_BYTES);
            launch_copy(operation, bytes, from, to, mask, global);
            continue;
        }
        Lanes lanes = lanes_within(memory == "shared"   ? SHARED_BYTES
                                   : memory == "global" ? GLOBAL_BYTES : CONSTANT_BYTES);
        switch (bytes) {
        case 1: launch<1>(memory, operation, lanes, mask, out, global, lanes_there); break;
        case 2: launch<2>(memory, operation, lanes, mask, out, global, lanes_there); break;
        case 4: launch<4>(memory, operation, lanes, mask, out, global, lanes_there); break;
        case 8: launch<8>(memory, operation, lanes, mask, out, global, lanes_there); break;
        default: launch<16>(memory, operation, lanes, mask, out, global, lanes_there); break;
        }
    }
    CHECK(cudaDeviceSynchronize());
}
