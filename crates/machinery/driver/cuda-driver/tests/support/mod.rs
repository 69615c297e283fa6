//! Calls of the driver's functions, and the objects that most tests need.

#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each test program uses a part"
)]

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{from_ref, null_mut};
use std::sync::Once;
use std::{env, thread};

pub use cuda_driver::types::{
    CU_MEMORYTYPE_ARRAY as ARRAY, CU_MEMORYTYPE_DEVICE as DEVICE, CU_MEMORYTYPE_HOST as HOST,
    CU_MEMORYTYPE_UNIFIED as UNIFIED, CUmemorytype,
};
use cuda_driver::types::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, CUdeviceptr, CUevent, CUfunction, CUmodule, CUstream,
};
use cust::context::legacy::{Context, ContextFlags};
use cust::device::Device;

pub const INVALID_VALUE: c_int = 1;
pub const OUT_OF_MEMORY: c_int = 2;
pub const INVALID_CONTEXT: c_int = 201;
pub const INVALID_HANDLE: c_int = 400;
pub const INVALID_CLUSTER_SIZE: c_int = 912;
pub const NOT_FOUND: c_int = 500;
pub const CONTEXT_IS_DESTROYED: c_int = 709;
pub const NOT_SUPPORTED: c_int = 801;

/// Calls a function of the driver and returns its code.
macro_rules! code {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the driver looks up handles and device addresses, and rejects null pointers; all other
        // pointers refer to memory as large as the function requires.
        unsafe { cuda_driver::functions::$function($($argument),*) }
    };
}

/// Calls functions of the driver one after another. Each must return the code that follows it; without one,
/// it must succeed.
macro_rules! calls {
    (@code) => { 0 };
    (@code $expected:expr) => { $expected };
    ($($function:ident($($argument:expr),* $(,)?) $(=> $expected:expr $(, $message:literal)?)?;)*) => {
        $(assert_eq!(
            code!($function($($argument),*)),
            calls!(@code $($expected)?),
            concat!(stringify!($function($($argument),*)) $($(, ": ", $message)?)?)
        );)*
    };
}

/// Asserts success.
#[track_caller]
pub fn ok(code: c_int) {
    assert_eq!(code, 0);
}

/// Returns `value`, or a code other than success.
pub fn result<T>(code: c_int, value: T) -> Result<T, c_int> {
    if code == 0 { Ok(value) } else { Err(code) }
}

/// Selects the simulator and initializes it.
pub fn start() {
    static FORCED: Once = Once::new();
    // SAFETY: set before any driver call, and only the driver reads it; Rust's own reading of the environment
    // takes a lock.
    FORCED.call_once(|| unsafe { env::set_var("CUDA_BACKEND", "sim") });
    calls! { cuInit(0); }
}

/// Creates a context on the simulator that is current in the calling thread.
pub fn own_context() -> Context {
    start();
    let device = Device::get_device(0).expect("its device");
    Context::create_and_push(ContextFlags::SCHED_AUTO, device).expect("a context")
}

/// Returns the primary context on the simulator, current in the calling thread.
pub fn primary_context() -> cust::context::Context {
    start();
    cust::quick_init().expect("a context")
}

/// Returns the calling thread's context.
pub fn current_context() -> CUcontext {
    let mut context = null_mut();
    calls! { cuCtxGetCurrent(&mut context); }
    context
}

/// Handles and addresses of the driver, which every thread may use.
#[derive(Clone, Copy)]
pub struct Shared<T>(pub T);
// SAFETY: the tests share only handles, and memory that no other thread uses at the same time.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: a shared value can only be copied out of it.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub fn get(self) -> T {
        self.0
    }
}

/// Returns the result of `body` in another thread, in which the same context is current.
pub fn in_other_thread<T: Send>(body: impl FnOnce() -> T) -> T {
    let shared = Shared((current_context(), body));
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let (context, body) = shared.get();
            calls! { cuCtxSetCurrent(context); }
            body()
        });
        other.join().unwrap()
    })
}

pub fn module(ptx: &CStr) -> CUmodule {
    let mut module = null_mut();
    calls! { cuModuleLoadData(&mut module, ptx.as_ptr().cast()); }
    module
}

pub fn function(module: CUmodule, name: &CStr) -> CUfunction {
    let mut function = null_mut();
    calls! { cuModuleGetFunction(&mut function, module, name.as_ptr()); }
    function
}

/// Creates a stream; with flag 1, one that does not synchronize with the default stream.
pub fn stream(flags: u32) -> CUstream {
    let mut stream = null_mut();
    calls! { cuStreamCreate(&mut stream, flags); }
    stream
}

pub fn event() -> CUevent {
    let mut event = null_mut();
    calls! { cuEventCreate(&mut event, 0); }
    event
}

/// Allocates `bytes` bytes of device memory.
pub fn allocate(bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    calls! { cuMemAlloc_v2(&mut address, bytes); }
    address
}

/// Allocates `bytes` bytes of page-locked memory.
pub fn allocate_host<T>(bytes: usize) -> *mut T {
    let mut address = null_mut();
    calls! { cuMemAllocHost_v2(&mut address, bytes); }
    address.cast()
}

/// Launches `blocks` blocks of `threads` threads and returns the code. A kernel's parameter that is smaller than
/// eight bytes takes the first bytes of its argument.
pub fn launch(
    function: CUfunction,
    [blocks, threads]: [u32; 2],
    stream: CUstream,
    arguments: &[u64],
) -> c_int {
    let pointers = arguments
        .iter()
        .map(|argument| from_ref(argument).cast_mut().cast::<c_void>());
    let mut pointers: Vec<_> = pointers.collect();
    let (list, none) = (pointers.as_mut_ptr(), null_mut());
    code!(cuLaunchKernel(
        function, blocks, 1, 1, threads, 1, 1, 0, stream, list, none
    ))
}

/// Copies a value from the device.
pub fn read<T: Copy>(address: CUdeviceptr) -> T {
    let mut value = zeroed::<T>();
    calls! { cuMemcpyDtoH_v2((&raw mut value).cast(), address, size_of::<T>()); }
    value
}

/// Reads a value that the driver may have changed through a pointer.
pub fn reread<T: Copy>(value: &T) -> T {
    // SAFETY: a reference is valid for reads.
    unsafe { from_ref(value).read_volatile() }
}

/// Returns a number, or a structure of the C API, in which all bytes are zero.
pub fn zeroed<T>() -> T {
    // SAFETY: the tests call this for numbers and for structures of numbers and pointers.
    unsafe { std::mem::zeroed() }
}

/// Returns a copy of nothing between two kinds of memory; no kind is zero.
pub fn copy_2d(from: CUmemorytype, to: CUmemorytype) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcMemoryType: from,
        dstMemoryType: to,
        ..zeroed()
    }
}

/// Returns a three-dimensional copy of nothing between two kinds of memory.
pub fn copy_3d(from: CUmemorytype, to: CUmemorytype) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcMemoryType: from,
        dstMemoryType: to,
        ..zeroed()
    }
}
