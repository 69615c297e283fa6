//! Tests of the replacement for NVIDIA's management library (NVML), which programs load as
//! `libnvidia-ml.so.1`.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::null_mut;

use libloading::Library;

use crate::support::Workspace;

type Code = c_int;
type Handle = *mut c_void;

const SUCCESS: Code = 0;
const UNINITIALIZED: Code = 1;
const INVALID_ARGUMENT: Code = 2;
const NOT_SUPPORTED: Code = 3;
const NOT_FOUND: Code = 6;
const INSUFFICIENT_SIZE: Code = 7;

/// The NVML library.
struct Nvml(Library);

impl Nvml {
    /// Returns the handle of the device with this index.
    fn device(&self, index: c_uint) -> Result<Handle, Code> {
        let (mut handle, library) = (null_mut(), &self.0);
        let to = &mut handle;
        match call!(library, nvmlDeviceGetHandleByIndex_v2(index => c_uint, to => *mut Handle)) {
            SUCCESS => Ok(handle),
            code => Err(code),
        }
    }
}

/// Returns a string property of a device.
macro_rules! device_text {
    ($nvml:expr, $name:ident($device:expr, $capacity:expr)) => {{
        let mut buffer = [0 as c_char; 96];
        let to = buffer.as_mut_ptr();
        match call!($nvml.0, $name($device => Handle, to => *mut c_char, $capacity => c_uint)) {
            // SAFETY: the function has written a NUL-terminated string.
            SUCCESS => Ok(unsafe { CStr::from_ptr(buffer.as_ptr()) }
                .to_str()
                .unwrap()
                .to_owned()),
            code => Err(code),
        }
    }};
}

#[test]
#[ignore = "run as a program by other tests"]
fn query_nvml() {
    // SAFETY: the library's initializers are sound.
    let nvml = Nvml(unsafe { Library::new("libnvidia-ml.so.1") }.expect("libnvidia-ml.so.1"));
    let library = &nvml.0;
    assert_eq!(nvml.device(0), Err(UNINITIALIZED));
    assert_eq!(call!(library, nvmlShutdown()), UNINITIALIZED);
    assert_eq!(call!(library, nvmlInit_v2()), SUCCESS);
    let get_count = |to: *mut c_uint| call!(library, nvmlDeviceGetCount_v2(to => *mut c_uint));
    let mut count = 0;
    assert_eq!(get_count(&mut count), SUCCESS);
    assert_eq!(get_count(null_mut()), INVALID_ARGUMENT);
    assert_eq!(nvml.device(count), Err(INVALID_ARGUMENT));
    for index in 0..count {
        let device = nvml.device(index).unwrap();
        let name = device_text!(nvml, nvmlDeviceGetName(device, 96)).unwrap();
        let uuid = device_text!(nvml, nvmlDeviceGetUUID(device, 96)).unwrap();
        let (mut memory, mut pci) = ([0_u64; 3], [0_u8; 68]);
        let (mut major, mut minor, mut number) = (0, 0, 99);
        for code in [
            call!(library, nvmlDeviceGetMemoryInfo(device => Handle, &mut memory => *mut [u64; 3])),
            call!(library, nvmlDeviceGetCudaComputeCapability(
                device => Handle, &mut major => *mut c_int, &mut minor => *mut c_int
            )),
            call!(library, nvmlDeviceGetPciInfo_v3(device => Handle, &mut pci => *mut [u8; 68])),
            call!(library, nvmlDeviceGetIndex(device => Handle, &mut number => *mut c_uint)),
        ] {
            assert_eq!(code, SUCCESS);
        }
        assert!(memory[0] > 0 && memory[0] == memory[1] + memory[2]);
        assert_eq!(number, index);
        println!("{index}: {name}, {uuid}, {:?}", [major, minor]);

        let by_uuid = |text: &CStr| {
            let (mut actual, text) = (null_mut(), text.as_ptr());
            let to = &mut actual;
            let code =
                call!(library, nvmlDeviceGetHandleByUUID(text => *const c_char, to => *mut Handle));
            (code, actual)
        };
        let uuid_text = std::ffi::CString::new(uuid).unwrap();
        assert_eq!(by_uuid(&uuid_text), (SUCCESS, device));
        assert_eq!(by_uuid(c"GPU-none").0, NOT_FOUND);
        let (mut actual, bus) = (null_mut(), pci[36..].as_ptr().cast());
        let to = &mut actual;
        let code = call!(library, nvmlDeviceGetHandleByPciBusId_v2(bus => *const c_char, to => *mut Handle));
        assert_eq!((code, actual), (SUCCESS, device));
    }
    let device = nvml.device(0).unwrap();
    let truncated = device_text!(nvml, nvmlDeviceGetUUID(device, 40));
    assert_eq!(truncated, Err(INSUFFICIENT_SIZE));
    let null_device = device_text!(nvml, nvmlDeviceGetName(null_mut(), 96));
    assert_eq!(null_device, Err(INVALID_ARGUMENT));
    let mut milliwatts = 0;
    let power =
        call!(library, nvmlDeviceGetPowerUsage(device => Handle, &mut milliwatts => *mut c_uint));
    assert_eq!(power, NOT_SUPPORTED);
    assert_eq!(call!(library, nvmlShutdown()), SUCCESS);
    assert_eq!(get_count(&mut count), UNINITIALIZED);
    // SAFETY: `nvmlErrorString` returns a static string.
    let description = unsafe {
        type ErrorString = unsafe extern "C" fn(Code) -> *const c_char;
        let describe = library.get::<ErrorString>(b"nvmlErrorString").unwrap();
        CStr::from_ptr(describe(NOT_SUPPORTED))
    };
    assert_eq!(description, c"Not Supported");
}

#[test]
fn nvml_reports_the_simulated_gpus() {
    let workspace = Workspace::new();
    let run = workspace.run(
        &["--quiet", "--device", "rtx3090", "--devices", "2"],
        "nvml::query_nvml",
    );
    run.assert_exit(0, &["nvmlDeviceGetPowerUsage is not supported"]);
    for expected in [
        "0: NVIDIA GeForce RTX 3090 (simulated), GPU-57617270-626f-6f6b-2073-696d20475055, [8, 6]",
        "1: NVIDIA GeForce RTX 3090 (simulated), GPU-57617270-626f-6f6b-2073-696d20475056, [8, 6]",
    ] {
        assert!(run.stdout.contains(expected), "{run:#?}");
    }
}

#[test]
fn an_invalid_number_of_devices_is_rejected() {
    let workspace = Workspace::new();
    let run = workspace.run(&["--devices", "17"], "nvml::query_nvml");
    run.assert_exit(2, &["17 is not in 1..=16"]);
    let mut command = workspace.clean_command(Path::new(env!("CARGO_BIN_EXE_cuda-run")));
    command.env("CUDA_SIM_DEVICES", "none").args(["--", "true"]);
    let run = workspace.output_of(command);
    let error = "CUDA_SIM_DEVICES=none is not a number from 1 to 16";
    assert_ne!(run.code, 0, "{run:#?}");
    assert!(run.stderr.contains(error), "{run:#?}");
}
