//! Several host threads and several contexts at once, through unmodified cust. On a GPU, a fault affects the
//! whole process and concurrency is not deterministic, so tests that depend on either run only on the
//! simulator. The others also pass on a GPU: `CUDA_BACKEND=gpu` runs them there.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod contexts;
mod current;
mod sharing;
mod waiting;

use std::error::Error;
use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use cuda_driver::types::CUmodule;
use cust::context::{Context, legacy};
use cust::device::Device;
use cust::function::Function;
use cust::launch;
use cust::memory::DeviceBuffer;
use cust::stream::{Stream, StreamFlags};
use support::Shared;

type Test = Result<(), Box<dyn Error>>;

/// `scale`: `to[i] = factor * from[i] + i`. `count`: adds one to a word, atomically, in every thread.
/// `relay`: block b waits until the word is b, adds b to the sum behind it with plain loads and stores, and
/// sets the word to b + 1.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .const .align 4 .u32 factor;
.visible .entry scale(.param .u64 from, .param .u64 to, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [from];
    ld.param.u64 %d2, [to];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p bra DONE;
    mul.wide.u32 %d3, %r5, 4;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    ld.const.u32 %r6, [factor];
    ld.global.u32 %r7, [%d4];
    mad.lo.s32 %r7, %r6, %r7, %r5;
    st.global.u32 [%d5], %r7;
DONE:
    ret;
}
.visible .entry count(.param .u64 word)
{
    .reg .b64 %d;
    ld.param.u64 %d, [word];
    red.global.add.u32 [%d], 1;
    ret;
}
.visible .entry relay(.param .u64 word)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %d;
    ld.param.u64 %d, [word];
    mov.u32 %r1, %ctaid.x;
WAIT:
    ld.volatile.global.u32 %r2, [%d];
    setp.ne.u32 %p, %r2, %r1;
    @%p bra WAIT;
    membar.gl;
    ld.global.u32 %r3, [%d+4];
    add.u32 %r3, %r3, %r1;
    st.global.u32 [%d+4], %r3;
    membar.gl;
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%d], %r1;
    ret;
}";

/// Returns the primary context and a lock that gives one test exclusive use of it.
fn primary() -> (MutexGuard<'static, ()>, Context) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    start();
    (turn, cust::quick_init().unwrap())
}

/// Initializes the driver: the simulator, unless the environment selects another backend.
fn start() {
    static FORCED: Once = Once::new();
    FORCED.call_once(|| {
        if std::env::var_os("CUDA_BACKEND").is_none() {
            // SAFETY: set before any driver call, and only the driver reads it; Rust's own reading of the
            // environment takes a lock.
            unsafe { std::env::set_var("CUDA_BACKEND", "sim") }
        }
    });
    cust::init(cust::CudaFlags::empty()).unwrap();
}

fn simulated() -> bool {
    cuda_driver::backend() == Some(cuda_driver::Backend::Simulator)
}

/// Creates a context that is current in the calling thread.
fn own_context() -> legacy::Context {
    start();
    let device = Device::get_device(0).unwrap();
    legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device).unwrap()
}

fn stream() -> Stream {
    Stream::new(StreamFlags::NON_BLOCKING, None).unwrap()
}

/// Runs `scale` over `n` words with the module's factor and returns the result.
fn scale(scale: &Function, stream: &Stream, from: &DeviceBuffer<u32>, n: u32) -> Vec<u32> {
    let to = DeviceBuffer::from_slice(&vec![u32::MAX; n as usize]).unwrap();
    // SAFETY: the parameters match the kernel's signature, and both buffers hold n words.
    unsafe {
        launch!(scale<<<n.div_ceil(64), 64, 0, stream>>>(
            from.as_device_ptr(), to.as_device_ptr(), n
        ))
    }
    .unwrap();
    stream.synchronize().unwrap();
    to.as_host_vec().unwrap()
}

fn expected(factor: u32, input: &[u32]) -> Vec<u32> {
    let scaled = input.iter().zip(0u32..);
    scaled
        .map(|(&word, i)| factor.wrapping_mul(word).wrapping_add(i))
        .collect()
}

/// Loads [`PTX`] into the current context as a raw handle.
fn bare_module() -> Shared<CUmodule> {
    Shared(support::module(&CString::new(PTX).unwrap()))
}
