//! The order in which work of streams is done, and when: nothing before somebody waits for it or the
//! program is quiet, and never against what streams and events say.

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

/// A kernel that appends a digit to a number: `*at = *at * 10 + digit`. Another stores where nothing is.
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

/// A context of one's own with the two kernels, and a number in page-locked memory.
struct Simulator {
    append: CUfunction,
    fault: CUfunction,
    number: *mut u64,
    _context: Context,
    /// Tests run one after another: who waits does what others put in, too.
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
        // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the
        // environment waits.
        FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
        cust::init(cust::CudaFlags::empty()).expect("the simulator");
        let device = Device::get_device(0).expect("its device");
        let context = Context::create_and_push(ContextFlags::SCHED_AUTO, device);
        let (mut module, mut append, mut fault) = (null_mut(), null_mut(), null_mut());
        let mut number = null_mut();
        // SAFETY: all texts end in zero bytes, and the results can be written to.
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

    /// The number as it is now: nothing is waited for.
    fn now(&self) -> u64 {
        // SAFETY: the driver's memory, which lives as long as the context.
        unsafe { self.number.read_volatile() }
    }

    fn set(&self, value: u64) {
        // SAFETY: as above.
        unsafe { self.number.write_volatile(value) }
    }

    /// Puts a kernel that appends a digit into a stream.
    fn append(&self, digit: u64, stream: CUstream) {
        let (mut at, mut digit) = (self.number as u64, digit);
        let mut arguments: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut digit).cast()];
        ok(launch(self.append, &mut arguments, stream));
    }
}

fn launch(function: CUfunction, arguments: &mut [*mut c_void], stream: CUstream) -> c_int {
    let (list, none) = (arguments.as_mut_ptr(), null_mut());
    // SAFETY: the arguments are the kernel's.
    unsafe { cu::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, list, none) }
}

/// A stream; with 1, one that does not wait for the default stream.
fn stream(flags: u32) -> CUstream {
    let mut made = null_mut();
    // SAFETY: the handle can be written to, here and below.
    ok(unsafe { cu::cuStreamCreate(&mut made, flags) });
    made
}

fn event() -> CUevent {
    let mut made = null_mut();
    // SAFETY: as above.
    ok(unsafe { cu::cuEventCreate(&mut made, 0) });
    made
}
