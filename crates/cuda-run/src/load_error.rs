//! Explanations of why a program cannot be loaded: undefined functions and their call sites.

use std::path::PathBuf;

use anyhow::{Error, anyhow};

use crate::compile::Compiler;

/// Explains why a program does not load. `reason` is the dynamic linker's message.
pub fn explain(compiler: &Compiler, files: &[PathBuf], reason: &str) -> Error {
    if reason == "main" {
        return anyhow!(
            "none of the files {} defines main. To run a kernel without a host program, \
             add a launch plan to the kernel's file: docs/records/launch-plan.md",
            names(files)
        );
    }
    let mut unresolved = compiler.unresolved_functions(files);
    unresolved.retain(|function| !is_defined(&function.name));
    if unresolved.is_empty() {
        return anyhow!("cannot load the program: {reason}");
    }
    let lines = unresolved.iter().map(|function| {
        let call_site = match function.location.as_str() {
            "" => String::new(),
            location => format!(" (called in {location})"),
        };
        format!("{}{call_site} {}", function.name, hint(&function.name))
    });
    let lines: Vec<String> = lines.collect();
    anyhow!(
        "cannot load the program: undefined functions:\n{}",
        lines.join("\n")
    )
}

fn names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    names.join(", ")
}

/// Returns true if this process defines a function with this name.
#[cfg(unix)]
fn is_defined(name: &str) -> bool {
    use libloading::os::unix::Library;
    // SAFETY: the symbol's address is only tested for existence; the function is never called.
    unsafe { Library::this().get::<unsafe extern "C" fn()>(name) }.is_ok()
}

#[cfg(not(unix))]
fn is_defined(_name: &str) -> bool {
    false
}

/// Returns where a function is likely to be defined.
fn hint(name: &str) -> String {
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
            format!("belongs to {library}, which cuda-run does not provide")
        }
        None if name.starts_with("cu") => {
            "is not implemented by cuda-run's CUDA runtime".to_owned()
        }
        None => {
            "is not defined in the program's files or libraries; add the missing file, or the library with -l"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_library_of_a_function() {
        assert_eq!(
            hint("cublasSgemm_v2"),
            "belongs to cuBLAS, which cuda-run does not provide"
        );
        assert!(hint("cudaGraphNew").starts_with("is not implemented"));
        assert!(hint("helper(int)").contains("-l"));
    }
}
