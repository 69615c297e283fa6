//! What calls name: handles and addresses that the driver gave out, and those it never did.

use std::ffi::c_void;
use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cust_raw::{CUcontext, CUevent, CUfunction, CUmodule, CUstream};

/// Bytes of host memory that copies may use.
pub const HOST: usize = 1 << 14;

/// One of the handles of a kind that there ever were, modulo their number, or any number.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Which {
    Known(u8),
    Null,
    Wild(u64),
}

/// An address: of an allocation and so many bytes on, or any number that no host pointer is.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Where {
    In(u8, i16),
    Null,
    Wild(u64),
}

/// Every handle there ever was, and the host's memory.
#[derive(Default)]
pub struct Known {
    pub contexts: Vec<CUcontext>,
    pub modules: Vec<CUmodule>,
    pub functions: Vec<CUfunction>,
    pub streams: Vec<CUstream>,
    pub events: Vec<CUevent>,
    pub addresses: Vec<u64>,
    pub registered: Vec<*mut c_void>,
    host: Vec<u8>,
}

impl Known {
    pub fn new() -> Self {
        Self {
            host: vec![0; HOST],
            ..Self::default()
        }
    }

    /// [`HOST`] bytes.
    pub fn host(&mut self) -> *mut c_void {
        self.host.as_mut_ptr().cast()
    }

    pub fn stream(&self, which: Which) -> CUstream {
        pick(&self.streams, which)
    }

    /// Never one of the host's, but of memory that the simulator gave out.
    pub fn address(&self, place: Where) -> u64 {
        match place {
            Where::In(n, offset) if !self.addresses.is_empty() => {
                let address = self.addresses[usize::from(n) % self.addresses.len()];
                address.wrapping_add_signed(offset.into())
            }
            Where::Wild(number) => number | 1 << 48,
            _ => 0,
        }
    }
}

/// The handle that `which` names.
pub fn pick<T>(known: &[*mut T], which: Which) -> *mut T {
    match which {
        Which::Known(n) if !known.is_empty() => known[usize::from(n) % known.len()],
        Which::Wild(number) => std::ptr::without_provenance_mut(number as usize),
        _ => null_mut(),
    }
}
