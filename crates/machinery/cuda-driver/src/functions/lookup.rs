//! Lookup of a function by unversioned name, for `cuGetProcAddress`.

use super::entry::{DefaultStream, EntryPoint};
use super::table::all;

/// Names that newer headers map to another function: unversioned name, first CUDA version, function.
const CALLED: &[(&str, u32, &str)] =
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
/// [`DefaultStream::PerThread`], prefers
/// the variant that treats a null stream as the calling thread's default stream, if there is one.
pub(crate) fn find(
    name: &str,
    version: u32,
    default_stream: DefaultStream,
) -> Result<&'static EntryPoint, NotFound> {
    let called = CALLED
        .iter()
        .find(|(old, since, _)| *old == name && version >= *since);
    let name = called.map_or(name, |called| called.2);
    let forms = || all().filter(|function| base(function.name()) == name);
    if forms().next().is_none() {
        return Err(NotFound::Name);
    }
    let newest = |default| {
        forms()
            .filter(|form| form.default_stream == default && form.since <= version)
            .max_by_key(|form| form.since)
    };
    newest(default_stream)
        .or_else(|| newest(DefaultStream::Legacy))
        .ok_or(NotFound::Version)
}

/// Strips the version (`_v2` etc.) and the stream suffix (`_ptsz`, `_ptds`) from a function's name.
pub(crate) fn base(name: &str) -> &str {
    let own = ["_ptsz", "_ptds"];
    let name = own
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    match name.rsplit_once("_v") {
        Some((base, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => base,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, version: u32, default: DefaultStream) -> Result<&'static str, NotFound> {
        find(name, version, default).map(EntryPoint::name)
    }

    #[test]
    fn the_version_asked_for_decides() {
        let find = |name, version| found(name, version, DefaultStream::Legacy);
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
    fn names_have_no_versions_and_no_streams() {
        for name in [
            "",
            "cuNothing",
            "cuMemAlloc_v2",
            "cuMemcpy_ptds",
            "cuMemcpyHtoD_v2_ptds",
            "cuinit",
        ] {
            let found = found(name, 13000, DefaultStream::Legacy);
            assert_eq!(found, Err(NotFound::Name), "{name}");
        }
    }

    #[test]
    fn a_threads_own_stream_is_asked_for() {
        let find = |name, version| found(name, version, DefaultStream::PerThread);
        assert_eq!(find("cuMemcpyHtoD", 12000), Ok("cuMemcpyHtoD_v2_ptds"));
        assert_eq!(find("cuMemcpyHtoD", 6050), Ok("cuMemcpyHtoD_v2"));
        assert_eq!(find("cuLaunchKernel", 12000), Ok("cuLaunchKernel_ptsz"));
        assert_eq!(find("cuMemAlloc", 12000), Ok("cuMemAlloc_v2"));
    }
}
