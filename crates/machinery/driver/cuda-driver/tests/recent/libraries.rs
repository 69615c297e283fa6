//! Libraries, their kernels, and launches with attributes.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::{from_mut, null, null_mut};

use cuda_driver::types::{
    CUfunction, CUkernel, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig, CUlibrary,
};

use super::*;
use crate::support::INVALID_CLUSTER_SIZE;

fn load(ptx: &CStr) -> Result<CUlibrary, i32> {
    let (mut library, options, none) = (null_mut(), null_mut(), null_mut());
    let ptx = ptx.as_ptr().cast();
    let code = code!(cuLibraryLoadData(
        &mut library,
        ptx,
        options,
        none,
        0,
        options,
        none,
        0
    ));
    support::result(code, library)
}

fn library(ptx: &CStr) -> CUlibrary {
    load(ptx).unwrap()
}

fn kernel(library: CUlibrary, name: &CStr) -> Result<CUkernel, i32> {
    let mut kernel = null_mut();
    let code = code!(cuLibraryGetKernel(&mut kernel, library, name.as_ptr()));
    support::result(code, kernel)
}

/// Sets the variable `factor` of the library in the current context.
fn set_factor(library: CUlibrary, factor: f32) {
    let (mut address, mut bytes) = (0, 0);
    calls! { cuLibraryGetGlobal(&mut address, &mut bytes, library, c"factor".as_ptr()); }
    assert_eq!(bytes, 4);
    calls! { cuMemcpyHtoD_v2(address, (&raw const factor).cast(), 4); }
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
    let mut arguments = [x, y, 3];
    let mut parameters = arguments
        .each_mut()
        .map(|argument| from_mut(argument).cast());
    let (config, parameters) = (config(attributes), parameters.as_mut_ptr());
    code!(cuLaunchKernelEx(&config, function, parameters, null_mut()))
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
        calls! { cuKernelGetFunction(&mut function, saxpy); }
        assert_eq!(launch(function, x, y, &[]), 0);
        assert_eq!(read(y, 3)[0], 2.0 * factor);
    }
    drop(first);
    calls! {
        cuLibraryUnload(library);
        cuLibraryUnload(library) => INVALID_HANDLE;
    }
    let mut function = null_mut();
    let _context = OwnContext::new();
    calls! { cuKernelGetFunction(&mut function, saxpy) => INVALID_HANDLE; }
    assert_eq!(kernel(library, c"saxpy"), Err(INVALID_HANDLE));
}

#[test]
fn launch_attributes_are_applied_ignored_or_rejected() {
    let _context = OwnContext::new();
    let library = library(SAXPY);
    let saxpy: CUfunction = kernel(library, c"saxpy").unwrap().cast();
    set_factor(library, 1.0);
    let (x, y) = (floats(&[1.0; 3]), floats(&[0.0; 3]));
    let harmless = [0, 1, 5, 6, 8, 9, 10, 11, 14, 16];
    let harmless = harmless.map(|id| attribute(id, [1; 3]));
    assert_eq!(launch(saxpy, x, y, &harmless), 0);
    let cluster_of_one = attribute(4, [1, 1, 1]);
    let cooperative = attribute(2, [1, 0, 0]);
    assert_eq!(launch(saxpy, x, y, &[cluster_of_one, cooperative]), 0);
    assert_eq!(read(y, 3), [2.0; 3]);
    // The grid of one block is not a multiple of the first; the second is larger than 8 blocks.
    for (cluster, error) in [
        ([2, 1, 1], INVALID_CLUSTER_SIZE),
        ([4, 4, 1], INVALID_CLUSTER_SIZE),
        ([1, 0, 1], INVALID_CLUSTER_SIZE),
    ] {
        let launched = launch(saxpy, x, y, &[attribute(4, cluster)]);
        assert_eq!(launched, error, "{cluster:?}");
    }
    assert_eq!(
        launch(saxpy, x, y, &[attribute(13, [1, 0, 0])]),
        NOT_SUPPORTED
    );
    for invalid in [(3, 1), (5, 3), (10, 9), (14, 101), (15, 0), (99, 0)] {
        let invalid = attribute(invalid.0, [invalid.1; 3]);
        assert_eq!(launch(saxpy, x, y, &[invalid]), INVALID_VALUE);
    }
    assert_eq!(read(y, 3), [2.0; 3], "rejected launches do not run");
    calls! { cuLaunchKernelEx(null(), saxpy, null_mut(), null_mut()) => INVALID_VALUE; }
}

const CLUSTERS: &CStr = c".version 8.0
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 p) {
    .reg .b32 %r<4>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [p];
    barrier.cluster.arrive; barrier.cluster.wait;
    mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
    mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank;
    mad.lo.u32 %r2, %r3, 100, %r2;
    st.global.u32 [%d1], %r2; ret; }
.visible .entry pairs(.param .u64 p) .reqnctapercluster 2 { ret; }
.visible .entry explicit(.param .u64 p) .explicitcluster .maxclusterrank 4 { ret; }
";

#[test]
fn clusters_are_launched_with_their_limits() {
    let _context = OwnContext::new();
    let library = library(CLUSTERS);
    let [ranks, pairs, explicit] = [c"ranks", c"pairs", c"explicit"]
        .map(|name| -> CUfunction { kernel(library, name).unwrap().cast() });
    let out = floats(&[0.0; 16]);
    let run = |function: CUfunction, blocks: u32, attributes: &[CUlaunchAttribute]| {
        let config = CUlaunchConfig {
            grid: [blocks, 1, 1],
            ..config(attributes)
        };
        let mut argument = out;
        let mut parameters = [(&raw mut argument).cast()];
        code!(cuLaunchKernelEx(
            &config,
            function,
            parameters.as_mut_ptr(),
            null_mut()
        ))
    };
    let cluster = |width| [attribute(4, [width, 1, 1])];
    for width in [1, 2, 4, 8] {
        assert_eq!(run(ranks, 16, &cluster(width)), 0, "{width}");
        let expected: Vec<u32> = (0..16).map(|block| width * 100 + block % width).collect();
        let actual: Vec<u32> = read(out, 16).into_iter().map(f32::to_bits).collect();
        assert_eq!(actual, expected, "{width}");
    }
    assert_eq!(run(ranks, 16, &cluster(16)), INVALID_CLUSTER_SIZE);
    assert_eq!(run(ranks, 15, &cluster(2)), INVALID_CLUSTER_SIZE);
    assert_eq!(run(pairs, 4, &[]), 0);
    assert_eq!(run(pairs, 3, &[]), INVALID_CLUSTER_SIZE);
    assert_eq!(run(pairs, 4, &cluster(4)), INVALID_VALUE);
    assert_eq!(run(explicit, 4, &[]), INVALID_CLUSTER_SIZE);
    assert_eq!(run(explicit, 8, &cluster(8)), INVALID_CLUSTER_SIZE);
    assert_eq!(run(explicit, 8, &cluster(4)), 0);
    let mut value = 0;
    calls! { cuFuncGetAttribute(&mut value, 11, pairs); }
    assert_eq!(value, 2);
    calls! { cuFuncGetAttribute(&mut value, 10, explicit); }
    assert_eq!(value, 1);
    // More than 8 blocks require an attribute, and a size may be set for launches that name none.
    calls! {
        cuKernelSetAttribute(14, 1, ranks.cast(), 0);
        cuKernelSetAttribute(11, 4, ranks.cast(), 0);
        cuFuncGetAttribute(&mut value, 14, ranks);
    }
    assert_eq!(value, 1);
    assert_eq!(run(ranks, 16, &cluster(16)), 0);
    assert_eq!(run(ranks, 16, &[]), 0);
    assert_eq!(read(out, 16)[5].to_bits(), 401);
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
        let launched = code!(cuLaunchKernelEx(
            &config(attributes),
            saxpy,
            null_mut(),
            extra.as_mut_ptr()
        ));
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
    calls! {
        cuEventCreate(&mut before, 0);
        cuEventCreate(&mut after, 0);
        cuEventRecordWithFlags(before, null_mut(), 0);
        cuEventRecordWithFlags(before, null_mut(), 2) => INVALID_VALUE;
    }
    let number = after as u64;
    let recorded = attribute(12, [number as u32, (number >> 32) as u32, 0]);
    assert_eq!(launch(saxpy, x, y, &[recorded]), 0);
    let mut milliseconds = -1.0;
    calls! {
        cuEventSynchronize(after);
        cuEventElapsedTime_v2(&mut milliseconds, before, after);
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
    calls! {
        cuLibraryGetKernelCount(&mut count, library);
        cuLibraryEnumerateKernels(all.as_mut_ptr(), 2, library);
    }
    assert_eq!((count, all), (1, [saxpy, null_mut()]));
    calls! { cuKernelGetLibrary(&mut owner, saxpy); }
    assert_eq!(owner, library);
    calls! { cuKernelGetFunction(&mut function, saxpy); }

    calls! { cuLibraryGetModule(&mut module, library); }
    let mut functions = [null_mut(); 2];
    calls! {
        cuModuleGetFunctionCount(&mut count, module);
        cuModuleEnumerateFunctions(functions.as_mut_ptr(), 2, module);
    }
    assert_eq!((count, functions), (1, [function, null_mut()]));
    let mut names: [*const c_char; 2] = [null(); 2];
    calls! {
        cuKernelGetName(&mut names[0], saxpy);
        cuFuncGetName(&mut names[1], function);
    }
    for name in names {
        // SAFETY: the names are NUL-terminated, and live as long as the library.
        assert_eq!(unsafe { CStr::from_ptr(name) }, c"saxpy");
    }
    let expected = [(0, 8), (8, 8), (16, 4)];
    for (i, expected) in expected.into_iter().enumerate() {
        let (mut offset, mut size) = (0, 0);
        calls! { cuKernelGetParamInfo(saxpy, i, &mut offset, &mut size); }
        assert_eq!((offset, size), expected);
        calls! { cuFuncGetParamInfo(function, i, &mut offset, &mut size); }
        assert_eq!((offset, size), expected);
        calls! { cuFuncGetParamInfo(function, i, &mut offset, null_mut()); }
    }
    let (mut value, mut clusters, mut loaded, mut mode) = (0, 0, 0, 0);
    let config = CUlaunchConfig {
        block: [1024, 1, 1],
        ..config(&[])
    };
    let mut offset = 0;
    calls! {
        cuFuncGetParamInfo(function, 3, &mut offset, null_mut()) => INVALID_VALUE;
        cuKernelGetParamInfo(saxpy, 3, &mut offset, null_mut()) => INVALID_VALUE;
        cuKernelSetAttribute(8, 100_000, saxpy, 0);
        cuKernelGetAttribute(&mut value, 8, saxpy, 0);
    }
    assert_eq!(value, 100_000);
    calls! { cuFuncGetAttribute(&mut value, 8, function); }
    assert_eq!(value, 100_000);
    calls! {
        cuKernelGetAttribute(&mut value, 8, saxpy, 1) => 101;
        cuKernelSetCacheConfig(saxpy, 3, 0);
        cuKernelSetCacheConfig(saxpy, 4, 0) => INVALID_VALUE;
        cuFuncIsLoaded(&mut loaded, function);
        cuFuncLoad(function);
        cuModuleGetLoadingMode(&mut mode);
    }
    assert_eq!((loaded, mode), (1, 2));
    // 2 blocks of 1024 threads on each of 132 SMs.
    calls! { cuOccupancyMaxActiveClusters(&mut clusters, function, &config); }
    assert_eq!(clusters, 264);
    calls! { cuOccupancyMaxPotentialClusterSize(&mut value, function, &config); }
    assert_eq!(value, 8);
    let (mut address, mut bytes) = (0, 0);
    calls! {
        cuLibraryGetManaged(&mut address, &mut bytes, library, c"factor".as_ptr()) => NOT_FOUND;
        cuProfilerStart();
        cuProfilerStop();
    }
}

#[test]
fn libraries_load_without_a_context_and_from_files() {
    drop(OwnContext::new());
    let file = std::env::temp_dir().join(format!("warpbook-library-{}.ptx", std::process::id()));
    std::fs::write(&file, SAXPY.to_bytes()).unwrap();
    let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
    let library = library_from_file(&path).unwrap();
    std::fs::remove_file(file).unwrap();
    assert_eq!(library_from_file(&path), Err(301));
    let mut module = null_mut();
    calls! { cuLibraryGetModule(&mut module, library) => INVALID_CONTEXT; }
    let saxpy = kernel(library, c"saxpy").unwrap();
    let mut function = null_mut();
    calls! { cuKernelGetFunction(&mut function, saxpy) => INVALID_CONTEXT; }
    let bad = c".version 6.4\n.target sm_52\n.entry k() { oops; }";
    // Libraries load lazily.
    let invalid = load(bad).unwrap();
    assert_eq!(kernel(invalid, c"k"), Err(218));
}
