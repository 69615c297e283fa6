//! Kernels, loaded: with cust's plain functions, for its own types know of no variable whose size is known
//! only when the program runs.

use std::ffi::{CString, c_void};
use std::ptr;

use anyhow::{Context as _, Result, bail, ensure};
use cust::stream::Stream;
use cust::sys;

/// A PTX text, loaded into the current context, and there until the program ends.
pub struct Loaded(sys::CUmodule);

impl Loaded {
    /// Loads a text.
    ///
    /// # Errors
    ///
    /// Where the driver does not take it.
    pub fn new(ptx: &str) -> Result<Self> {
        let text = CString::new(ptx).context("the PTX has a zero byte in it")?;
        let mut module = ptr::null_mut();
        // SAFETY: there is a place for the answer, and the text ends in a zero byte.
        let code = unsafe { sys::cuModuleLoadData(&mut module, text.as_ptr().cast()) };
        result(code).context("cannot load the kernels")?;
        Ok(Loaded(module))
    }

    /// The address of a variable that has at least so many bytes.
    ///
    /// # Errors
    ///
    /// Where there is none, or it has fewer.
    pub fn variable(&self, name: &str, bytes: usize) -> Result<u64> {
        let c_name = CString::new(name).with_context(|| format!("{name:?} is no name"))?;
        let (mut at, mut size) = (0, 0);
        // SAFETY: there is a place for both answers, and the name ends in a zero byte.
        let code =
            unsafe { sys::cuModuleGetGlobal_v2(&mut at, &mut size, self.0, c_name.as_ptr()) };
        match result(code) {
            Ok(()) if size < bytes => {
                bail!(
                    "{name} has {size} bytes in the kernel's file, and {bytes} in the description"
                )
            }
            Ok(()) => Ok(at),
            Err(_) => bail!(
                "the kernel's file has no variable {name} that is __constant__ or __device__ and that a kernel uses"
            ),
        }
    }

    /// Launches the kernel of this name.
    ///
    /// # Errors
    ///
    /// Where it does not start.
    ///
    /// # Safety
    ///
    /// `values` has to have the bytes of each of its parameters.
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
        // SAFETY: there is a place for the answer, and the name ends in a zero byte.
        let code = unsafe { sys::cuModuleGetFunction(&mut function, self.0, name.as_ptr()) };
        result(code)?;
        let ([x, y, z], [across, down, deep]) = (grid, block);
        // SAFETY: the caller's promise about the values.
        let code = unsafe {
            sys::cuLaunchKernel(
                function,
                x,
                y,
                z,
                across,
                down,
                deep,
                shared,
                stream.as_inner(),
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        result(code)
    }
}

/// Copies bytes to the device.
///
/// # Safety
///
/// So many bytes have to be there.
pub unsafe fn write(at: u64, bytes: &[u8]) -> Result<()> {
    // SAFETY: the caller's promise.
    result(unsafe { sys::cuMemcpyHtoD_v2(at, bytes.as_ptr().cast(), bytes.len()) })
}

/// Copies bytes from the device.
///
/// # Safety
///
/// So many bytes have to be there.
pub unsafe fn read(bytes: &mut [u8], at: u64) -> Result<()> {
    // SAFETY: the caller's promise.
    result(unsafe { sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), at, bytes.len()) })
}

/// What a function of the driver says.
fn result(code: sys::CUresult) -> Result<()> {
    ensure!(code == sys::CUresult::CUDA_SUCCESS, "{code:?}");
    Ok(())
}
