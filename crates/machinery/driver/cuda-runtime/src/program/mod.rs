//! The program's kernels and device variables, identified by host addresses. They are registered before
//! `main` and loaded into a context when the first of them is used there.

mod image;
pub mod register;
mod registry;

use std::ffi::{c_char, c_void};

use cust_raw::CUfunction;

use crate::context::{Context, context};
use crate::status::{Error, Result};

/// A device variable in a context.
pub struct Variable {
    pub address: u64,
    pub bytes: usize,
}

/// Returns the kernel identified by a host function, loaded into the calling thread's context.
pub fn kernel(host: *const c_void) -> Result<CUfunction> {
    if host.is_null() {
        return Err(Error::INVALID_FUNCTION);
    }
    let context = context()?;
    if let Some(function) = registry::read().kernel(context, host.addr()) {
        return Ok(function);
    }
    registry::write().load_kernel(context, host.addr())
}

/// Returns the host address that identifies a loaded kernel.
pub fn host_function(kernel: CUfunction) -> Result<*mut c_void> {
    let function = registry::read().host_function(context()?, kernel);
    function.ok_or(Error::INVALID_FUNCTION)
}

/// Returns the device variable identified by a host address, in the calling thread's context.
pub fn variable(host: *const c_void) -> Result<Variable> {
    let context = context()?;
    registry::write().load_variable(context, host.addr())
}

/// Drops everything loaded into a context that is being destroyed.
pub fn forget_context(context: Context) {
    registry::write().forget_context(context);
}

/// Returns a kernel's name in the device code. The string lives as long as the kernel is registered.
pub fn kernel_name(host: *const c_void) -> Result<*const c_char> {
    registry::read().kernel_name(host.addr())
}
