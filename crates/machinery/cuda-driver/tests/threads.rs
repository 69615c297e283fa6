//! Several host threads and several contexts at once, through unmodified cust. A fault is the whole
//! process's affair on a GPU, and what runs at the same time is not; so those tests are for the
//! simulator alone. The others hold on a GPU as well: `CUDA_BACKEND=gpu` runs them there.

extern crate cuda_driver as _;

use std::cell::RefCell;
use std::error::Error;
use std::ffi::{CString, c_void};
use std::io::Write as _;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, Once, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use cust::context::{Context, CurrentContext, legacy};
use cust::device::Device;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::function::Function;
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer, UnifiedBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};
use cust::sys::{self, CUresult};

type Test = Result<(), Box<dyn Error>>;

/// `scale`: `to[i] = factor * from[i] + i`. `count`: adds one to a word, atomically, in every
/// thread. `relay`: block b waits until the word is b, adds b to the sum behind it with plain loads
/// and stores, and makes the word b + 1.
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

/// The primary context, and the turn of a test that has the primary context to itself.
fn primary() -> (MutexGuard<'static, ()>, Context) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    start();
    (turn, cust::quick_init().unwrap())
}

/// Switches the driver on: the simulator, unless the environment wants another.
fn start() {
    static FORCED: Once = Once::new();
    FORCED.call_once(|| {
        if std::env::var_os("CUDA_BACKEND").is_none() {
            // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of
            // the environment waits.
            unsafe { std::env::set_var("CUDA_BACKEND", "sim") }
        }
    });
    cust::init(cust::CudaFlags::empty()).unwrap();
}

fn simulated() -> bool {
    cuda_driver::backend() == Some(cuda_driver::Backend::Simulator)
}

/// A context of one's own, current in the calling thread.
fn own_context() -> legacy::Context {
    start();
    let device = Device::get_device(0).unwrap();
    legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device).unwrap()
}

fn stream() -> Stream {
    Stream::new(StreamFlags::NON_BLOCKING, None).unwrap()
}

/// Runs `scale` over `n` words with a factor of the module's and says what came of it.
fn scale(scale: &Function, stream: &Stream, from: &DeviceBuffer<u32>, n: u32) -> Vec<u32> {
    let to = DeviceBuffer::from_slice(&vec![u32::MAX; n as usize]).unwrap();
    // SAFETY: the parameters are the kernel's, and both buffers hold n words.
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

/// [`PTX`] loaded into the current context, as a bare handle.
fn bare_module() -> Handle<sys::CUmod_st> {
    let text = CString::new(PTX).unwrap();
    let mut module = ptr::null_mut();
    // SAFETY: a handle to write to, and a text that ends in NUL.
    let loaded = unsafe { sys::cuModuleLoadData(&mut module, text.as_ptr().cast()) };
    assert_eq!(code(loaded), 0);
    Handle(module)
}

/// The code of a function of the driver.
fn code(result: CUresult) -> i32 {
    result as i32
}

/// Handles go from thread to thread as numbers.
#[derive(Clone, Copy)]
struct Handle<T>(*mut T);
// SAFETY: the driver's handles may be used from any thread.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}
impl<T> Handle<T> {
    fn get(self) -> *mut T {
        self.0
    }
}

#[test]
fn threads_with_contexts_of_their_own_do_not_see_each_other() {
    start();
    const THREADS: u32 = 6;
    let at_once = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let at_once = &at_once;
            scope.spawn(move || {
                at_once.wait();
                for round in 0..4 {
                    let context = own_context();
                    let module = Module::from_ptx(PTX, &[]).unwrap();
                    let factor = 3 + 10 * number + round;
                    // The same name in every context, with a value of its own in each.
                    let mut symbol = module.get_global::<u32>(c"factor").unwrap();
                    symbol.copy_from(&factor).unwrap();
                    let kernel = module.get_function("scale").unwrap();
                    let stream = stream();
                    let (begin, end) = (
                        Event::new(EventFlags::DEFAULT).unwrap(),
                        Event::new(EventFlags::DEFAULT).unwrap(),
                    );
                    for n in [1, 33, 1000] {
                        let input: Vec<u32> = (0..n).map(|i| i ^ number).collect();
                        let from = DeviceBuffer::from_slice(&input).unwrap();
                        begin.record(&stream).unwrap();
                        let found = scale(&kernel, &stream, &from, n);
                        end.record(&stream).unwrap();
                        end.synchronize().unwrap();
                        assert_eq!(
                            found,
                            expected(factor, &input),
                            "thread {number}, {n} words"
                        );
                        assert!(end.elapsed_time_f32(&begin).unwrap() > 0.0);
                    }
                    drop((begin, end, stream, module));
                    drop(context);
                    assert_eq!(
                        CurrentContext::synchronize(),
                        Err(CudaError::InvalidContext),
                        "a destroyed context is current no more"
                    );
                }
            });
        }
    });
}

/// cust's `Context` counts: the primary context is there while one of them is, in whatever thread.
#[test]
fn the_primary_context_is_shared_and_counted() -> Test {
    let (_turn, context) = primary();
    let rounds = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..6u32 {
            let (again, rounds) = (context.clone(), &rounds);
            scope.spawn(move || {
                for _ in 0..20 {
                    let mine = Context::new(Device::get_device(0).unwrap()).unwrap();
                    assert_eq!(mine.as_raw(), again.as_raw());
                    let buffer = DeviceBuffer::from_slice(&[number; 50]).unwrap();
                    drop(mine);
                    // `again` still holds it.
                    assert_eq!(buffer.as_host_vec().unwrap(), [number; 50]);
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(rounds.into_inner(), 6 * 20);
    CurrentContext::synchronize()?;
    Ok(())
}

/// Whoever has the primary context current still has when it goes and comes back: it is the same.
#[test]
fn the_primary_context_comes_back_as_itself() {
    let (_turn, context) = primary();
    let old = Handle(context.as_raw());
    let (go, gone) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            CurrentContext::set_current(&context).unwrap();
            CurrentContext::synchronize().unwrap();
            go.wait();
            gone.wait();
            let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
            let mut address = 0;
            // SAFETY: a number to write to; handles are looked up.
            unsafe {
                assert_eq!(sys::cuCtxSynchronize(), destroyed);
                assert_eq!(sys::cuMemAlloc_v2(&mut address, 4), destroyed);
                let mut current = ptr::null_mut();
                sys::cuCtxGetCurrent(&mut current);
                assert_eq!(current, old.get());
                // It may be made current all the same.
                assert_eq!(code(sys::cuCtxPushCurrent_v2(old.get())), 0);
                assert_eq!(sys::cuCtxSynchronize(), destroyed);
                assert_eq!(code(sys::cuCtxPopCurrent_v2(&mut current)), 0);
            }
            go.wait();
            gone.wait();
            CurrentContext::synchronize().unwrap();
            let buffer = DeviceBuffer::from_slice(&[5u32; 10]).unwrap();
            assert_eq!(buffer.as_host_vec().unwrap(), [5; 10]);
            go.wait();
        });
        go.wait();
        // SAFETY: the handle is retained once more below, for `context` to release.
        unsafe { assert_eq!(code(sys::cuDevicePrimaryCtxRelease_v2(0)), 0) };
        gone.wait();
        go.wait();
        let mut retained = ptr::null_mut();
        // SAFETY: a handle to write to.
        unsafe { assert_eq!(code(sys::cuDevicePrimaryCtxRetain(&mut retained, 0)), 0) };
        assert_eq!(retained, old.get());
        gone.wait();
        go.wait();
    });
}

#[test]
fn threads_share_a_context_a_module_and_streams() {
    start();
    let context = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let mut symbol = module.get_global::<u32>(c"factor").unwrap();
    symbol.copy_from(&7).unwrap();
    let shared = stream();
    let counter = DeviceBuffer::from_slice(&[0u32]).unwrap();
    let word = counter.as_device_ptr().as_raw();
    let unowned = context.get_unowned();
    const THREADS: u32 = 6;
    const LAUNCHES: u32 = 10;
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (module, shared, unowned) = (&module, &shared, unowned.clone());
            scope.spawn(move || {
                legacy::CurrentContext::set_current(&unowned).unwrap();
                let (kernel, count) = (
                    module.get_function("scale").unwrap(),
                    module.get_function("count").unwrap(),
                );
                let own = stream();
                for launch in 0..LAUNCHES {
                    let input: Vec<u32> = (0..200).map(|i| i * number + launch).collect();
                    let from = DeviceBuffer::from_slice(&input).unwrap();
                    // In turns in a stream of its own and in the one of all.
                    let stream = if launch % 2 == 0 { &own } else { shared };
                    assert_eq!(scale(&kernel, stream, &from, 200), expected(7, &input));
                    // SAFETY: the parameter is the kernel's.
                    unsafe { launch!(count<<<3, 50, 0, shared>>>(word)) }.unwrap();
                }
            });
        }
    });
    shared.synchronize().unwrap();
    let total = THREADS * LAUNCHES * 3 * 50;
    assert_eq!(counter.as_host_vec().unwrap(), [total]);
}

/// A stream, an event, a module and a buffer know their context: what is asked of them is done
/// there, whatever is current, if anything is.
#[test]
fn objects_bring_their_own_context() {
    let a = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    module
        .get_global::<u32>(c"factor")
        .unwrap()
        .copy_from(&2)
        .unwrap();
    let (in_a, event_a) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());
    let buffer = DeviceBuffer::from_slice(&[20u32; 64]).unwrap();
    let address = buffer.as_device_ptr().as_raw();
    let bare = bare_module();
    let b = own_context();
    let (in_b, event_b) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());

    // b is current.
    let kernel = module.get_function("scale").unwrap();
    let launch = |stream: &Stream| {
        // SAFETY: the parameters are the kernel's, and both buffers hold 64 words.
        unsafe { launch!(kernel<<<1, 64, 0, stream>>>(address, address, 64u32)) }
    };
    assert_eq!(launch(&in_b), Err(CudaError::InvalidHandle));
    assert_eq!(launch(&in_a), Ok(()));
    assert_eq!(in_a.synchronize(), Ok(()));
    assert_eq!(in_a.get_priority(), Ok(0));
    assert_eq!(event_a.record(&in_a), Ok(()));
    assert_eq!(event_a.record(&in_b), Err(CudaError::InvalidHandle));
    assert_eq!(event_b.record(&in_a), Err(CudaError::InvalidHandle));
    assert_eq!(event_b.record(&in_b), Ok(()));
    let refused = event_b.elapsed_time_f32(&event_a);
    assert_eq!(refused, Err(CudaError::InvalidHandle));
    let mut words = [0u32; 64];
    let host = words.as_mut_ptr().cast::<c_void>();
    // SAFETY: 64 words lie at `host`, which nobody else uses, and at `address`.
    unsafe {
        let (stream, other) = (in_a.as_inner(), in_b.as_inner());
        for (copied, value) in [(stream, 40), (other, 41)] {
            assert_eq!(
                code(sys::cuMemcpyDtoHAsync_v2(host, address, 256, copied)),
                0
            );
            assert_eq!(code(sys::cuStreamSynchronize(copied)), 0);
            assert_eq!(words[63], value + 63);
            assert_eq!(
                code(sys::cuMemsetD32Async(address, value + 64, 64, copied)),
                0
            );
            assert_eq!(code(sys::cuStreamSynchronize(copied)), 0);
            // For the next round.
            for (word, i) in words.iter_mut().zip(0..) {
                *word = 41 + i;
            }
            assert_eq!(code(sys::cuMemcpyHtoD_v2(address, host, 256)), 0);
        }
    }
    assert_eq!(
        in_b.wait_event(event_a, StreamWaitEventFlags::DEFAULT),
        Ok(())
    );
    assert_eq!(
        in_a.wait_event(event_b, StreamWaitEventFlags::DEFAULT),
        Ok(())
    );

    // Nothing is current.
    let raw = Handle(in_a.as_inner());
    let address_only = thread::spawn(move || {
        let mut event = ptr::null_mut();
        let mut word = 0u32;
        let host = (&raw mut word).cast::<c_void>();
        let (mut symbol, mut bytes) = (0, 0);
        let mut function = ptr::null_mut();
        // SAFETY: handles and numbers to write to, and a word at `host`.
        unsafe {
            assert_eq!(code(sys::cuStreamQuery(raw.get())), 0);
            assert_eq!(code(sys::cuStreamSynchronize(raw.get())), 0);
            assert_eq!(
                code(sys::cuMemcpyDtoHAsync_v2(host, address, 4, raw.get())),
                0
            );
            assert_eq!(code(sys::cuStreamSynchronize(raw.get())), 0);
            assert_eq!(word, 41);
            let name = c"factor".as_ptr();
            let found = sys::cuModuleGetGlobal_v2(&mut symbol, &mut bytes, bare.get(), name);
            assert_eq!((code(found), bytes), (0, 4));
            let name = c"count".as_ptr();
            let found = sys::cuModuleGetFunction(&mut function, bare.get(), name);
            assert_eq!(code(found), 0);
            let none = CUresult::CUDA_ERROR_INVALID_CONTEXT;
            assert_eq!(sys::cuStreamSynchronize(ptr::null_mut()), none);
            assert_eq!(sys::cuMemcpyDtoH_v2(host, address, 4), none);
            assert_eq!(sys::cuEventCreate(&mut event, 0), none);
            assert_eq!(code(sys::cuModuleUnload(bare.get())), 0);
            assert_eq!(code(sys::cuMemFree_v2(0)), 0);
            let unknown = CUresult::CUDA_ERROR_INVALID_VALUE;
            assert_eq!(sys::cuMemFree_v2(64), unknown);
            assert_eq!(code(sys::cuMemFree_v2(address)), 0);
            assert_eq!(code(sys::cuStreamDestroy_v2(raw.get())), 0);
        }
    });
    address_only.join().unwrap();
    // They are gone already.
    std::mem::forget((buffer, in_a));
    drop((in_b, b));
    drop((module, a));
}

/// Memory of one context is there for the kernels of another, as it is on a GPU.
#[test]
fn a_kernel_reaches_the_memory_of_another_context() {
    let _a = own_context();
    let device = DeviceBuffer::from_slice(&[0u32]).unwrap();
    let mut locked = LockedBuffer::new(&0u32, 1).unwrap();
    let managed = UnifiedBuffer::new(&0u32, 1).unwrap();
    let _b = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let count = module.get_function("count").unwrap();
    let stream = stream();
    let places = [
        device.as_device_ptr().as_raw(),
        locked.as_mut_ptr() as u64,
        managed.as_ptr() as u64,
    ];
    for address in places {
        // SAFETY: the parameter is the kernel's, the address of a word.
        unsafe { launch!(count<<<2, 32, 0, stream>>>(address)) }.unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(device.as_host_vec().unwrap(), [64]);
    assert_eq!((locked[0], managed[0]), (64, 64));
}

#[test]
fn a_destroyed_context_stays_current_where_it_was() {
    let context = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let (stream, event) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());
    let buffer = DeviceBuffer::from_slice(&[1u32; 4]).unwrap();
    let address = buffer.as_device_ptr().as_raw();
    let mut current = ptr::null_mut();
    // SAFETY: a handle to write to.
    unsafe { sys::cuCtxGetCurrent(&mut current) };
    let current = Handle(current);
    std::mem::forget((module, stream, event, buffer, context));
    let elsewhere = thread::spawn(move || {
        // SAFETY: nobody else destroys it.
        unsafe { code(sys::cuCtxDestroy_v2(current.get())) }
    });
    assert_eq!(elsewhere.join().unwrap(), 0);
    let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    let mut word = 0u32;
    let host = (&raw mut word).cast::<c_void>();
    let (mut made, mut number) = (ptr::null_mut(), 0);
    // SAFETY: handles and numbers to write to, a word at `host`.
    unsafe {
        assert_eq!(sys::cuCtxSynchronize(), destroyed);
        assert_eq!(sys::cuMemAlloc_v2(&mut number, 4), destroyed);
        assert_eq!(sys::cuMemcpyDtoH_v2(host, address, 4), destroyed);
        assert_eq!(sys::cuMemFree_v2(address), destroyed);
        assert_eq!(sys::cuStreamSynchronize(ptr::null_mut()), destroyed);
        assert_eq!(sys::cuStreamCreate(&mut made, 0), destroyed);
        assert_eq!(code(sys::cuCtxPopCurrent_v2(ptr::null_mut())), 0);
    }
    assert_eq!(
        CurrentContext::synchronize(),
        Err(CudaError::InvalidContext)
    );
    // Nobody else is any the worse.
    let _next = own_context();
    assert_eq!(CurrentContext::synchronize(), Ok(()));
}

/// What a GPU's driver does with the handles of what is gone is undefined. Here they are unknown.
#[test]
fn handles_of_a_destroyed_context_are_unknown() {
    start();
    if !simulated() {
        return;
    }
    let context = own_context();
    let raw = context.get_unowned();
    let module = bare_module();
    let mut kernel = ptr::null_mut();
    // SAFETY: a handle to write to.
    let found = unsafe { sys::cuModuleGetFunction(&mut kernel, module.get(), c"count".as_ptr()) };
    assert_eq!(code(found), 0);
    let (stream, event) = (stream(), Event::new(EventFlags::DEFAULT).unwrap());
    let stream_raw = stream.as_inner();
    drop(context);
    let _other = own_context();
    let handle = CUresult::CUDA_ERROR_INVALID_HANDLE;
    assert_eq!(event.query().err(), Some(CudaError::InvalidHandle));
    let gone = legacy::CurrentContext::set_current(&raw);
    assert_eq!(gone, Err(CudaError::InvalidContext));
    assert_eq!(
        legacy::ContextStack::push(&raw),
        Err(CudaError::InvalidContext)
    );
    let nothing = ptr::null_mut();
    // SAFETY: handles are looked up, never followed.
    unsafe {
        assert_eq!(sys::cuStreamQuery(stream_raw), handle);
        assert_eq!(sys::cuStreamDestroy_v2(stream_raw), handle);
        assert_eq!(sys::cuModuleUnload(module.get()), handle);
        let launched = sys::cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            ptr::null_mut(),
            nothing,
            ptr::null_mut(),
        );
        assert_eq!(launched, handle);
    }
    std::mem::forget(stream);
}

/// On a GPU a fault ends all work of the process. Here it ends that of its context.
#[test]
fn a_fault_is_its_contexts_own() {
    start();
    if !simulated() {
        return;
    }
    const THREADS: u32 = 6;
    let at_once = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let at_once = &at_once;
            scope.spawn(move || {
                let _context = own_context();
                let module = Module::from_ptx(PTX, &[]).unwrap();
                module.get_global::<u32>(c"factor").unwrap().copy_from(&1).unwrap();
                let kernel = module.get_function("scale").unwrap();
                let stream = stream();
                let input = vec![number; 100];
                let from = DeviceBuffer::from_slice(&input).unwrap();
                at_once.wait();
                for round in 0..5 {
                    assert_eq!(scale(&kernel, &stream, &from, 100), expected(1, &input));
                    if number % 2 == 0 && round == 2 {
                        // SAFETY: that the address is no good is what is tested.
                        let launched = unsafe {
                            launch!(kernel<<<1, 32, 0, stream>>>(from.as_device_ptr(), 64u64, 32u32))
                        };
                        assert_eq!(launched, Ok(()));
                        let fault = Err(CudaError::IllegalAddress);
                        assert_eq!(stream.synchronize(), fault);
                        assert_eq!(CurrentContext::synchronize(), fault);
                        assert_eq!(from.as_host_vec().err(), fault.err());
                        return;
                    }
                }
            });
        }
    });
}

/// A thread's own variables may hold what belongs to the driver: it ends with its context current,
/// and they with it.
#[test]
fn a_threads_last_calls_find_its_context() {
    struct AtEnd(
        DeviceBuffer<u32>,
        mpsc::Sender<(u64, Result<Vec<u32>, CudaError>)>,
    );
    impl Drop for AtEnd {
        fn drop(&mut self) {
            let address = self.0.as_device_ptr().as_raw();
            let _ = self.1.send((address, self.0.as_host_vec()));
        }
    }
    thread_local! {
        static KEPT: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    let context = own_context();
    let (sender, receiver) = mpsc::channel();
    for first in [true, false] {
        let (unowned, sender) = (context.get_unowned(), sender.clone());
        thread::spawn(move || {
            let begin = || {
                legacy::CurrentContext::set_current(&unowned).unwrap();
                AtEnd(DeviceBuffer::from_slice(&[9u32; 3]).unwrap(), sender)
            };
            // Which of the two variables the thread sees first decides which one ends first.
            if first {
                let kept = begin();
                KEPT.set(Some(kept));
            } else {
                KEPT.with(|kept| *kept.borrow_mut() = Some(begin()));
            }
        })
        .join()
        .unwrap();
        let (address, read) = receiver.recv().unwrap();
        assert_eq!(read, Ok(vec![9; 3]));
        // Nor is the buffer left behind; a GPU's driver may have given its address to somebody else.
        if simulated() {
            let mut word = 0u32;
            // SAFETY: a word to write to.
            let read = unsafe { sys::cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) };
            assert_eq!(read, CUresult::CUDA_ERROR_INVALID_VALUE);
        }
    }
    CurrentContext::synchronize().unwrap();
}

/// A callback runs on a thread of the driver's, where nothing is current and no call is permitted.
#[test]
fn callbacks_may_not_call_the_driver() {
    let _context = own_context();
    let stream = stream();
    let (sender, receiver) = mpsc::channel();
    let here = thread::current().id();
    let ask = move || {
        let (mut address, mut count) = (0, 0);
        // SAFETY: numbers to write to.
        let answers = unsafe {
            [
                sys::cuCtxSynchronize(),
                sys::cuMemAlloc_v2(&mut address, 4),
                sys::cuDeviceGetCount(&mut count),
                sys::cuCtxSetCurrent(ptr::null_mut()),
                sys::cuStreamQuery(ptr::null_mut()),
            ]
        };
        sender
            .send((thread::current().id() != here, answers))
            .unwrap();
    };
    stream.add_callback(Box::new(ask)).unwrap();
    stream.synchronize().unwrap();
    let not_permitted = CUresult::CUDA_ERROR_NOT_PERMITTED;
    assert_eq!(receiver.recv().unwrap(), (true, [not_permitted; 5]));
    // The thread that added it may go on.
    assert_eq!(CurrentContext::synchronize(), Ok(()));
}

/// Memory of one thread goes while another one's kernels run, and kernels come while modules go.
#[test]
fn memory_and_modules_come_and_go_while_others_launch() {
    let context = own_context();
    let unowned = context.get_unowned();
    let counter = DeviceBuffer::from_slice(&[0u32]).unwrap();
    let word = counter.as_device_ptr().as_raw();
    let running = AtomicBool::new(true);
    let launches = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            let (unowned, running, launches) = (unowned.clone(), &running, &launches);
            scope.spawn(move || {
                legacy::CurrentContext::set_current(&unowned).unwrap();
                while running.load(Ordering::Relaxed) {
                    let module = Module::from_ptx(PTX, &[]).unwrap();
                    let count = module.get_function("count").unwrap();
                    let stream = stream();
                    // SAFETY: the parameter is the kernel's.
                    unsafe { launch!(count<<<4, 32, 0, stream>>>(word)) }.unwrap();
                    launches.fetch_add(1, Ordering::Relaxed);
                    stream.synchronize().unwrap();
                }
            });
        }
        legacy::CurrentContext::set_current(&unowned).unwrap();
        for size in 1..60usize {
            let buffer = DeviceBuffer::from_slice(&vec![size as u32; size * 97]).unwrap();
            assert_eq!(buffer.as_host_vec().unwrap(), vec![size as u32; size * 97]);
        }
        while launches.load(Ordering::Relaxed) < 4 {
            thread::yield_now();
        }
        running.store(false, Ordering::Relaxed);
    });
    let total = launches.into_inner() as u32 * 4 * 32;
    assert_eq!(counter.as_host_vec().unwrap(), [total]);
}

/// What a kernel puts in order with fences and volatile accesses is in order: each block sees the sum
/// of those before it.
#[test]
fn blocks_hand_on_what_they_wrote() {
    const BLOCKS: u32 = 200;
    let _context = own_context();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let relay = module.get_function("relay").unwrap();
    let stream = stream();
    for blocks in [1, 2, BLOCKS] {
        let words = DeviceBuffer::from_slice(&[0u32; 2]).unwrap();
        // SAFETY: the parameter is the kernel's, the address of two words.
        unsafe { launch!(relay<<<blocks, 1, 0, stream>>>(words.as_device_ptr())) }.unwrap();
        stream.synchronize().unwrap();
        let sum = blocks * (blocks - 1) / 2;
        assert_eq!(words.as_host_vec().unwrap(), [blocks, sum]);
    }
}

/// A thread that has something to say waits for whoever holds stderr, but nobody who calls the
/// driver waits for that thread.
#[test]
fn what_is_said_on_stderr_keeps_nobody_waiting() {
    let context = own_context();
    let (unowned, again) = (context.get_unowned(), context.get_unowned());
    let buffer = DeviceBuffer::from_slice(&[0u32]).unwrap();
    let address = buffer.as_device_ptr().as_raw();
    let (sender, receiver) = mpsc::channel();
    let saying = AtomicBool::new(false);
    thread::scope(|scope| {
        let saying = &saying;
        scope.spawn(move || {
            legacy::CurrentContext::set_current(&unowned).unwrap();
            let stderr = std::io::stderr().lock();
            while !saying.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            // The other one says something now, or is about to.
            for _ in 0..50 {
                CurrentContext::synchronize().unwrap();
                thread::sleep(Duration::from_millis(1));
            }
            drop(stderr);
            sender.send(()).unwrap();
        });
        scope.spawn(move || {
            legacy::CurrentContext::set_current(&again).unwrap();
            saying.store(true, Ordering::Relaxed);
            assert!(Module::from_ptx(".version 6.4 nonsense", &[]).is_err());
            assert!(Module::from_cubin(b"\x7fELF\x02\x01\x01\0", &[]).is_err());
            let mut value = 0u64;
            // SAFETY: there is room for any attribute's value; made-up streams are looked up.
            unsafe {
                let to = (&raw mut value).cast();
                let ids = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID;
                sys::cuPointerGetAttribute(to, ids, address);
                sys::cuStreamQuery(ptr::without_provenance_mut(2));
            }
        });
        if receiver.recv_timeout(Duration::from_secs(120)).is_err() {
            // The threads wait for each other, and for ever: there is no joining them.
            let _ = writeln!(std::io::stdout(), "threads wait for each other");
            std::process::abort();
        }
    });
}
