//! Kernel launches.

use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cust_raw::{CUfunction, CUstream};

use crate::arguments::read;
use crate::program;
use crate::program::register::{Configuration, pop, push};
use crate::properties::attribute;
use crate::start::{context, current_device};
use crate::status::{Answer, Error, SUCCESS, driver};
use crate::stream::named;
use crate::timing::timed;
use crate::types::{Dim3, LaunchConfig};

/// The attributes (`cudaLaunchAttributeID`) that can be had.
const IGNORE: c_int = 0;
const COOPERATIVE: c_int = 2;
const PRIORITY: c_int = 8;

/// The first of six numbers of `CUdevice_attribute`: the most threads of a block in x, y and z, then the
/// most blocks of a grid.
const MOST_IN_X: c_int = 2;
/// The most threads of a block.
const MOST_THREADS: c_int = 1;

/// `cudaLaunchKernel`.
pub unsafe fn kernel(
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    dynamic_shared: usize,
    stream: CUstream,
) -> Answer {
    let launch = Launch {
        host,
        grid,
        block,
        dynamic_shared,
        stream,
    };
    // SAFETY: the caller's promise.
    unsafe { launch.start(arguments, null_mut()) }
}

/// `cudaLaunchCooperativeKernel`.
pub unsafe fn cooperative_kernel(
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    dynamic_shared: usize,
    stream: CUstream,
) -> Answer {
    let launch = Launch {
        host,
        grid,
        block,
        dynamic_shared,
        stream,
    };
    // SAFETY: the caller's promise.
    unsafe { launch.start_cooperative(arguments) }
}

/// `cudaLaunchKernelExC`.
pub unsafe fn with_config(
    config: *const LaunchConfig,
    host: *const c_void,
    arguments: *mut *mut c_void,
) -> Answer {
    // SAFETY: the caller's promise.
    let config = unsafe { read(config) }?;
    let mut cooperative = false;
    for i in 0..config.attribute_count as usize {
        // SAFETY: the caller promises as many attributes.
        let attribute = unsafe { read(config.attributes.wrapping_add(i)) }?;
        match attribute.id {
            // A stream's priority changes nothing that a program can rely on.
            IGNORE | PRIORITY => {}
            COOPERATIVE => cooperative = attribute.value.0[0] != 0,
            other => {
                cuda_driver::say(format_args!(
                    "cudaLaunchKernelEx: launch attribute {other} is not there"
                ));
                return Err(Error::NOT_SUPPORTED);
            }
        }
    }
    let launch = Launch {
        host,
        grid: config.grid,
        block: config.block,
        dynamic_shared: config.dynamic_shared,
        stream: config.stream,
    };
    // SAFETY: the caller's promise.
    unsafe {
        match cooperative {
            true => launch.start_cooperative(arguments),
            false => launch.start(arguments, null_mut()),
        }
    }
}

/// A launch, but for its arguments.
struct Launch {
    /// By which the program knows the kernel.
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: CUstream,
}

impl Launch {
    /// # Safety
    /// One of `arguments` and `extra` must hold the kernel's arguments, as `cuLaunchKernel` takes them.
    unsafe fn start(&self, arguments: *mut *mut c_void, extra: *mut *mut c_void) -> Answer {
        let (grid, block) = (self.grid, self.block);
        // SAFETY: the caller's promise.
        self.make(|function, shared, stream| unsafe {
            cu::cuLaunchKernel(
                function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                arguments, extra,
            )
        })
    }

    /// # Safety
    /// As [`Launch::start`].
    unsafe fn start_cooperative(&self, arguments: *mut *mut c_void) -> Answer {
        let (grid, block) = (self.grid, self.block);
        // SAFETY: the caller's promise.
        self.make(|function, shared, stream| unsafe {
            cu::cuLaunchCooperativeKernel(
                function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                arguments,
            )
        })
    }

    /// Makes it by the driver's function, which is given the kernel, the bytes of dynamic shared memory and
    /// the stream.
    fn make(&self, launch: impl FnOnce(CUfunction, c_uint, CUstream) -> c_int) -> Answer {
        let function = program::kernel(self.host)?;
        let shared = c_uint::try_from(self.dynamic_shared).map_err(|_| Error::INVALID_VALUE)?;
        let stream = named(self.stream);
        let kernel = || {
            // SAFETY: it is a string for as long as the kernel is registered.
            let name = unsafe { CStr::from_ptr(program::kernel_name(self.host)?) };
            Ok((name.to_string_lossy().into_owned(), context()?))
        };
        let result = timed(kernel, (self.grid, self.block, stream), || {
            launch(function, shared, stream)
        });
        self.judged(result)
    }

    /// The runtime's error: a driver calls a grid or a block that no GPU has an invalid value, the
    /// runtime an invalid configuration.
    fn judged(&self, result: c_int) -> Answer {
        if result == SUCCESS {
            return Ok(());
        }
        let answer = driver(result);
        if answer == Err(Error::INVALID_VALUE) && !self.is_possible()? {
            return Err(Error::INVALID_CONFIGURATION);
        }
        answer
    }

    /// Whether the device has grids and blocks of these sizes.
    fn is_possible(&self) -> Answer<bool> {
        let device = current_device()?;
        let (grid, block) = (self.grid, self.block);
        let sizes = [block.x, block.y, block.z, grid.x, grid.y, grid.z];
        for (number, size) in (MOST_IN_X..).zip(sizes) {
            let most = attribute(number, device)?;
            if size == 0 || i64::from(size) > i64::from(most) {
                return Ok(false);
            }
        }
        let threads = u64::from(block.x) * u64::from(block.y) * u64::from(block.z);
        Ok(threads <= attribute(MOST_THREADS, device)? as u64)
    }
}

thread_local! {
    /// The arguments of the launch that is configured, as `cudaSetupArgument` gave them.
    static ARGUMENTS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// `cudaConfigureCall`, with which programs began a launch that older compilers made.
pub unsafe fn configure(
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: CUstream,
) -> Answer {
    ARGUMENTS.with_borrow_mut(Vec::clear);
    push(Configuration {
        grid,
        block,
        dynamic_shared,
        stream,
    });
    Ok(())
}

/// `cudaSetupArgument`: an argument of the launch that was begun, and its place among the others.
pub unsafe fn argument(value: *const c_void, bytes: usize, offset: usize) -> Answer {
    /// What all arguments of a kernel may have.
    const MOST: usize = 32 << 10;
    if value.is_null() || bytes > MOST || offset > MOST {
        return Err(Error::INVALID_VALUE);
    }
    ARGUMENTS.with_borrow_mut(|arguments| {
        let end = offset + bytes;
        arguments.resize(arguments.len().max(end), 0);
        // SAFETY: the caller promises so many bytes.
        let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) };
        arguments[offset..end].copy_from_slice(value);
    });
    Ok(())
}

/// `cudaLaunch`.
pub unsafe fn configured(host: *const c_void) -> Answer {
    /// The tags of a launch's packed arguments (`CU_LAUNCH_PARAM_…`).
    const BUFFER: usize = 1;
    const BUFFER_SIZE: usize = 2;
    let configuration = pop().ok_or(Error::MISSING_CONFIGURATION)?;
    let mut arguments = ARGUMENTS.take();
    let mut bytes = arguments.len();
    let launch = Launch {
        host,
        grid: configuration.grid,
        block: configuration.block,
        dynamic_shared: configuration.dynamic_shared,
        stream: configuration.stream,
    };
    let mut extra = [
        std::ptr::without_provenance_mut(BUFFER),
        arguments.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(BUFFER_SIZE),
        (&raw mut bytes).cast(),
        null_mut(),
    ];
    // SAFETY: the list is as the driver asks for it.
    unsafe { launch.start(null_mut(), extra.as_mut_ptr()) }
}
