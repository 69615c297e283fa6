//! Freeing memory with error reports.
//!
//! A buffer that goes out of scope is freed as well, on every path out of a function. But then a failure goes
//! unreported, and the driver may use it to report errors of earlier work. At the end of a successful run
//! `DeviceBuffer::drop` (a function with that name, not a destructor) is the better way: it returns the error
//! together with the buffer.

use anyhow::{Context as _, Result};
use cust::memory::{DeviceBuffer, DeviceCopy, LockedBuffer};

/// Frees GPU memory.
///
/// # Errors
///
/// Fails if CUDA reports an error; the message contains `name`.
pub fn device<T: DeviceCopy>(buffer: DeviceBuffer<T>, name: &str) -> Result<()> {
    DeviceBuffer::drop(buffer)
        .map_err(|(error, _buffer)| error)
        .with_context(|| format!("cannot free {name} on the GPU"))
}

/// Frees page-locked host memory.
///
/// # Errors
///
/// Fails if CUDA reports an error; the message contains `name`.
pub fn pinned<T: DeviceCopy>(buffer: LockedBuffer<T>, name: &str) -> Result<()> {
    LockedBuffer::drop(buffer)
        .map_err(|(error, _buffer)| error)
        .with_context(|| format!("cannot free {name} in pinned memory"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::Gpu;
    use common::error::describe;
    use cust::memory::DevicePointer;

    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn invalid_addresses() {
        let _gpu = Gpu::open().unwrap();
        // SAFETY: the buffer's element is never accessed, and freeing this invalid address must fail.
        let nowhere =
            unsafe { DeviceBuffer::<f32>::from_raw_parts(DevicePointer::from_raw(64), 1) };
        println!("{}", describe(&device(nowhere, "a").unwrap_err()));
        // SAFETY: the buffer's element is never accessed, and freeing this invalid address must fail.
        let nowhere = unsafe { LockedBuffer::<f32>::from_raw_parts(64 as *mut f32, 1) };
        println!("{}", describe(&pinned(nowhere, "b").unwrap_err()));

        assert!(device(DeviceBuffer::from_slice(&[1.0_f32]).unwrap(), "c").is_ok());
        assert!(pinned(LockedBuffer::from_slice(&[1.0_f32]).unwrap(), "d").is_ok());
    }

    #[test]
    fn errors_name_the_buffer_that_could_not_be_freed() {
        let folder = tempfile::tempdir().unwrap();
        let name = "free::tests::invalid_addresses";
        let (message, _) = chapter_test::run_child(name, folder.path());
        for part in [
            "cannot free a on the GPU: CUDA_ERROR_INVALID_VALUE",
            "cannot free b in pinned memory: CUDA_ERROR_INVALID_VALUE",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
}
