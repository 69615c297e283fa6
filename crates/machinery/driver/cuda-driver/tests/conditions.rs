//! The conditions under which launches run, tested through unmodified cust. A separate test program, because
//! conditions are per process; its tests run one after another.

#[macro_use]
mod support;

use std::error::Error;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use cuda_driver::{poison, profile, record_launches, set_sample_seed, shuffle};
use cust::context::Context;
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};

type Test = Result<(), Box<dyn Error>>;

/// `add`: the first thread of each warp adds one to the first word of `to`, without an atomic. `keep`: each
/// thread copies a word of `from`, an uninitialized word of shared memory, and a variable.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.global .u32 variable;
.visible .entry add(.param .u64 to)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [to];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    setp.ne.u32 %p, %r2, 0;
    @%p bra END;
    ld.volatile.global.u32 %r3, [%d1];
    add.u32 %r3, %r3, 1;
    st.volatile.global.u32 [%d1], %r3;
END:
    ret;
}
.visible .entry keep(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    .shared .align 4 .b32 tile[32];
    ld.param.u64 %d1, [from];
    ld.param.u64 %d2, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    ld.global.u32 %r2, [%d4];
    mov.u64 %d5, tile;
    add.s64 %d5, %d5, %d3;
    ld.shared.u32 %r3, [%d5];
    ld.global.u32 %r4, [variable];
    mul.wide.u32 %d6, %r1, 12;
    add.s64 %d7, %d2, %d6;
    st.global.u32 [%d7], %r2;
    st.global.u32 [%d7+4], %r3;
    st.global.u32 [%d7+8], %r4;
    ret;
}";

/// Returns the primary context on the simulator, for one test at a time, with the default conditions.
fn simulator() -> (MutexGuard<'static, ()>, Context) {
    static TURN: Mutex<()> = Mutex::new(());
    static FORCED: Once = Once::new();
    static CONTEXT: Once = Once::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Conditions set before the simulator starts apply to it.
    FORCED.call_once(|| poison(Some(0xbad)));
    let context = support::primary_context();
    CONTEXT.call_once(|| {
        assert_eq!(uninitialized::<u32>(2).unwrap(), [0xbad; 2]);
        poison(None);
    });
    (turn, context)
}

/// Returns the contents of an uninitialized buffer of `count` words.
fn uninitialized<T: DeviceCopy + Default>(count: usize) -> Result<Vec<T>, Box<dyn Error>> {
    // SAFETY: the access is intended to be detected: the guard resumes it after recording.
    let buffer = unsafe { DeviceBuffer::<T>::uninitialized(count) }?;
    let mut actual: Vec<T> = std::iter::repeat_with(T::default).take(count).collect();
    buffer.copy_to(&mut actual)?;
    Ok(actual)
}

#[test]
fn shuffled_launches_reveal_lost_updates() -> Test {
    let (_turn, _context) = simulator();
    let module = Module::from_ptx(PTX, &[])?;
    let add = module.get_function("add")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let sum = |seed| -> Result<u32, Box<dyn Error>> {
        shuffle(seed);
        let buffer = DeviceBuffer::from_slice(&[0u32])?;
        // SAFETY: the parameter list matches the kernel's signature.
        unsafe { launch!(add<<<1, 256, 0, stream>>>(buffer.as_device_ptr())) }?;
        let mut actual = [0];
        buffer.copy_to(&mut actual)?;
        shuffle(None);
        Ok(actual[0])
    };
    assert_eq!(sum(None)?, 8);
    let sums = (0..20)
        .map(|seed| sum(Some(seed)))
        .collect::<Result<Vec<_>, _>>()?;
    assert!(
        sums.iter().filter(|sum| **sum < 8).count() >= 19,
        "{sums:?}"
    );
    assert_eq!(sum(Some(3))?, sums[3]);
    assert_eq!(sum(None)?, 8);
    Ok(())
}

#[test]
fn poison_fills_uninitialized_memory() -> Test {
    let (_turn, _context) = simulator();
    let module = Module::from_ptx(PTX, &[])?;
    let keep = module.get_function("keep")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    for word in [Some(0x7fc0_0001), Some(9), None] {
        poison(word);
        let expected = word.unwrap_or(0);
        assert_eq!(uninitialized::<u32>(5)?, [expected; 5]);
        // The last word is incomplete.
        let bytes = expected.to_le_bytes();
        let expected_bytes = [bytes[0], bytes[1], bytes[2], bytes[3], bytes[0], bytes[1]];
        assert_eq!(uninitialized::<u8>(6)?, expected_bytes);
        // SAFETY: the access is intended to be detected: the guard resumes it after recording.
        let from = unsafe { DeviceBuffer::<u32>::uninitialized(32) }?;
        let to = DeviceBuffer::from_slice(&[1u32; 96])?;
        // SAFETY: the parameters match the kernel's signature, and the buffers have one word per thread.
        unsafe { launch!(keep<<<1, 32, 0, stream>>>(from.as_device_ptr(), to.as_device_ptr())) }?;
        let mut actual = [0; 96];
        to.copy_to(&mut actual)?;
        for words in actual.chunks(3) {
            assert_eq!(words, [expected, expected, 0]);
        }
    }
    Ok(())
}

#[test]
fn poison_fills_padding() -> Test {
    let (_turn, _context) = simulator();
    poison(Some(77));
    let (mut address, mut pitch, mut actual) = (0, 0, [0u32; 2]);
    calls! { cuMemAllocPitch_v2(&mut address, &mut pitch, 60, 2, 4); }
    let end = address + 2 * pitch as u64 - 8;
    calls! {
        cuMemcpyDtoH_v2(actual.as_mut_ptr().cast(), end, 8);
        cuMemFree_v2(address);
    }
    poison(None);
    assert_eq!(actual, [77; 2]);
    Ok(())
}

#[test]
fn sampling_changes_no_results() -> Test {
    let (_turn, _context) = simulator();
    poison(None);
    let module = Module::from_ptx(PTX, &[])?;
    let keep = module.get_function("keep")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let (from, to) = (
        DeviceBuffer::from_slice(&[5u32; 32])?,
        DeviceBuffer::from_slice(&[1u32; 96])?,
    );
    let recorder = record_launches();
    let mut counters = Vec::new();
    for seed in [None, Some(1), Some(2)] {
        set_sample_seed(seed);
        // SAFETY: the parameters match the kernel's signature, and the buffers have one word per thread.
        unsafe {
            launch!(keep<<<1000, 32, 0, stream>>>(from.as_device_ptr(), to.as_device_ptr()))
        }?;
        let record = recorder.last().ok_or("no record")?;
        assert!(record.time.milliseconds > 0.0);
        counters.push(record.counters);
    }
    set_sample_seed(None);
    assert!(counters.windows(2).all(|buffers| buffers[0] == buffers[1]));
    profile(true);
    shuffle(Some(1));
    // SAFETY: the callee passes its handles only to the driver, which looks them up and never dereferences
    // them.
    unsafe { launch!(keep<<<10, 32, 0, stream>>>(from.as_device_ptr(), to.as_device_ptr())) }?;
    profile(false);
    shuffle(None);
    let record = recorder.last().ok_or("no record")?;
    assert!(record.profile.is_none(), "such launches have no profile");
    Ok(())
}
