//! Kernel launches: the parameters in the two forms in which C passes them, and launch attributes; and calls of libraries.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, MutexGuard};

use cuda_sim::driver::{ContextId, CudaError, Driver, EventId, FunctionId, LibraryCall, StreamId};
use cuda_sim::exec::LaunchSpec;

use super::{SIMULATOR, check_permitted, event};
use crate::arguments::{Argument, In, number};
use crate::simulator::{Kernel, Stream, StreamOp};
use crate::status::{CallResult, Code, catch_panic, warn};
use crate::types::{
    AccessWindow, CUfunction, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig, CUstream,
};

/// Tags in a launch's `extra` list (`CU_LAUNCH_PARAM_…`).
const END: usize = 0;
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;

/// The values of `CUlaunchAttributeID` that have an effect.
const ACCESS_WINDOW: c_int = 1;
const COOPERATIVE: c_int = 2;
const CLUSTER: c_int = 4;
const PROGRAMMATIC_EVENT: c_int = 7;
const COMPLETION_EVENT: c_int = 12;
const DEVICE_UPDATABLE: c_int = 13;

/// Attributes without effect in the simulator: hints about caches, waiting, smaller clusters, priorities,
/// memory synchronization domains and the link to other devices; and programmatic stream serialization, which
/// permits an overlap of launches that the simulator never uses, because it runs one launch at a time.
const HARMLESS: [c_int; 6] = [0, 6, 8, 9, 11, 16];
/// Attributes that have a range of values, also without effect.
const SCHEDULING_POLICY: c_int = 5;
const MEMORY_DOMAIN: c_int = 10;
const CARVEOUT: c_int = 14;

/// Submits a call of a library to a stream of the simulator, which must be the selected backend. Returns the driver API's
/// error.
pub fn submit_library_call(stream: CUstream, call: LibraryCall) -> Code {
    let function = call.function;
    let mut call = Some(call);
    catch_panic(function, &mut || {
        check_permitted()?;
        let (driver, context, stream) = SIMULATOR.lock_live_stream(Stream::from(stream))?;
        let call = call.take().ok_or(CudaError::Unknown)?;
        Ok(SIMULATOR.submit(driver, context, stream, StreamOp::Library(Arc::new(call)))?)
    })
}

/// The effective attributes of a launch.
#[derive(Default)]
pub struct LaunchAttributes {
    cooperative: bool,
    /// The size of a cluster in blocks.
    pub cluster: Option<[u32; 3]>,
    /// Events to record after the launch.
    events: Vec<EventId>,
}

/// The parameters of a kernel in one of the two forms in which C passes them: null, or a list that the C function
/// requires to hold all parameters.
#[derive(Clone, Copy)]
pub struct ParameterList(*mut *mut c_void);

impl ParameterList {
    const NULL: Self = Self(std::ptr::null_mut());
}

impl Argument<*mut *mut c_void> for ParameterList {
    #[inline]
    unsafe fn from_c(argument: *mut *mut c_void) -> Result<Self, CudaError> {
        Ok(Self(argument))
    }
}

/// Generates the functions that launch a kernel with C's arguments.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident($($extra:ident: $type:ty)?) $cooperative:literal, $extra_list:expr;)*) => {$(
        $(#[$doc])*
        #[expect(clippy::too_many_arguments, reason = "they are C's")]
        pub fn $name(
            function: CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            dynamic_shared: c_uint,
            h_stream: CUstream,
            parameters: ParameterList,
            $($extra: $type)?
        ) -> CallResult {
            let spec = LaunchSpec {
                grid: [grid_x, grid_y, grid_z],
                block: [block_x, block_y, block_z],
                dynamic_shared,
                parameters: Arc::default(),
                cooperative: $cooperative,
                cluster: None,
            };
            launch(function, h_stream, spec, parameters, $extra_list)
        }
    )*};
}

kernels! {
    /// `cuLaunchKernel`.
    kernel(extra: ParameterList) false, extra;
    /// `cuLaunchCooperativeKernel`.
    cooperative_kernel() true, ParameterList::NULL;
}

/// `cuLaunchKernelEx`.
pub fn kernel_with_attributes(
    config: In<CUlaunchConfig>,
    function: CUfunction,
    parameters: ParameterList,
    extra: ParameterList,
) -> CallResult {
    let config = config.read();
    // SAFETY: `attributes` has `attribute_count` elements, as `cuLaunchKernelEx` requires of its caller.
    let attributes = unsafe { read_attributes(config.attributes, config.attribute_count) }?;
    let spec = LaunchSpec {
        grid: config.grid,
        block: config.block,
        dynamic_shared: config.dynamic_shared,
        parameters: Arc::default(),
        cooperative: attributes.cooperative,
        cluster: attributes.cluster,
    };
    launch(function, config.stream, spec, parameters, extra)?;
    let mut events = attributes.events.into_iter();
    events.try_for_each(|recorded| event::record(recorded, config.stream.into()))
}

/// Checks a launch and submits it to its stream. `spec` does not have the parameters yet.
fn launch(
    function: CUfunction,
    h_stream: CUstream,
    mut spec: LaunchSpec,
    parameters: ParameterList,
    extra: ParameterList,
) -> CallResult {
    let (mut driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    let function = driver.resolve_function(number(function), Some(context))?;
    spec.parameters = pack(&driver, function, parameters, extra)?;
    submit(driver, context, stream, function, spec)
}

/// Checks a launch with packed parameters and submits it to its stream.
pub fn submit(
    driver: MutexGuard<'static, Driver>,
    context: ContextId,
    stream: StreamId,
    function: FunctionId,
    spec: LaunchSpec,
) -> CallResult {
    let kernel = Kernel {
        cluster: spec.cluster,
        launch: driver.check_launch(context, function, spec)?,
        priority: 0,
        window: AccessWindow::default(),
        stored: BTreeMap::new(),
    };
    Ok(SIMULATOR.submit(driver, context, stream, StreamOp::Kernel(kernel))?)
}

/// Packs a kernel's arguments in the layout of its parameter space, from either form in which C passes them.
pub fn pack(
    driver: &Driver,
    function: FunctionId,
    parameters: ParameterList,
    extra: ParameterList,
) -> Result<Arc<[u8]>, CudaError> {
    let (layout, bytes) = driver.parameters(function)?;
    let mut packed = vec![0; bytes as usize];
    match (parameters.0.is_null(), extra.0.is_null()) {
        (true, true) if layout.is_empty() => {}
        (false, true) => {
            for (i, parameter) in layout.iter().enumerate() {
                let dst = &mut packed[parameter.offset as usize..][..parameter.size as usize];
                // SAFETY: `parameters` has one pointer per kernel parameter, and `i` counts these parameters.
                let src = unsafe { *parameters.0.add(i) }.cast::<u8>();
                if src.is_null() {
                    return Err(CudaError::InvalidValue);
                }
                // SAFETY: `src` points to a value of the parameter's size, and `packed` is a separate buffer.
                unsafe { src.copy_to_nonoverlapping(dst.as_mut_ptr(), dst.len()) };
            }
        }
        // SAFETY: `extra` is not null, so it is a tagged list.
        (true, false) => unsafe { unpack(extra.0, &mut packed) }?,
        (_, _) => return Err(CudaError::InvalidValue),
    }
    Ok(packed.into())
}

/// Fills `packed` from a list of tags and values that ends with [`END`]. A buffer that is too short leaves the other
/// bytes zero, as on a GPU. Returns [`CudaError::LaunchOutOfResources`] for one that is too long, and
/// [`CudaError::InvalidValue`] if there is none although the kernel has parameters.
///
/// # Safety
/// `extra` must be such a list, and its buffer must have the size that the list states.
unsafe fn unpack(extra: *mut *mut c_void, packed: &mut [u8]) -> Result<(), CudaError> {
    let mut buffer = std::ptr::null::<u8>();
    let mut size = None;
    let mut entry = extra;
    loop {
        // SAFETY: `entry` points to a tag: the list continues until its `END` tag.
        let tag = unsafe { *entry }.addr();
        if tag == END {
            break;
        }
        // SAFETY: every tag except `END` is followed by a value.
        let value = unsafe { *entry.add(1) };
        match tag {
            BUFFER => buffer = value.cast(),
            // SAFETY: the value of `BUFFER_SIZE` points to a `size_t`, and it is not null.
            BUFFER_SIZE if !value.is_null() => size = Some(unsafe { *value.cast::<usize>() }),
            _ => return Err(CudaError::InvalidValue),
        }
        // SAFETY: the tag was not `END`, so the list has another tag.
        entry = unsafe { entry.add(2) };
    }
    let size = size.filter(|_| !buffer.is_null()).unwrap_or(0);
    if size > packed.len() {
        return Err(CudaError::LaunchOutOfResources);
    }
    if size == 0 && !packed.is_empty() {
        return Err(CudaError::InvalidValue);
    }
    if size > 0 {
        // SAFETY: the buffer has `size` bytes, at most `packed.len()`; `packed` is a separate buffer.
        unsafe { buffer.copy_to_nonoverlapping(packed.as_mut_ptr(), size) };
    }
    Ok(())
}

/// Reads a list of attributes. Returns [`CudaError::NotSupported`] and prints a message for one that the
/// simulator does not support, [`CudaError::InvalidValue`] for an unknown one.
///
/// # Safety
/// `list` must be null or have `count` elements.
pub unsafe fn read_attributes(
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
            ACCESS_WINDOW => {
                let max_bytes = SIMULATOR.lock_driver()?.device().access_window_bytes;
                AccessWindow::from(*value).check(max_bytes)?;
            }
            COOPERATIVE => attributes.cooperative = value.0[0] != 0,
            CLUSTER => attributes.cluster = cluster_size(value)?.or(attributes.cluster),
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => {
                attributes.events.push(EventId(first_number(value)))
            }
            DEVICE_UPDATABLE if value.0[0] == 0 => {}
            DEVICE_UPDATABLE => return Err(unsupported("device-updatable kernel nodes")),
            // A `CUclusterSchedulingPolicy`, a `CUlaunchMemSyncDomain` and percents.
            SCHEDULING_POLICY if value.0[0] <= 2 => {}
            MEMORY_DOMAIN if value.0[0] <= 1 => {}
            CARVEOUT if value.0[0] <= 100 => {}
            id if HARMLESS.contains(&id) => {}
            _ => return Err(CudaError::InvalidValue),
        }
    }
    Ok(attributes)
}

/// Returns the size of a cluster, of which three zeros stand for none. Fails with [`CudaError::InvalidClusterSize`] if only
/// some are zero.
pub fn cluster_size(value: &CUlaunchAttributeValue) -> Result<Option<[u32; 3]>, CudaError> {
    match [value.0[0], value.0[1], value.0[2]] {
        [0, 0, 0] => Ok(None),
        size if size.contains(&0) => Err(CudaError::InvalidClusterSize),
        size => Ok(Some(size)),
    }
}

/// Returns the number of the handle at the start of a value.
fn first_number(value: &CUlaunchAttributeValue) -> u64 {
    u64::from(value.0[1]) << 32 | u64::from(value.0[0])
}

fn unsupported(feature: &str) -> CudaError {
    warn(format_args!("the simulator does not support {feature}"));
    CudaError::NotSupported
}
