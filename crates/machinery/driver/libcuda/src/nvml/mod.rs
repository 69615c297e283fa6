//! The functions of NVML (`nvml…`) that programs call before they use CUDA: the GPUs, their names and their
//! memory. `cuda-run -- PROGRAM` also provides this library as `libnvidia-ml.so.1`.
//!
//! The functions report the machine that the environment configures (`CUDA_SIM_DEVICE`, `CUDA_SIM_DEVICES`)
//! and do not start the simulator. Properties that only a real GPU has (temperature, power, utilization)
//! return `NVML_ERROR_NOT_SUPPORTED`. Arguments and results follow NVIDIA's documentation (NVML API Reference
//! Guide).

mod devices;
mod status;

use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

use cuda_driver::{SIMULATED_VERSION, device_bus_id, device_memory, device_uuid};
use devices::{
    Handle, c_array, clock, device, handle, init, machine, read_text, shutdown, unavailable, write,
    write_text,
};
use status::{CallResult, Error, error_string, to_code};

/// The reported driver version: CUDA 13.0 came with the 580 series.
const DRIVER: &str = "580.00";

/// `nvmlPciInfo_t`.
#[repr(C)]
pub struct PciInfo {
    short_bus_id: [c_char; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    /// The device ID and the vendor ID.
    ids: c_uint,
    subsystem_ids: c_uint,
    bus_id: [c_char; 32],
}

/// `nvmlMemory_t`, in bytes.
#[repr(C)]
pub struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlMemory_v2_t`, in bytes except for the version.
#[repr(C)]
pub struct MemoryV2 {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// The value of `version` for `nvmlMemory_v2_t`: the structure's size and its version number.
const MEMORY_V2_VERSION: c_uint = size_of::<MemoryV2>() as c_uint | 2 << 24;

/// Defines exported functions from their bodies.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of NVML.")]
        ///
        /// # Safety
        ///
        /// The caller must meet NVML's requirements: pointers are null or valid, with as much room as stated.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            let body = || -> CallResult { $body };
            to_code(body())
        }
    )*};
}

/// Defines functions for properties that a simulated device does not have.
macro_rules! unsupported {
    ($($name:ident($($argument:ident: $type:ty),*))*) => {
        functions! {$(
            $name(device: Handle $(, $argument: $type)*) {
                $(let _ = $argument;)*
                unavailable(stringify!($name), device)
            }
        )*}
    };
}

/// `nvmlErrorString` of NVML.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(error: c_int) -> *const c_char {
    error_string(error).as_ptr()
}

functions! {
    nvmlInit_v2() { init() }
    nvmlInit() { init() }
    nvmlInitWithFlags(flags: c_uint) {
        // `NVML_INIT_FLAG_NO_GPUS` and `NVML_INIT_FLAG_NO_ATTACH` have no effect here.
        match flags & !3 {
            0 => init(),
            _ => Err(Error::InvalidArgument),
        }
    }
    nvmlShutdown() { shutdown() }

    nvmlSystemGetDriverVersion(out: *mut c_char, length: c_uint) {
        machine()?;
        // SAFETY: `out` is null or has room for `length` bytes, as NVML requires of its caller.
        unsafe { write_text(out, length, DRIVER) }
    }
    nvmlSystemGetNVMLVersion(out: *mut c_char, length: c_uint) {
        machine()?;
        let version = format!("{}.{DRIVER}", SIMULATED_VERSION / 1000);
        // SAFETY: `out` is null or has room for `length` bytes, as NVML requires of its caller.
        unsafe { write_text(out, length, &version) }
    }
    nvmlSystemGetCudaDriverVersion(out: *mut c_int) {
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, SIMULATED_VERSION) }
    }
    nvmlSystemGetCudaDriverVersion_v2(out: *mut c_int) {
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, SIMULATED_VERSION) }
    }

    nvmlDeviceGetCount_v2(out: *mut c_uint) {
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, machine()?.count) }
    }
    nvmlDeviceGetCount(out: *mut c_uint) {
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, machine()?.count) }
    }
    nvmlDeviceGetHandleByIndex_v2(index: c_uint, out: *mut Handle) { by_index(index, out) }
    nvmlDeviceGetHandleByIndex(index: c_uint, out: *mut Handle) { by_index(index, out) }
    nvmlDeviceGetHandleByPciBusId_v2(bus_id: *const c_char, out: *mut Handle) {
        // SAFETY: `bus_id` is null or a NUL-terminated string, as NVML requires of its caller.
        let requested = unsafe { read_text(bus_id) }?.to_lowercase();
        // The domain may have four or eight digits.
        let device_handle = find_device(|number| {
            let bus_id_short = device_bus_id(number);
            requested == bus_id_short || requested == format!("0000{bus_id_short}")
        })?;
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, device_handle) }
    }
    nvmlDeviceGetHandleByUUID(uuid: *const c_char, out: *mut Handle) {
        // SAFETY: `uuid` is null or a NUL-terminated string, as NVML requires of its caller.
        let requested = unsafe { read_text(uuid) }?.to_lowercase();
        let device_handle = find_device(|number| requested == uuid_text(number).to_lowercase())?;
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, device_handle) }
    }
    nvmlDeviceGetIndex(h_device: Handle, out: *mut c_uint) {
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, device(h_device)?.1) }
    }
    nvmlDeviceGetMinorNumber(h_device: Handle, out: *mut c_uint) {
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, device(h_device)?.1) }
    }
    nvmlDeviceGetName(h_device: Handle, out: *mut c_char, length: c_uint) {
        let (machine, _) = device(h_device)?;
        // SAFETY: `out` is null or has room for `length` bytes, as NVML requires of its caller.
        unsafe { write_text(out, length, machine.device.name) }
    }
    nvmlDeviceGetUUID(h_device: Handle, out: *mut c_char, length: c_uint) {
        let (_, number) = device(h_device)?;
        // SAFETY: `out` is null or has room for `length` bytes, as NVML requires of its caller.
        unsafe { write_text(out, length, &uuid_text(number)) }
    }
    nvmlDeviceGetPciInfo_v3(h_device: Handle, out: *mut PciInfo) {
        let (machine, number) = device(h_device)?;
        let bus_id_short = device_bus_id(number);
        let [ids, subsystem_ids] = machine.device.pci_ids;
        let info = PciInfo {
            short_bus_id: c_array(&bus_id_short),
            domain: 0,
            bus: number,
            device: 0,
            ids,
            subsystem_ids,
            bus_id: c_array(&format!("0000{bus_id_short}")),
        };
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, info) }
    }
    nvmlDeviceGetMemoryInfo(h_device: Handle, out: *mut Memory) {
        let (free, total) = memory(h_device)?;
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, Memory { total, free, used: total - free }) }
    }
    nvmlDeviceGetMemoryInfo_v2(h_device: Handle, out: *mut MemoryV2) {
        let (free, total) = memory(h_device)?;
        // SAFETY: `out` is null or points to a structure with `version` set, as NVML requires of its caller.
        let version = unsafe { out.as_ref() }.ok_or(Error::InvalidArgument)?.version;
        if version != MEMORY_V2_VERSION {
            return Err(Error::VersionMismatch);
        }
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, MemoryV2 { version, total, reserved: 0, free, used: total - free }) }
    }
    nvmlDeviceGetCudaComputeCapability(h_device: Handle, major: *mut c_int, minor: *mut c_int) {
        let capability = device(h_device)?.0.device.compute_capability;
        // SAFETY: `major` and `minor` are null or writable, as NVML requires of its caller.
        unsafe {
            write(major, capability.0 as c_int)?;
            write(minor, capability.1 as c_int)
        }
    }
    // Clocks are constant: the current clock is the maximum clock.
    nvmlDeviceGetClockInfo(h_device: Handle, kind: c_int, out: *mut c_uint) { clock_of(h_device, kind, out) }
    nvmlDeviceGetMaxClockInfo(h_device: Handle, kind: c_int, out: *mut c_uint) { clock_of(h_device, kind, out) }
    nvmlDeviceGetApplicationsClock(h_device: Handle, kind: c_int, out: *mut c_uint) { clock_of(h_device, kind, out) }
    nvmlDeviceGetCurrentClocksThrottleReasons(h_device: Handle, out: *mut c_ulonglong) {
        device(h_device)?;
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, 0) }
    }
    nvmlDeviceGetCurrentClocksEventReasons(h_device: Handle, out: *mut c_ulonglong) {
        device(h_device)?;
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, 0) }
    }
    nvmlDeviceGetPersistenceMode(h_device: Handle, out: *mut c_int) {
        device(h_device)?;
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, 0) }
    }
    // Simulated memory has no bit errors. Errors are corrected or uncorrected, volatile or aggregate.
    nvmlDeviceGetTotalEccErrors(h_device: Handle, kind: c_int, counter: c_int, out: *mut c_ulonglong) {
        let (machine, _) = device(h_device)?;
        if !(0..=1).contains(&kind) || !(0..=1).contains(&counter) {
            return Err(Error::InvalidArgument);
        }
        if !machine.device.error_correction {
            return Err(Error::NotSupported);
        }
        // SAFETY: `out` is null or writable, as NVML requires of its caller.
        unsafe { write(out, 0) }
    }
    // No other processes use the simulated machine.
    nvmlDeviceGetComputeRunningProcesses_v3(h_device: Handle, count: *mut c_uint, list: *mut u8) {
        device(h_device)?;
        let _ = list;
        // SAFETY: `count` is null or writable, as NVML requires of its caller.
        unsafe { write(count, 0) }
    }
}

unsupported! {
    nvmlDeviceSetPersistenceMode(mode: c_int)
    nvmlDeviceSetApplicationsClocks(memory: c_uint, graphics: c_uint)
    nvmlDeviceResetApplicationsClocks()
    nvmlDeviceSetGpuLockedClocks(min: c_uint, max: c_uint)
    nvmlDeviceResetGpuLockedClocks()
    nvmlDeviceGetUtilizationRates(out: *mut c_uint)
    nvmlDeviceGetTemperature(sensor: c_int, out: *mut c_uint)
    nvmlDeviceGetPowerUsage(out: *mut c_uint)
    nvmlDeviceGetEnforcedPowerLimit(out: *mut c_uint)
    nvmlDeviceGetFanSpeed(out: *mut c_uint)
}

/// Writes the handle of the device with this index.
fn by_index(index: c_uint, out: *mut Handle) -> CallResult {
    let machine = machine()?;
    if index >= machine.count {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: `out` is null or writable, as NVML requires of the caller of the exported function.
    unsafe { write(out, handle(index)) }
}

/// Returns the handle of the first device for which `predicate` returns true.
fn find_device(predicate: impl Fn(u32) -> bool) -> Result<Handle, Error> {
    let mut numbers = 0..machine()?.count;
    let number = numbers.find(|number| predicate(*number));
    number.map(handle).ok_or(Error::NotFound)
}

fn clock_of(h_device: Handle, kind: c_int, out: *mut c_uint) -> CallResult {
    let mhz = clock(device(h_device)?.0.device, kind)?;
    // SAFETY: `out` is null or writable, as NVML requires of the caller of the exported function.
    unsafe { write(out, mhz) }
}

/// Returns free and total memory of a device, in bytes.
fn memory(h_device: Handle) -> Result<(u64, u64), Error> {
    let (machine, number) = device(h_device)?;
    Ok(device_memory(machine.device, machine.count, number))
}

/// Returns a device's UUID in NVML's format, equal to that of CUDA.
fn uuid_text(number: u32) -> String {
    let hex = device_uuid(number)
        .map(|byte| format!("{byte:02x}"))
        .concat();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]);
    format!("GPU-{}", parts.join("-"))
}
