//! What the library exports.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

use super::cuda::{Code, Cuda, file};

#[test]
fn every_function_of_the_table_is_exported() {
    let cuda = Cuda::open(&file());
    let names: Vec<&str> = cuda_driver::functions::names().collect();
    assert!(names.len() > 650, "{}", names.len());
    for name in names {
        assert!(cuda.has(name), "no {name}");
    }
    assert!(cuda.has("warpbook_is_here"));
    assert!(!cuda.has("cuNoSuchFunction"));
}

/// `cuGetProcAddress`, as programs that load the driver themselves call it.
type ProcAddress =
    unsafe extern "C" fn(*const c_char, *mut *mut c_void, i32, u64, *mut i32) -> Code;

#[test]
fn functions_are_found_by_name_and_version_before_anything_else() {
    let cuda = Cuda::open(&file());
    // SAFETY: its signature.
    let find = unsafe { cuda.get::<ProcAddress>("cuGetProcAddress_v2") };
    let asked = |name: &CStr, version, flags| {
        let (mut found, mut status) = (std::ptr::dangling_mut(), -1);
        // SAFETY: a name and places to write to.
        let code = unsafe { find(name.as_ptr(), &mut found, version, flags, &mut status) };
        (code, status, found)
    };
    let exported = |name| {
        // SAFETY: the address alone is looked at.
        *unsafe { cuda.get::<*mut c_void>(name) }
    };
    assert_eq!(
        asked(c"cuMemAlloc", 13000, 0),
        (0, 0, exported("cuMemAlloc_v2"))
    );
    assert_eq!(
        asked(c"cuLaunchKernel", 12000, 2),
        (0, 0, exported("cuLaunchKernel_ptsz"))
    );
    assert_eq!(asked(c"cuMemAlloc_v2", 13000, 0), (500, 1, null_mut()));
    assert_eq!(asked(c"cuLibraryLoadData", 11080, 0), (500, 2, null_mut()));
    assert_eq!(asked(c"cuInit", 13000, 4).0, 1, "an unknown flag");
    assert_eq!(asked(c"cuInit", -1, 0).0, 1, "no version");
    // SAFETY: null pointers are refused, but for the status, which nobody has to want.
    unsafe {
        let mut found = null_mut();
        assert_eq!(find(null(), &mut found, 13000, 0, null_mut()), 1);
        assert_eq!(
            find(c"cuInit".as_ptr(), null_mut(), 13000, 0, null_mut()),
            1
        );
        assert_eq!(
            find(c"cuInit".as_ptr(), &mut found, 13000, 0, null_mut()),
            0
        );
        assert_eq!(found, exported("cuInit"));
    }
}

#[test]
fn there_is_no_table_that_no_document_tells_of() {
    type ExportTable = unsafe extern "C" fn(*mut *const c_void, *const [u8; 16]) -> Code;
    let cuda = Cuda::open(&file());
    // SAFETY: its signature.
    let ask = unsafe { cuda.get::<ExportTable>("cuGetExportTable") };
    let mut table = std::ptr::dangling();
    // SAFETY: places to read and to write.
    assert_eq!(unsafe { ask(&mut table, &[7; 16]) }, 500);
    assert!(table.is_null());
}
