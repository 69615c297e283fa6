//! `cuLaunchKernelEx`: launches with attributes.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use cuda_sim::driver::{CudaError, EventId};
use cuda_sim::exec::LaunchSpec;
use cust_raw::CUfunction;

use super::event;
use super::launch::launch;
use crate::log::warn;
use crate::status::CallResult;
use crate::types::{CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig};

/// The values of `CUlaunchAttributeID` that have an effect.
const COOPERATIVE: c_int = 2;
const CLUSTER: c_int = 4;
const PROGRAMMATIC_EVENT: c_int = 7;
const COMPLETION_EVENT: c_int = 12;
const DEVICE_UPDATABLE: c_int = 13;

/// Attributes without effect in the simulator: hints about caches, waiting, smaller clusters, priorities,
/// memory synchronization domains and the link to other devices; and programmatic stream serialization, which
/// permits an overlap of launches that the simulator never uses, because it runs one launch at a time.
const HARMLESS: [c_int; 12] = [0, 1, 3, 5, 6, 8, 9, 10, 11, 14, 15, 16];

/// The effective attributes of a launch.
#[derive(Default)]
pub struct LaunchAttributes {
    cooperative: bool,
    /// Events to record after the launch.
    events: Vec<EventId>,
}

/// `cuLaunchKernelEx`.
pub unsafe fn kernel(
    config: *const CUlaunchConfig,
    function: CUfunction,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CallResult {
    // SAFETY: `config` is null or readable, as `cuLaunchKernelEx` requires of its caller.
    let config = unsafe { config.as_ref() }.ok_or(CudaError::InvalidValue)?;
    // SAFETY: `attributes` has `attribute_count` elements, as `cuLaunchKernelEx` requires of its caller.
    let attributes = unsafe { read(config.attributes, config.attribute_count) }?;
    let spec = LaunchSpec {
        grid: config.grid,
        block: config.block,
        dynamic_shared: config.dynamic_shared,
        parameters: Arc::default(),
        cooperative: attributes.cooperative,
    };
    // SAFETY: `parameters` and `extra` are null or hold the kernel's parameters, as `cuLaunchKernelEx`
    // requires. `record` dereferences no pointer.
    unsafe {
        launch(function, config.stream, spec, parameters, extra)?;
        for recorded in attributes.events {
            event::record(recorded, config.stream.into())?;
        }
    }
    Ok(())
}

/// Reads a list of attributes. Returns [`CudaError::NotSupported`] and prints a message for one that the
/// simulator does not support, [`CudaError::InvalidValue`] for an unknown one.
///
/// # Safety
/// `list` must be null or have `count` elements.
pub unsafe fn read(
    list: *const CUlaunchAttribute,
    count: c_uint,
) -> Result<LaunchAttributes, CudaError> {
    if list.is_null() && count > 0 {
        return Err(CudaError::InvalidValue);
    }
    let mut attributes = LaunchAttributes::default();
    for i in 0..count as usize {
        // SAFETY: `list` has `count` elements, by this function's contract.
        let CUlaunchAttribute { id, value } = unsafe { &*list.add(i) };
        match *id {
            COOPERATIVE => attributes.cooperative = value.0[0] != 0,
            CLUSTER if value.0[..3].iter().all(|&size| size == 1) => {}
            CLUSTER => return Err(unsupported("clusters of more than one block")),
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => {
                attributes.events.push(EventId(first_number(value)))
            }
            DEVICE_UPDATABLE if value.0[0] == 0 => {}
            DEVICE_UPDATABLE => return Err(unsupported("device-updatable kernel nodes")),
            id if HARMLESS.contains(&id) => {}
            _ => return Err(CudaError::InvalidValue),
        }
    }
    Ok(attributes)
}

/// Returns the number of the handle at the start of a value.
fn first_number(value: &CUlaunchAttributeValue) -> u64 {
    u64::from(value.0[1]) << 32 | u64::from(value.0[0])
}

fn unsupported(feature: &str) -> CudaError {
    warn(format_args!("the simulator does not support {feature}"));
    CudaError::NotSupported
}
