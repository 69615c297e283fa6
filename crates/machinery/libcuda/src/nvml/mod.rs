//! NVML's functions (`nvml…`), those that programs ask before they use CUDA: which GPUs there are, how they are called
//! and how much memory they have. `cuda-run -- PROGRAM` has programs find this library as `libnvidia-ml.so.1` too.
//!
//! It tells of the machine that the environment asks for (`CUDA_SIM_DEVICE`, `CUDA_SIM_DEVICES`) and does not start
//! it. What only a real GPU has (temperature, power, how busy it is) answers `NVML_ERROR_NOT_SUPPORTED`. Arguments and
//! answers are those of NVIDIA's documentation (NVML API Reference Guide).

mod machine;
mod status;

use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

use cuda_driver::{SIMULATED_VERSION, device_bus_id, device_memory, device_uuid};
use machine::{
    Handle, array, begin, clock, device, end, handle, machine, read_text, set, set_text, unknown,
};
use status::{Answer, Error, code, text};

/// The driver's version: CUDA 13.0 came with the series 580.
const DRIVER: &str = "580.00";

/// `nvmlPciInfo_t`.
#[repr(C)]
pub struct PciInfo {
    short_bus_id: [c_char; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    /// The device's number and the vendor's.
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

/// `nvmlMemory_v2_t`, in bytes but for the version.
#[repr(C)]
pub struct Memory2 {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlMemory_v2`: the structure's size and its number.
const MEMORY_2: c_uint = size_of::<Memory2>() as c_uint | 2 << 24;

/// Defines functions by what they come to.
macro_rules! functions {
    ($($name:ident($($argument:ident: $of:ty),*) $body:block)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of NVML.")]
        ///
        /// # Safety
        ///
        /// As NVML asks for it: pointers are null or good, with as much room as is said.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $of),*) -> c_int {
            let answer = || -> Answer { $body };
            code(answer())
        }
    )*};
}

/// Defines functions that ask for what a simulated device does not have.
macro_rules! unsupported {
    ($($name:ident($($argument:ident: $of:ty),*))*) => {
        functions! {$(
            $name(device: Handle $(, $argument: $of)*) {
                $(let _ = $argument;)*
                unknown(stringify!($name), device)
            }
        )*}
    };
}

/// `nvmlErrorString` of NVML.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(error: c_int) -> *const c_char {
    text(error).as_ptr()
}

functions! {
    nvmlInit_v2() { begin() }
    nvmlInit() { begin() }
    nvmlInitWithFlags(flags: c_uint) {
        // To go without GPUs, or without attaching them: it makes no difference here.
        match flags & !3 {
            0 => begin(),
            _ => Err(Error::InvalidArgument),
        }
    }
    nvmlShutdown() { end() }

    nvmlSystemGetDriverVersion(to: *mut c_char, length: c_uint) {
        machine()?;
        // SAFETY: the caller's promise, here and below.
        unsafe { set_text(to, length, DRIVER) }
    }
    nvmlSystemGetNVMLVersion(to: *mut c_char, length: c_uint) {
        machine()?;
        let version = format!("{}.{DRIVER}", SIMULATED_VERSION / 1000);
        // SAFETY: as above.
        unsafe { set_text(to, length, &version) }
    }
    nvmlSystemGetCudaDriverVersion(to: *mut c_int) {
        // SAFETY: as above.
        unsafe { set(to, SIMULATED_VERSION) }
    }
    nvmlSystemGetCudaDriverVersion_v2(to: *mut c_int) {
        // SAFETY: as above.
        unsafe { set(to, SIMULATED_VERSION) }
    }

    nvmlDeviceGetCount_v2(to: *mut c_uint) {
        // SAFETY: as above.
        unsafe { set(to, machine()?.count) }
    }
    nvmlDeviceGetCount(to: *mut c_uint) {
        // SAFETY: as above.
        unsafe { set(to, machine()?.count) }
    }
    nvmlDeviceGetHandleByIndex_v2(index: c_uint, to: *mut Handle) { by_index(index, to) }
    nvmlDeviceGetHandleByIndex(index: c_uint, to: *mut Handle) { by_index(index, to) }
    nvmlDeviceGetHandleByPciBusId_v2(bus_id: *const c_char, to: *mut Handle) {
        // SAFETY: as above.
        let asked = unsafe { read_text(bus_id) }?.to_lowercase();
        // The domain may have four digits or eight.
        let found = found(|number| {
            let short = device_bus_id(number);
            asked == short || asked == format!("0000{short}")
        })?;
        // SAFETY: as above.
        unsafe { set(to, found) }
    }
    nvmlDeviceGetHandleByUUID(uuid: *const c_char, to: *mut Handle) {
        // SAFETY: as above.
        let asked = unsafe { read_text(uuid) }?.to_lowercase();
        let found = found(|number| asked == uuid_text(number).to_lowercase())?;
        // SAFETY: as above.
        unsafe { set(to, found) }
    }
    nvmlDeviceGetIndex(of: Handle, to: *mut c_uint) {
        // SAFETY: as above.
        unsafe { set(to, device(of)?.1) }
    }
    nvmlDeviceGetMinorNumber(of: Handle, to: *mut c_uint) {
        // SAFETY: as above.
        unsafe { set(to, device(of)?.1) }
    }
    nvmlDeviceGetName(of: Handle, to: *mut c_char, length: c_uint) {
        let (machine, _) = device(of)?;
        // SAFETY: as above.
        unsafe { set_text(to, length, machine.device.name) }
    }
    nvmlDeviceGetUUID(of: Handle, to: *mut c_char, length: c_uint) {
        let (_, number) = device(of)?;
        // SAFETY: as above.
        unsafe { set_text(to, length, &uuid_text(number)) }
    }
    nvmlDeviceGetPciInfo_v3(of: Handle, to: *mut PciInfo) {
        let (machine, number) = device(of)?;
        let short = device_bus_id(number);
        let [ids, subsystem_ids] = machine.device.pci_ids;
        let info = PciInfo {
            short_bus_id: array(&short),
            domain: 0,
            bus: number,
            device: 0,
            ids,
            subsystem_ids,
            bus_id: array(&format!("0000{short}")),
        };
        // SAFETY: as above.
        unsafe { set(to, info) }
    }
    nvmlDeviceGetMemoryInfo(of: Handle, to: *mut Memory) {
        let (free, total) = memory(of)?;
        // SAFETY: as above.
        unsafe { set(to, Memory { total, free, used: total - free }) }
    }
    nvmlDeviceGetMemoryInfo_v2(of: Handle, to: *mut Memory2) {
        let (free, total) = memory(of)?;
        // SAFETY: as above.
        let version = unsafe { to.as_ref() }.ok_or(Error::InvalidArgument)?.version;
        if version != MEMORY_2 {
            return Err(Error::VersionMismatch);
        }
        // SAFETY: as above.
        unsafe { set(to, Memory2 { version, total, reserved: 0, free, used: total - free }) }
    }
    nvmlDeviceGetCudaComputeCapability(of: Handle, major: *mut c_int, minor: *mut c_int) {
        let capability = device(of)?.0.device.compute_capability;
        // SAFETY: as above.
        unsafe {
            set(major, capability.0 as c_int)?;
            set(minor, capability.1 as c_int)
        }
    }
    // Clocks stay where they are: what they are now is the most that they can be.
    nvmlDeviceGetClockInfo(of: Handle, kind: c_int, to: *mut c_uint) { clock_of(of, kind, to) }
    nvmlDeviceGetMaxClockInfo(of: Handle, kind: c_int, to: *mut c_uint) { clock_of(of, kind, to) }
    nvmlDeviceGetApplicationsClock(of: Handle, kind: c_int, to: *mut c_uint) { clock_of(of, kind, to) }
    nvmlDeviceGetCurrentClocksThrottleReasons(of: Handle, to: *mut c_ulonglong) {
        device(of)?;
        // SAFETY: as above.
        unsafe { set(to, 0) }
    }
    nvmlDeviceGetCurrentClocksEventReasons(of: Handle, to: *mut c_ulonglong) {
        device(of)?;
        // SAFETY: as above.
        unsafe { set(to, 0) }
    }
    nvmlDeviceGetPersistenceMode(of: Handle, to: *mut c_int) {
        device(of)?;
        // SAFETY: as above.
        unsafe { set(to, 0) }
    }
    // No bit of simulated memory is ever wrong. Errors are corrected ones or others, since the start or for ever.
    nvmlDeviceGetTotalEccErrors(of: Handle, kind: c_int, counter: c_int, to: *mut c_ulonglong) {
        let (machine, _) = device(of)?;
        if !(0..=1).contains(&kind) || !(0..=1).contains(&counter) {
            return Err(Error::InvalidArgument);
        }
        if !machine.device.error_correction {
            return Err(Error::NotSupported);
        }
        // SAFETY: as above.
        unsafe { set(to, 0) }
    }
    // Nobody else is on the machine, which is this process's own.
    nvmlDeviceGetComputeRunningProcesses_v3(of: Handle, count: *mut c_uint, list: *mut u8) {
        device(of)?;
        let _ = list;
        // SAFETY: as above.
        unsafe { set(count, 0) }
    }
}

unsupported! {
    nvmlDeviceSetPersistenceMode(mode: c_int)
    nvmlDeviceSetApplicationsClocks(memory: c_uint, graphics: c_uint)
    nvmlDeviceResetApplicationsClocks()
    nvmlDeviceSetGpuLockedClocks(least: c_uint, most: c_uint)
    nvmlDeviceResetGpuLockedClocks()
    nvmlDeviceGetUtilizationRates(to: *mut c_uint)
    nvmlDeviceGetTemperature(sensor: c_int, to: *mut c_uint)
    nvmlDeviceGetPowerUsage(to: *mut c_uint)
    nvmlDeviceGetEnforcedPowerLimit(to: *mut c_uint)
    nvmlDeviceGetFanSpeed(to: *mut c_uint)
}

/// The handle of a device by its number.
fn by_index(index: c_uint, to: *mut Handle) -> Answer {
    let machine = machine()?;
    if index >= machine.count {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: the promise of who calls NVML, here and below.
    unsafe { set(to, handle(index)) }
}

/// The handle of the first device that `is` it.
fn found(is: impl Fn(u32) -> bool) -> Result<Handle, Error> {
    let mut all = 0..machine()?.count;
    let found = all.find(|number| is(*number));
    found.map(handle).ok_or(Error::NotFound)
}

fn clock_of(of: Handle, kind: c_int, to: *mut c_uint) -> Answer {
    let mhz = clock(device(of)?.0.device, kind)?;
    // SAFETY: as above.
    unsafe { set(to, mhz) }
}

/// Free and total memory of a device, in bytes.
fn memory(of: Handle) -> Result<(u64, u64), Error> {
    let (machine, number) = device(of)?;
    Ok(device_memory(machine.device, machine.count, number))
}

/// A device's UUID, as NVML writes it: what CUDA says it is.
fn uuid_text(number: u32) -> String {
    let hex = device_uuid(number)
        .map(|byte| format!("{byte:02x}"))
        .concat();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]);
    format!("GPU-{}", parts.join("-"))
}
