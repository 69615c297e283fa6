//! Properties of streams, and functions for which a null stream is the per-thread default stream.

use std::ptr::null_mut;

use cuda_driver::functions::*;
use cuda_driver::types::CUlaunchAttributeValue;
use cust::sys::CUstream;

use super::*;

fn stream(priority: i32) -> CUstream {
    let mut stream = null_mut();
    // SAFETY: `stream` is writable.
    let code = unsafe { cuStreamCreateWithPriority(&mut stream, 1, priority) };
    assert_eq!(code, 0);
    stream
}

fn attribute(stream: CUstream, id: i32) -> Result<u32, i32> {
    let mut value = CUlaunchAttributeValue([9; 16]);
    // SAFETY: `value` is writable; the stream handle is only looked up.
    match unsafe { cuStreamGetAttribute(stream, id, &mut value) } {
        0 => Ok(value.0[0]),
        code => Err(code),
    }
}

#[test]
fn streams_report_context_device_and_id() {
    let first = OwnContext::new();
    let of_first = stream(0);
    let _second = OwnContext::new();
    let (mut context, mut green, mut device) = (null_mut(), null_mut(), -1);
    let mut ids = [0; 3];
    // SAFETY: all outputs are writable locals; `of_first`, `stream` and `stale` are handles or addresses that
    // the driver looks up, never dereferences.
    unsafe {
        assert_eq!(cuStreamGetCtx(of_first, &mut context), 0);
        assert_eq!(context, first.0);
        let both = cuStreamGetCtx_v2(of_first, &mut context, &mut green);
        assert_eq!((both, green), (0, null_mut()));
        assert_eq!(cuStreamGetDevice(of_first, &mut device), 0);
        assert_eq!(device, 0);
        for (id, stream) in ids.iter_mut().zip([of_first, stream(0), null_mut()]) {
            assert_eq!(cuStreamGetId(stream, id), 0);
        }
        let stale = std::ptr::without_provenance_mut(7);
        assert_eq!(cuStreamGetCtx(stale, &mut context), INVALID_HANDLE);
        assert_eq!(cuStreamGetId(stale, &mut ids[0]), INVALID_HANDLE);
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
    assert_eq!(attribute(first, 3), Ok(0));
    let value = CUlaunchAttributeValue([2; 16]);
    // SAFETY: `value` is readable; the stream handle is only looked up.
    unsafe {
        assert_eq!(cuStreamSetAttribute(first, 3, &value), 0);
        assert_eq!(attribute(first, 3), Ok(2));
        assert_eq!(attribute(second, 3), Ok(0));
        assert_eq!(cuStreamCopyAttributes(second, first), 0);
        assert_eq!(attribute(second, 3), Ok(2));
        assert_eq!(cuStreamSetAttribute(first, 77, &value), INVALID_VALUE);
        let stale = std::ptr::without_provenance_mut(7);
        assert_eq!(cuStreamCopyAttributes(stale, first), INVALID_HANDLE);
        assert_eq!(cuStreamSetAttribute(stale, 3, &value), INVALID_HANDLE);
    }
    assert_eq!(attribute(first, 77), Err(INVALID_VALUE));
}

#[test]
fn managed_memory_is_attached_to_a_stream() {
    let _context = OwnContext::new();
    let mut managed = 0;
    // SAFETY: `managed` is writable; stream handles are only looked up, never dereferenced.
    unsafe {
        assert_eq!(cuMemAllocManaged(&mut managed, 256, 1), 0);
        let attached = stream(0);
        assert_eq!(cuStreamAttachMemAsync(attached, managed, 0, 4), 0);
        assert_eq!(cuStreamAttachMemAsync(attached, managed, 256, 1), 0);
        assert_eq!(
            cuStreamAttachMemAsync(attached, managed, 128, 1),
            INVALID_VALUE
        );
        assert_eq!(
            cuStreamAttachMemAsync(attached, managed, 0, 3),
            INVALID_VALUE
        );
        let device = floats(&[1.0]);
        assert_eq!(
            cuStreamAttachMemAsync(attached, device, 0, 4),
            INVALID_VALUE
        );
    }
}

/// The per-thread default stream differs from the legacy default stream and between threads.
#[test]
fn null_is_the_per_thread_stream_in_ptsz_functions() {
    let context = OwnContext::new();
    let (mut legacy, mut per_thread, mut explicit, mut in_other_thread) = (0, 0, 0, 0);
    // SAFETY: all outputs are writable locals; 2 is `CU_STREAM_PER_THREAD`, which the driver
    // looks up, never dereferences.
    unsafe {
        assert_eq!(cuStreamGetId(null_mut(), &mut legacy), 0);
        assert_eq!(cuStreamGetId_ptsz(null_mut(), &mut per_thread), 0);
        let handle = std::ptr::without_provenance_mut(2);
        assert_eq!(cuStreamGetId(handle, &mut explicit), 0);
        let current = context.0 as usize;
        in_other_thread += std::thread::spawn(move || {
            let mut second = 0;
            assert_eq!(
                cuCtxSetCurrent(std::ptr::without_provenance_mut(current)),
                0
            );
            assert_eq!(cuStreamGetId_ptsz(null_mut(), &mut second), 0);
            second
        })
        .join()
        .unwrap();
    }
    assert_eq!(per_thread, explicit);
    assert!(
        per_thread != legacy && per_thread != in_other_thread,
        "{per_thread} {legacy} {in_other_thread}"
    );

    let (x, y) = (floats(&[4.0, 5.0]), floats(&[0.0; 2]));
    let mut back = [0.0_f32; 2];
    // SAFETY: `back` is writable; `y` and `x` are handles or addresses that the driver looks up, never
    // dereferences.
    unsafe {
        assert_eq!(cuMemcpyDtoD_v2_ptds(y, x, 8), 0);
        assert_eq!(cuMemsetD32_v2_ptds(x, 0, 2), 0);
        assert_eq!(
            cuMemcpyDtoHAsync_v2_ptsz(back.as_mut_ptr().cast(), y, 8, null_mut()),
            0
        );
        assert_eq!(cuStreamSynchronize_ptsz(null_mut()), 0);
    }
    assert_eq!(back, [4.0, 5.0]);
    assert_eq!(read(x, 2), [0.0; 2]);
}
