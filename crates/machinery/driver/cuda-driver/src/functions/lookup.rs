//! Lookup of a function by unversioned name, and `cuGetProcAddress`.

use std::ffi::{c_int, c_ulonglong, c_void};

use cuda_sim::driver::CudaError;

use super::{DefaultStream, EntryPoint, all};
use crate::api::device;
use crate::arguments::{In, Out};
use crate::status::CallResult;
use crate::types::CUuuid;

/// Names that newer headers map to another function: unversioned name, first CUDA version, function.
const RENAMED: &[(&str, u32, &str)] =
    &[("cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags")];

/// The reason why a lookup failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// No version of CUDA has this function.
    Name,
    /// Only CUDA versions newer than the requested one have it.
    Version,
}

/// Returns the newest version of the function `name` in this version of CUDA. For
/// [`DefaultStream::PerThread`], prefers the variant that treats a null stream as the calling thread's
/// default stream, if there is one.
pub(crate) fn find(
    name: &str,
    version: u32,
    default_stream: DefaultStream,
) -> Result<&'static EntryPoint, NotFound> {
    let target = RENAMED
        .iter()
        .find(|(old, since, _)| *old == name && version >= *since);
    let name = target.map_or(name, |target| target.2);
    let forms = || all().filter(|function| base_name(function.name()) == name);
    if forms().next().is_none() {
        return Err(NotFound::Name);
    }
    let newest_for = |default| {
        forms()
            .filter(|form| form.default_stream == default && form.since <= version)
            .max_by_key(|form| form.since)
    };
    newest_for(default_stream)
        .or_else(|| newest_for(DefaultStream::Legacy))
        .ok_or(NotFound::Version)
}

/// Strips the version (`_v2` etc.) and the stream suffix (`_ptsz`, `_ptds`) from a function's name.
pub(crate) fn base_name(name: &str) -> &str {
    let suffixes = ["_ptsz", "_ptds"];
    let name = suffixes
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    match name.rsplit_once("_v") {
        Some((base_name, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => {
            base_name
        }
        _ => name,
    }
}

/// Values of `CUdriverProcAddress_flags`. `CU_GET_PROC_ADDRESS_DEFAULT`, 0, leaves the choice to the compile-time headers
/// of the program; here it means the legacy default stream.
const LEGACY: c_ulonglong = 1;
const PER_THREAD: c_ulonglong = 2;

/// Values of `CUdriverProcAddressQueryResult`.
const FOUND: c_int = 0;
const NO_SUCH_NAME: c_int = 1;
const TOO_OLD: c_int = 2;

/// `cuGetProcAddress_v2`, since CUDA 12.0: succeeds with a null address if there is no such function.
pub fn address_with_status(
    name: &str,
    function: Out<*mut c_void>,
    version: c_int,
    flags: c_ulonglong,
    status: Option<Out<c_int>>,
) -> CallResult {
    let (address, result) = look_up(name, version, flags)?;
    function.set(address);
    Out::set_optional(status, result);
    Ok(())
}

/// Looks up a function. Returns its address, or null, and a `CUdriverProcAddressQueryResult`. Fails for versions newer
/// than the driver's; a negative one is the newest.
fn look_up(
    name: &str,
    version: c_int,
    flags: c_ulonglong,
) -> Result<(*mut c_void, c_int), CudaError> {
    if flags & !(LEGACY | PER_THREAD) != 0 || version > device::VERSION {
        return Err(CudaError::InvalidValue);
    }
    let default_stream = match flags & PER_THREAD {
        0 => DefaultStream::Legacy,
        _ => DefaultStream::PerThread,
    };
    Ok(match find(name, version as u32, default_stream) {
        Ok(entry) => (entry.exported() as *mut c_void, FOUND),
        Err(NotFound::Name) => (std::ptr::null_mut(), NO_SUCH_NAME),
        Err(NotFound::Version) => (std::ptr::null_mut(), TOO_OLD),
    })
}

/// `cuGetProcAddress` of CUDA 11, which has no result but the status.
pub fn address(
    name: &str,
    function: Out<*mut c_void>,
    version: c_int,
    flags: c_ulonglong,
) -> CallResult {
    let (address, result) = look_up(name, version, flags)?;
    function.set(address);
    match result {
        FOUND => Ok(()),
        _ => Err(CudaError::NotFound.into()),
    }
}

/// `cuGetExportTable`: undocumented function tables for NVIDIA's own libraries. The simulator has none.
/// Programs probe for them, so a missing table prints no warning. The error is that of the driver for an unknown table.
pub fn export_table(table: Out<*const c_void>, _id: In<CUuuid>) -> CallResult {
    table.set(std::ptr::null());
    Err(CudaError::InvalidValue.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_name(
        name: &str,
        version: u32,
        default: DefaultStream,
    ) -> Result<&'static str, NotFound> {
        find(name, version, default).map(EntryPoint::name)
    }

    #[test]
    fn requested_version_selects_the_function() {
        let find = |name, version| found_name(name, version, DefaultStream::Legacy);
        assert_eq!(find("cuCtxCreate", 13000), Ok("cuCtxCreate_v4"));
        assert_eq!(find("cuCtxCreate", 12049), Ok("cuCtxCreate_v3"));
        assert_eq!(find("cuCtxCreate", 11039), Ok("cuCtxCreate_v2"));
        assert_eq!(find("cuCtxCreate", 3019), Ok("cuCtxCreate"));
        assert_eq!(find("cuGetProcAddress", 11080), Ok("cuGetProcAddress"));
        assert_eq!(find("cuGetProcAddress", 12000), Ok("cuGetProcAddress_v2"));
        assert_eq!(find("cuInit", i32::MAX as u32), Ok("cuInit"));
        assert_eq!(find("cuLaunchKernelEx", 11050), Err(NotFound::Version));
        assert_eq!(
            find("cuGraphInstantiate", 11080),
            Ok("cuGraphInstantiate_v2")
        );
        assert_eq!(
            find("cuGraphInstantiate", 12000),
            Ok("cuGraphInstantiateWithFlags")
        );
    }

    #[test]
    fn versioned_names_are_not_found() {
        for name in [
            "",
            "cuNothing",
            "cuMemAlloc_v2",
            "cuMemcpy_ptds",
            "cuMemcpyHtoD_v2_ptds",
            "cuinit",
        ] {
            let found_name = found_name(name, 13000, DefaultStream::Legacy);
            assert_eq!(found_name, Err(NotFound::Name), "{name}");
        }
    }

    #[test]
    fn per_thread_variant_is_preferred() {
        let find = |name, version| found_name(name, version, DefaultStream::PerThread);
        assert_eq!(find("cuMemcpyHtoD", 12000), Ok("cuMemcpyHtoD_v2_ptds"));
        assert_eq!(find("cuMemcpyHtoD", 6050), Ok("cuMemcpyHtoD_v2"));
        assert_eq!(find("cuLaunchKernel", 12000), Ok("cuLaunchKernel_ptsz"));
        assert_eq!(find("cuMemAlloc", 12000), Ok("cuMemAlloc_v2"));
    }
}
