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
            note(format_args!("error: {}", describe(&error)));
            ExitCode::FAILURE
        }
    }
}

/// Prints a line or several to standard error. A closed standard error is ignored.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Returns the error and its causes, outermost first, with explanations of CUDA's errors.
pub fn describe(error: &Error) -> String {
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
            "a size, an address or a launch shape exceeds the device's limits; \
             check the grid, the block and the lengths of copies",
        ),
        CudaError::OutOfMemory => (
            "CUDA_ERROR_OUT_OF_MEMORY",
            "the GPU does not have enough free memory; use a smaller input, or stop other programs on it",
        ),
        CudaError::NotInitialized => (
            "CUDA_ERROR_NOT_INITIALIZED",
            "CUDA is not initialized; open the GPU first",
        ),
        CudaError::NoDevice => (
            "CUDA_ERROR_NO_DEVICE",
            "there is no NVIDIA GPU, or its driver is not loaded",
        ),
        CudaError::InvalidDevice => (
            "CUDA_ERROR_INVALID_DEVICE",
            "there is no device with that number",
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
            "the module has no kernel or variable with that name; \
             compare the name with the .cu file, where it must be extern \"C\"",
        ),
        CudaError::InvalidHandle => (
            "CUDA_ERROR_INVALID_HANDLE",
            "a stream, event or module was used after it was dropped",
        ),
        CudaError::IllegalAddress => (
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "the kernel read or wrote outside its allocations; \
             check its bounds, and run it with CUDA_BACKEND=sim, which reports where",
        ),
        CudaError::MisalignedAddress => (
            "CUDA_ERROR_MISALIGNED_ADDRESS",
            "the kernel accessed a value at an address that is not a multiple of its size; \
             run it with CUDA_BACKEND=sim, which reports where",
        ),
        CudaError::LaunchOutOfResources => (
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            "a block of this size needs more registers or shared memory than the GPU has; \
             use a smaller block",
        ),
        CudaError::LaunchTimeout => (
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            "the kernel ran longer than its time limit",
        ),
        CudaError::AssertError => ("CUDA_ERROR_ASSERT", "an assert in the kernel failed"),
        CudaError::IllegalInstruction => (
            "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "the kernel executed an instruction that the GPU does not have",
        ),
        CudaError::LaunchFailed => (
            "CUDA_ERROR_LAUNCH_FAILED",
            "the kernel failed; run it with CUDA_BACKEND=sim, which reports where",
        ),
        CudaError::NotSupported => (
            "CUDA_ERROR_NOT_SUPPORTED",
            "this device, driver or simulator does not support it",
        ),
        CudaError::InvalidMemoryAllocation => (
            "cust's InvalidMemoryAllocation",
            "an allocation of zero bytes, or of more than the address space",
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
    let lookup = unsafe { sys::cuGetErrorName(status, &mut name) };
    if lookup != CUresult::CUDA_SUCCESS || name.is_null() {
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
        let text = describe(&error);
        assert!(
            text.starts_with("cannot allocate the image: CUDA_ERROR_OUT_OF_MEMORY: "),
            "{text}"
        );
        assert!(text.contains("use a smaller input"), "{text}");
    }

    #[test]
    fn excessive_registers_are_explained() {
        let text = explain(CudaError::LaunchOutOfResources);
        assert!(
            text.contains("registers") && text.contains("smaller block"),
            "{text}"
        );
    }

    #[test]
    fn other_errors_are_unchanged() {
        assert_eq!(
            describe(&anyhow!("no such folder").context("cannot save")),
            "cannot save: no such folder"
        );
    }

    #[test]
    fn unexplained_errors_show_number_and_name() {
        assert_eq!(
            explain(CudaError::EccUncorrectable),
            "CUDA error 214 (EccUncorrectable)"
        );
    }

    #[test]
    fn driver_statuses_become_named_errors() {
        assert!(check(CUresult::CUDA_SUCCESS).is_ok());
        let message = describe(&check(CUresult::CUDA_ERROR_OUT_OF_MEMORY).unwrap_err());
        assert!(
            message.starts_with("CUDA_ERROR_OUT_OF_MEMORY: "),
            "{message}"
        );
        let message = describe(&check(CUresult::CUDA_ERROR_NOT_PERMITTED).unwrap_err());
        assert!(
            message.contains("800") || message == "CUDA_ERROR_NOT_PERMITTED",
            "{message}"
        );
    }

    #[test]
    fn exit_codes_reflect_success_and_failure() {
        assert_eq!(exit(Ok(())), ExitCode::SUCCESS);
        assert_eq!(exit(Err(anyhow!("on purpose"))), ExitCode::FAILURE);
    }
}
