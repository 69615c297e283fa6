//! A robustness sweep: calls every function with each kind of invalid argument that its signature allows
//! (null pointers, stale handles, handles of another type, live handles without room for a result) and
//! requires that it returns.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::io::Write;
use std::process::Command;
use std::ptr::null_mut;

use super::*;

/// The signature used for all calls. No function has more than 12 arguments, and C functions ignore extra ones.
type Any = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> i32;

const PTX: &str = ".version 6.4
.target sm_52
.address_size 64
.visible .global .u32 variable;
.visible .entry kernel(.param .u64 p) { ret; }\0";

/// Live objects: handles by handle type.
struct Live(BTreeMap<&'static str, u64>);

impl Live {
    fn new() -> Self {
        let mut handles = BTreeMap::new();
        let mut insert = |kind, handle: *mut c_void| {
            handles.insert(kind, handle as u64);
        };
        let none = null_mut();
        // SAFETY: all outputs are local variables, the PTX and the name are NUL-terminated, and no options
        // are passed.
        unsafe {
            let (mut context, mut module, mut kernel) = (null_mut(), null_mut(), null_mut());
            let (mut stream, mut event, mut array) = (null_mut(), null_mut(), null_mut());
            let (mut library, mut of_library, mut pool) = (none, none, null_mut());
            assert_eq!(cuCtxCreate_v2(&mut context, 0, 0), 0);
            assert_eq!(cuModuleLoadData(&mut module, PTX.as_ptr().cast()), 0);
            let name = c"kernel".as_ptr();
            assert_eq!(cuModuleGetFunction(&mut kernel, module, name), 0);
            assert_eq!(cuStreamCreate(&mut stream, 0), 0);
            assert_eq!(cuEventCreate(&mut event, 0), 0);
            let no_options = null_mut();
            let loaded = cuLibraryLoadData(
                &mut library,
                PTX.as_ptr().cast(),
                no_options,
                null_mut(),
                0,
                no_options,
                null_mut(),
                0,
            );
            assert_eq!(loaded, 0);
            assert_eq!(cuLibraryGetKernel(&mut of_library, library, name), 0);
            let described = cust_raw::CUDA_ARRAY_DESCRIPTOR {
                Width: 4,
                Height: 4,
                Format: cust_raw::CUarray_format::CU_AD_FORMAT_FLOAT,
                NumChannels: 1,
            };
            assert_eq!(cuArrayCreate_v2(&mut array, &described), 0);
            // Pinned memory on device 0.
            let mut properties: cust_raw::CUmemPoolProps = std::mem::zeroed();
            (&raw mut properties.allocType).cast::<i32>().write(1);
            (&raw mut properties.location.type_).cast::<i32>().write(1);
            assert_eq!(cuMemPoolCreate(&mut pool, &properties), 0);
            insert("CUcontext", context.cast());
            insert("CUmodule", module.cast());
            insert("CUfunction", kernel.cast());
            insert("CUstream", stream.cast());
            insert("CUevent", event.cast());
            insert("CUarray", array.cast());
            insert("CUmemoryPool", pool.cast());
            insert("CUlibrary", library);
            insert("CUkernel", of_library);
            let mut address = 0;
            assert_eq!(cuMemAlloc_v2(&mut address, 64), 0);
            insert(
                "CUdeviceptr",
                std::ptr::without_provenance_mut(address as usize),
            );
        }
        Self(handles)
    }

    /// Destroys all objects that still exist.
    fn destroy_all(&self) {
        // SAFETY: the driver validates handles, so a stale one is allowed; popping with a null output is too.
        unsafe {
            cuMemPoolDestroy(self.0["CUmemoryPool"] as *mut _);
            cuLibraryUnload(self.0["CUlibrary"] as *mut c_void);
            cuCtxDestroy_v2(self.0["CUcontext"] as *mut _);
            while cuCtxPopCurrent_v2(null_mut()) == 0 {}
        }
    }
}

/// The handle passed for a handle argument.
#[derive(Clone, Copy, Debug)]
enum Handles {
    Null,
    Stale,
    Live,
    /// A live handle of another type.
    Other,
}

/// The pointer passed for a pointer argument.
#[derive(Clone, Copy, Debug)]
enum Pointers {
    Null,
    /// A zeroed buffer large enough for any structure.
    Zeros,
}

/// Returns an argument of type `kind`.
fn argument(kind: &str, live: &Live, stale: &Live, case: (Handles, Pointers, u64)) -> u64 {
    let (handles, pointers, number) = case;
    let other_handle = |kind: &str| {
        let padded: Vec<_> = live.0.iter().collect();
        let index = padded.iter().position(|(name, _)| **name == kind);
        *padded[(index.unwrap_or(0) + 1) % padded.len()].1
    };
    let is_handle = |kind: &str| {
        live.0.contains_key(kind)
            || ["CUtexObject", "CUsurfObject", "CUlinkState", "CUgraph"]
                .iter()
                .any(|other| kind.starts_with(other))
            || kind == "CUexternalMemory"
    };
    if kind.starts_with('*') {
        return match pointers {
            Pointers::Null => 0,
            Pointers::Zeros => Box::leak(Box::new([0_u64; 1024])).as_mut_ptr() as u64,
        };
    }
    if is_handle(kind) {
        return match handles {
            Handles::Null => 0,
            Handles::Stale => stale.0.get(kind).copied().unwrap_or(0x70),
            Handles::Live => live.0.get(kind).copied().unwrap_or(0),
            // Any other number could be an address in this process, which unified copies accept.
            Handles::Other if kind == "CUdeviceptr" => stale.0[kind],
            Handles::Other => other_handle(kind),
        };
    }
    match kind {
        // Function pointers and memory locations: null.
        "CUhostFn" | "CUstreamCallback" | "CUoccupancyB2DSize" | "CUmemLocation" => 0,
        "CUdevice" => 0,
        _ => number,
    }
}

const CASES: [(Handles, Pointers, u64); 8] = [
    (Handles::Null, Pointers::Null, 0),
    (Handles::Null, Pointers::Null, u64::MAX),
    (Handles::Live, Pointers::Null, 0),
    (Handles::Live, Pointers::Null, 1),
    (Handles::Stale, Pointers::Zeros, 0),
    (Handles::Stale, Pointers::Zeros, 64),
    (Handles::Other, Pointers::Zeros, 64),
    (Handles::Live, Pointers::Zeros, 64),
];

fn call(function: &EntryPoint, arguments: &[u64]) -> i32 {
    let mut padded = [0; 12];
    padded[..arguments.len()].copy_from_slice(arguments);
    let [a, b, c, d, e, f, g, h, i, j, k, l] = padded;
    // SAFETY: every argument of every function is an integer or pointer passed in a 64-bit slot, and in the C
    // calling convention the caller removes the arguments, so extra ones do no harm.
    unsafe {
        let function = std::mem::transmute::<super::ErasedFn, Any>(function.exported());
        function(a, b, c, d, e, f, g, h, i, j, k, l)
    }
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn call_everything_with_invalid_arguments() {
    let mut stdout = std::io::stdout();
    // SAFETY: `cuInit` takes no pointers.
    assert_eq!(unsafe { cuInit(0) }, 0);
    let stale = Live::new();
    stale.destroy_all();
    for function in all() {
        assert!(function.arguments.len() <= 12, "{}", function.name());
        for case in CASES {
            // A wait for a value that nothing writes would never end.
            let waits = function.name().starts_with("cuStreamWaitValue");
            if waits && matches!(case.0, Handles::Live) {
                continue;
            }
            let live = Live::new();
            let arguments: Vec<u64> = function
                .arguments
                .iter()
                .map(|kind| argument(kind, &live, &stale, case))
                .collect();
            // Printed before the call, so that the output names a call that crashes.
            writeln!(stdout, "{}{arguments:x?} {case:?}", function.name()).unwrap();
            let code = call(function, &arguments);
            assert!((0..=999).contains(&code), "{}: {code}", function.name());
            let takes_handle = function
                .arguments
                .iter()
                .any(|kind| stale.0.contains_key(kind));
            let accepts_stale = [
                "cuCtxPushCurrent",
                "cuCtxSetCurrent",
                "cuCtxPushCurrent",
                "cuMemcpy",
                "cuMemset",
                "cuStreamWaitEvent",
            ];
            let accepts_stale = accepts_stale
                .iter()
                .any(|name| function.name().starts_with(name));
            if matches!(case.0, Handles::Stale) && takes_handle && !accepts_stale && case.2 == 64 {
                assert_ne!(code, 0, "{} accepts a stale handle", function.name());
            }
            live.destroy_all();
        }
    }
    let live = Live::new();
    live.destroy_all();
}

#[test]
fn invalid_arguments_never_crash() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "functions::sweep::call_everything_with_invalid_arguments",
            "--exact",
        ])
        .args(["--ignored", "--nocapture"])
        .env("CUDA_BACKEND", "sim")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let last: Vec<&str> = stdout.lines().rev().take(3).collect();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stderr: Vec<&str> = stderr
        .lines()
        .filter(|line| !line.starts_with("warpbook"))
        .collect();
    assert!(
        output.status.success(),
        "{}: {last:?}\n{stderr:#?}",
        output.status
    );
}
