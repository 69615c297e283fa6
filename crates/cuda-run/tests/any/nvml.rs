//! Tests of the replacement for NVIDIA's management library (NVML), which programs load as
//! `libnvidia-ml.so.1`.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::null_mut;

use libloading::{Library, Symbol};

use crate::support::Workspace;

type Code = c_int;
type Handle = *mut c_void;
type Text = unsafe extern "C" fn(Handle, *mut c_char, c_uint) -> Code;
type Number = unsafe extern "C" fn(Handle, *mut c_uint) -> Code;

const SUCCESS: Code = 0;
const UNINITIALIZED: Code = 1;
const INVALID_ARGUMENT: Code = 2;
const NOT_SUPPORTED: Code = 3;
const NOT_FOUND: Code = 6;
const INSUFFICIENT_SIZE: Code = 7;

/// The NVML library.
struct Nvml(Library);

impl Nvml {
    unsafe fn get<F>(&self, name: &str) -> Symbol<'_, F> {
        // SAFETY: every call site passes the type of the function in NVML.
        unsafe { self.0.get(name.as_bytes()) }.expect(name)
    }

    /// Returns the handle of the device with this index.
    unsafe fn device(&self, index: c_uint) -> Result<Handle, Code> {
        type ByIndex = unsafe extern "C" fn(c_uint, *mut Handle) -> Code;
        let mut handle = null_mut();
        // SAFETY: `handle` is writable.
        match unsafe { self.get::<ByIndex>("nvmlDeviceGetHandleByIndex_v2")(index, &mut handle) } {
            SUCCESS => Ok(handle),
            code => Err(code),
        }
    }

    /// Returns a string property of a device.
    unsafe fn device_text(
        &self,
        name: &str,
        device: Handle,
        capacity: c_uint,
    ) -> Result<String, Code> {
        let mut buffer = [0 as c_char; 96];
        // SAFETY: callers pass a capacity of at most 96 bytes, the size of the buffer.
        match unsafe { self.get::<Text>(name)(device, buffer.as_mut_ptr(), capacity) } {
            // SAFETY: the function has written a NUL-terminated string.
            SUCCESS => Ok(unsafe { CStr::from_ptr(buffer.as_ptr()) }
                .to_str()
                .unwrap()
                .to_owned()),
            code => Err(code),
        }
    }
}

#[test]
#[ignore = "run as a program by other tests"]
fn query_nvml() {
    // SAFETY: the function types match NVML, and all out-parameters are local variables.
    unsafe {
        let nvml = Nvml(Library::new("libnvidia-ml.so.1").expect("libnvidia-ml.so.1"));
        type NoArguments = unsafe extern "C" fn() -> Code;
        assert_eq!(nvml.device(0), Err(UNINITIALIZED));
        assert_eq!(nvml.get::<NoArguments>("nvmlShutdown")(), UNINITIALIZED);
        assert_eq!(nvml.get::<NoArguments>("nvmlInit_v2")(), SUCCESS);
        type Count = unsafe extern "C" fn(*mut c_uint) -> Code;
        let mut count = 0;
        let get_count = nvml.get::<Count>("nvmlDeviceGetCount_v2");
        assert_eq!(get_count(&mut count), SUCCESS);
        assert_eq!(get_count(null_mut()), INVALID_ARGUMENT);
        assert_eq!(nvml.device(count), Err(INVALID_ARGUMENT));
        for index in 0..count {
            let device = nvml.device(index).unwrap();
            let name = nvml.device_text("nvmlDeviceGetName", device, 96).unwrap();
            let uuid = nvml.device_text("nvmlDeviceGetUUID", device, 96).unwrap();
            let mut memory = [0_u64; 3];
            type Memory = unsafe extern "C" fn(Handle, *mut [u64; 3]) -> Code;
            let get_memory = nvml.get::<Memory>("nvmlDeviceGetMemoryInfo");
            assert_eq!(get_memory(device, &mut memory), SUCCESS);
            assert!(memory[0] > 0 && memory[0] == memory[1] + memory[2]);
            let mut numbers = [0; 2];
            type Pair = unsafe extern "C" fn(Handle, *mut c_int, *mut c_int) -> Code;
            let capability = nvml.get::<Pair>("nvmlDeviceGetCudaComputeCapability");
            let [major, minor] = &mut numbers;
            assert_eq!(capability(device, major, minor), SUCCESS);
            println!("{index}: {name}, {uuid}, {numbers:?}");

            type Find = unsafe extern "C" fn(*const c_char, *mut Handle) -> Code;
            let by_uuid = nvml.get::<Find>("nvmlDeviceGetHandleByUUID");
            let by_bus = nvml.get::<Find>("nvmlDeviceGetHandleByPciBusId_v2");
            let mut actual = null_mut();
            let uuid_text = std::ffi::CString::new(uuid).unwrap();
            assert_eq!(by_uuid(uuid_text.as_ptr(), &mut actual), SUCCESS);
            assert_eq!(actual, device);
            assert_eq!(by_uuid(c"GPU-none".as_ptr(), &mut actual), NOT_FOUND);
            let mut pci = [0_u8; 68];
            type Pci = unsafe extern "C" fn(Handle, *mut [u8; 68]) -> Code;
            let get_pci = nvml.get::<Pci>("nvmlDeviceGetPciInfo_v3");
            assert_eq!(get_pci(device, &mut pci), SUCCESS);
            actual = null_mut();
            assert_eq!(by_bus(pci[36..].as_ptr().cast(), &mut actual), SUCCESS);
            assert_eq!(actual, device);
            let mut number = 99;
            assert_eq!(
                nvml.get::<Number>("nvmlDeviceGetIndex")(device, &mut number),
                SUCCESS
            );
            assert_eq!(number, index);
        }
        let device = nvml.device(0).unwrap();
        let truncated = nvml.device_text("nvmlDeviceGetUUID", device, 40);
        assert_eq!(truncated, Err(INSUFFICIENT_SIZE));
        let null_device = nvml.device_text("nvmlDeviceGetName", null_mut(), 96);
        assert_eq!(null_device, Err(INVALID_ARGUMENT));
        let mut milliwatts = 0;
        let power = nvml.get::<Number>("nvmlDeviceGetPowerUsage");
        assert_eq!(power(device, &mut milliwatts), NOT_SUPPORTED);
        assert_eq!(nvml.get::<NoArguments>("nvmlShutdown")(), SUCCESS);
        assert_eq!(get_count(&mut count), UNINITIALIZED);
        type ErrorString = unsafe extern "C" fn(Code) -> *const c_char;
        let description = nvml.get::<ErrorString>("nvmlErrorString")(NOT_SUPPORTED);
        assert_eq!(CStr::from_ptr(description), c"Not Supported");
    }
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
