//! Properties of streams, and functions for which a null stream is the per-thread default stream.

use std::ptr::null_mut;

use cuda_driver::types::{CUlaunchAttributeValue, CUstream};

use super::*;

fn stream(priority: i32) -> CUstream {
    let mut stream = null_mut();
    calls! { cuStreamCreateWithPriority(&mut stream, 1, priority); }
    stream
}

fn attribute(stream: CUstream, id: i32) -> Result<u32, i32> {
    let mut value = CUlaunchAttributeValue([9; 16]);
    support::result(
        code!(cuStreamGetAttribute(stream, id, &mut value)),
        value.0[0],
    )
}

#[test]
fn streams_report_context_device_and_id() {
    let first = OwnContext::new();
    let of_first = stream(0);
    let _second = OwnContext::new();
    let (mut context, mut green, mut device) = (null_mut(), null_mut(), -1);
    let mut ids = [0; 3];
    calls! { cuStreamGetCtx(of_first, &mut context); }
    assert_eq!(context, first.0);
    calls! {
        cuStreamGetCtx_v2(of_first, &mut context, &mut green);
        cuStreamGetDevice(of_first, &mut device);
    }
    assert_eq!((green, device), (null_mut(), 0));
    for (id, stream) in ids.iter_mut().zip([of_first, stream(0), null_mut()]) {
        calls! { cuStreamGetId(stream, id); }
    }
    let stale = std::ptr::without_provenance_mut(7);
    calls! {
        cuStreamGetCtx(stale, &mut context) => INVALID_HANDLE;
        cuStreamGetId(stale, &mut ids[0]) => INVALID_HANDLE;
    }
    assert!(
        ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2],
        "{ids:?}"
    );
}

#[test]
fn stream_attributes_are_stored_and_copied() {
    let _context = OwnContext::new();
    let (first, second) = (stream(-2), stream(0));
    assert_eq!(attribute(first, 8), Ok(-2_i32 as u32));
    assert_eq!(attribute(first, 3), Ok(u32::MAX));
    let value = CUlaunchAttributeValue([2; 16]);
    calls! { cuStreamSetAttribute(first, 3, &value); }
    assert_eq!(attribute(first, 3), Ok(2));
    assert_eq!(attribute(second, 3), Ok(u32::MAX));
    calls! { cuStreamCopyAttributes(second, first); }
    assert_eq!(attribute(second, 3), Ok(2));
    calls! { cuStreamSetAttribute(first, 77, &value) => INVALID_VALUE; }
    let stale = std::ptr::without_provenance_mut(7);
    calls! {
        cuStreamCopyAttributes(stale, first) => INVALID_HANDLE;
        cuStreamSetAttribute(stale, 3, &value) => INVALID_HANDLE;
    }
    assert_eq!(attribute(first, 77), Err(INVALID_VALUE));
}

#[test]
fn access_policy_windows_are_checked() {
    let _context = OwnContext::new();
    let stream = stream(0);
    let address = floats(&[0.0; 64]);
    let set = |bytes: u64, ratio: f32, hit, miss| {
        let mut words = [0; 16];
        let numbers = [address, bytes].map(|number| [number as u32, (number >> 32) as u32]);
        words[..4].copy_from_slice(numbers.as_flattened());
        words[4..7].copy_from_slice(&[ratio.to_bits(), hit, miss]);
        code!(cuStreamSetAttribute(
            stream,
            1,
            &CUlaunchAttributeValue(words)
        ))
    };
    let max = 128 << 20;
    for (window, expected) in [
        ((max, 1.0, 2, 1), 0),
        ((max + 1, 1.0, 2, 1), INVALID_VALUE),
        ((0, 1.5, 2, 1), INVALID_VALUE),
        ((0, -0.5, 2, 1), INVALID_VALUE),
        ((0, f32::NAN, 2, 1), INVALID_VALUE),
        ((0, 0.5, 3, 1), 0),
        ((0, 0.5, 2, 2), INVALID_VALUE),
    ] {
        let (bytes, ratio, hit, miss) = window;
        assert_eq!(set(bytes, ratio, hit, miss), expected, "{window:?}");
    }
    assert_eq!(attribute(stream, 1), Ok(address as u32));
    // Ending the set-aside part is a hint as well.
    calls! {
        cuCtxSetLimit(6, 1 << 20);
        cuCtxResetPersistingL2Cache();
    }
}

#[test]
fn managed_memory_is_attached_to_a_stream() {
    let _context = OwnContext::new();
    let mut managed = 0;
    calls! { cuMemAllocManaged(&mut managed, 256, 1); }
    let attached = stream(0);
    calls! {
        cuStreamAttachMemAsync(attached, managed, 0, 4);
        cuStreamAttachMemAsync(attached, managed, 256, 1);
        cuStreamAttachMemAsync(attached, managed, 128, 1) => INVALID_VALUE;
        cuStreamAttachMemAsync(attached, managed, 0, 3) => INVALID_VALUE;
    }
    let device = floats(&[1.0]);
    calls! { cuStreamAttachMemAsync(attached, device, 0, 4) => INVALID_VALUE; }
}

/// The per-thread default stream differs from the legacy default stream and between threads.
#[test]
fn null_is_the_per_thread_stream_in_ptsz_functions() {
    let _context = OwnContext::new();
    let (mut legacy, mut per_thread, mut explicit) = (0, 0, 0);
    calls! {
        cuStreamGetId(null_mut(), &mut legacy);
        cuStreamGetId_ptsz(null_mut(), &mut per_thread);
    }
    let handle = std::ptr::without_provenance_mut(2);
    calls! { cuStreamGetId(handle, &mut explicit); }
    let in_other_thread = support::in_other_thread(|| {
        let mut second = 0;
        calls! { cuStreamGetId_ptsz(null_mut(), &mut second); }
        second
    });
    assert_eq!(per_thread, explicit);
    assert!(
        per_thread != legacy && per_thread != in_other_thread,
        "{per_thread} {legacy} {in_other_thread}"
    );

    let (x, y) = (floats(&[4.0, 5.0]), floats(&[0.0; 2]));
    let mut back = [0.0_f32; 2];
    calls! {
        cuMemcpyDtoD_v2_ptds(y, x, 8);
        cuMemsetD32_v2_ptds(x, 0, 2);
        cuMemcpyDtoHAsync_v2_ptsz(back.as_mut_ptr().cast(), y, 8, null_mut());
        cuStreamSynchronize_ptsz(null_mut());
    }
    assert_eq!(back, [4.0, 5.0]);
    assert_eq!(read(x, 2), [0.0; 2]);
}
