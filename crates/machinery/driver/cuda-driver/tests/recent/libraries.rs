//! Libraries, their kernels, and launches with attributes.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::{null, null_mut};

use cuda_driver::functions::*;
use cuda_driver::types::{
    CUkernel, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig, CUlibrary,
};
use cust::sys::CUfunction;

use super::*;

fn library(ptx: &CStr) -> CUlibrary {
    let mut library = null_mut();
    let none = null_mut();
    // SAFETY: the PTX is NUL-terminated, no options are passed, and `library` is writable.
    let code = unsafe {
        cuLibraryLoadData(
            &mut library,
            ptx.as_ptr().cast(),
            none,
            null_mut(),
            0,
            none,
            null_mut(),
            0,
        )
    };
    assert_eq!(code, 0);
    library
}

fn kernel(library: CUlibrary, name: &CStr) -> Result<CUkernel, i32> {
    let mut kernel = null_mut();
    // SAFETY: the name is NUL-terminated, and the output is writable.
    match unsafe { cuLibraryGetKernel(&mut kernel, library, name.as_ptr()) } {
        0 => Ok(kernel),
        code => Err(code),
    }
}

/// Sets the variable `factor` of the library in the current context.
fn set_factor(library: CUlibrary, factor: f32) {
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: `address` and `bytes` are writable, the name is NUL-terminated, and `factor` is a readable
    // float; `library` is an opaque handle that the driver looks up, never dereferences.
    unsafe {
        assert_eq!(
            cuLibraryGetGlobal(&mut address, &mut bytes, library, c"factor".as_ptr()),
            0
        );
        assert_eq!(bytes, 4);
        assert_eq!(cuMemcpyHtoD_v2(address, (&raw const factor).cast(), 4), 0);
    }
}

fn attribute(id: i32, value: [u32; 3]) -> CUlaunchAttribute {
    let mut all = [0; 16];
    all[..3].copy_from_slice(&value);
    CUlaunchAttribute {
        id,
        value: CUlaunchAttributeValue(all),
    }
}

/// Returns a launch configuration of one block of three threads, with attributes.
fn config(attributes: &[CUlaunchAttribute]) -> CUlaunchConfig {
    CUlaunchConfig {
        grid: [1; 3],
        block: [3, 1, 1],
        dynamic_shared: 0,
        stream: null_mut(),
        attributes: attributes.as_ptr(),
        attribute_count: attributes.len() as c_uint,
    }
}

/// Launches saxpy over three numbers with attributes.
fn launch(function: CUfunction, x: u64, y: u64, attributes: &[CUlaunchAttribute]) -> i32 {
    let (mut x, mut y, mut n) = (x, y, 3_u32);
    let mut parameters: [*mut c_void; 3] = [
        (&raw mut x).cast(),
        (&raw mut y).cast(),
        (&raw mut n).cast(),
    ];
    // SAFETY: the parameter list matches the kernel's signature of three parameters.
    unsafe {
        cuLaunchKernelEx(
            &config(attributes),
            function,
            parameters.as_mut_ptr(),
            null_mut(),
        )
    }
}

#[test]
fn library_kernels_run_in_every_context() {
    let first = OwnContext::new();
    let library = library(SAXPY);
    let saxpy = kernel(library, c"saxpy").unwrap();
    for factor in [2.0, 3.0] {
        let _context = OwnContext::new();
        set_factor(library, factor);
        let (x, y) = (floats(&[1.0, 2.0, 3.0]), floats(&[0.0; 3]));
        // A library's kernel can be launched like a function.
        assert_eq!(launch(saxpy.cast(), x, y, &[]), 0);
        assert_eq!(read(y, 3), [factor, 2.0 * factor, 3.0 * factor]);
        let mut function = null_mut();
        // SAFETY: `function` is writable; `saxpy` is an opaque handle that the driver looks up, never
        // dereferences.
        assert_eq!(unsafe { cuKernelGetFunction(&mut function, saxpy) }, 0);
        assert_eq!(launch(function, x, y, &[]), 0);
        assert_eq!(read(y, 3)[0], 2.0 * factor);
    }
    drop(first);
    // SAFETY: `function` is writable; `library` and `saxpy` are handles or addresses that the driver looks
    // up, never dereferences.
    unsafe {
        assert_eq!(cuLibraryUnload(library), 0);
        assert_eq!(cuLibraryUnload(library), INVALID_HANDLE);
        let mut function = null_mut();
        let _context = OwnContext::new();
        assert_eq!(cuKernelGetFunction(&mut function, saxpy), INVALID_HANDLE);
        assert_eq!(kernel(library, c"saxpy"), Err(INVALID_HANDLE));
    }
}

#[test]
fn launch_attributes_are_applied_ignored_or_rejected() {
    let _context = OwnContext::new();
    let library = library(SAXPY);
    let saxpy: CUfunction = kernel(library, c"saxpy").unwrap().cast();
    set_factor(library, 1.0);
    let (x, y) = (floats(&[1.0; 3]), floats(&[0.0; 3]));
    let harmless = [0, 1, 3, 5, 6, 8, 9, 10, 11, 14, 15, 16];
    let harmless = harmless.map(|id| attribute(id, [1; 3]));
    assert_eq!(launch(saxpy, x, y, &harmless), 0);
    let cluster_of_one = attribute(4, [1, 1, 1]);
    let cooperative = attribute(2, [1, 0, 0]);
    assert_eq!(launch(saxpy, x, y, &[cluster_of_one, cooperative]), 0);
    assert_eq!(read(y, 3), [2.0; 3]);
    assert_eq!(
        launch(saxpy, x, y, &[attribute(4, [2, 1, 1])]),
        NOT_SUPPORTED
    );
    assert_eq!(
        launch(saxpy, x, y, &[attribute(13, [1, 0, 0])]),
        NOT_SUPPORTED
    );
    assert_eq!(launch(saxpy, x, y, &[attribute(99, [0; 3])]), INVALID_VALUE);
    assert_eq!(read(y, 3), [2.0; 3], "rejected launches do not run");
    // SAFETY: the parameters match the kernel's signature; the driver rejects null pointers and invalid
    // arguments.
    let null_config = unsafe { cuLaunchKernelEx(null(), saxpy, null_mut(), null_mut()) };
    assert_eq!(null_config, INVALID_VALUE);
}

#[test]
fn extra_buffer_parameters_work_with_attributes() {
    let _context = OwnContext::new();
    let library = library(SAXPY);
    let saxpy: CUfunction = kernel(library, c"saxpy").unwrap().cast();
    set_factor(library, 2.0);
    let (x, y) = (floats(&[1.0, 2.0, 3.0]), floats(&[0.0; 3]));
    // The layout of the kernel's parameters: two addresses and a number.
    let mut buffer = [x, y, 3];
    let mut bytes = 20_usize;
    let tag = |tag: usize| std::ptr::without_provenance_mut::<c_void>(tag);
    let mut extra = [
        tag(1),
        buffer.as_mut_ptr().cast(),
        tag(2),
        (&raw mut bytes).cast(),
        tag(0),
    ];
    for (i, attributes) in [&[][..], &[attribute(2, [1, 0, 0])]].iter().enumerate() {
        // SAFETY: the buffer has the length passed.
        let launched =
            unsafe { cuLaunchKernelEx(&config(attributes), saxpy, null_mut(), extra.as_mut_ptr()) };
        assert_eq!(launched, 0);
        let times = 2.0 * (i + 1) as f32;
        assert_eq!(read(y, 3), [times, 2.0 * times, 3.0 * times]);
    }
}

#[test]
fn launch_events_are_recorded_after_the_launch() {
    let _context = OwnContext::new();
    let library = library(SAXPY);
    let saxpy: CUfunction = kernel(library, c"saxpy").unwrap().cast();
    let (x, y) = (floats(&[1.0; 3]), floats(&[0.0; 3]));
    let (mut before, mut after) = (null_mut(), null_mut());
    // SAFETY: `before` and `after` are writable.
    unsafe {
        assert_eq!(cuEventCreate(&mut before, 0), 0);
        assert_eq!(cuEventCreate(&mut after, 0), 0);
        assert_eq!(cuEventRecordWithFlags(before, null_mut(), 0), 0);
        assert_eq!(cuEventRecordWithFlags(before, null_mut(), 2), INVALID_VALUE);
    }
    let number = after as u64;
    let recorded = attribute(12, [number as u32, (number >> 32) as u32, 0]);
    assert_eq!(launch(saxpy, x, y, &[recorded]), 0);
    let mut milliseconds = -1.0;
    // SAFETY: `milliseconds` is writable; `after` and `before` are handles or addresses that the driver looks
    // up, never dereferences.
    unsafe {
        assert_eq!(cuEventSynchronize(after), 0);
        assert_eq!(cuEventElapsedTime_v2(&mut milliseconds, before, after), 0);
    }
    assert!(milliseconds > 0.0, "{milliseconds}");
}

#[test]
fn kernel_and_function_properties_are_reported() {
    let _context = OwnContext::new();
    let library = library(SAXPY);
    let saxpy = kernel(library, c"saxpy").unwrap();
    assert_eq!(kernel(library, c"nothing"), Err(NOT_FOUND));
    let mut function: CUfunction = null_mut();
    let (mut count, mut all) = (0, [null_mut(); 2]);
    let mut module = null_mut();
    let mut owner = null_mut();
    // SAFETY: all outputs are writable locals; `library` and `saxpy` are handles or addresses that the driver
    // looks up, never dereferences.
    unsafe {
        assert_eq!(cuLibraryGetKernelCount(&mut count, library), 0);
        assert_eq!(cuLibraryEnumerateKernels(all.as_mut_ptr(), 2, library), 0);
        assert_eq!((count, all), (1, [saxpy, null_mut()]));
        assert_eq!(cuKernelGetLibrary(&mut owner, saxpy), 0);
        assert_eq!(owner, library);
        assert_eq!(cuKernelGetFunction(&mut function, saxpy), 0);

        assert_eq!(cuLibraryGetModule(&mut module, library), 0);
        let mut functions = [null_mut(); 2];
        assert_eq!(cuModuleGetFunctionCount(&mut count, module), 0);
        assert_eq!(
            cuModuleEnumerateFunctions(functions.as_mut_ptr(), 2, module),
            0
        );
        assert_eq!((count, functions), (1, [function, null_mut()]));
    }
    let mut names: [*const c_char; 2] = [null(); 2];
    // SAFETY: all outputs are writable locals; kernel and function handles are looked up, never dereferenced.
    unsafe {
        assert_eq!(cuKernelGetName(&mut names[0], saxpy), 0);
        assert_eq!(cuFuncGetName(&mut names[1], function), 0);
        for name in names {
            assert_eq!(CStr::from_ptr(name), c"saxpy");
        }
    }
    let expected = [(0, 8), (8, 8), (16, 4)];
    for (i, expected) in expected.into_iter().enumerate() {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: `offset` and `size` are writable; kernel and function handles are looked up, never
        // dereferenced.
        unsafe {
            assert_eq!(cuKernelGetParamInfo(saxpy, i, &mut offset, &mut size), 0);
            assert_eq!((offset, size), expected);
            assert_eq!(cuFuncGetParamInfo(function, i, &mut offset, &mut size), 0);
            assert_eq!((offset, size), expected);
            assert_eq!(cuFuncGetParamInfo(function, i, &mut offset, null_mut()), 0);
        }
    }
    let (mut value, mut clusters, mut loaded, mut mode) = (0, 0, 0, 0);
    let config = CUlaunchConfig {
        grid: [1; 3],
        block: [1024, 1, 1],
        dynamic_shared: 0,
        stream: null_mut(),
        attributes: null(),
        attribute_count: 0,
    };
    // SAFETY: all outputs are writable locals; the strings are NUL-terminated; handles and addresses are
    // looked up by the driver, never dereferenced.
    unsafe {
        let mut offset = 0;
        let past = cuFuncGetParamInfo(function, 3, &mut offset, null_mut());
        assert_eq!(past, INVALID_VALUE);
        let past = cuKernelGetParamInfo(saxpy, 3, &mut offset, null_mut());
        assert_eq!(past, INVALID_VALUE);
        assert_eq!(cuKernelSetAttribute(8, 100_000, saxpy, 0), 0);
        assert_eq!(cuKernelGetAttribute(&mut value, 8, saxpy, 0), 0);
        assert_eq!(value, 100_000);
        assert_eq!(cuFuncGetAttribute(&mut value, 8, function), 0);
        assert_eq!(value, 100_000);
        assert_eq!(cuKernelGetAttribute(&mut value, 8, saxpy, 1), 101);
        assert_eq!(cuKernelSetCacheConfig(saxpy, 3, 0), 0);
        assert_eq!(cuKernelSetCacheConfig(saxpy, 4, 0), INVALID_VALUE);
        assert_eq!(cuFuncIsLoaded(&mut loaded, function), 0);
        assert_eq!(cuFuncLoad(function), 0);
        assert_eq!(cuModuleGetLoadingMode(&mut mode), 0);
        assert_eq!((loaded, mode), (1, 1));
        // 2 blocks of 1024 threads on each of 132 SMs.
        assert_eq!(
            cuOccupancyMaxActiveClusters(&mut clusters, function, &config),
            0
        );
        assert_eq!(clusters, 264);
        assert_eq!(
            cuOccupancyMaxPotentialClusterSize(&mut value, function, &config),
            0
        );
        assert_eq!(value, 1);
        let (mut address, mut bytes) = (0, 0);
        let managed = cuLibraryGetManaged(&mut address, &mut bytes, library, c"factor".as_ptr());
        assert_eq!(managed, NOT_FOUND);
        assert_eq!(cuProfilerStart(), 0);
        assert_eq!(cuProfilerStop(), 0);
    }
}

#[test]
fn libraries_load_without_a_context_and_from_files() {
    drop(OwnContext::new());
    let file = std::env::temp_dir().join(format!("warpbook-library-{}.ptx", std::process::id()));
    std::fs::write(&file, SAXPY.to_bytes()).unwrap();
    let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
    let (mut library, none) = (null_mut(), null_mut());
    let options = null_mut();
    // SAFETY: the path is NUL-terminated, the output is writable, and no options are passed.
    unsafe {
        let load = |library: &mut CUlibrary, path: &CStr| {
            cuLibraryLoadFromFile(library, path.as_ptr(), options, none, 0, options, none, 0)
        };
        assert_eq!(load(&mut library, &path), 0);
        std::fs::remove_file(file).unwrap();
        assert_eq!(load(&mut library, &path), 301);
        let mut module = null_mut();
        assert_eq!(cuLibraryGetModule(&mut module, library), INVALID_CONTEXT);
        let saxpy = kernel(library, c"saxpy").unwrap();
        let mut function = null_mut();
        assert_eq!(cuKernelGetFunction(&mut function, saxpy), INVALID_CONTEXT);
        let bad = c".version 6.4\n.target sm_52\n.entry k() { oops; }";
        let code = cuLibraryLoadData(
            &mut library,
            bad.as_ptr().cast(),
            options,
            none,
            0,
            options,
            none,
            0,
        );
        assert_eq!(code, 218);
    }
}
