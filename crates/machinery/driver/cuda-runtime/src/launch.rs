//! Kernel launches: `cudaLaunchKernel`, its cooperative and extended variants, and the older
//! `cudaConfigureCall` with `cudaLaunch`.

use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::{CUfunction, CUlaunchConfig, CUstream};

use crate::context::{context, current_device};
use crate::errors::{Error, Result, SUCCESS, check};
use crate::functions::driver_stream;
use crate::functions::read;
use crate::launch_timing::run_timed;
use crate::program;
use crate::properties::attribute;
use crate::registration::{CallConfiguration, pop, push};
use crate::types::{Dim3, LaunchConfig};

functions! {
    cudaLaunchKernel(
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void,
        dynamic_shared: usize, stream: CUstream,
    ) | cudaLaunchKernel_ptsz
        = Launch { host: function, grid, block, dynamic_shared, stream }
            .start(arguments, null_mut()), unsafe;
    cudaLaunchKernelExC(
        config: *const LaunchConfig, function: *const c_void, arguments: *mut *mut c_void,
    ) | cudaLaunchKernelExC_ptsz => launch_with_config;
    cudaLaunchCooperativeKernel(
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void,
        dynamic_shared: usize, stream: CUstream,
    ) | cudaLaunchCooperativeKernel_ptsz
        = Launch { host: function, grid, block, dynamic_shared, stream }
            .start_cooperative(arguments), unsafe;
    cudaLaunchCooperativeKernelMultiDevice(list: *mut c_void, devices: c_uint, flags: c_uint);
    cudaConfigureCall(grid: Dim3, block: Dim3, dynamic_shared: usize, stream: CUstream)
        => configure_call;
    cudaSetupArgument(value: *const c_void, bytes: usize, offset: usize) => setup_argument;
    cudaLaunch(function: *const c_void) | cudaLaunch_ptsz => launch_configured;
}

/// The first of six consecutive numbers of `CUdevice_attribute`: the maximum block dimensions x, y and z,
/// followed by the maximum grid dimensions.
const MAX_BLOCK_DIM_X: c_int = 2;
/// `CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK`.
const MAX_THREADS_PER_BLOCK: c_int = 1;

/// `cudaLaunchKernelExC`.
unsafe fn launch_with_config(
    config: *const LaunchConfig,
    host: *const c_void,
    arguments: *mut *mut c_void,
) -> Result {
    // SAFETY: `cudaLaunchKernelExC` requires `config` to be null or readable.
    let config = unsafe { read(config) }?;
    let launch = Launch {
        host,
        grid: config.grid,
        block: config.block,
        dynamic_shared: config.dynamic_shared,
        stream: config.stream,
    };
    launch.submit(|function, dynamic_shared, stream| {
        let config = CUlaunchConfig {
            grid: [config.grid.x, config.grid.y, config.grid.z],
            block: [config.block.x, config.block.y, config.block.z],
            dynamic_shared,
            stream,
            attributes: config.attributes,
            attribute_count: config.attribute_count,
        };
        // SAFETY: `cudaLaunchKernelExC` requires `arguments` to point to all arguments of the kernel, and the
        // attributes to be as many as `config` says.
        unsafe { cu::cuLaunchKernelEx(&config, function, arguments, null_mut()) }
    })
}

/// A launch's configuration without its arguments.
struct Launch {
    /// The host address that identifies the kernel.
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: CUstream,
}

impl Launch {
    /// # Safety
    /// One of `arguments` and `extra` must hold the kernel's arguments, as `cuLaunchKernel` takes them.
    unsafe fn start(&self, arguments: *mut *mut c_void, extra: *mut *mut c_void) -> Result {
        let (grid, block) = (self.grid, self.block);
        // SAFETY: `function` is loaded, and `arguments` or `extra` holds its arguments.
        self.submit(|function, shared, stream| unsafe {
            cu::cuLaunchKernel(
                function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                arguments, extra,
            )
        })
    }

    /// # Safety
    /// `arguments` must hold the kernel's arguments, as `cuLaunchCooperativeKernel` takes them.
    unsafe fn start_cooperative(&self, arguments: *mut *mut c_void) -> Result {
        let (grid, block) = (self.grid, self.block);
        // SAFETY: `function` is loaded, and `arguments` holds its arguments.
        self.submit(|function, shared, stream| unsafe {
            cu::cuLaunchCooperativeKernel(
                function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                arguments,
            )
        })
    }

    /// Launches the kernel, and names it in the report if that fails. See [`Launch::submit_unnamed`].
    fn submit(&self, launch: impl FnOnce(CUfunction, c_uint, CUstream) -> c_int) -> Result {
        self.submit_unnamed(launch).inspect_err(|_| {
            if let Ok(name) = self.symbol() {
                cuda_driver::name_kernel(name);
            }
        })
    }

    /// Returns the kernel's name in the device code.
    fn symbol(&self) -> Result<String> {
        // SAFETY: the name is NUL-terminated and lives as long as the kernel is registered.
        let name = unsafe { CStr::from_ptr(program::kernel_name(self.host)?) };
        Ok(name.to_string_lossy().into_owned())
    }

    /// Looks up the kernel and launches it with `launch`, which receives the kernel, the bytes of dynamic
    /// shared memory and the stream.
    fn submit_unnamed(&self, launch: impl FnOnce(CUfunction, c_uint, CUstream) -> c_int) -> Result {
        let function = program::kernel(self.host)?;
        let shared = c_uint::try_from(self.dynamic_shared).map_err(|_| Error::INVALID_VALUE)?;
        let stream = driver_stream(self.stream);
        let kernel_info = || Ok((self.symbol()?, context()?));
        let result = run_timed(kernel_info, (self.grid, self.block, stream), || {
            launch(function, shared, stream)
        });
        self.map_error(result)
    }

    /// Converts the driver's result. For a grid or block that exceeds the device's limits the driver returns
    /// `CUDA_ERROR_INVALID_VALUE`, but the runtime must return `cudaErrorInvalidConfiguration`.
    fn map_error(&self, result: c_int) -> Result {
        if result == SUCCESS {
            return Ok(());
        }
        let error = check(result);
        if error == Err(Error::INVALID_VALUE) && !self.fits_device()? {
            return Err(Error::INVALID_CONFIGURATION);
        }
        error
    }

    /// Returns true if the grid and the block are within the device's limits.
    fn fits_device(&self) -> Result<bool> {
        let device = current_device()?;
        let (grid, block) = (self.grid, self.block);
        let sizes = [block.x, block.y, block.z, grid.x, grid.y, grid.z];
        for (attribute_id, size) in (MAX_BLOCK_DIM_X..).zip(sizes) {
            let limit = attribute(attribute_id, device)?;
            if size == 0 || i64::from(size) > i64::from(limit) {
                return Ok(false);
            }
        }
        let threads = u64::from(block.x) * u64::from(block.y) * u64::from(block.z);
        Ok(threads <= attribute(MAX_THREADS_PER_BLOCK, device)? as u64)
    }
}

thread_local! {
    /// The arguments of the launch being configured, as passed to `cudaSetupArgument`.
    static ARGUMENTS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// `cudaConfigureCall`, which starts a launch in the code of older compilers.
unsafe fn configure_call(
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: CUstream,
) -> Result {
    ARGUMENTS.with_borrow_mut(Vec::clear);
    push(CallConfiguration {
        grid,
        block,
        dynamic_shared,
        stream,
    });
    Ok(())
}

/// `cudaSetupArgument`: stores an argument of the configured launch at its offset in the parameter buffer.
unsafe fn setup_argument(value: *const c_void, bytes: usize, offset: usize) -> Result {
    /// The maximum size of a kernel's parameters.
    const MAX_PARAMETER_BYTES: usize = 32 << 10;
    if value.is_null() || bytes > MAX_PARAMETER_BYTES || offset > MAX_PARAMETER_BYTES {
        return Err(Error::INVALID_VALUE);
    }
    ARGUMENTS.with_borrow_mut(|arguments| {
        let end = offset + bytes;
        arguments.resize(arguments.len().max(end), 0);
        // SAFETY: `value` is not null and points to `bytes` bytes.
        let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) };
        arguments[offset..end].copy_from_slice(value);
    });
    Ok(())
}

/// `cudaLaunch`.
unsafe fn launch_configured(host: *const c_void) -> Result {
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
    // SAFETY: `extra` is a list of tag-value pairs that ends in null; the buffer and its size outlive the call.
    unsafe { launch.start(null_mut(), extra.as_mut_ptr()) }
}
