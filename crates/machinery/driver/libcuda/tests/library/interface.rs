//! The C API of `include/warpbook.h`.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use super::cuda::{Code, Cuda, SAXPY, file, run_child};

/// `warpbook_argument`.
#[repr(C)]
struct Argument {
    data: *mut c_void,
    size: usize,
    kind: c_int,
}

const VALUE: c_int = 0;
const IN: c_int = 1;
const OUT: c_int = 2;

/// Creates an argument of the memory of `data`.
fn argument<T>(data: &mut [T], kind: c_int) -> Argument {
    Argument {
        data: data.as_mut_ptr().cast(),
        size: size_of_val(data),
        kind,
    }
}

/// Calls `warpbook_run_ptx` with one block. Returns its result and message.
fn run(
    cuda: &Cuda,
    (ptx, kernel): (&CStr, Option<&CStr>),
    threads: c_uint,
    arguments: &[Argument],
) -> (Code, String) {
    let mut message = [b'?'; 400];
    let (grid, block): ([c_uint; 3], [c_uint; 3]) = ([1; 3], [threads, 1, 1]);
    let code = call!(
        cuda,
        warpbook_run_ptx(
            ptx.as_ptr() => *const c_char,
            kernel.map_or(null(), CStr::as_ptr) => *const c_char,
            grid.as_ptr() => *const c_uint,
            block.as_ptr() => *const c_uint,
            0 => c_uint,
            arguments.as_ptr() => *const Argument,
            arguments.len() => usize,
            message.as_mut_ptr().cast() => *mut c_char,
            message.len() => usize,
        )
    );
    let message = CStr::from_bytes_until_nul(&message).unwrap();
    (code, message.to_str().unwrap().to_owned())
}

/// A module with a kernel that stores each thread's index, and one that does nothing.
const STORE: &CStr = c"
.version 6.4
.target sm_52
.address_size 64
.visible .entry store(.param .u64 numbers)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [numbers];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry nothing() { ret; }
";

#[test]
fn the_version_is_that_of_the_package() {
    let cuda = Cuda::open(&file());
    type Version = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: `Version` is the function's type; its result is a static string.
    let version = unsafe { CStr::from_ptr(cuda.get::<Version>("warpbook_version")()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}

#[test]
fn buffers_are_copied_in_and_out() {
    let cuda = Cuda::open(&file());
    // The factor is a constant, which is 2 in this copy of the module.
    let ptx = SAXPY.to_str().unwrap();
    let ptx = ptx.replace(".f32 factor;", ".f32 factor = 2.0;");
    let ptx = std::ffi::CString::new(ptx).unwrap();
    let (mut x, mut y) = ([1.0_f32, 2.0, 3.0], [10.0_f32, 20.0, 30.0]);
    let mut count = [3_u32];
    let arguments = [
        argument(&mut x, IN),
        argument(&mut y, IN | OUT),
        argument(&mut count, VALUE),
    ];
    // A block that is not a multiple of the warp, and larger than the buffers.
    let (code, message) = run(&cuda, (&ptx, None), 33, &arguments);
    assert_eq!((code, message.as_str()), (0, ""));
    assert_eq!((x, y), ([1.0, 2.0, 3.0], [12.0, 24.0, 36.0]));
    let mut numbers = [u32::MAX; 33];
    let arguments = [argument(&mut numbers, OUT)];
    assert_eq!(run(&cuda, (STORE, Some(c"store")), 33, &arguments).0, 0);
    assert!(numbers.iter().copied().eq(0..33), "{numbers:?}");
}

#[test]
fn invalid_arguments_are_explained() {
    let cuda = Cuda::open(&file());
    let mut numbers = [7_u32; 4];
    let mut check = |module, make: &dyn Fn(&mut [u32]) -> Vec<Argument>, expected: &str| {
        let (code, message) = run(&cuda, module, 4, &make(&mut numbers));
        assert_ne!(code, 0);
        assert!(
            message.contains(expected),
            "{message:?} does not contain {expected:?}"
        );
    };
    let buffer = |numbers: &mut [u32]| vec![argument(numbers, OUT)];
    check(
        (STORE, None),
        &buffer,
        "the module has several kernels, name one: ",
    );
    check(
        (STORE, Some(c"stores")),
        &buffer,
        "the module has no kernel stores; it has: ",
    );
    check(
        (STORE, Some(c"nothing")),
        &buffer,
        "the kernel has 0 parameters, but 1 arguments are given",
    );
    check(
        (STORE, Some(c"store")),
        &|numbers| vec![argument(&mut numbers[..1], VALUE)],
        "argument 0 has 4 bytes, but the kernel's parameter 0 has 8",
    );
    check(
        (STORE, Some(c"store")),
        &|numbers| vec![argument(numbers, 4)],
        "argument 0 is of the unknown kind 4",
    );
    let (code, message) = run(&cuda, (STORE, Some(c"store")), 1025, &[]);
    assert_eq!(code, 1);
    assert!(message.contains("0 arguments are given"), "{message}");
    let mut out = vec![0_u32; 1025];
    let (code, message) = run(
        &cuda,
        (STORE, Some(c"store")),
        1025,
        &[argument(&mut out, OUT)],
    );
    assert_eq!(code, 1);
    assert!(
        message.contains("a block has 1 to 1024 threads"),
        "{message}"
    );
    check((c".version 6.4\n.target", None), &buffer, "CUDA_ERROR");
    assert_eq!(numbers, [7; 4]);
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn out_of_bounds() {
    let cuda = Cuda::open(&file());
    assert_eq!(cuda.init(), 0);
    let context = cuda.context();
    let mut numbers = [7_u32; 4];
    let arguments = [argument(&mut numbers, OUT)];
    let (code, message) = run(&cuda, (STORE, Some(c"store")), 5, &arguments);
    assert_eq!(code, 700, "{message}");
    assert!(message.contains("in kernel store"), "{message}");
    assert_eq!(numbers, [7; 4], "changed in spite of the failure");
    // The program's own context still works, and is still current.
    assert!(!context.is_null());
    assert_eq!(cuda.compute_sevens(), [7.0; 100]);
}

#[test]
fn a_fault_does_not_affect_the_program() {
    let output = run_child("interface::out_of_bounds", &[("CUDA_BACKEND", "sim")]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn ptx_run_accesses_host_memory() {
    let cuda = Cuda::open(&file());
    let ptx = STORE.to_str().unwrap();
    let only = ptx.split_once(".visible .entry nothing").unwrap().0;
    let ptx = std::ffi::CString::new(only).unwrap();
    let run = |threads, arguments: &[*const c_void]| {
        call!(
            cuda,
            ptx_run(
                ptx.as_ptr() => *const c_char,
                arguments.len() as c_int => c_int,
                arguments.as_ptr() => *const *const c_void,
                threads => c_int, 1 => c_int, 1 => c_int,
                1 => c_int, 1 => c_int, 1 => c_int,
                0 => c_int,
            )
        )
    };
    for length in [1, 33, 1024] {
        let mut numbers = vec![u32::MAX; length + 1];
        let code = run(length as c_int, &[numbers.as_mut_ptr().cast()]);
        assert_eq!(code, 0);
        let expected = (0..length as u32).chain([u32::MAX]);
        assert!(numbers.iter().copied().eq(expected), "{numbers:?}");
    }
    assert_eq!(run(1, &[]), 1, "too few arguments");
    // An address that is not mapped is a fault, after which other launches still work.
    assert_eq!(run(1, &[std::ptr::without_provenance(8)]), 700);
    let mut number = [u32::MAX];
    assert_eq!(run(1, &[number.as_mut_ptr().cast()]), 0);
    assert_eq!(number, [0]);
}

/// Takes the record.
fn take(cuda: &Cuda) -> Option<String> {
    type Take = unsafe extern "C" fn() -> *mut c_char;
    type Free = unsafe extern "C" fn(*mut c_void);
    // SAFETY: the types are those of the header; the text is a string until it is freed.
    unsafe {
        let text = cuda.get::<Take>("warpbook_record_take")();
        let record = (!text.is_null()).then(|| CStr::from_ptr(text).to_str().unwrap().to_owned());
        cuda.get::<Free>("warpbook_free")(text.cast());
        record
    }
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn records() {
    let cuda = Cuda::open(&file());
    assert_eq!(take(&cuda), None);
    let start = || call!(cuda, warpbook_record_start());
    assert_eq!(start(), 0, "before cuInit");
    let record = take(&cuda).unwrap();
    assert!(record.contains(r#""kernels":[],"#), "{record}");
    assert!(!record.contains(r#""gpu":"#), "{record}");

    let mut numbers = [0_u32; 64];
    let arguments = [argument(&mut numbers, OUT)];
    for _ in 0..3 {
        assert_eq!(run(&cuda, (STORE, Some(c"store")), 64, &arguments).0, 0);
    }
    let record = take(&cuda).unwrap();
    assert!(
        record.contains(r#""kernel":"store","launches":3,"#),
        "{record}"
    );
    // 2 warps of 4 sectors, 3 times.
    assert!(
        record.contains(r#""l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum":24,"#),
        "{record}"
    );
    assert!(
        record.contains(r#""gpu":{"name":"NVIDIA H200""#),
        "{record}"
    );
    assert!(record.ends_with(r#""problems":[]}"#), "{record}");
    let record = take(&cuda).unwrap();
    assert!(record.contains(r#""kernels":[],"#), "taken twice: {record}");

    // Half of the result is not written.
    assert_eq!(run(&cuda, (STORE, Some(c"store")), 32, &arguments).0, 0);
    let record = take(&cuda).unwrap();
    assert!(record.contains(r#""kind":"unwritten-result""#), "{record}");
    assert!(!record.contains("failed_calls"), "{record}");
    assert_eq!(run(&cuda, (STORE, Some(c"store")), 64, &arguments).0, 0);
    assert_eq!(start(), 0);
    let record = take(&cuda).unwrap();
    assert!(
        record.contains(r#""kernels":[],"#),
        "not discarded: {record}"
    );
    call!(cuda, warpbook_free(null_mut() => *mut c_void));
}

#[test]
fn recordings_contain_what_happened_since_the_last_one() {
    let settings = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_CHECK", "all")];
    let output = run_child("interface::records", &settings);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}
