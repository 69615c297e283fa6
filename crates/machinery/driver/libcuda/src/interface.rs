//! The C API of `include/warpbook.h`: recordings of this process, and running one kernel in a single call.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use cuda_driver::functions as cuda;
use cuda_driver::types::{CUcontext, CUdeviceptr, CUfunction, CUmodule};
use parking_lot::Mutex;

/// Calls a driver function and converts its result.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: pointers are valid for what the function reads and writes, and handles are live.
        check(stringify!($name), unsafe { cuda::$name($($argument),*) })
    };
}

/// `warpbook_version`.
#[unsafe(no_mangle)]
pub extern "C" fn warpbook_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("a NUL in the version"),
        };
    VERSION.as_ptr()
}

/// `warpbook_record_start`.
#[unsafe(no_mangle)]
pub extern "C" fn warpbook_record_start() -> c_int {
    telemetry::start_recording();
    0
}

/// `warpbook_record_take`.
#[unsafe(no_mangle)]
pub extern "C" fn warpbook_record_take() -> *mut c_char {
    let record = telemetry::take_recording().and_then(|record| CString::new(record).ok());
    record.map_or(null_mut(), CString::into_raw)
}

/// `warpbook_free`.
///
/// # Safety
///
/// `text` must be null or a result of [`warpbook_record_take`] that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpbook_free(text: *mut c_void) {
    if !text.is_null() {
        // SAFETY: `text` comes from `CString::into_raw` in `warpbook_record_take`.
        drop(unsafe { CString::from_raw(text.cast()) });
    }
}

/// `warpbook_argument`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Argument {
    data: *mut c_void,
    size: usize,
    kind: c_int,
}

/// The kinds of an argument: `WARPBOOK_VALUE`, and as bits `WARPBOOK_IN` and `WARPBOOK_OUT`.
const VALUE: c_int = 0;
const IN: c_int = 1;
const OUT: c_int = 2;

/// `warpbook_run_ptx`.
///
/// # Safety
///
/// The strings must be NUL-terminated; `grid` and `block` must have three elements; each argument's data must be valid
/// for its size, and writable if the argument is an output; `message` must be null or have room for `message_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpbook_run_ptx(
    ptx: *const c_char,
    kernel: *const c_char,
    grid: *const c_uint,
    block: *const c_uint,
    shared_bytes: c_uint,
    arguments: *const Argument,
    count: usize,
    message: *mut c_char,
    message_size: usize,
) -> c_int {
    let run = |_: &mut Option<LoadedModules>| {
        if ptx.is_null() || grid.is_null() || block.is_null() || (arguments.is_null() && count > 0)
        {
            return Err(Failure::invalid(
                "ptx, grid, block or arguments is a null pointer",
            ));
        }
        // SAFETY: neither is null, so both have three elements by this function's contract.
        let size = unsafe { [*grid.cast(), *block.cast()] };
        let arguments = match count {
            0 => &[],
            // SAFETY: not null, and as many as stated.
            _ => unsafe { std::slice::from_raw_parts(arguments, count) },
        };
        let context = Context::create()?;
        let _current = context.make_current()?;
        let function = load(ptx, kernel)?;
        let launch = Launch {
            size,
            shared_bytes,
            function,
        };
        launch.run_with_buffers(arguments)
    };
    let result = in_own_context(run);
    if !message.is_null() && message_size > 0 {
        let text = result.as_ref().err().map_or("", |failure| &failure.reason);
        let length = text.floor_char_boundary(message_size - 1);
        // SAFETY: `message` has room for `message_size` bytes, and `length` is less.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), message.cast(), length);
            message.add(length).write(0);
        }
    }
    result.map_or_else(|failure| failure.code, |()| 0)
}

/// `ptx_run`.
///
/// # Safety
///
/// `ptx` must be NUL-terminated, `arguments` must have `count` elements, and the memory that the kernel accesses must
/// stay mapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx_run(
    ptx: *const c_char,
    count: c_int,
    arguments: *const *const c_void,
    block_x: c_int,
    block_y: c_int,
    block_z: c_int,
    grid_x: c_int,
    grid_y: c_int,
    grid_z: c_int,
    shared_bytes: c_int,
) -> c_int {
    let run = |loaded: &mut Option<LoadedModules>| {
        for (name, number) in [("count", count), ("shared_bytes", shared_bytes)] {
            if number < 0 {
                return Err(Failure::invalid(format!("{name} is {number}")));
            }
        }
        let count = count as usize;
        if ptx.is_null() || (arguments.is_null() && count > 0) {
            return Err(Failure::invalid("ptx or arguments is a null pointer"));
        }
        let arguments = match count {
            0 => &[],
            // SAFETY: not null, and as many as stated.
            _ => unsafe { std::slice::from_raw_parts(arguments, count) },
        };
        let values: Vec<u64> = arguments.iter().map(|value| value.addr() as u64).collect();
        let dimensions = |sizes: [c_int; 3]| sizes.map(|size| size.max(0) as c_uint);
        let size = [
            dimensions([grid_x, grid_y, grid_z]),
            dimensions([block_x, block_y, block_z]),
        ];
        let modules = match loaded.take() {
            Some(modules) => modules,
            None => LoadedModules::new()?,
        };
        let modules = loaded.insert(modules);
        let result = modules.run(ptx, size, shared_bytes as c_uint, &values);
        if result
            .as_ref()
            .is_err_and(|failure| failure.code != INVALID_VALUE)
        {
            // A fault makes the context unusable.
            *loaded = None;
        }
        result
    };
    let result = in_own_context(run);
    if let Err(failure) = &result
        && !failure.is_printed
    {
        cuda_driver::warn(format_args!("ptx_run: {}", failure.reason));
    }
    result.map_or_else(|failure| failure.code, |()| 0)
}

/// Runs a kernel in a context of this library. Its accesses are checked, and a fault does not affect the program. Calls
/// run one after the other, because the option for exact faults is not one of a context.
fn in_own_context(
    run: impl FnOnce(&mut Option<LoadedModules>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    static LOADED: Mutex<Option<LoadedModules>> = Mutex::new(None);
    let mut loaded = LOADED.lock();
    cuda_driver::select_quietly();
    call!(cuInit(0))?;
    cuda_driver::with_exact_faults(|| run(&mut loaded))
}

/// The modules that [`ptx_run`] has loaded.
struct LoadedModules {
    context: Context,
    /// The only kernel of each module, by the module's PTX.
    kernels: HashMap<CString, Handle>,
}

impl LoadedModules {
    fn new() -> Result<Self, Failure> {
        Ok(LoadedModules {
            context: Context::create()?,
            kernels: HashMap::new(),
        })
    }

    fn run(
        &mut self,
        ptx: *const c_char,
        size: [[c_uint; 3]; 2],
        shared_bytes: c_uint,
        values: &[u64],
    ) -> Result<(), Failure> {
        let current = self.context.make_current()?;
        // SAFETY: `ptx` is NUL-terminated, by the contract of `ptx_run`.
        let text = unsafe { CStr::from_ptr(ptx) };
        let function = match self.kernels.get(text) {
            Some(kernel) => kernel.0 as CUfunction,
            None => {
                let function = load(ptx, null())?;
                let handle = Handle(function as usize);
                self.kernels.insert(text.to_owned(), handle);
                function
            }
        };
        let launch = Launch {
            size,
            shared_bytes,
            function,
        };
        let mapped = RegisteredMappings::containing(values)?;
        let result = launch.run(values);
        drop(mapped);
        drop(current);
        result
    }
}

/// A driver handle as a number, which can be moved between threads.
#[derive(Clone, Copy)]
struct Handle(usize);

/// `CUDA_ERROR_INVALID_VALUE`.
const INVALID_VALUE: c_int = 1;

/// The reason for which a kernel could not be run.
struct Failure {
    code: c_int,
    reason: String,
    /// True if the simulator has printed the reason.
    is_printed: bool,
}

impl Failure {
    /// Creates the failure for invalid arguments.
    fn invalid(reason: impl Into<String>) -> Self {
        Failure {
            code: INVALID_VALUE,
            reason: reason.into(),
            is_printed: false,
        }
    }
}

/// Converts a `CUresult` of a driver function.
fn check(function: &str, code: c_int) -> Result<(), Failure> {
    if code == 0 {
        return Ok(());
    }
    let text = |get: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int| {
        let mut text = null();
        // SAFETY: `text` is writable; the result is null or a static NUL-terminated string.
        let text = unsafe {
            get(code, &mut text);
            (!text.is_null()).then(|| CStr::from_ptr(text))
        };
        text.map_or_else(
            || format!("error {code}"),
            |text| text.to_string_lossy().into_owned(),
        )
    };
    Err(Failure {
        code,
        reason: format!(
            "{function}: {} ({})",
            text(cuda::cuGetErrorName),
            text(cuda::cuGetErrorString)
        ),
        is_printed: false,
    })
}

/// A context of device 0 that belongs to this library.
struct Context(Handle);

impl Context {
    fn create() -> Result<Self, Failure> {
        let mut context: CUcontext = null_mut();
        call!(cuCtxCreate_v2(&mut context, 0, 0))?;
        // The new context is current.
        call!(cuCtxPopCurrent_v2(&mut context))?;
        Ok(Context(Handle(context as usize)))
    }

    /// Makes the context current for this thread until the guard is dropped.
    fn make_current(&self) -> Result<impl Drop + use<>, Failure> {
        struct Guard;
        impl Drop for Guard {
            fn drop(&mut self) {
                let mut context = null_mut();
                let _ = call!(cuCtxPopCurrent_v2(&mut context));
            }
        }
        call!(cuCtxPushCurrent_v2(self.0.0 as CUcontext))?;
        Ok(Guard)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Its modules are unloaded, too.
        let _ = call!(cuCtxDestroy_v2(self.0.0 as CUcontext));
    }
}

/// Loads a module in the current context and returns its kernel `name`, or its only kernel if `name` is null.
fn load(ptx: *const c_char, name: *const c_char) -> Result<CUfunction, Failure> {
    /// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
    const LOG_OPTIONS: [c_int; 2] = [5, 6];
    let mut module: CUmodule = null_mut();
    let mut log = vec![0_u8; 4096];
    let mut options = LOG_OPTIONS;
    let mut values = [log.as_mut_ptr().cast(), log.len() as *mut c_void];
    let loaded = call!(cuModuleLoadDataEx(
        &mut module,
        ptx.cast(),
        options.len() as c_uint,
        options.as_mut_ptr(),
        values.as_mut_ptr(),
    ));
    loaded.map_err(|failure| {
        let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
        Failure {
            reason: format!("{}\n{}", failure.reason, log.to_string_lossy()),
            ..failure
        }
    })?;
    let mut count = 0;
    call!(cuModuleGetFunctionCount(&mut count, module))?;
    let mut kernels: Vec<CUfunction> = vec![null_mut(); count as usize];
    call!(cuModuleEnumerateFunctions(
        kernels.as_mut_ptr(),
        count,
        module
    ))?;
    let mut function: CUfunction = null_mut();
    // SAFETY: `name` is null or NUL-terminated, by the contracts of the exported functions.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
    let found = match (name, &kernels[..]) {
        (Some(name), _) => call!(cuModuleGetFunction(&mut function, module, name.as_ptr())).is_ok(),
        (None, [only]) => {
            function = *only;
            true
        }
        (None, _) => false,
    };
    if found {
        return Ok(function);
    }
    let names = kernels.iter().map(|&kernel| {
        let mut name = null();
        // SAFETY: the driver returns a NUL-terminated string, which lives as long as the module.
        let name =
            call!(cuFuncGetName(&mut name, kernel)).map(|()| unsafe { CStr::from_ptr(name) });
        name.map_or_else(
            |_| String::new(),
            |name| name.to_string_lossy().into_owned(),
        )
    });
    let names: Vec<String> = names.collect();
    Err(Failure::invalid(match name {
        Some(name) => format!(
            "the module has no kernel {}; it has: {}",
            name.to_string_lossy(),
            names.join(", ")
        ),
        None if names.is_empty() => "the module has no kernel".to_owned(),
        None => format!(
            "the module has several kernels, name one: {}",
            names.join(", ")
        ),
    }))
}

/// A launch of a kernel in the current context.
struct Launch {
    /// The grid and the block.
    size: [[c_uint; 3]; 2],
    shared_bytes: c_uint,
    function: CUfunction,
}

impl Launch {
    /// Copies buffers to the device, runs the kernel, and copies buffers back.
    fn run_with_buffers(&self, arguments: &[Argument]) -> Result<(), Failure> {
        let sizes = self.parameter_sizes()?;
        check_count(sizes.len(), arguments.len())?;
        for (index, (argument, &size)) in arguments.iter().zip(&sizes).enumerate() {
            argument.check(index, size)?;
        }
        let values = arguments.iter().map(|argument| match argument.kind {
            VALUE => Ok(Value::Direct(argument.data)),
            _ => Buffer::new(argument).map(Value::Buffer),
        });
        let mut values = values.collect::<Result<Vec<Value>, Failure>>()?;
        let mut pointers: Vec<*mut c_void> = values.iter_mut().map(Value::pointer).collect();
        self.launch(&mut pointers)?;
        for (argument, value) in arguments.iter().zip(&values) {
            if let Value::Buffer(Buffer(address)) = *value
                && argument.kind & OUT != 0
                && argument.size > 0
            {
                call!(cuMemcpyDtoH_v2(argument.data, address, argument.size))?;
            }
        }
        Ok(())
    }

    /// Runs the kernel with values of at most 8 bytes.
    fn run(&self, values: &[u64]) -> Result<(), Failure> {
        let sizes = self.parameter_sizes()?;
        check_count(sizes.len(), values.len())?;
        if let Some(index) = sizes.iter().position(|&size| size > size_of::<u64>()) {
            return Err(Failure::invalid(format!(
                "the kernel's parameter {index} has {} bytes, more than a pointer",
                sizes[index]
            )));
        }
        // Smaller parameters take the first bytes.
        let mut values: Vec<[u8; 8]> = values.iter().map(|value| value.to_le_bytes()).collect();
        let mut pointers: Vec<*mut c_void> = (values.iter_mut())
            .map(|value| value.as_mut_ptr().cast())
            .collect();
        self.launch(&mut pointers)
    }

    /// Returns the sizes of the kernel's parameters in bytes.
    fn parameter_sizes(&self) -> Result<Vec<usize>, Failure> {
        cuda_driver::parameter_sizes(self.function)
            .map_err(|_| Failure::invalid("the kernel's module has been unloaded"))
    }

    /// Launches the kernel and waits for it. If a fault ends it, that is the reason of the failure.
    fn launch(&self, parameters: &mut [*mut c_void]) -> Result<(), Failure> {
        /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`, and the size that needs no attribute.
        const MAX_DYNAMIC_SHARED: c_int = 8;
        const UNREQUESTED: c_uint = 48 << 10;
        if self.shared_bytes > UNREQUESTED {
            let bytes = self.shared_bytes as c_int;
            call!(cuFuncSetAttribute(self.function, MAX_DYNAMIC_SHARED, bytes))?;
        }
        let [grid, block] = self.size;
        let threads = block.map(u64::from).iter().product::<u64>();
        if !(1..=1024).contains(&threads) {
            return Err(Failure::invalid(format!(
                "the block has {threads} threads: a block has 1 to 1024 threads"
            )));
        }
        let recorder = cuda_driver::record_launches();
        call!(cuLaunchKernel(
            self.function,
            grid[0],
            grid[1],
            grid[2],
            block[0],
            block[1],
            block[2],
            self.shared_bytes,
            null_mut(),
            parameters.as_mut_ptr(),
            null_mut(),
        ))?;
        call!(cuCtxSynchronize()).map_err(|failure| {
            let faults = recorder.take().into_iter();
            let fault = faults.filter_map(|report| report.result.err()).last();
            Failure {
                is_printed: fault.is_some(),
                reason: fault.map_or(failure.reason, |fault| fault.to_string()),
                ..failure
            }
        })
    }
}

impl Argument {
    /// Checks the argument with this index, for a parameter of `size` bytes.
    fn check(&self, index: usize, size: usize) -> Result<(), Failure> {
        if !(0..=(IN | OUT)).contains(&self.kind) {
            return Err(Failure::invalid(format!(
                "argument {index} is of the unknown kind {}",
                self.kind
            )));
        }
        if self.data.is_null() && self.size > 0 {
            return Err(Failure::invalid(format!(
                "the data of argument {index} are a null pointer"
            )));
        }
        let (has, bytes) = match self.kind {
            VALUE => ("has", self.size),
            _ => ("is a buffer, whose address has", size_of::<CUdeviceptr>()),
        };
        if bytes != size {
            return Err(Failure::invalid(format!(
                "argument {index} {has} {bytes} bytes, but the kernel's parameter {index} has {size}"
            )));
        }
        Ok(())
    }
}

/// An argument of a launch.
enum Value {
    /// The address of a value of the caller.
    Direct(*mut c_void),
    Buffer(Buffer),
}

impl Value {
    /// Returns the address of the value that the kernel gets.
    fn pointer(&mut self) -> *mut c_void {
        match self {
            Value::Direct(data) => *data,
            Value::Buffer(Buffer(address)) => (&raw mut *address).cast(),
        }
    }
}

/// A buffer on the device; 0 if it is empty.
struct Buffer(CUdeviceptr);

impl Buffer {
    /// Allocates a buffer, and copies an input into it.
    fn new(argument: &Argument) -> Result<Self, Failure> {
        let mut buffer = Buffer(0);
        if argument.size > 0 {
            call!(cuMemAlloc_v2(&mut buffer.0, argument.size))?;
            if argument.kind & IN != 0 {
                call!(cuMemcpyHtoD_v2(buffer.0, argument.data, argument.size))?;
            }
        }
        Ok(buffer)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.0 != 0 {
            let _ = call!(cuMemFree_v2(self.0));
        }
    }
}

/// Checks the number of arguments.
fn check_count(parameters: usize, arguments: usize) -> Result<(), Failure> {
    if parameters == arguments {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "the kernel has {parameters} parameters, but {arguments} arguments are given"
    )))
}

/// Memory mappings of this process that kernels may access while this value lives.
struct RegisteredMappings(Vec<usize>);

impl RegisteredMappings {
    /// Registers the writable mappings that contain one of these addresses. Other values are not addresses.
    fn containing(values: &[u64]) -> Result<Self, Failure> {
        let maps = std::fs::read_to_string("/proc/self/maps").map_err(|error| {
            Failure::invalid(format!(
                "the memory mappings of this process cannot be read from /proc/self/maps: {error}"
            ))
        })?;
        let mappings: BTreeSet<(usize, usize)> = (maps.lines())
            .filter_map(parse_mapping)
            .filter(|&(start, end)| {
                let contains = |value: &u64| (start..end).contains(&(*value as usize));
                values.iter().any(contains)
            })
            .collect();
        let mut registered = RegisteredMappings(Vec::new());
        for (start, end) in mappings {
            let address = std::ptr::with_exposed_provenance_mut(start);
            call!(cuMemHostRegister_v2(address, end - start, 0))?;
            registered.0.push(start);
        }
        Ok(registered)
    }
}

impl Drop for RegisteredMappings {
    fn drop(&mut self) {
        for &start in &self.0 {
            let address = std::ptr::with_exposed_provenance_mut(start);
            let _ = call!(cuMemHostUnregister(address));
        }
    }
}

/// Parses a line of `/proc/self/maps`. Returns the first address and the one past the end of a writable mapping.
fn parse_mapping(line: &str) -> Option<(usize, usize)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    rest.starts_with("rw")
        .then_some((number(start)?, number(end)?))
}
