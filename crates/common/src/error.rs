//! Error messages and exit codes.
//!
//! Chapters use `?` and `anyhow`'s `context`; explanations of CUDA's errors are added here when the error is
//! printed.

use std::ffi::{CStr, c_char};
use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::ptr;

use anyhow::{Error, Result};
use cust::error::CudaError;
use cust::sys::{self, CUresult};

/// Turns a program's result into an exit code: 0, or 1 after printing `error: …` to standard error.
///
/// (Invalid flags never get here: clap reports them and exits with 2.)
pub fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(format_args!("error: {}", in_words(&error)));
            ExitCode::FAILURE
        }
    }
}

/// Prints a line or several to standard error. A closed standard error is ignored.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Returns the error and its causes, outermost first, with explanations of CUDA's errors.
pub fn in_words(error: &Error) -> String {
    let causes: Vec<String> = error
        .chain()
        .map(|cause| match cause.downcast_ref::<CudaError>() {
            Some(cuda) => explain(*cuda),
            None => cause.to_string(),
        })
        .collect();
    causes.join(": ")
}

/// Returns a CUDA error's name, its meaning and the next step.
pub fn explain(error: CudaError) -> String {
    let (name, meaning) = match error {
        CudaError::InvalidValue => (
            "CUDA_ERROR_INVALID_VALUE",
            "a size, an address or a launch shape is outside what the device takes; \
             look at the grid, the block and the lengths of copies",
        ),
        CudaError::OutOfMemory => (
            "CUDA_ERROR_OUT_OF_MEMORY",
            "the GPU has not that much memory left; use a smaller input, or end what else runs on it",
        ),
        CudaError::NotInitialized => (
            "CUDA_ERROR_NOT_INITIALIZED",
            "CUDA was not started; open the GPU first",
        ),
        CudaError::NoDevice => (
            "CUDA_ERROR_NO_DEVICE",
            "there is no NVIDIA GPU, or its driver is not loaded",
        ),
        CudaError::InvalidDevice => (
            "CUDA_ERROR_INVALID_DEVICE",
            "there is no device of that number",
        ),
        CudaError::InvalidContext => (
            "CUDA_ERROR_INVALID_CONTEXT",
            "no context is current in this thread; open the GPU first, and keep it open",
        ),
        CudaError::InvalidPtx => (
            "CUDA_ERROR_INVALID_PTX",
            "the PTX does not compile for this GPU; rebuild the kernel",
        ),
        CudaError::NoBinaryForGpu => (
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            "the module was made for another GPU; rebuild the kernel for this one",
        ),
        CudaError::NotFound => (
            "CUDA_ERROR_NOT_FOUND",
            "the module has no kernel or variable of that name; \
             compare the name with the .cu file, where it has to be extern \"C\"",
        ),
        CudaError::InvalidHandle => (
            "CUDA_ERROR_INVALID_HANDLE",
            "a stream, event or module was used after it was dropped",
        ),
        CudaError::IllegalAddress => (
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "the kernel read or wrote outside its allocations; \
             check its bounds, and run it with CUDA_BACKEND=sim, which says where",
        ),
        CudaError::MisalignedAddress => (
            "CUDA_ERROR_MISALIGNED_ADDRESS",
            "the kernel accessed a value at an address that is no multiple of its size; \
             run it with CUDA_BACKEND=sim, which says where",
        ),
        CudaError::LaunchOutOfResources => (
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            "a block of this size needs more registers or shared memory than there is; \
             use a smaller block",
        ),
        CudaError::LaunchTimeout => (
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            "the kernel ran longer than its time limit",
        ),
        CudaError::AssertError => ("CUDA_ERROR_ASSERT", "an assert in the kernel failed"),
        CudaError::IllegalInstruction => (
            "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "the kernel ran into an instruction the GPU does not have",
        ),
        CudaError::LaunchFailed => (
            "CUDA_ERROR_LAUNCH_FAILED",
            "the kernel failed; run it with CUDA_BACKEND=sim, which says where",
        ),
        CudaError::NotSupported => (
            "CUDA_ERROR_NOT_SUPPORTED",
            "this device, driver or simulator cannot do that",
        ),
        CudaError::InvalidMemoryAllocation => (
            "cust's InvalidMemoryAllocation",
            "an allocation of no bytes, or of more than can be addressed",
        ),
        CudaError::UnknownError => (
            "CUDA_ERROR_UNKNOWN",
            "an error that cust has no name for; the driver may be older than the program needs",
        ),
        other => return format!("CUDA error {} ({other:?})", other as u32),
    };
    format!("{name}: {meaning}")
}

/// Checks the status that a driver function returned, for functions that cust does not wrap.
///
/// # Errors
///
/// Returns an error unless the status is success: cust's error for the common ones, otherwise one with the
/// driver's name.
pub fn check(status: CUresult) -> Result<()> {
    let error = match status {
        CUresult::CUDA_SUCCESS => return Ok(()),
        CUresult::CUDA_ERROR_INVALID_VALUE => CudaError::InvalidValue,
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => CudaError::OutOfMemory,
        CUresult::CUDA_ERROR_INVALID_CONTEXT => CudaError::InvalidContext,
        CUresult::CUDA_ERROR_NOT_INITIALIZED => CudaError::NotInitialized,
        CUresult::CUDA_ERROR_NOT_FOUND => CudaError::NotFound,
        other => return Err(Error::msg(name_of(other))),
    };
    Err(error.into())
}

/// Returns the driver's name of an error, such as `CUDA_ERROR_INVALID_PTX`.
pub fn name_of(status: CUresult) -> String {
    let mut name: *const c_char = ptr::null();
    // SAFETY: `name` is a valid, writable pointer for the driver to store the string's address in.
    let known = unsafe { sys::cuGetErrorName(status, &mut name) };
    if known != CUresult::CUDA_SUCCESS || name.is_null() {
        return format!("CUDA error {}", status as u32);
    }
    // SAFETY: the call succeeded, so `name` points to a static, NUL-terminated string of the driver.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn causes_are_joined_and_cuda_errors_explained() {
        let error = Err::<(), _>(CudaError::OutOfMemory)
            .context("cannot allocate the image")
            .unwrap_err();
        let text = in_words(&error);
        assert!(
            text.starts_with("cannot allocate the image: CUDA_ERROR_OUT_OF_MEMORY: "),
            "{text}"
        );
        assert!(text.contains("use a smaller input"), "{text}");
    }

    #[test]
    fn a_block_that_takes_more_registers_than_there_are() {
        let text = explain(CudaError::LaunchOutOfResources);
        assert!(
            text.contains("registers") && text.contains("smaller block"),
            "{text}"
        );
    }

    #[test]
    fn other_errors_are_left_as_they_are() {
        assert_eq!(
            in_words(&anyhow!("no such folder").context("cannot save")),
            "cannot save: no such folder"
        );
    }

    #[test]
    fn errors_without_a_sentence_keep_their_number_and_name() {
        assert_eq!(
            explain(CudaError::EccUncorrectable),
            "CUDA error 214 (EccUncorrectable)"
        );
    }

    #[test]
    fn the_drivers_answers_are_errors_with_their_names() {
        assert!(check(CUresult::CUDA_SUCCESS).is_ok());
        let said = in_words(&check(CUresult::CUDA_ERROR_OUT_OF_MEMORY).unwrap_err());
        assert!(said.starts_with("CUDA_ERROR_OUT_OF_MEMORY: "), "{said}");
        let said = in_words(&check(CUresult::CUDA_ERROR_NOT_PERMITTED).unwrap_err());
        assert!(
            said.contains("800") || said == "CUDA_ERROR_NOT_PERMITTED",
            "{said}"
        );
    }

    #[test]
    fn failure_and_success_have_their_exit_codes() {
        assert_eq!(exit(Ok(())), ExitCode::SUCCESS);
        assert_eq!(exit(Err(anyhow!("on purpose"))), ExitCode::FAILURE);
    }
}
