//! What is known of a stream, and functions for which a null stream is the thread's own.

use std::ptr::null_mut;

use cuda_driver::functions::*;
use cuda_driver::types::CUlaunchAttributeValue;
use cust::sys::CUstream;

use super::*;

fn stream(priority: i32) -> CUstream {
    let mut stream = null_mut();
    // SAFETY: a handle to write to.
    let code = unsafe { cuStreamCreateWithPriority(&mut stream, 1, priority) };
    assert_eq!(code, 0);
    stream
}

fn attribute(of: CUstream, id: i32) -> Result<u32, i32> {
    let mut value = CUlaunchAttributeValue([9; 16]);
    // SAFETY: a value to write to.
    match unsafe { cuStreamGetAttribute(of, id, &mut value) } {
        0 => Ok(value.0[0]),
        code => Err(code),
    }
}

#[test]
fn a_stream_knows_its_context_its_device_and_its_number() {
    let first = Own::new();
    let of_first = stream(0);
    let _second = Own::new();
    let (mut context, mut green, mut device) = (null_mut(), null_mut(), -1);
    let mut ids = [0; 3];
    // SAFETY: places to write to.
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
        let gone = std::ptr::without_provenance_mut(7);
        assert_eq!(cuStreamGetCtx(gone, &mut context), INVALID_HANDLE);
        assert_eq!(cuStreamGetId(gone, &mut ids[0]), INVALID_HANDLE);
    }
    assert!(
        ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2],
        "{ids:?}"
    );
}

#[test]
fn attributes_of_a_stream_are_kept_and_copied() {
    let _context = Own::new();
    let (one, other) = (stream(-2), stream(0));
    assert_eq!(attribute(one, 8), Ok(-2_i32 as u32));
    assert_eq!(attribute(one, 3), Ok(0));
    let value = CUlaunchAttributeValue([2; 16]);
    // SAFETY: a value to read.
    unsafe {
        assert_eq!(cuStreamSetAttribute(one, 3, &value), 0);
        assert_eq!(attribute(one, 3), Ok(2));
        assert_eq!(attribute(other, 3), Ok(0));
        assert_eq!(cuStreamCopyAttributes(other, one), 0);
        assert_eq!(attribute(other, 3), Ok(2));
        assert_eq!(cuStreamSetAttribute(one, 77, &value), INVALID_VALUE);
        let gone = std::ptr::without_provenance_mut(7);
        assert_eq!(cuStreamCopyAttributes(gone, one), INVALID_HANDLE);
        assert_eq!(cuStreamSetAttribute(gone, 3, &value), INVALID_HANDLE);
    }
    assert_eq!(attribute(one, 77), Err(INVALID_VALUE));
}

#[test]
fn managed_memory_is_attached_to_a_stream() {
    let _context = Own::new();
    let mut managed = 0;
    // SAFETY: a place to write to.
    unsafe {
        assert_eq!(cuMemAllocManaged(&mut managed, 256, 1), 0);
        let own = stream(0);
        assert_eq!(cuStreamAttachMemAsync(own, managed, 0, 4), 0);
        assert_eq!(cuStreamAttachMemAsync(own, managed, 256, 1), 0);
        assert_eq!(cuStreamAttachMemAsync(own, managed, 128, 1), INVALID_VALUE);
        assert_eq!(cuStreamAttachMemAsync(own, managed, 0, 3), INVALID_VALUE);
        let device = floats(&[1.0]);
        assert_eq!(cuStreamAttachMemAsync(own, device, 0, 4), INVALID_VALUE);
    }
}

/// A thread's own stream is another one than the default stream, and one in each thread.
#[test]
fn null_is_the_threads_own_stream_where_a_program_is_made_for_it() {
    let context = Own::new();
    let (mut shared, mut own, mut named, mut others) = (0, 0, 0, 0);
    // SAFETY: places to write to; 2 is `CU_STREAM_PER_THREAD`.
    unsafe {
        assert_eq!(cuStreamGetId(null_mut(), &mut shared), 0);
        assert_eq!(cuStreamGetId_ptsz(null_mut(), &mut own), 0);
        let per_thread = std::ptr::without_provenance_mut(2);
        assert_eq!(cuStreamGetId(per_thread, &mut named), 0);
        let current = context.0 as usize;
        others += std::thread::spawn(move || {
            let mut other = 0;
            assert_eq!(
                cuCtxSetCurrent(std::ptr::without_provenance_mut(current)),
                0
            );
            assert_eq!(cuStreamGetId_ptsz(null_mut(), &mut other), 0);
            other
        })
        .join()
        .unwrap();
    }
    assert_eq!(own, named);
    assert!(own != shared && own != others, "{own} {shared} {others}");

    let (x, y) = (floats(&[4.0, 5.0]), floats(&[0.0; 2]));
    let mut back = [0.0_f32; 2];
    // SAFETY: as many bytes as there are.
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
