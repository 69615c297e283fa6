//! Arguments of calls: handles and addresses that the driver has returned, and invalid ones.

use std::ffi::c_void;
use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::types::{CUcontext, CUevent, CUfunction, CUmodule, CUstream};

/// Bytes of host memory that calls may use.
pub const HOST_BYTES: usize = 1 << 14;

/// A handle: one that the driver has returned, live or stale, or any number.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Handle {
    Issued(u8),
    Null,
    Wild(u64),
}

/// A device address: an offset from an allocation, or any number that is not a host pointer.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Address {
    Allocated(u8, i16),
    Null,
    Wild(u64),
}

/// All handles and addresses that the driver has returned, and the host memory.
#[derive(Default)]
pub struct State {
    pub contexts: Vec<CUcontext>,
    pub modules: Vec<CUmodule>,
    pub functions: Vec<CUfunction>,
    pub streams: Vec<CUstream>,
    pub events: Vec<CUevent>,
    pub addresses: Vec<u64>,
    pub registered: Vec<*mut c_void>,
    host: Vec<u8>,
}

impl State {
    pub fn new() -> Self {
        Self {
            host: vec![0; HOST_BYTES],
            ..Self::default()
        }
    }

    /// Returns a pointer to [`HOST_BYTES`] bytes of host memory.
    pub fn host(&mut self) -> *mut c_void {
        self.host.as_mut_ptr().cast()
    }

    pub fn stream(&self, handle: Handle) -> CUstream {
        resolve(&self.streams, handle)
    }

    /// Returns a device address. Only memory that the simulator has allocated gives a valid host pointer.
    pub fn address(&self, address: Address) -> u64 {
        match address {
            Address::Allocated(n, offset) if !self.addresses.is_empty() => {
                let address = self.addresses[usize::from(n) % self.addresses.len()];
                address.wrapping_add_signed(offset.into())
            }
            Address::Wild(number) => number | 1 << 48,
            _ => 0,
        }
    }
}

/// Returns the handle that `handle` selects from `issued`.
pub fn resolve<T>(issued: &[*mut T], handle: Handle) -> *mut T {
    match handle {
        Handle::Issued(n) if !issued.is_empty() => issued[usize::from(n) % issued.len()],
        Handle::Wild(number) => std::ptr::without_provenance_mut(number as usize),
        _ => null_mut(),
    }
}
