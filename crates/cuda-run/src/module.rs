//! Loaded PTX modules. Uses the driver API directly, because cust's module type requires the size of a variable
//! at compile time.

use std::ffi::{CString, c_void};
use std::ptr;

use anyhow::{Context as _, Result, bail, ensure};
use cust::stream::Stream;
use cust::sys;

/// A PTX module loaded into the current context until the program exits.
pub struct Module(sys::CUmodule);

impl Module {
    /// Loads PTX source.
    ///
    /// # Errors
    ///
    /// Fails if the driver rejects the source.
    pub fn new(ptx: &str) -> Result<Self> {
        let text = CString::new(ptx).context("the PTX contains a NUL byte")?;
        let mut module = ptr::null_mut();
        // SAFETY: `module` is writable, and `text` is NUL-terminated.
        let code = unsafe { sys::cuModuleLoadData(&mut module, text.as_ptr().cast()) };
        check(code).context("cannot load the kernels")?;
        Ok(Module(module))
    }

    /// Returns the address of a variable that has at least `bytes` bytes.
    ///
    /// # Errors
    ///
    /// Fails if there is no such variable or it is smaller.
    pub fn global(&self, name: &str, bytes: usize) -> Result<u64> {
        let c_name = CString::new(name).with_context(|| format!("{name:?} is not a valid name"))?;
        let (mut address, mut size) = (0, 0);
        // SAFETY: `address` and `size` are writable, and `c_name` is NUL-terminated.
        let code =
            unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut size, self.0, c_name.as_ptr()) };
        match check(code) {
            Ok(()) if size < bytes => {
                bail!(
                    "{name} has {size} bytes in the kernel's file, but {bytes} in the launch plan"
                )
            }
            Ok(()) => Ok(address),
            Err(_) => bail!(
                "the kernel's file has no __constant__ or __device__ variable {name} that a kernel uses"
            ),
        }
    }

    /// Launches the kernel with this name in the PTX.
    ///
    /// # Errors
    ///
    /// Fails if the driver rejects the launch.
    ///
    /// # Safety
    ///
    /// `values` must contain the bytes of each of the kernel's parameters, in order.
    pub unsafe fn launch(
        &self,
        symbol: &str,
        [grid, block]: [[u32; 3]; 2],
        shared: u32,
        stream: &Stream,
        values: &mut [Vec<u8>],
    ) -> Result<()> {
        let name = CString::new(symbol).unwrap_or_default();
        let mut function = ptr::null_mut();
        let mut pointers: Vec<*mut c_void> = values
            .iter_mut()
            .map(|value| value.as_mut_ptr().cast())
            .collect();
        // SAFETY: `function` is writable, the module is loaded, and `name` is NUL-terminated.
        let code = unsafe { sys::cuModuleGetFunction(&mut function, self.0, name.as_ptr()) };
        check(code)?;
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (grid, block);
        // SAFETY: `pointers` has one entry per parameter, each pointing to as many bytes as the parameter has.
        let code = unsafe {
            sys::cuLaunchKernel(
                function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared,
                stream.as_inner(),
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        check(code)
    }
}

/// Copies bytes to the device.
///
/// # Safety
///
/// `address` must be device memory of at least `bytes.len()` bytes.
pub unsafe fn copy_to_device(address: u64, bytes: &[u8]) -> Result<()> {
    // SAFETY: `address` has room for `bytes.len()` bytes, and `bytes` is readable.
    check(unsafe { sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) })
}

/// Copies bytes from the device.
///
/// # Safety
///
/// `address` must be device memory of at least `bytes.len()` bytes.
pub unsafe fn copy_from_device(bytes: &mut [u8], address: u64) -> Result<()> {
    // SAFETY: `address` has `bytes.len()` bytes, and `bytes` is writable.
    check(unsafe { sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len()) })
}

/// Converts the driver's result code to a `Result`.
fn check(code: sys::CUresult) -> Result<()> {
    ensure!(code == sys::CUresult::CUDA_SUCCESS, "{code:?}");
    Ok(())
}
