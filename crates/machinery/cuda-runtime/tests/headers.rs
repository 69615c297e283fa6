//! The headers declare what the crates define, and compile as C and as C++.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../kernels/include")
}

fn header(name: &str) -> String {
    let path = include().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The functions that a header declares: names before an opening parenthesis, after their result, and those
/// that they have in a program with a default stream for each thread.
fn declared(name: &str, result: &str) -> BTreeSet<String> {
    let text = header(name);
    let ends = |c: char| !c.is_alphanumeric() && c != '_';
    let mut names = BTreeSet::new();
    for line in text
        .lines()
        .filter(|line| !line.starts_with([' ', '#', '/']))
    {
        let before = line.split('(').next().unwrap_or_default();
        let name = before.rsplit(ends).next().unwrap_or_default();
        if name.starts_with(result) && line.contains('(') && !line.starts_with("typedef") {
            names.insert(name.to_owned());
        }
    }
    for part in text.split("WARPBOOK_PER_THREAD(").skip(1) {
        let name = part.split(ends).next().unwrap_or_default();
        if name.starts_with(result) {
            names.insert(name.to_owned());
        }
    }
    names
}

/// Both lists have the same names.
fn same(declared: &BTreeSet<String>, defined: &BTreeSet<String>) -> Result<(), Failed> {
    let missing: Vec<_> = declared.difference(defined).collect();
    let hidden: Vec<_> = defined.difference(declared).collect();
    if !missing.is_empty() || !hidden.is_empty() {
        return Err(format!("declared, not there: {missing:?}; not declared: {hidden:?}").into());
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
    same(&all, &defined)
}

/// Programs that load the driver's library find more functions there than those that the header is for.
fn the_drivers_functions_that_are_declared_are_there() -> Result<(), Failed> {
    let defined: BTreeSet<_> = cuda_driver::functions::names().collect();
    let headers = [
        "cuda.h",
        "warpbook/driver_graphs.h",
        "warpbook/driver_recent.h",
    ];
    let declared = headers.map(|name| declared(name, "cu"));
    let missing = |name: &&String| !defined.contains(name.as_str());
    let missing: Vec<_> = declared.iter().flatten().filter(missing).collect();
    if !missing.is_empty() {
        return Err(format!("declared, not there: {missing:?}").into());
    }
    Ok(())
}

/// A program that uses each kind of thing that the headers have, without a kernel.
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

/// Compiles a text with a compiler, and nothing may be said of it.
fn compiles(compiler: &str, language: &str, standard: &str, text: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("program");
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    for more in [&[][..], &["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]] {
        let run = Command::new(compiler)
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
        if !run.status.success() {
            return Err(String::from_utf8_lossy(&run.stderr).into_owned().into());
        }
    }
    Ok(())
}

/// All clangs that are installed.
fn compilers() -> Vec<String> {
    let names = (14..=24).map(|version| format!("clang-{version}"));
    let names = std::iter::once("clang".to_owned()).chain(names);
    let there = |name: &String| Command::new(name).arg("--version").output().is_ok();
    names.filter(there).collect()
}

fn main() {
    let mut trials = vec![
        Trial::test(
            "the runtime's functions are declared",
            the_runtimes_functions_are_declared,
        ),
        Trial::test(
            "the driver's functions that are declared are there",
            the_drivers_functions_that_are_declared_are_there,
        ),
    ];
    let compilers = compilers();
    if compilers.is_empty() {
        let without = Trial::test("the headers compile (there is no clang)", || Ok(()));
        trials.push(without.with_ignored_flag(true));
    }
    for compiler in compilers {
        for (language, standard, text) in [
            ("c", "-std=c11", C),
            ("c++", "-std=c++17", C),
            ("c++", "-std=c++11", CPP),
            ("c++", "-std=c++17", CPP),
        ] {
            let which = if text == C { "both APIs" } else { "templates" };
            let name = format!("{compiler} {standard}: {which}");
            let compiler = compiler.clone();
            trials.push(Trial::test(name, move || {
                compiles(&compiler, language, standard, text)
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
