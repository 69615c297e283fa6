//! The headers in `kernels/include` declare exactly the functions that the crates define, and compile as C
//! and C++.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../kernels/include")
}

fn header(name: &str) -> String {
    let path = include().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the functions that a header declares: names before an opening parenthesis that start with `result`,
/// and their variants for per-thread default streams.
fn declared(name: &str, result: &str) -> BTreeSet<String> {
    let source = header(name);
    let is_delimiter = |c: char| !c.is_alphanumeric() && c != '_';
    let mut names = BTreeSet::new();
    for line in source
        .lines()
        .filter(|line| !line.starts_with([' ', '#', '/']))
    {
        let head = line.split('(').next().unwrap_or_default();
        let name = head.rsplit(is_delimiter).next().unwrap_or_default();
        if name.starts_with(result) && line.contains('(') && !line.starts_with("typedef") {
            names.insert(name.to_owned());
        }
    }
    for part in source.split("WARPBOOK_PER_THREAD(").skip(1) {
        let name = part.split(is_delimiter).next().unwrap_or_default();
        if name.starts_with(result) {
            names.insert(name.to_owned());
        }
    }
    names
}

/// Checks that both sets are equal.
fn same_names(declared: &BTreeSet<String>, defined: &BTreeSet<String>) -> Result<(), Failed> {
    let undefined: Vec<_> = declared.difference(defined).collect();
    let undeclared: Vec<_> = defined.difference(declared).collect();
    if !undefined.is_empty() || !undeclared.is_empty() {
        return Err(format!(
            "declared but not defined: {undefined:?}; defined but not declared: {undeclared:?}"
        )
        .into());
    }
    Ok(())
}

fn the_runtimes_functions_are_declared() -> Result<(), Failed> {
    let headers = [
        "cuda_runtime_api.h",
        "cuda_profiler_api.h",
        "warpbook/runtime_graphs.h",
        "warpbook/runtime_missing.h",
    ];
    let all = headers.map(|name| declared(name, "cuda"));
    let all: BTreeSet<String> = all.into_iter().flatten().collect();
    let defined = cuda_runtime::names().filter(|name| !name.starts_with("__"));
    let defined: BTreeSet<String> = defined.map(str::to_owned).collect();
    if defined.len() < 200 {
        return Err(format!("{} functions", defined.len()).into());
    }
    same_names(&all, &defined)
}

/// The library defines more functions than the header declares, for programs that load it dynamically.
fn the_declared_driver_functions_are_defined() -> Result<(), Failed> {
    let defined: BTreeSet<_> = cuda_driver::functions::names().collect();
    let headers = [
        "cuda.h",
        "warpbook/driver_graphs.h",
        "warpbook/driver_tensor_maps.h",
        "warpbook/driver_names.h",
        "warpbook/driver_others.h",
        "warpbook/driver_recent.h",
    ];
    let declared = headers.map(|name| declared(name, "cu"));
    let undefined = |name: &&String| !defined.contains(name.as_str());
    let undefined: Vec<_> = declared.iter().flatten().filter(undefined).collect();
    if !undefined.is_empty() {
        return Err(format!("declared but not defined: {undefined:?}").into());
    }
    Ok(())
}

/// A program without kernels that uses every kind of declaration in the headers.
const C: &str = r#"
#include "cuda_runtime_api.h"
#include "cuda.h"
#include "library_types.h"
#include "builtin_types.h"
int main(void) {
    void *at;
    struct cudaDeviceProp properties;
    static struct cudaMemcpy3DParms copy;
    cudaStream_t stream = cudaStreamPerThread;
    CUdeviceptr address;
    copy.srcPtr = make_cudaPitchedPtr(0, 1, 2, 3);
    copy.extent = make_cudaExtent(1, 2, 3);
    copy.kind = cudaMemcpyDefault;
    if (cudaMalloc(&at, 4) != cudaSuccess) return (int)CUDA_R_32F;
    cudaGetDeviceProperties(&properties, properties.clockRate);
    cudaMemcpyAsync(at, at, 4, cudaMemcpyDeviceToDevice, stream);
    cuGraphInstantiate((CUgraphExec *)at, (CUgraph)at, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
    return cuMemAlloc(&address, 4) == CUDA_SUCCESS ? 0 : cudaMemcpy3D(&copy);
}
"#;

const CPP: &str = r#"
#include <cuda_runtime_api.h>
#include <cuda.h>
static float variable[4];
static void kernel(int *, float) {}
struct Shared { size_t operator()(int threads) const { return threads * 4; } };
int main() {
    int *at, blocks, threads;
    void *place;
    size_t pitch;
    float *host;
    cudaFuncAttributes attributes;
    cudaMalloc(&at, 4);
    cudaMallocPitch(&at, &pitch, 4, 4);
    cudaMallocManaged(&at, 4);
    cudaMallocHost(&host, 4);
    cudaHostAlloc(&host, 4, cudaHostAllocMapped);
    cudaMallocAsync(&at, 4, cudaStreamLegacy);
    cudaMemcpyToSymbol(variable, host, 16);
    cudaMemcpyFromSymbolAsync(host, variable, 16);
    cudaGetSymbolAddress(&place, variable);
    cudaGetSymbolSize(&pitch, variable);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 4);
    cudaFuncGetAttributes(&attributes, kernel);
    cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1);
    cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel);
    cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel, 4, 128);
    cudaOccupancyMaxPotentialBlockSizeVariableSMem(&blocks, &threads, kernel, Shared());
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0);
    float number = 1;
    void *arguments[] = {&at, &number};
    cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments);
    cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(32), arguments, 0, 0);
#if __cplusplus >= 201103L
    cudaLaunchConfig_t config = {};
    cudaLaunchKernelEx(&config, kernel, at, 2);
#endif
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    cudaEvent_t event;
    cudaEventCreate(&event, cudaEventDisableTiming);
    cudaEventRecord(event);
    cudaGraph_t graph = 0;
    cudaGraphExec_t launched;
    cudaGraphNode_t node;
    char log[8];
    cudaStreamCaptureStatus status;
    cudaGraphExecUpdateResult updated;
    cudaGraphInstantiate(&launched, graph, &node, log, sizeof log);
    cudaGraphInstantiate(&launched, graph, 0);
    cudaGraphExecUpdate(launched, graph, &node, &updated);
    cudaGraphAddMemcpyNodeToSymbol(&node, graph, 0, 0, variable, host, 16, 0,
                                   cudaMemcpyHostToDevice);
    cudaStreamGetCaptureInfo(0, &status);
    return format.x + cudaCreateChannelDesc<uchar2>().y;
}
"#;

/// Checks that a source compiles without any diagnostics.
fn compiles(compiler: &str, language: &str, standard: &str, source: &str) -> Result<(), Failed> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = directory.path().join("program");
    std::fs::write(&path, source).map_err(|error| error.to_string())?;
    for more in [&[][..], &["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]] {
        let result = Command::new(compiler)
            .args([
                "-x",
                language,
                standard,
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsyntax-only",
            ])
            .args(more)
            .arg("-I")
            .arg(include())
            .arg(&path)
            .output()
            .map_err(|error| error.to_string())?;
        if !result.status.success() {
            return Err(String::from_utf8_lossy(&result.stderr).into_owned().into());
        }
    }
    Ok(())
}

/// Returns the names of all installed versions of clang.
fn compilers() -> Vec<String> {
    let names = (14..=24).map(|version| format!("clang-{version}"));
    let names = std::iter::once("clang".to_owned()).chain(names);
    let is_installed = |name: &String| Command::new(name).arg("--version").output().is_ok();
    names.filter(is_installed).collect()
}

fn main() {
    let mut trials = vec![
        Trial::test(
            "the runtime's functions are declared",
            the_runtimes_functions_are_declared,
        ),
        Trial::test(
            "the declared driver functions are defined",
            the_declared_driver_functions_are_defined,
        ),
    ];
    let compilers = compilers();
    if compilers.is_empty() {
        let skipped = Trial::test("the headers compile (no clang found)", || Ok(()));
        trials.push(skipped.with_ignored_flag(true));
    }
    for compiler in compilers {
        for (language, standard, source) in [
            ("c", "-std=c11", C),
            ("c++", "-std=c++17", C),
            ("c++", "-std=c++11", CPP),
            ("c++", "-std=c++17", CPP),
        ] {
            let apis = if source == C {
                "both APIs"
            } else {
                "templates"
            };
            let name = format!("{compiler} {standard}: {apis}");
            let compiler = compiler.clone();
            trials.push(Trial::test(name, move || {
                compiles(&compiler, language, standard, source)
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
