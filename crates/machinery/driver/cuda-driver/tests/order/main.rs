//! The order and time at which stream operations execute: never before a call waits for them or the program
//! is idle, and never in violation of streams and events.

extern crate cuda_driver as _;

mod shuffled;
mod waiting;

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use cuda_driver::functions as cu;
use cust::context::legacy::{Context, ContextFlags};
use cust::device::Device;
use cust::sys::{CUevent, CUfunction, CUstream};

/// A kernel that appends a digit to a number, `*at = *at * 10 + digit`, and one that stores to an unallocated
/// address.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry append(.param .u64 at, .param .u64 digit)
{
    .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [at];
    ld.param.u64 %rd2, [digit];
    ld.global.u64 %rd3, [%rd1];
    mad.lo.u64 %rd3, %rd3, 10, %rd2;
    st.global.u64 [%rd1], %rd3;
    ret;
}
.visible .entry fault()
{
    .reg .u64 %rd<2>;
    mov.u64 %rd1, 0;
    st.global.u64 [%rd1], %rd1;
    ret;
}
\0";

/// A context with the two kernels and a number in page-locked memory.
struct Simulator {
    append: CUfunction,
    fault: CUfunction,
    number: *mut u64,
    _context: Context,
    /// Tests run one after another, because a wait also executes the operations of other tests.
    _turn: MutexGuard<'static, ()>,
}

#[track_caller]
fn ok(code: c_int) {
    assert_eq!(code, 0);
}

impl Simulator {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        static FORCED: Once = Once::new();
        // SAFETY: set before any driver call, and only the driver reads it; Rust's own reading of the
        // environment takes a lock.
        FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
        cust::init(cust::CudaFlags::empty()).expect("the simulator");
        let device = Device::get_device(0).expect("its device");
        let context = Context::create_and_push(ContextFlags::SCHED_AUTO, device);
        let (mut module, mut append, mut fault) = (null_mut(), null_mut(), null_mut());
        let mut number = null_mut();
        // SAFETY: all outputs are writable locals, and the PTX and the names are NUL-terminated.
        unsafe {
            ok(cu::cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
            ok(cu::cuModuleGetFunction(
                &mut append,
                module,
                c"append".as_ptr(),
            ));
            ok(cu::cuModuleGetFunction(
                &mut fault,
                module,
                c"fault".as_ptr(),
            ));
            ok(cu::cuMemAllocHost_v2(&mut number, 8));
        }
        Self {
            append,
            fault,
            number: number.cast(),
            _context: context.expect("a context"),
            _turn: turn,
        }
    }

    /// Returns the current number without waiting.
    fn now(&self) -> u64 {
        // SAFETY: the memory was allocated by the driver and lives as long as the context.
        unsafe { self.number.read_volatile() }
    }

    fn set(&self, value: u64) {
        // SAFETY: the callee passes its handles only to the driver, which looks them up and never
        // dereferences them.
        unsafe { self.number.write_volatile(value) }
    }

    /// Launches a kernel in a stream that appends a digit.
    fn append(&self, digit: u64, stream: CUstream) {
        let (mut at, mut digit) = (self.number as u64, digit);
        let mut arguments: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut digit).cast()];
        ok(launch(self.append, &mut arguments, stream));
    }
}

fn launch(function: CUfunction, arguments: &mut [*mut c_void], stream: CUstream) -> c_int {
    let (list, none) = (arguments.as_mut_ptr(), null_mut());
    // SAFETY: the parameter list matches the kernel's signature.
    unsafe { cu::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, list, none) }
}

/// Creates a stream; with flag 1, one that does not synchronize with the default stream.
fn stream(flags: u32) -> CUstream {
    let mut made = null_mut();
    // SAFETY: `made` is writable.
    ok(unsafe { cu::cuStreamCreate(&mut made, flags) });
    made
}

fn event() -> CUevent {
    let mut made = null_mut();
    // SAFETY: `made` is writable.
    ok(unsafe { cu::cuEventCreate(&mut made, 0) });
    made
}
