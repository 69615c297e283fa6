//! `cuLaunchKernelEx`: launches with a list of attributes.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::{CUevent, CUfunction};

use super::event;
use super::launch::{Asked, launch};
use crate::report::say;
use crate::status::Answer;
use crate::types::{CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig};

/// The numbers of `CUlaunchAttributeID` that mean something here.
const COOPERATIVE: c_int = 2;
const CLUSTER: c_int = 4;
const PROGRAMMATIC_EVENT: c_int = 7;
const COMPLETION_EVENT: c_int = 12;
const DEVICE_UPDATABLE: c_int = 13;

/// Those that change nothing here: hints about caches, waiting, clusters that may also be smaller, priorities,
/// domains of memory order and the link to other devices; and launches that may begin before the one before them has
/// ended, which on a simulator that ends each before the next begins is always obeyed.
const HARMLESS: [c_int; 12] = [0, 1, 3, 5, 6, 8, 9, 10, 11, 14, 15, 16];

/// What the attributes of a launch ask for.
#[derive(Default)]
pub struct Wanted {
    cooperative: bool,
    /// Events that are recorded behind the launch.
    events: Vec<CUevent>,
}

/// `cuLaunchKernelEx`.
pub unsafe fn kernel(
    config: *const CUlaunchConfig,
    function: CUfunction,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    // SAFETY: the caller's promise.
    let config = unsafe { config.as_ref() }.ok_or(CudaError::InvalidValue)?;
    // SAFETY: as above.
    let wanted = unsafe { read(config.attributes, config.attribute_count) }?;
    let asked = Asked {
        function,
        grid: config.grid,
        block: config.block,
        dynamic_shared: config.dynamic_shared,
        on: config.stream,
        cooperative: wanted.cooperative,
    };
    // SAFETY: the caller's promise about the parameters.
    unsafe {
        launch(asked, parameters, extra)?;
        for recorded in wanted.events {
            event::record(recorded, config.stream)?;
        }
    }
    Ok(())
}

/// What a list of attributes asks for. [`CudaError::NotSupported`] for what cannot be done here, with a line that
/// names it, [`CudaError::InvalidValue`] for what no attribute is.
///
/// # Safety
/// `list` must hold `count` attributes.
pub unsafe fn read(list: *const CUlaunchAttribute, count: c_uint) -> Result<Wanted, CudaError> {
    if list.is_null() && count > 0 {
        return Err(CudaError::InvalidValue);
    }
    let mut wanted = Wanted::default();
    for i in 0..count as usize {
        // SAFETY: the caller's promise.
        let CUlaunchAttribute { id, value } = unsafe { &*list.add(i) };
        match *id {
            COOPERATIVE => wanted.cooperative = value.0[0] != 0,
            CLUSTER if value.0[..3].iter().all(|&size| size == 1) => {}
            CLUSTER => return Err(refused("clusters of more than one block")),
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => wanted.events.push(first_pointer(value)),
            DEVICE_UPDATABLE if value.0[0] == 0 => {}
            DEVICE_UPDATABLE => return Err(refused("launches that kernels change")),
            id if HARMLESS.contains(&id) => {}
            _ => return Err(CudaError::InvalidValue),
        }
    }
    Ok(wanted)
}

/// The handle at the beginning of a value.
fn first_pointer<T>(value: &CUlaunchAttributeValue) -> *mut T {
    let number = u64::from(value.0[1]) << 32 | u64::from(value.0[0]);
    super::raw::handle(number)
}

fn refused(what: &str) -> CudaError {
    say(format_args!("the simulator does not do {what}"));
    CudaError::NotSupported
}
