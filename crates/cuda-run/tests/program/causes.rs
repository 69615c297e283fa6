//! Causes of findings that depend on how the program allocated the memory.

use libtest_mimic::Failed;

use crate::support::Workspace;

/// Runs a program with all checks, which find errors. Its report must contain `texts`.
fn check(program: &str, texts: &[&str]) -> Result<(), Failed> {
    check_with_exit(1, program, texts)
}

/// Runs a program with all checks. It must end with this exit status, and its report must contain `texts`.
fn check_with_exit(exit: i32, program: &str, texts: &[&str]) -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("cause.cu", program);
    workspace
        .run(&["--check", "cause.cu"])
        .assert_exit(exit, texts)
}

/// Runs a program with all checks, which must find nothing.
fn check_silent(program: &str) -> Result<(), Failed> {
    check_with_exit(0, program, &["no findings"])
}

const PITCHED_KERNEL: &str = "__global__ void k(float *p, size_t stride, int rows) {\n\
         int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n\
         if (y < rows && x < 100) p[y * stride + x] += 1;\n\
     }\n";

pub fn pitch() -> Result<(), Failed> {
    let launch = |stride: &str, rows: u32| {
        format!(
            "{PITCHED_KERNEL}\
             int main() {{\n\
                 float *p; size_t pitch;\n\
                 cudaMallocPitch(&p, &pitch, 400, 40);\n\
                 cudaMemset2D(p, pitch, 0, 400, 40);\n\
                 k<<<dim3(7, 6), dim3(16, 8)>>>(p, {stride}, {rows});\n\
                 cudaDeviceSynchronize();\n\
             }}\n"
        )
    };
    let allocation = "byte allocation `p` at cause.cu:7 (`cudaMallocPitch`), with a pitch of 512 bytes for rows of 400 \
                      bytes";
    check(
        &launch("pitch", 40),
        &[
            "cause.cu:3",
            allocation,
            "likely cause: the pitch of 512 bytes used as a number of elements",
        ],
    )?;
    check(
        &launch("pitch / 4", 41),
        &[
            "cause.cu:3",
            allocation,
            "likely cause: a row or column without a bounds check, or the pitch",
        ],
    )
}

pub fn rows_not_copied() -> Result<(), Failed> {
    let program = |copied: u32, columns: u32| {
        format!(
            "__global__ void k(const char *p, size_t pitch, float *sums) {{\n\
                 const float *row = (const float *)(p + threadIdx.x * pitch);\n\
                 for (int x = 0; x < {columns}; x++) sums[threadIdx.x] += row[x];\n\
             }}\n\
             int main() {{\n\
                 char *p; float *sums; size_t pitch;\n\
                 cudaMallocPitch(&p, &pitch, 40, 32);\n\
                 cudaMalloc(&sums, 128);\n\
                 cudaMemset(sums, 0, 128);\n\
                 cudaMemset2D(p, pitch, 0, 40, {copied});\n\
                 k<<<1, 32>>>(p, pitch, sums);\n\
                 cudaDeviceSynchronize();\n\
                 cudaFree(p);\n\
                 cudaFree(sums);\n\
             }}\n"
        )
    };
    check(
        &program(8, 10),
        &[
            "cause.cu:3",
            "rows that were never copied to",
            "pitch of 512 bytes",
        ],
    )?;
    check(
        &program(32, 11),
        &[
            "cause.cu:3",
            "a column past the end of a row, whose 40 bytes",
        ],
    )
}

pub fn managed_memory() -> Result<(), Failed> {
    for (index, details) in [
        (
            "threadIdx.x + 1",
            "right past the end of the 256-byte allocation `p` at cause.cu:4 (`cudaMallocManaged`)",
        ),
        (
            "(int)threadIdx.x - 1",
            "4 bytes before the 256-byte allocation",
        ),
    ] {
        check(
            &format!(
                "__global__ void k(int *p) {{ p[{index}]++; }}\n\
                 int main() {{\n\
                     int *p;\n\
                     cudaMallocManaged(&p, 256);\n\
                     k<<<1, 64>>>(p);\n\
                     cudaDeviceSynchronize();\n\
                 }}\n"
            ),
            &["out-of-bounds access", "cause.cu:1", details],
        )?;
    }
    Ok(())
}

pub fn shared_arrays() -> Result<(), Failed> {
    let program = "__global__ void k(const float *in, float *out) {\n\
             __shared__ float weights[64];\n\
             __shared__ float tile[64];\n\
             int t = threadIdx.x;\n\
             weights[t] = 2;\n\
             tile[t] = in[t];\n\
             __syncthreads();\n\
             float left = tile[t - 1];\n\
             float right = tile[t + 1];\n\
             out[t] = weights[t] * (left + right);\n\
         }\n\
         int main() {\n\
             float *p;\n\
             cudaMalloc(&p, 256);\n\
             cudaMemset(p, 0, 256);\n\
             k<<<1, 64>>>(p, p);\n\
             cudaDeviceSynchronize();\n\
         }\n";
    check(
        program,
        &[
            "right past the end of the array `tile` of 256 bytes",
            "4 bytes before the start of the array `tile` of 256 bytes\n  likely cause: a negative index",
        ],
    )
}

pub fn allocations() -> Result<(), Failed> {
    let program = "__global__ void k(float *p) { p[threadIdx.x] = 1; }\n\
         float *buffer(size_t bytes) {\n\
             float *p;\n\
             cudaMalloc(&p, bytes);\n\
             return p;\n\
         }\n\
         int main() {\n\
             float *a, *b; cudaMalloc(&a, 64); cudaMalloc((void **)&b, 128);\n\
             k<<<1, 16>>>(a);\n\
             k<<<1, 32>>>(b);\n\
             k<<<1, 16>>>(buffer(64));\n\
             k<<<1, 64>>>(buffer(64));\n\
             cudaDeviceSynchronize();\n\
         }\n";
    check(
        program,
        &["the 64-byte allocation `p` at cause.cu:4 (`cudaMalloc`, 2nd allocation of this line)"],
    )?;
    let program = program.replace("k<<<1, 64>>>", "k<<<1, 16>>>");
    check(
        &program,
        &[
            "the 64-byte allocation `a` at cause.cu:8 (`cudaMalloc`)\n",
            "the 128-byte allocation `b` at cause.cu:8 (`cudaMalloc`)\n",
        ],
    )?;
    // Without checks, allocations are only numbered.
    let workspace = Workspace::new();
    workspace.write("cause.cu", &program.replace("k<<<1, 32>>>", "k<<<1, 33>>>"));
    let run = workspace.run(&["cause.cu"]);
    run.assert_exit(0, &["allocated 2nd"])
}

pub fn results_not_written() -> Result<(), Failed> {
    let program = |blocks: &str, copy: &str| {
        format!(
            "__global__ void square(float *v, int n) {{\n\
                 int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
                 if (i < n) v[i] = i * i;\n\
             }}\n\
             int main() {{\n\
                 const int n = 1000;\n\
                 float *v, *w, r[n];\n\
                 cudaMalloc(&v, sizeof(r));\n\
                 cudaMalloc(&w, sizeof(r));\n\
                 {blocks}\n\
                 {copy}\n\
                 cudaDeviceSynchronize();\n\
                 cudaFree(v);\n\
                 cudaFree(w);\n\
             }}\n"
        )
    };
    let rounded_down = "square<<<n / 64, 64>>>(v, n);";
    let copy = "cudaMemcpy(r, v, sizeof(r), cudaMemcpyDeviceToHost);";
    let found = [
        "error: init: copy of uninitialized device memory to the host\n  at cause.cu:11\n",
        "nothing has written 40 of the 1000 elements copied (4 bytes each); the first is element 960 of the 4000-byte \
         allocation `v` at cause.cu:8 (`cudaMalloc`)\n  kernel square wrote others\n  likely cause: too few threads",
    ];
    check(&program(rounded_down, copy), &found)?;
    // The state is copied with the data, and the copy in a stream is reported at its own line.
    let in_stream = "cudaMemcpy(w, v, 4000, cudaMemcpyDeviceToDevice); \
                     cudaMemcpyAsync(r, w, sizeof(r), cudaMemcpyDeviceToHost);";
    check(
        &program(rounded_down, in_stream),
        &["\n  at cause.cu:11\n", "allocation `w` at cause.cu:9"],
    )?;
    let nothing = "cudaMemcpy(r, w, sizeof(r), cudaMemcpyDeviceToHost);";
    check(
        &program(rounded_down, nothing),
        &[
            "nothing has written the 4000 bytes copied from the 4000-byte allocation",
            "a kernel that was not launched",
        ],
    )?;
    check_silent(&program("square<<<(n + 63) / 64, 64>>>(v, n);", copy))?;
    check_silent(&program(
        rounded_down,
        "cudaMemcpy(r, v, 3840, cudaMemcpyDeviceToHost);",
    ))?;
    check_silent(&program(
        &format!("cudaMemset(v, 0, sizeof(r)); {rounded_down}"),
        copy,
    ))
}

/// A kernel that cannot be loaded would have written the result.
pub fn results_of_kernels_that_do_not_load() -> Result<(), Failed> {
    let program = "__global__ void k(int *p) { *p = 1; }\n\
                   int main() {\n\
                       int *p, r;\n\
                       cudaMalloc(&p, 4);\n\
                       k<<<1, 1>>>(p);\n\
                       cudaMemcpy(&r, p, 4, cudaMemcpyDeviceToHost);\n\
                       cudaFree(p);\n\
                   }\n";
    let workspace = Workspace::new();
    workspace.write("cause.cu", program);
    let run = workspace.run(&["--check", "--device=gtx970", "--arch=sm_80", "cause.cu"]);
    run.assert_exit(1, &["1 module was rejected"])?;
    match run.stderr.contains("uninitialized") {
        true => Err(format!("{run:#?}").into()),
        false => Ok(()),
    }
}

pub fn padding_is_no_result() -> Result<(), Failed> {
    check_silent(
        "struct Item { double value; int count; };\n\
         __global__ void fill(Item *items, char *rows, size_t pitch) {\n\
             int i = threadIdx.x;\n\
             items[i].value = i;\n\
             items[i].count = i;\n\
             ((float *)(rows + i % 4 * pitch))[i / 4] = i;\n\
         }\n\
         int main() {\n\
             Item *items, copy[128];\n\
             char *rows; size_t pitch;\n\
             cudaMalloc(&items, sizeof(copy));\n\
             cudaMallocPitch(&rows, &pitch, 128, 4);\n\
             fill<<<1, 128>>>(items, rows, pitch);\n\
             cudaMemcpy(copy, items, sizeof(copy), cudaMemcpyDeviceToHost);\n\
             static char lines[2048];\n\
             cudaMemcpy2D(lines, 128, rows, pitch, 128, 4, cudaMemcpyDeviceToHost);\n\
             cudaMemcpy(lines, rows, 4 * pitch, cudaMemcpyDeviceToHost);\n\
             cudaFree(items);\n\
             cudaFree(rows);\n\
         }\n",
    )
}

/// Structures with padding after a float, a `bool` and a `short`.
const STRUCTURES: &str = "struct __align__(16) Point { float x, y, z; };\n\
     struct Ray { Point from, to; bool hit; };\n\
     struct alignas(8) Pair { int key; short value; };\n\
     struct Option { bool has; int value; };\n\
     __global__ void fill(Ray *rays, Pair *pairs, Option *options) {\n\
         int i = threadIdx.x;\n\
         rays[i].from.x = rays[i].from.y = rays[i].from.z = i;\n\
         rays[i].to.x = rays[i].to.y = rays[i].to.z = 0;\n\
         rays[i].hit = false;\n\
         pairs[i].key = pairs[i].value = i;\n\
         options[i].has = i % 2;\n\
         options[i].value = i;\n\
     }\n";

pub fn copies_of_padding() -> Result<(), Failed> {
    let program = |last: &str| {
        format!(
            "{STRUCTURES}\
             __global__ void copy(Ray *rays, const Ray *from, Option *options, const Option *known) {{\n\
                 int i = threadIdx.x;\n\
                 rays[63 - i] = from[i];\n\
                 options[i] = known[i];\n\
             }}\n\
             __device__ Point larger(Point a, Point b) {{ return a.x < b.x ? b : a; }}\n\
             __global__ void largest(Ray *rays) {{\n\
                 Point best = rays[0].from;\n\
                 for (int i = 1; i < 64; i++) best = larger(best, rays[i].from);\n\
                 rays[threadIdx.x].to = best;\n\
             }}\n\
             __global__ void sort(Pair *pairs) {{\n\
                 __shared__ Pair s[64];\n\
                 int t = threadIdx.x;\n\
                 s[t] = pairs[t];\n\
                 __syncthreads();\n\
                 for (int round = 0; round < 64; round++) {{\n\
                     int j = 2 * t + round % 2;\n\
                     if (j + 1 < 64 && s[j].key < s[j + 1].key) {{\n\
                         Pair swapped = s[j];\n\
                         s[j] = s[j + 1];\n\
                         s[j + 1] = swapped;\n\
                     }}\n\
                     __syncthreads();\n\
                 }}\n\
                 pairs[t] = s[t];\n\
             }}\n\
             __global__ void sum(const Ray *rays, float *out) {{\n\
                 float4 p = *(const float4 *)&rays[threadIdx.x].from;\n\
                 out[threadIdx.x] = p.x + {last};\n\
             }}\n\
             int main() {{\n\
                 Ray *rays, *others, host[64];\n\
                 Pair *pairs, sorted[64];\n\
                 Option *options, *known, chosen[64];\n\
                 cudaMalloc(&rays, sizeof(host));\n\
                 cudaMalloc(&others, sizeof(host));\n\
                 cudaMalloc(&pairs, sizeof(sorted));\n\
                 cudaMalloc(&options, sizeof(chosen));\n\
                 cudaMalloc(&known, sizeof(chosen));\n\
                 fill<<<1, 64>>>(rays, pairs, known);\n\
                 copy<<<1, 64>>>(others, rays, options, known);\n\
                 largest<<<1, 1>>>(rays);\n\
                 sort<<<1, 64>>>(pairs);\n\
                 sum<<<1, 32>>>(others, (float *)rays);\n\
                 cudaMemcpy(host, others, sizeof(host), cudaMemcpyDeviceToHost);\n\
                 cudaMemcpy(sorted, pairs, sizeof(sorted), cudaMemcpyDeviceToHost);\n\
                 cudaMemcpy(chosen, options, sizeof(chosen), cudaMemcpyDeviceToHost);\n\
                 cudaFree(rays);\n\
                 cudaFree(others);\n\
                 cudaFree(pairs);\n\
                 cudaFree(options);\n\
                 cudaFree(known);\n\
             }}\n"
        )
    };
    check_silent(&program("p.x"))?;
    // The last member of a copied point is used, though nothing has set it.
    check(
        &program("p.w"),
        &[
            "read of uninitialized device memory (32 times)\n  in kernel sum, block (0, 0, 0), thread (0, 0, 0)",
            "allocation `others` at cause.cu:",
            "likely cause: bytes before and after these have been written: a member of a structure",
        ],
    )
}

pub fn overlapping_arrays() -> Result<(), Failed> {
    let program = |offset: &str, ty: &str| {
        format!(
            "__global__ void k(double *out) {{\n\
                 extern __shared__ char buffer[];\n\
                 int *counts = (int *)buffer, t = threadIdx.x;\n\
                 {ty} *sums = ({ty} *)(buffer + {offset});\n\
                 counts[t] = 2 * t;\n\
                 sums[t] = 0.5 * t;\n\
                 __syncthreads();\n\
                 out[t] = counts[63 - t] + sums[63 - t];\n\
             }}\n\
             int main() {{\n\
                 double *out, result[64];\n\
                 cudaMalloc(&out, sizeof(result));\n\
                 k<<<1, 64, 1024>>>(out);\n\
                 cudaMemcpy(result, out, sizeof(result), cudaMemcpyDeviceToHost);\n\
                 cudaFree(out);\n\
             }}\n"
        )
    };
    check(
        &program("64", "double"),
        &[
            "error: race: write-after-write data race",
            "writes at cause.cu:6",
            "writes at cause.cu:5",
            "likely cause: arrays that overlap: one line uses the bytes as `double` and the other as `int`",
        ],
    )?;
    check_silent(&program("64 * sizeof(int)", "double"))?;
    check_silent(&program("64 * sizeof(int)", "float"))
}

pub fn textures() -> Result<(), Failed> {
    let program = |width: &str, columns: u32, description: &str| {
        format!(
            "#include <cuda_runtime.h>\n\
             __global__ void read(cudaTextureObject_t t, float *out) {{\n\
                 int x = threadIdx.x, y = threadIdx.y;\n\
                 out[y * {columns} + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);\n\
             }}\n\
             int main() {{\n\
                 static float image[64], result[256];\n\
                 cudaArray_t array;\n\
                 cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();\n\
                 cudaMallocArray(&array, &format, 8, 8);\n\
                 cudaMemcpy2DToArray(array, 0, 0, image, 32, {width}, 8, cudaMemcpyHostToDevice);\n\
                 cudaResourceDesc resource = {{}};\n\
                 resource.resType = cudaResourceTypeArray;\n\
                 resource.res.array.array = array;\n\
                 cudaTextureDesc description = {{}};\n\
                 {description}\n\
                 cudaTextureObject_t t;\n\
                 cudaCreateTextureObject(&t, &resource, &description, nullptr);\n\
                 float *out;\n\
                 cudaMalloc(&out, {columns} * 32);\n\
                 read<<<1, dim3({columns}, 8)>>>(t, out);\n\
                 cudaMemcpy(result, out, {columns} * 32, cudaMemcpyDeviceToHost);\n\
                 cudaDestroyTextureObject(t);\n\
                 cudaFreeArray(array);\n\
                 cudaFree(out);\n\
             }}\n"
        )
    };
    check(
        &program("8", 8, ""),
        &[
            "read of uninitialized device memory (48 times)\n  in kernel read, block (0, 0, 0), thread (2, 0, 0)\n  \
             at cause.cu:4",
            "allocation `array` at cause.cu:10 (`cudaMallocArray`)",
            "likely cause: an array that was never copied to, or only in part",
        ],
    )?;
    let mirror = "description.addressMode[0] = cudaAddressModeMirror;";
    for mode in ["", mirror] {
        check_with_exit(
            0,
            &program("32", 16, mode),
            &[
                "warning: mem: texture coordinate outside the texture",
                "(64 times)",
                "at cause.cu:4",
                "x is in texel 8, the texture has 8 texels in x",
                "`normalizedCoords = 1`",
            ],
        )?;
    }
    let clamp = "description.addressMode[0] = cudaAddressModeClamp;";
    check_silent(&program("32", 16, clamp))?;
    // The default mode does not matter inside the texture.
    check_silent(&program("32", 8, ""))
}

pub fn surfaces() -> Result<(), Failed> {
    let program = |threads: &str| {
        format!(
            "#include <cuda_runtime.h>\n\
             __global__ void fill(cudaSurfaceObject_t s) {{\n\
                 surf2Dwrite<float>(1, s, threadIdx.x * 4, threadIdx.y);\n\
             }}\n\
             __global__ void read(cudaSurfaceObject_t s, float *out) {{\n\
                 out[threadIdx.y * 8 + threadIdx.x] = surf2Dread<float>(s, threadIdx.x * 4, threadIdx.y);\n\
             }}\n\
             int main() {{\n\
                 static float result[64];\n\
                 float *out;\n\
                 cudaArray_t array;\n\
                 cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();\n\
                 cudaMallocArray(&array, &format, 8, 8, cudaArraySurfaceLoadStore);\n\
                 cudaResourceDesc resource = {{}};\n\
                 resource.resType = cudaResourceTypeArray;\n\
                 resource.res.array.array = array;\n\
                 cudaSurfaceObject_t s;\n\
                 cudaCreateSurfaceObject(&s, &resource);\n\
                 cudaMalloc(&out, sizeof(result));\n\
                 fill<<<1, dim3({threads})>>>(s);\n\
                 read<<<1, dim3(8, 8)>>>(s, out);\n\
                 cudaMemcpy2DFromArray(result, 32, array, 0, 0, 32, 8, cudaMemcpyDeviceToHost);\n\
                 cudaDestroySurfaceObject(s);\n\
                 cudaFreeArray(array);\n\
                 cudaFree(out);\n\
             }}\n"
        )
    };
    check_silent(&program("8, 8"))?;
    check(
        &program("6, 8"),
        &[
            "read of uninitialized device memory (16 times)\n  in kernel read, block (0, 0, 0), thread (6, 0, 0)\n  \
             at cause.cu:6",
            "allocation `array` at cause.cu:13 (`cudaMallocArray`)",
            "likely cause: a surface whose array was never copied to, or a kernel that writes fewer elements",
        ],
    )
}

pub fn cube_maps() -> Result<(), Failed> {
    let program = |faces: u32| {
        format!(
            "#include <cuda_runtime.h>\n\
             __global__ void read(cudaTextureObject_t t, float *out) {{\n\
                 int i = threadIdx.x, axis = i / 2;\n\
                 float at = i % 2 ? -1 : 1;\n\
                 out[i] = texCubemap<float>(t, axis == 0 ? at : 0, axis == 1 ? at : 0, axis == 2 ? at : 0);\n\
             }}\n\
             int main() {{\n\
                 static float image[96];\n\
                 cudaArray_t array;\n\
                 cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();\n\
                 cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 4, 6), cudaArrayCubemap);\n\
                 cudaMemcpy3DParms copy = {{}};\n\
                 copy.srcPtr = make_cudaPitchedPtr(image, 16, 4, 4);\n\
                 copy.dstArray = array;\n\
                 copy.extent = make_cudaExtent(4, 4, {faces});\n\
                 copy.kind = cudaMemcpyHostToDevice;\n\
                 cudaMemcpy3D(&copy);\n\
                 cudaResourceDesc resource = {{}};\n\
                 resource.resType = cudaResourceTypeArray;\n\
                 resource.res.array.array = array;\n\
                 cudaTextureDesc description = {{}};\n\
                 cudaTextureObject_t t;\n\
                 cudaCreateTextureObject(&t, &resource, &description, nullptr);\n\
                 float *out;\n\
                 cudaMalloc(&out, 24);\n\
                 read<<<1, 6>>>(t, out);\n\
                 cudaDeviceSynchronize();\n\
                 cudaDestroyTextureObject(t);\n\
                 cudaFreeArray(array);\n\
                 cudaFree(out);\n\
             }}\n"
        )
    };
    check_silent(&program(6))?;
    check(
        &program(4),
        &[
            "read of uninitialized device memory (2 times)\n  in kernel read, block (0, 0, 0), thread (4, 0, 0)\n  \
             at cause.cu:5",
            "likely cause: an array that was never copied to, or only in part",
        ],
    )
}

pub fn extern_arrays() -> Result<(), Failed> {
    let program = |second: &str| {
        format!(
            "__global__ void k(const float *in, float *out) {{\n\
                 extern __shared__ float first[];\n\
                 {second}\n\
                 int t = threadIdx.x;\n\
                 first[t] = in[t];\n\
                 second[t] = 2 * in[t];\n\
                 __syncthreads();\n\
                 out[t] = first[31 - t] + second[31 - t];\n\
             }}\n\
             int main() {{\n\
                 float *p;\n\
                 cudaMalloc(&p, 128);\n\
                 cudaMemset(p, 0, 128);\n\
                 k<<<1, 32, 256>>>(p, p);\n\
                 cudaDeviceSynchronize();\n\
                 cudaFree(p);\n\
             }}\n"
        )
    };
    check_with_exit(
        0,
        &program("extern __shared__ float second[];"),
        &[
            "warning: mem: several `extern __shared__` arrays in one kernel\n  in kernel k\n  at cause.cu:",
            "the arrays `first`, `second` start at the same address",
            "declare one, and compute the other pointers from it",
        ],
    )?;
    check_silent(&program("float *second = first + 32;"))
}

pub fn byte_fills() -> Result<(), Failed> {
    let program = |ty: &str, value: &str| {
        format!(
            "__global__ void k({ty} *best) {{\n\
                 if (best[threadIdx.x] > threadIdx.x) best[threadIdx.x] = threadIdx.x;\n\
             }}\n\
             int main() {{\n\
                 {ty} *best;\n\
                 cudaMalloc(&best, 64 * sizeof({ty}));\n\
                 cudaMemset(best, {value}, 64 * sizeof({ty}));\n\
                 k<<<1, 64>>>(best);\n\
                 cudaDeviceSynchronize();\n\
                 cudaFree(best);\n\
             }}\n"
        )
    };
    check_with_exit(
        0,
        &program("float", "1.0f"),
        &[
            "warning: init: read of memory that was set byte by byte",
            "at cause.cu:2",
            "cudaMemset at cause.cu:7 set each byte to 1: a float reads 2.36943e-38\n  in the 256-byte allocation \
             `best` at cause.cu:6",
        ],
    )?;
    check_with_exit(
        0,
        &program("double", "1.0"),
        &["a double reads 7.74860e-304"],
    )?;
    check_with_exit(
        0,
        &program("int", "1"),
        &["warning: init", "an integer reads 16843009 (0x1010101)"],
    )?;
    for (ty, value) in [
        ("int", "-1"),
        ("int", "0x3f"),
        ("float", "0x7f"),
        ("float", "0"),
        ("char", "1"),
    ] {
        check_silent(&program(ty, value))?;
    }
    Ok(())
}

/// The start of programs that copy `host` to the device and read it in several ways.
const READERS: &str = "#include <cuda_runtime.h>\n\
     #include <cstdio>\n\
     struct Item { double value; int count; };\n\
     __device__ float sums[1024];\n\
     __global__ void add(const float *in, int n) {\n\
         int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
         if (i < n) sums[i] += in[i];\n\
     }\n\
     __global__ void vectors(const float4 *in) { sums[threadIdx.x] = in[threadIdx.x].w; }\n\
     __global__ void items(const Item *in) { sums[threadIdx.x] = in[threadIdx.x].value + in[threadIdx.x].count; }\n\
     __global__ void rows(const char *in, size_t pitch) {\n\
         sums[threadIdx.x] += ((const float *)(in + threadIdx.y * pitch))[threadIdx.x];\n\
     }\n\
     __global__ void overwrite(float *out) { out[threadIdx.x] = 1; }\n\
     __global__ void count(int *bins) { atomicAdd(&bins[threadIdx.x], 1); }\n\
     __global__ void say(const char *text) { printf(\"%s\", text); }\n\
     __global__ void fetch(cudaTextureObject_t t) {\n\
         sums[threadIdx.x] = tex2D<float>(t, 2 * threadIdx.x + 1, 2 * threadIdx.y + 1);\n\
     }\n\
     __global__ void load(cudaSurfaceObject_t s) { sums[threadIdx.x] = surf2Dread<float>(s, 4 * threadIdx.x, 0); }\n\
     static float host[1024];\n\
     static void copy(void *to, size_t bytes) { cudaMemcpy(to, host, bytes, cudaMemcpyHostToDevice); }\n";

/// Runs the body of `main` after [`READERS`] with these checks. Its report must contain `texts`.
fn check_input(checks: &str, body: &str, texts: &[&str]) -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write("input.cu", &format!("{READERS}int main() {{\n{body}}}\n"));
    workspace
        .run(&[&format!("--check={checks}"), "input.cu"])
        .assert_exit(0, texts)
}

pub fn unused_input() -> Result<(), Failed> {
    let line = READERS.lines().count();
    let at = |offset: usize| format!("at input.cu:{}", line + 1 + offset);
    let tail = "float *table;\n\
         cudaMalloc(&table, 4000);\n\
         cudaMemcpy(table, host, 4000, cudaMemcpyHostToDevice);\n\
         add<<<3, 250>>>(table, 750);\n\
         cudaFree(table);\n";
    let texts = [
        "warning: unused: input that no kernel and no copy has read",
        &at(3),
        "nothing has read 250 of the 1000 elements (4 bytes each) copied to the 4000-byte allocation `table` at \
         input.cu",
        "; the first is element 750",
        "likely cause: too few threads or iterations",
    ];
    check_input("unused", tail, &texts)?;
    check_input("all,unused", tail, &texts)?;
    check_input("all", tail, &["no findings"])?;
    // Memory that is still allocated when its context is destroyed, or when the program ends.
    for end in ["cudaDeviceReset();\n", ""] {
        let body = format!(
            "float *forgotten;\ncudaMalloc(&forgotten, 256);\n\
             cudaMemset(forgotten, 0, 256);\nadd<<<1, 32>>>(nullptr, 0);\ncudaDeviceSynchronize();\n{end}"
        );
        check_input(
            "unused",
            &body,
            &[
                &at(3),
                "nothing has read any of the 256 bytes set in the 256-byte allocation `forgotten`",
                "likely cause: a kernel that was not launched",
            ],
        )?;
    }
    let vectors = "float4 *v;\n\
         cudaMallocAsync(&v, 1024, 0);\n\
         cudaMemcpyAsync(v, host, 1024, cudaMemcpyHostToDevice);\n\
         vectors<<<1, 32>>>(v);\n\
         cudaFreeAsync(v, 0);\n\
         cudaDeviceSynchronize();\n";
    check_input(
        "unused",
        vectors,
        &[
            &at(3),
            "nothing has read ",
            "copied to the 1024-byte allocation `v`",
        ],
    )
}

pub fn used_input() -> Result<(), Failed> {
    let body = "float *p, *q; char *r; Item *s; size_t pitch;\n\
         cudaMalloc(&p, 4096);\n\
         copy(p, 4096); add<<<4, 256>>>(p, 1024); cudaFree(p);\n\
         cudaMalloc(&p, 4096); cudaMalloc(&q, 4096);\n\
         copy(p, 4096);\n\
         cudaMemcpy(q, p, 4096, cudaMemcpyDeviceToDevice);\n\
         cudaFree(p);\n\
         copy(q, 4096); cudaMemcpy(host, q, 4096, cudaMemcpyDeviceToHost); cudaFree(q);\n\
         // Zeros around the data, and a buffer that a kernel overwrites or updates.\n\
         cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); copy(p, 1000); add<<<1, 250>>>(p, 250); cudaFree(p);\n\
         cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); overwrite<<<1, 1024>>>(p); cudaFree(p);\n\
         cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); count<<<1, 1024>>>((int *)p); cudaFree(p);\n\
         // Padding.\n\
         cudaMalloc(&s, 64 * sizeof(Item)); copy(s, 64 * sizeof(Item)); items<<<1, 64>>>(s); cudaFree(s);\n\
         cudaMallocPitch(&r, &pitch, 128, 8);\n\
         cudaMemset(r, 0, 8 * pitch); rows<<<1, dim3(32, 8)>>>(r, pitch); cudaFree(r);\n\
         cudaMalloc(&r, 16); cudaMemcpy(r, \"hello\", 6, cudaMemcpyHostToDevice); say<<<1, 1>>>(r); cudaFree(r);\n\
         // A linear filter reads texels around the coordinates.\n\
         cudaArray_t array;\n\
         cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();\n\
         for (bool surface : {false, true}) {\n\
             cudaMallocArray(&array, &format, 8, 8, surface ? cudaArraySurfaceLoadStore : 0);\n\
             cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 8, cudaMemcpyHostToDevice);\n\
             cudaResourceDesc resource = {};\n\
             resource.resType = cudaResourceTypeArray;\n\
             resource.res.array.array = array;\n\
             cudaTextureDesc settings = {};\n\
             settings.filterMode = cudaFilterModeLinear;\n\
             cudaTextureObject_t texture;\n\
             cudaSurfaceObject_t object;\n\
             if (surface) {\n\
                 cudaCreateSurfaceObject(&object, &resource);\n\
                 load<<<1, 8>>>(object);\n\
             } else {\n\
                 cudaCreateTextureObject(&texture, &resource, &settings, nullptr);\n\
                 fetch<<<1, dim3(4, 4)>>>(texture);\n\
             }\n\
             cudaDeviceSynchronize();\n\
             cudaFreeArray(array);\n\
         }\n";
    check_input("unused", body, &["no findings"])
}

/// Kernels that read next to atomics or to stores of other threads. Each has 4 blocks of 256 threads and gets 256 zeros.
const RACING_KERNELS: &str = "__device__ float add(float *p, float x) {\n\
         int *bits = (int *)p, old = *bits, assumed;\n\
         do {\n\
             assumed = old;\n\
             old = atomicCAS(bits, assumed, __float_as_int(x + __int_as_float(assumed)));\n\
         } while (assumed != old);\n\
         return __int_as_float(old);\n\
     }\n\
     __global__ void k(int *p) {\n\
         __shared__ int bins[256];\n\
         int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n\
         bins[t] = 0;\n";

pub fn races_with_atomics() -> Result<(), Failed> {
    let launch = |body: &str| {
        format!(
            "{RACING_KERNELS}{body}}}\n\
             int main() {{\n\
                 int *p;\n\
                 cudaMalloc(&p, 1024); cudaMemset(p, 0, 1024);\n\
                 k<<<4, 256>>>(p);\n\
                 cudaDeviceSynchronize(); cudaFree(p);\n\
             }}\n"
        )
    };
    for correct in [
        "add((float *)p, 1);",
        "if (i > *p) atomicMax(p, i);",
        "atomicAdd(p, 1); while (*(volatile int *)p < 0);",
        "__syncthreads(); add((float *)&bins[t % 8], 1); __syncthreads(); if (bins[0]) *p = 1;",
        "__syncthreads(); if (t > bins[0]) atomicMax(&bins[0], t);",
    ] {
        check_silent(&launch(correct))?;
    }
    for (body, texts) in [
        (
            "atomicAdd(&bins[i * 7 % 256], 1);\n",
            &[
                "cause.cu:13",
                "updates atomically at cause.cu:13",
                "a missing `__syncthreads()` between the two lines",
            ][..],
        ),
        (
            "__syncthreads();\natomicAdd(&bins[0], 1);\n__syncwarp();\nif (bins[0] > 9) p[t] = 1;\n",
            &[
                "reads at cause.cu:16",
                "updates atomically at cause.cu:14",
                "a missing `__syncthreads()` between the two lines",
            ],
        ),
        (
            "if (t > 0 && t < 255) p[t] = p[t - 1] + p[t + 1] + i;\n",
            &[
                "error: race: data race between blocks",
                "blocks run in any order",
            ],
        ),
    ] {
        check(&launch(body), texts)?;
    }
    // Intended in some programs.
    for (body, text) in [
        (
            "int old = *p;\natomicAdd(p, 1);\nbins[t] = old;\n__syncthreads();\nif (bins[0] == -1) *p = 1;",
            "may be out of date",
        ),
        ("if (p[i % 8] == 0) p[i % 8] = 1;\n", "a flag or a level"),
    ] {
        check_with_exit(0, &launch(body), &["warning: race", text])?;
    }
    Ok(())
}
