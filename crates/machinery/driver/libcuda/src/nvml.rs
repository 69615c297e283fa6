//! The functions of NVML (`nvml…`) that programs call before they use CUDA: the GPUs, their names and their
//! memory. `cuda-run -- PROGRAM` also provides this library as `libnvidia-ml.so.1`.
//!
//! The functions report the machine that the environment configures (`CUDA_SIM_DEVICE`, `CUDA_SIM_DEVICES`)
//! and do not start the simulator. Properties that only a real GPU has (temperature, power, utilization)
//! return `NVML_ERROR_NOT_SUPPORTED`. Arguments and results follow NVIDIA's documentation (NVML API Reference
//! Guide).

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

use cuda_driver::device::DeviceSpec;
use cuda_driver::{
    SIMULATED_DRIVER, SIMULATED_VERSION, configured_devices, device_bus_id, device_memory,
    device_uuid_text, warn,
};
use parking_lot::Mutex;

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

/// Defines functions that write one result to their last argument, `out`.
macro_rules! getters {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $value:expr;)*) => {
        functions! {$(
            $name($($argument: $type,)* out: *mut $result) {
                let value = $value;
                // SAFETY: `out` is null or writable, as NVML requires of its caller.
                unsafe { write(out, value) }
            }
        )*}
    };
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
        unsafe { write_text(out, length, SIMULATED_DRIVER) }
    }
    nvmlSystemGetNVMLVersion(out: *mut c_char, length: c_uint) {
        machine()?;
        let version = format!("{}.{SIMULATED_DRIVER}", SIMULATED_VERSION / 1000);
        // SAFETY: `out` is null or has room for `length` bytes, as NVML requires of its caller.
        unsafe { write_text(out, length, &version) }
    }

    nvmlDeviceGetName(h_device: Handle, out: *mut c_char, length: c_uint) {
        let (machine, _) = device(h_device)?;
        // SAFETY: `out` is null or has room for `length` bytes, as NVML requires of its caller.
        unsafe { write_text(out, length, machine.device.name) }
    }
    nvmlDeviceGetUUID(h_device: Handle, out: *mut c_char, length: c_uint) {
        let (_, number) = device(h_device)?;
        // SAFETY: `out` is null or has room for `length` bytes, as NVML requires of its caller.
        unsafe { write_text(out, length, &device_uuid_text(number)) }
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
    // No other processes use the simulated machine.
    nvmlDeviceGetComputeRunningProcesses_v3(h_device: Handle, count: *mut c_uint, list: *mut u8) {
        device(h_device)?;
        let _ = list;
        // SAFETY: `count` is null or writable, as NVML requires of its caller.
        unsafe { write(count, 0) }
    }
}

getters! {
    nvmlSystemGetCudaDriverVersion() -> c_int = SIMULATED_VERSION;
    nvmlSystemGetCudaDriverVersion_v2() -> c_int = SIMULATED_VERSION;
    nvmlDeviceGetCount() -> c_uint = machine()?.count;
    nvmlDeviceGetCount_v2() -> c_uint = machine()?.count;
    nvmlDeviceGetHandleByIndex(index: c_uint) -> Handle = by_index(index)?;
    nvmlDeviceGetHandleByIndex_v2(index: c_uint) -> Handle = by_index(index)?;
    nvmlDeviceGetHandleByPciBusId_v2(bus_id: *const c_char) -> Handle = {
        // SAFETY: `bus_id` is null or a NUL-terminated string, as NVML requires of its caller.
        let requested = unsafe { read_text(bus_id) }?.to_lowercase();
        // The domain may have four or eight digits.
        find_device(|number| {
            let bus_id_short = device_bus_id(number);
            requested == bus_id_short || requested == format!("0000{bus_id_short}")
        })?
    };
    nvmlDeviceGetHandleByUUID(uuid: *const c_char) -> Handle = {
        // SAFETY: `uuid` is null or a NUL-terminated string, as NVML requires of its caller.
        let requested = unsafe { read_text(uuid) }?.to_lowercase();
        find_device(|number| requested == device_uuid_text(number).to_lowercase())?
    };
    nvmlDeviceGetIndex(h_device: Handle) -> c_uint = device(h_device)?.1;
    nvmlDeviceGetMinorNumber(h_device: Handle) -> c_uint = device(h_device)?.1;
    nvmlDeviceGetPciInfo_v3(h_device: Handle) -> PciInfo = {
        let (machine, number) = device(h_device)?;
        let bus_id_short = device_bus_id(number);
        let [ids, subsystem_ids] = machine.device.pci_ids;
        PciInfo {
            short_bus_id: c_array(&bus_id_short),
            domain: 0,
            bus: number,
            device: 0,
            ids,
            subsystem_ids,
            bus_id: c_array(&format!("0000{bus_id_short}")),
        }
    };
    nvmlDeviceGetMemoryInfo(h_device: Handle) -> Memory = {
        let (free, total) = memory(h_device)?;
        Memory { total, free, used: total - free }
    };
    // Clocks are constant: the current clock is the maximum clock.
    nvmlDeviceGetClockInfo(h_device: Handle, kind: c_int) -> c_uint = clock(h_device, kind)?;
    nvmlDeviceGetMaxClockInfo(h_device: Handle, kind: c_int) -> c_uint = clock(h_device, kind)?;
    nvmlDeviceGetApplicationsClock(h_device: Handle, kind: c_int) -> c_uint = clock(h_device, kind)?;
    nvmlDeviceGetCurrentClocksThrottleReasons(h_device: Handle) -> c_ulonglong = {
        device(h_device)?;
        0
    };
    nvmlDeviceGetCurrentClocksEventReasons(h_device: Handle) -> c_ulonglong = {
        device(h_device)?;
        0
    };
    nvmlDeviceGetPersistenceMode(h_device: Handle) -> c_int = {
        device(h_device)?;
        0
    };
    // Simulated memory has no bit errors. Errors are corrected or uncorrected, volatile or aggregate.
    nvmlDeviceGetTotalEccErrors(h_device: Handle, kind: c_int, counter: c_int) -> c_ulonglong = {
        let (machine, _) = device(h_device)?;
        if !(0..=1).contains(&kind) || !(0..=1).contains(&counter) {
            return Err(Error::InvalidArgument);
        }
        if !machine.device.error_correction {
            return Err(Error::NotSupported);
        }
        0
    };
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

/// A device's handle: its number plus 1. It is never dereferenced.
pub type Handle = *mut c_void;

/// The devices of the machine: `count` GPUs of one model.
#[derive(Clone, Copy)]
struct Machine {
    device: &'static DeviceSpec,
    count: u32,
}

/// Number of `nvmlInit` calls without a matching `nvmlShutdown`.
static INIT_COUNT: Mutex<u32> = Mutex::new(0);

/// The devices, initialized by the first `nvmlInit`; `None` if the environment is invalid.
static MACHINE: OnceLock<Option<Machine>> = OnceLock::new();

/// Initializes NVML, or increments its reference count.
fn init() -> CallResult {
    let machine = MACHINE.get_or_init(|| {
        let (device, count) = configured_devices().ok()?;
        Some(Machine { device, count })
    });
    machine.ok_or(Error::DriverNotLoaded)?;
    *INIT_COUNT.lock() += 1;
    Ok(())
}

/// Decrements the reference count of NVML.
fn shutdown() -> CallResult {
    let mut init_count = INIT_COUNT.lock();
    *init_count = init_count.checked_sub(1).ok_or(Error::Uninitialized)?;
    Ok(())
}

/// Returns the devices, or [`Error::Uninitialized`] if NVML is not initialized.
fn machine() -> Result<Machine, Error> {
    if *INIT_COUNT.lock() == 0 {
        return Err(Error::Uninitialized);
    }
    MACHINE.get().copied().flatten().ok_or(Error::Uninitialized)
}

impl Machine {
    /// Returns the number of the device of a handle.
    fn number(self, handle: Handle) -> Result<u32, Error> {
        u32::try_from(handle.addr())
            .ok()
            .and_then(|address| address.checked_sub(1))
            .filter(|number| *number < self.count)
            .ok_or(Error::InvalidArgument)
    }
}

/// Returns the handle of a device.
fn handle(number: u32) -> Handle {
    std::ptr::without_provenance_mut(number as usize + 1)
}

/// Returns the machine and the device number of a handle.
fn device(handle: Handle) -> Result<(Machine, u32), Error> {
    let machine = machine()?;
    Ok((machine, machine.number(handle)?))
}

/// Returns the error for a property that a simulated device does not have. Prints a message once per function.
fn unavailable(function: &'static str, handle: Handle) -> CallResult {
    static REPORTED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    device(handle)?;
    if REPORTED.lock().insert(function) {
        warn(format_args!(
            "{function} is not supported: simulated GPUs do not have this property"
        ));
    }
    Err(Error::NotSupported)
}

/// Returns the handle of the device with this index.
fn by_index(index: c_uint) -> Result<Handle, Error> {
    if index >= machine()?.count {
        return Err(Error::InvalidArgument);
    }
    Ok(handle(index))
}

/// Returns the handle of the first device for which `predicate` returns true.
fn find_device(predicate: impl Fn(u32) -> bool) -> Result<Handle, Error> {
    let mut numbers = 0..machine()?.count;
    let number = numbers.find(|number| predicate(*number));
    number.map(handle).ok_or(Error::NotFound)
}

/// Returns the frequency in MHz of the clock with this `nvmlClockType_t`.
fn clock(h_device: Handle, kind: c_int) -> Result<c_uint, Error> {
    let device = device(h_device)?.0.device;
    match kind {
        // The graphics and the SM clock are the same.
        0 | 1 => Ok(device.clock_khz / 1000),
        2 => Ok(device.memory_clock_khz / 1000),
        3 => Err(Error::NotSupported),
        _ => Err(Error::InvalidArgument),
    }
}

/// Returns free and total memory of a device, in bytes.
fn memory(h_device: Handle) -> Result<(u64, u64), Error> {
    let (machine, number) = device(h_device)?;
    Ok(device_memory(machine.device, machine.count, number))
}

/// Writes a result. Returns [`Error::InvalidArgument`] for a null pointer.
///
/// # Safety
/// `out` must be null or writable.
unsafe fn write<T>(out: *mut T, value: T) -> CallResult {
    if out.is_null() {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: `out` is not null, so it is writable by this function's contract.
    unsafe { out.write(value) };
    Ok(())
}

/// Writes a text and a NUL. Returns [`Error::InsufficientSize`] if `length` is too small.
///
/// # Safety
/// `out` must be null or have room for `length` bytes.
unsafe fn write_text(out: *mut c_char, length: c_uint, text: &str) -> CallResult {
    if out.is_null() {
        return Err(Error::InvalidArgument);
    }
    if length as usize <= text.len() {
        return Err(Error::InsufficientSize);
    }
    // SAFETY: `out` is not null and has room for `length` bytes, which is more than the text.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), text.len());
        out.add(text.len()).write(0);
    }
    Ok(())
}

/// Converts a C string. Returns [`Error::InvalidArgument`] if it is null or not UTF-8.
///
/// # Safety
/// `text` must be null or a NUL-terminated string that outlives the result.
unsafe fn read_text<'a>(text: *const c_char) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: `text` is not null, so it is a NUL-terminated string by this function's contract.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::InvalidArgument)
}

/// Returns a NUL-terminated C array with a text, truncated to the array's size.
fn c_array<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    for (out, byte) in array.iter_mut().zip(text.bytes().take(N - 1)) {
        *out = byte as c_char;
    }
    array
}

/// An `nvmlReturn_t` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
enum Error {
    Uninitialized = 1,
    InvalidArgument = 2,
    NotSupported = 3,
    NotFound = 6,
    InsufficientSize = 7,
    DriverNotLoaded = 9,
    VersionMismatch = 25,
}

/// The result type of NVML functions.
type CallResult = Result<(), Error>;

/// Converts a result to the code that C receives.
fn to_code(result: CallResult) -> c_int {
    result.map_or_else(|error| error as c_int, |()| 0)
}

/// Returns NVML's description of a code, for `nvmlErrorString`.
fn error_string(number: c_int) -> &'static CStr {
    match number {
        0 => c"Success",
        1 => c"Uninitialized",
        2 => c"Invalid Argument",
        3 => c"Not Supported",
        4 => c"Insufficient Permissions",
        5 => c"Already Initialized",
        6 => c"Not Found",
        7 => c"Insufficient Size",
        8 => c"Insufficient External Power",
        9 => c"Driver Not Loaded",
        10 => c"Timeout",
        25 => c"Argument Version Mismatch",
        _ => c"Unknown Error",
    }
}
