//! Structures and handles of the driver API that are newer than `cust_raw`. An enum is a plain number: a caller
//! may pass one that the enum lacks.

pub mod graph;

use std::ffi::{c_int, c_uint, c_void};

use cust_raw::CUstream;

/// A loaded library.
pub type CUlibrary = *mut c_void;

/// A kernel of a library.
pub type CUkernel = *mut c_void;

/// How to launch a kernel.
#[repr(C)]
pub struct CUlaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    /// Bytes.
    pub dynamic_shared: c_uint,
    pub stream: CUstream,
    pub attributes: *const CUlaunchAttribute,
    pub attribute_count: c_uint,
}

/// One of a launch's or a stream's attributes.
#[repr(C)]
pub struct CUlaunchAttribute {
    pub id: c_int,
    pub value: CUlaunchAttributeValue,
}

/// What an attribute is set to: a union, of which an attribute reads what is its own.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct CUlaunchAttributeValue(pub [c_uint; 16]);

/// What a context is made with since CUDA 12.5.
#[repr(C)]
pub struct CUctxCreateParams {
    pub affinities: *const CUexecAffinityParam,
    pub affinity_count: c_int,
    /// What it shares with a graphics interface.
    pub graphics: *const c_void,
}

/// On which multiprocessors a context's work may run: 0 and their number.
#[repr(C)]
pub struct CUexecAffinityParam {
    pub kind: c_int,
    pub multiprocessors: c_uint,
}

/// Where memory is: 1 and a device's number, or from 2 on the host.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemLocation {
    pub kind: c_int,
    pub id: c_int,
}

/// What a device has, as programs asked before there were attributes: 14 numbers.
#[repr(C)]
pub struct CUdevprop(pub [c_int; 14]);

/// What memory is made without an address for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAllocationProp {
    /// 1: in one place for good.
    pub kind: c_int,
    /// How it is shared with other programs: a set of bits.
    pub shared: c_int,
    pub location: CUmemLocation,
    pub windows: *mut c_void,
    /// Compression, direct access for other devices, and what it is used for.
    pub flags: [u8; 8],
}

/// Who may do what with mapped memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAccessDesc {
    pub location: CUmemLocation,
    /// 0: nothing; 1: read; 3: read and write.
    pub flags: c_int,
}
