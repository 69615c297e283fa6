//! The exported symbols.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

use super::cuda::{Code, Cuda, file};

#[test]
fn all_functions_are_exported() {
    let cuda = Cuda::open(&file());
    let names: Vec<&str> = cuda_driver::functions::names().collect();
    assert!(names.len() > 650, "{}", names.len());
    for name in names {
        assert!(cuda.exports(name), "no {name}");
    }
    assert!(cuda.exports("warpbook_is_here"));
    assert!(!cuda.exports("cuNoSuchFunction"));
}

#[test]
fn functions_of_the_header_are_exported() {
    let header = include_str!("../../include/warpbook.h");
    let cuda = Cuda::open(&file());
    let mut count = 0;
    // Declarations start at the margin.
    for line in header
        .lines()
        .filter(|line| line.starts_with(char::is_alphabetic))
    {
        let Some((start, _)) = line.split_once('(') else {
            continue;
        };
        let name = start.rsplit([' ', '*']).next().unwrap();
        assert!(cuda.exports(name), "no {name}");
        count += 1;
    }
    assert_eq!(count, 6);
}

/// The signature of `cuGetProcAddress`, for programs that load the driver themselves.
type ProcAddress =
    unsafe extern "C" fn(*const c_char, *mut *mut c_void, i32, u64, *mut i32) -> Code;

#[test]
fn functions_are_found_by_name_and_version_before_init() {
    let cuda = Cuda::open(&file());
    // SAFETY: `ProcAddress` is the signature of `cuGetProcAddress_v2`.
    let find = unsafe { cuda.get::<ProcAddress>("cuGetProcAddress_v2") };
    let query = |name: &CStr, version, flags| {
        let (mut address, mut status) = (std::ptr::dangling_mut(), -1);
        // SAFETY: the name is NUL-terminated, and `address` and `status` are writable.
        let code = unsafe { find(name.as_ptr(), &mut address, version, flags, &mut status) };
        (code, status, address)
    };
    let exported = |name| {
        // SAFETY: only the address of the symbol is used.
        *unsafe { cuda.get::<*mut c_void>(name) }
    };
    assert_eq!(
        query(c"cuMemAlloc", 13000, 0),
        (0, 0, exported("cuMemAlloc_v2"))
    );
    assert_eq!(
        query(c"cuLaunchKernel", 12000, 2),
        (0, 0, exported("cuLaunchKernel_ptsz"))
    );
    assert_eq!(query(c"cuMemAlloc_v2", 13000, 0), (0, 1, null_mut()));
    assert_eq!(query(c"cuLibraryLoadData", 11080, 0), (0, 2, null_mut()));
    assert_eq!(query(c"cuInit", 13000, 4).0, 1, "an unknown flag");
    assert_eq!(query(c"cuInit", 99000, 0).0, 1, "a later version");
    assert_eq!(query(c"cuInit", -1, 0), (0, 0, exported("cuInit")));
    // SAFETY: the driver rejects null pointers, except for the optional status.
    unsafe {
        let mut address = null_mut();
        assert_eq!(find(null(), &mut address, 13000, 0, null_mut()), 1);
        assert_eq!(
            find(c"cuInit".as_ptr(), null_mut(), 13000, 0, null_mut()),
            1
        );
        assert_eq!(
            find(c"cuInit".as_ptr(), &mut address, 13000, 0, null_mut()),
            0
        );
        assert_eq!(address, exported("cuInit"));
    }
}

#[test]
fn undocumented_export_tables_are_missing() {
    type ExportTable = unsafe extern "C" fn(*mut *const c_void, *const [u8; 16]) -> Code;
    let cuda = Cuda::open(&file());
    // SAFETY: `ExportTable` is the signature of `cuGetExportTable`.
    let get_table = unsafe { cuda.get::<ExportTable>("cuGetExportTable") };
    let mut table = std::ptr::dangling();
    // SAFETY: `table` is writable, and the UUID is readable.
    assert_eq!(unsafe { get_table(&mut table, &[7; 16]) }, 1);
    assert!(table.is_null());
}
