//! What the program brings along: kernels and variables of the device, known by addresses on the host.
//! They are registered before `main`, and loaded into a context when the first of them is used there.

mod image;
pub mod register;
mod registry;

use std::ffi::{c_char, c_void};

use cust_raw::CUfunction;

use crate::start::{Context, context};
use crate::status::{Answer, Error};

/// A variable of the device's in a context.
pub struct Variable {
    pub address: u64,
    pub bytes: usize,
}

/// The kernel that the program knows by the address of a function on the host, in the calling thread's
/// context.
pub fn kernel(host: *const c_void) -> Answer<CUfunction> {
    if host.is_null() {
        return Err(Error::INVALID_FUNCTION);
    }
    let context = context()?;
    if let Some(found) = registry::read().kernel(context, host.addr()) {
        return Ok(found);
    }
    registry::write().load_kernel(context, host.addr())
}

/// The address on the host by which the program knows a kernel that was loaded for it.
pub fn host_function(kernel: CUfunction) -> Answer<*mut c_void> {
    let found = registry::read().host_function(context()?, kernel);
    found.ok_or(Error::INVALID_FUNCTION)
}

/// The variable that the program knows by an address on the host, in the calling thread's context.
pub fn variable(host: *const c_void) -> Answer<Variable> {
    let context = context()?;
    registry::write().load_variable(context, host.addr())
}

/// Forgets what was loaded into a context, which ends.
pub fn forget(context: Context) {
    registry::write().forget(context);
}

/// The name of a kernel in the device code, which is there for as long as the kernel is registered.
pub fn kernel_name(host: *const c_void) -> Answer<*const c_char> {
    registry::read().kernel_name(host.addr())
}
