//! Observation of launches: progress and counters of the last launch. A separate test program, because both
//! are per process; its tests run one after another.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use cuda_driver::counters::Counters;
use cuda_driver::{
    AccessClass, FaultKind, LaunchRecorder, is_profiling, profile, progress, record_launches,
};
use cust::context::{Context, CurrentContext, legacy};
use cust::device::Device;
use cust::error::CudaError;
use cust::launch;
use cust::memory::{DeviceBuffer, LockedBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};

type Test = Result<(), Box<dyn Error>>;

/// `copy`: thread i of each block copies a word if i is odd. `gate`: block n ends when the word exceeds n.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [from];
    ld.param.u64 %d2, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 1;
    @%p ld.global.u32 %r3, [%d4];
    @%p st.global.u32 [%d5], %r3;
    ret;
}
.visible .entry gate(.param .u64 word)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %d;
    ld.param.u64 %d, [word];
    mov.u32 %r1, %ctaid.x;
WAIT:
    atom.global.or.b32 %r2, [%d], 0;
    setp.le.u32 %p, %r2, %r1;
    @%p bra WAIT;
    ret;
}";

/// Returns the primary context on the simulator, for one test at a time.
fn simulator() -> (MutexGuard<'static, ()>, Context) {
    static TURN: Mutex<()> = Mutex::new(());
    static FORCED: Once = Once::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    FORCED.call_once(|| {
        assert_eq!((progress(), record_launches().last()), (None, None));
        // SAFETY: set before any driver call, and only the driver reads them; Rust's own reading of the
        // environment takes a lock.
        unsafe {
            std::env::set_var("CUDA_BACKEND", "sim");
            // Ends a kernel that waits for a test that has failed.
            std::env::set_var("CUDA_SIM_TIME_LIMIT", "60");
        }
    });
    (turn, cust::quick_init().unwrap())
}

#[test]
fn counters_belong_to_the_last_launch() -> Test {
    let (_turn, _context) = simulator();
    let device = Device::get_device(0)?;
    // A separate context, because one launch here faults.
    let own_context = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device)?;
    let module = Module::from_ptx(PTX, &[])?;
    let copy = module.get_function("copy")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let from = DeviceBuffer::from_slice(&[7u32; 64])?;
    let to = DeviceBuffer::from_slice(&[0u32; 64])?;
    let recorder = record_launches();
    for (blocks, threads) in [(3u32, 64u32), (1, 2), (2, 33)] {
        // SAFETY: the parameters match the kernel's signature, and both buffers have one element per thread
        // of a block.
        unsafe {
            launch!(copy<<<blocks, threads, 0, stream>>>(from.as_device_ptr(), to.as_device_ptr()))?;
        }
        let blocks = u64::from(blocks);
        let moved = blocks * u64::from(threads / 2);
        // The last warp of the 33 threads has no odd thread.
        let warps = blocks * u64::from((threads / 2).div_ceil(16));
        let sectors = blocks * u64::from((threads / 2).div_ceil(4));
        let expected = Counters {
            global_loads: moved,
            global_stores: moved,
            thread_instructions: blocks * u64::from(threads) * 11,
            ..Counters::default()
        };
        let actual = counters(&recorder).ok_or("no counters")?;
        assert_eq!(actual, expected);
        // Other calls, and rejected launches, do not change the counters.
        assert_eq!(to.as_host_vec()?[1], 7);
        // SAFETY: the driver rejects the launch: blocks are limited to 1024 threads.
        let refused = unsafe {
            launch!(copy<<<1, 2000, 0, stream>>>(from.as_device_ptr(), to.as_device_ptr()))
        };
        assert_eq!(refused, Err(CudaError::InvalidValue));
        assert_eq!(counters(&recorder), Some(actual));
        // Only a profiled launch counts requests and sectors.
        let plain = recorder.take().pop().ok_or("no report")?.result?;
        assert_eq!((&*plain.kernel, plain.block), ("copy", [threads, 1, 1]));
        assert_eq!(plain.profile, None);
        assert_eq!(recorder.last(), None, "it was taken");
        profile(true);
        // SAFETY: the callee passes its handles only to the driver, which looks them up and never
        // dereferences them.
        unsafe {
            launch!(copy<<<blocks as u32, threads, 0, stream>>>(from.as_device_ptr(), to.as_device_ptr()))?;
        }
        assert!(is_profiling());
        profile(false);
        let record = recorder.last().ok_or("no record")?;
        assert_eq!((record.counters, &record.time), (actual, &plain.time));
        let total = record.profile.ok_or("no profile")?.total;
        for access in [
            total[AccessClass::GlobalLoad],
            total[AccessClass::GlobalStore],
        ] {
            let actual = (access.requests, access.sectors, access.threads);
            assert_eq!(actual, (warps, sectors, moved));
        }
    }
    // SAFETY: the simulator faults the kernel at its first out-of-bounds access, so the host is not affected.
    unsafe {
        launch!(copy<<<1, 128, 0, stream>>>(from.as_device_ptr(), to.as_device_ptr()))?;
    }
    assert_eq!(counters(&recorder), None);
    let report = recorder.take().pop().ok_or("no report")?;
    let fault = report.result.err().ok_or("no fault")?;
    assert!(matches!(fault.kind, FaultKind::IllegalAddress { .. }));
    assert_eq!(recorder.take(), [], "it was taken");
    assert_eq!(stream.synchronize(), Err(CudaError::IllegalAddress));
    drop(own_context);
    Ok(())
}

#[test]
fn launches_are_recorded_while_a_recorder_lives() -> Test {
    let (_turn, _context) = simulator();
    let module = Module::from_ptx(PTX, &[])?;
    let copy = module.get_function("copy")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let from = DeviceBuffer::from_slice(&[7u32; 64])?;
    let to = DeviceBuffer::from_slice(&[0u32; 64])?;
    let launch = |threads: u32| {
        // SAFETY: the parameters match the kernel's signature, and both buffers have one element per thread
        // of a block.
        unsafe {
            launch!(copy<<<1, threads, 0, stream>>>(from.as_device_ptr(), to.as_device_ptr()))
        }
    };
    let block_sizes = |recorder: &LaunchRecorder| -> Result<Vec<u32>, Box<dyn Error>> {
        let records = recorder.take().into_iter().map(|report| report.result);
        records.map(|record| Ok(record?.block[0])).collect()
    };
    launch(16)?;
    let recorder = record_launches();
    launch(64)?;
    let nested = record_launches();
    launch(32)?;
    assert_eq!(recorder.last(), nested.last());
    assert_eq!(block_sizes(&nested)?, [32]);
    drop(nested);
    launch(48)?;
    assert_eq!(block_sizes(&recorder)?, [64, 32, 48]);
    assert_eq!(recorder.take(), []);
    Ok(())
}

/// While one thread is in a launch, which holds the driver's lock, another thread observes the progress.
#[test]
fn progress_of_a_running_launch_is_visible() -> Test {
    const BLOCKS: u32 = 4;
    let (_turn, context) = simulator();
    let mut word = LockedBuffer::new(&0u32, 1)?;
    let host = word.as_mut_ptr();
    let device = host as u64;
    // SAFETY: the buffer outlives this reference, and all accesses to it are atomic.
    let opened = unsafe { AtomicU32::from_ptr(host) };
    let recorder = record_launches();
    assert_eq!(progress(), None);
    let launch = thread::spawn(move || {
        CurrentContext::set_current(&context)?;
        let module = Module::from_ptx(PTX, &[])?;
        let gate = module.get_function("gate")?;
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
        // SAFETY: the parameter matches the kernel's signature: the address of one word.
        unsafe { launch!(gate<<<BLOCKS, 32, 0, stream>>>(device)) }?;
        stream.synchronize()
    });
    while progress().is_none() {
        assert!(!launch.is_finished());
        thread::yield_now();
    }
    for done in 0..BLOCKS {
        opened.store(done, Ordering::Relaxed);
        loop {
            let now = progress().ok_or("the launch is over")?;
            assert_eq!((&*now.kernel, now.blocks), ("gate", u64::from(BLOCKS)));
            if now.blocks_done == u64::from(done) {
                break;
            }
            thread::yield_now();
        }
    }
    opened.store(BLOCKS, Ordering::Relaxed);
    launch.join().map_err(|_| "the launch panicked")??;
    assert_eq!(progress(), None);
    assert_eq!(counters(&recorder).map(|actual| actual.barriers), Some(0));
    Ok(())
}

fn counters(recorder: &LaunchRecorder) -> Option<Counters> {
    recorder.last().map(|record| record.counters)
}
