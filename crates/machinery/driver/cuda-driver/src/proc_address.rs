//! `cuGetProcAddress`: lookup of driver functions by name.

use std::ffi::{c_int, c_ulonglong, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::CUuuid;

use crate::functions::{DefaultStream, NotFound, find};
use crate::simulator::arguments::{In, Out};
use crate::status::CallResult;

/// Values of `CUdriverProcAddress_flags`. `CU_GET_PROC_ADDRESS_DEFAULT` leaves the choice to the compile-time
/// headers of the program; here it means the legacy default stream.
const DEFAULT: c_ulonglong = 0;
const LEGACY: c_ulonglong = 1;
const PER_THREAD: c_ulonglong = 2;

/// Values of `CUdriverProcAddressQueryResult`.
const FOUND: c_int = 0;
const NO_SUCH_NAME: c_int = 1;
const TOO_OLD: c_int = 2;

/// `cuGetProcAddress_v2`, since CUDA 12.0.
pub fn with_status(
    name: &str,
    function: Out<*mut c_void>,
    version: c_int,
    flags: c_ulonglong,
    status: Option<Out<c_int>>,
) -> CallResult {
    let default_stream = match flags {
        DEFAULT | LEGACY => DefaultStream::Legacy,
        PER_THREAD => DefaultStream::PerThread,
        _ => return Err(CudaError::InvalidValue.into()),
    };
    let version = u32::try_from(version).map_err(|_| CudaError::InvalidValue)?;
    let (address, result) = match find(name, version, default_stream) {
        Ok(entry) => (entry.exported() as *mut c_void, FOUND),
        Err(NotFound::Name) => (std::ptr::null_mut(), NO_SUCH_NAME),
        Err(NotFound::Version) => (std::ptr::null_mut(), TOO_OLD),
    };
    function.set(address);
    Out::set_optional(status, result);
    match result {
        FOUND => Ok(()),
        _ => Err(CudaError::NotFound.into()),
    }
}

/// `cuGetProcAddress` of CUDA 11.
pub fn without_status(
    name: &str,
    function: Out<*mut c_void>,
    version: c_int,
    flags: c_ulonglong,
) -> CallResult {
    with_status(name, function, version, flags, None)
}

/// `cuGetExportTable`: undocumented function tables for NVIDIA's own libraries. The simulator has none.
/// Programs probe for them, so a missing table prints no warning.
pub fn export_table(table: Out<*const c_void>, _id: In<CUuuid>) -> CallResult {
    table.set(std::ptr::null());
    Err(CudaError::NotFound.into())
}
