//! A program that cannot be loaded: which functions nobody has, and where they are called.

use std::path::PathBuf;

use anyhow::{Error, anyhow};

use crate::compile::Compiler;

/// Why a program does not load, in words for its author; `why` is the system's own.
pub fn explained(compiler: &Compiler, files: &[PathBuf], why: &str) -> Error {
    if why == "main" {
        return anyhow!(
            "no file of {} has a main, so there is no program to run. For one kernel without a host program, \
             say in the kernel's file how to launch it: docs/records/launch-plan.md",
            names(files)
        );
    }
    let mut open = compiler.open_functions(files);
    open.retain(|one| !is_here(&one.name));
    if open.is_empty() {
        return anyhow!("the program cannot be loaded: {why}");
    }
    let lines = open.iter().map(|one| {
        let called = match one.place.as_str() {
            "" => String::new(),
            place => format!(" (called in {place})"),
        };
        format!("{}{called} {}", one.name, whose(&one.name))
    });
    let lines: Vec<String> = lines.collect();
    anyhow!("the program needs what is not there:\n{}", lines.join("\n"))
}

fn names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    names.join(", ")
}

/// Whether this process has a function of that name.
#[cfg(unix)]
fn is_here(name: &str) -> bool {
    use libloading::os::unix::Library;
    // SAFETY: it is only looked up, and never called.
    unsafe { Library::this().get::<unsafe extern "C" fn()>(name) }.is_ok()
}

#[cfg(not(unix))]
fn is_here(_name: &str) -> bool {
    false
}

/// Who would have such a function.
fn whose(name: &str) -> String {
    const LIBRARIES: [(&str, &str); 9] = [
        ("cublas", "cuBLAS"),
        ("cufft", "cuFFT"),
        ("curand", "cuRAND's host part"),
        ("cusparse", "cuSPARSE"),
        ("cusolver", "cuSOLVER"),
        ("cudnn", "cuDNN"),
        ("nccl", "NCCL"),
        ("nvrtc", "NVRTC"),
        ("nvtx", "NVTX"),
    ];
    let library = LIBRARIES
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix));
    match library {
        Some((_, library)) => {
            format!("is of {library}, which is no part of the CUDA runtime that cuda-run has")
        }
        None if name.starts_with("cu") => {
            "is no part of the CUDA runtime that cuda-run has".to_owned()
        }
        None => {
            "is in none of the program's files and libraries; name the file, or the library with -l"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_said_to_be_of_its_library() {
        assert_eq!(
            whose("cublasSgemm_v2"),
            "is of cuBLAS, which is no part of the CUDA runtime that cuda-run has"
        );
        assert!(whose("cudaGraphNew").starts_with("is no part"));
        assert!(whose("helper(int)").contains("-l"));
    }
}
