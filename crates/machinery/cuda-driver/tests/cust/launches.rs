//! Launches that run, that fault and that are refused.

use std::ffi::{c_int, c_void};
use std::ptr;

use cust::context::{CurrentContext, legacy};
use cust::device::Device;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::function::FunctionAttribute;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust::{launch, sys};
use rayon::prelude::*;

use super::{SAXPY, Test, simulator};

#[test]
fn a_kernel_reads_its_symbol_and_writes_its_result() -> Test {
    let _context = simulator();
    let module = Module::from_ptx(SAXPY, &[])?;
    let mut factor = module.get_global::<f32>(c"factor")?;
    factor.copy_from(&2.0)?;
    let kernel = module.get_function("saxpy")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let n = 1000u32;
    let x = DeviceBuffer::from_slice(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = DeviceBuffer::from_slice(&vec![1.0f32; n as usize])?;
    let (start, end) = (
        Event::new(EventFlags::DEFAULT)?,
        Event::new(EventFlags::DEFAULT)?,
    );
    start.record(&stream)?;
    // SAFETY: the parameters are the kernel's, and both buffers hold n floats.
    unsafe {
        launch!(kernel<<<n.div_ceil(128), 128, 0, stream>>>(
            x.as_device_ptr(), y.as_device_ptr(), n
        ))?;
    }
    end.record(&stream)?;
    stream.synchronize()?;
    let expected: Vec<f32> = (0..n).map(|i| 2.0 * i as f32 + 1.0).collect();
    assert_eq!(y.as_host_vec()?, expected);
    assert!(end.elapsed_time_f32(&start)? > 0.0);

    assert_eq!(
        kernel.get_attribute(FunctionAttribute::MaxThreadsPerBlock)?,
        1024
    );
    let occupancy = kernel.max_active_blocks_per_multiprocessor(128.into(), 0)?;
    assert_eq!(occupancy, 16);
    assert_eq!(
        module.get_function("other").err(),
        Some(CudaError::NotFound)
    );
    assert_eq!(
        module.get_global::<f32>(c"other").err(),
        Some(CudaError::NotFound)
    );
    Ok(())
}

/// The other way of passing parameters: one buffer, in the launch's `extra` list.
#[test]
fn parameters_may_come_in_one_buffer() -> Test {
    let _context = simulator();
    let module = Module::from_ptx(SAXPY, &[])?;
    module.get_global::<f32>(c"factor")?.copy_from(&3.0)?;
    let kernel = module.get_function("saxpy")?.to_raw();
    let x = DeviceBuffer::from_slice(&[1.0f32; 32])?;
    let y = DeviceBuffer::from_slice(&[0.5f32; 32])?;
    let mut packed = Vec::new();
    packed.extend(x.as_device_ptr().as_raw().to_ne_bytes());
    packed.extend(y.as_device_ptr().as_raw().to_ne_bytes());
    packed.extend(32u32.to_ne_bytes());
    let launch = |size: usize, parameters: *mut *mut c_void| {
        let mut size = size;
        let mut extra: [*mut c_void; 5] = [
            ptr::without_provenance_mut(1),
            packed.as_ptr().cast_mut().cast(),
            ptr::without_provenance_mut(2),
            (&raw mut size).cast(),
            ptr::null_mut(),
        ];
        // SAFETY: the list ends in a null pointer, and the buffer is as long as the good size.
        unsafe {
            sys::cuLaunchKernel(
                kernel,
                1,
                1,
                1,
                32,
                1,
                1,
                0,
                ptr::null_mut(),
                parameters,
                extra.as_mut_ptr(),
            )
        }
    };
    let invalid = sys::CUresult::CUDA_ERROR_INVALID_VALUE;
    assert_eq!(launch(packed.len() - 1, ptr::null_mut()), invalid);
    // Both ways at once.
    assert_eq!(
        launch(packed.len(), [ptr::null_mut(); 3].as_mut_ptr()),
        invalid
    );
    assert_eq!(
        launch(packed.len(), ptr::null_mut()),
        sys::CUresult::CUDA_SUCCESS
    );
    assert_eq!(y.as_host_vec()?, [3.5; 32]);
    // SAFETY: refused: parameters are missing.
    let none = unsafe {
        sys::cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            32,
            1,
            1,
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    assert_eq!(none, invalid);
    Ok(())
}

#[test]
fn launches_that_do_not_fit_are_errors() -> Test {
    let _context = simulator();
    let module = Module::from_ptx(SAXPY, &[])?;
    let kernel = module.get_function("saxpy")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let x = DeviceBuffer::from_slice(&[0f32; 32])?;
    let shapes = [
        (0u32, 32u32, 0u32),
        (1, 0, 0),
        (1, 1025, 0),
        (1, 32, 48 * 1024 + 1),
    ];
    for (grid, block, shared) in shapes {
        // SAFETY: refused.
        let refused = unsafe {
            launch!(kernel<<<grid, block, shared, stream>>>(
                x.as_device_ptr(), x.as_device_ptr(), 32u32
            ))
        };
        assert_eq!(
            refused,
            Err(CudaError::InvalidValue),
            "{grid} {block} {shared}"
        );
    }
    stream.synchronize()?;
    Ok(())
}

/// A context of its own, so that the fault stays out of the other tests.
#[test]
fn a_fault_shows_at_the_next_call_and_goes_with_the_context() -> Test {
    let _primary = simulator();
    let device = Device::get_device(0)?;
    let own = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device)?;
    let module = Module::from_ptx(SAXPY, &[])?;
    let kernel = module.get_function("saxpy")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let x = DeviceBuffer::from_slice(&[0f32; 8])?;
    // SAFETY: that the buffer is too short is what is tested.
    let launched = unsafe {
        launch!(kernel<<<1, 32, 0, stream>>>(x.as_device_ptr(), x.as_device_ptr(), 32u32))
    };
    let fault = Some(CudaError::IllegalAddress);
    assert_eq!(launched, Ok(()));
    assert_eq!(stream.synchronize().err(), fault);
    assert_eq!(x.as_host_vec().err(), fault);
    assert_eq!(DeviceBuffer::from_slice(&[1]).err(), fault);
    drop(own);
    // The primary context is current again, and well.
    CurrentContext::synchronize()?;
    Ok(())
}

/// Launches of many host threads at once, rayon's workers among them, all come to their end: the
/// simulator's threads are its own, so that no worker waits for work it would have to do itself.
#[test]
fn host_threads_launch_at_once() -> Test {
    let context = simulator();
    let module = Module::from_ptx(SAXPY, &[])?;
    module.get_global::<f32>(c"factor")?.copy_from(&2.0)?;
    // Enough blocks for every launch to be spread over threads.
    const N: u32 = 64 * 128;
    let launch_many = |seed: u32| {
        CurrentContext::set_current(&context).unwrap();
        let kernel = module.get_function("saxpy").unwrap();
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
        let x = DeviceBuffer::from_slice(&vec![seed as f32; N as usize]).unwrap();
        let y = DeviceBuffer::from_slice(&vec![0f32; N as usize]).unwrap();
        for _ in 0..10 {
            // SAFETY: the parameters are the kernel's, and both buffers hold N floats.
            unsafe {
                launch!(kernel<<<N / 128, 128, 0, stream>>>(
                    x.as_device_ptr(), y.as_device_ptr(), N
                ))
            }
            .unwrap();
        }
        stream.synchronize().unwrap();
        assert_eq!(
            y.as_host_vec().unwrap(),
            vec![20.0 * seed as f32; N as usize]
        );
    };
    std::thread::scope(|scope| {
        for seed in 0..8 {
            scope.spawn(move || launch_many(seed));
        }
        // rayon's workers, more launches than there are workers, and launches within a join.
        (8..40u32).into_par_iter().for_each(launch_many);
        rayon::join(|| launch_many(40), || launch_many(41));
    });
    Ok(())
}

#[test]
fn the_occupancy_callback_is_asked() -> Test {
    extern "C" fn shared_per_block(threads: c_int) -> usize {
        if threads > 256 { 1 << 20 } else { 0 }
    }
    let _context = simulator();
    let module = Module::from_ptx(SAXPY, &[])?;
    let kernel = module.get_function("saxpy")?.to_raw();
    let (mut grid, mut block) = (0, 0);
    // SAFETY: two numbers to write to and a function of the documented type.
    let code = unsafe {
        sys::cuOccupancyMaxPotentialBlockSize(
            &mut grid,
            &mut block,
            kernel,
            Some(shared_per_block),
            0,
            0,
        )
    };
    assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
    assert_eq!((grid, block), (8 * 132, 256));
    Ok(())
}

/// The kernel waits as `cooperative_groups` do, by the driver's own word.
#[test]
fn a_cooperative_launch_has_all_blocks_at_once() -> Test {
    const PTX: &str = "
        .version 7.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 out)
        {
            .reg .pred %p<3>;
            .reg .b32 %r<8>;
            .reg .b64 %d<4>;
            ld.param.u64 %d2, [out];
            mov.u32 %r1, %envreg1;
            mov.u32 %r2, %envreg2;
            mov.b64 %d1, {%r2, %r1};
            mov.u32 %r3, %nctaid.x;
            atom.add.u32 %r4, [%d1+4], 1;
        WAIT:
            ld.volatile.u32 %r4, [%d1+4];
            setp.ne.u32 %p1, %r4, %r3;
            @%p1 bra WAIT;
            red.global.add.u32 [%d2], %r4;
            ret;
        }";
    let _context = simulator();
    let mut able = 0;
    // SAFETY: a number to write to.
    let code = unsafe {
        sys::cuDeviceGetAttribute(
            &mut able,
            sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
            0,
        )
    };
    assert_eq!((code as c_int, able), (0, 1));
    let module = Module::from_ptx(PTX, &[])?;
    let kernel = module.get_function("k")?.to_raw();
    let out = DeviceBuffer::from_slice(&[0u32])?;
    let launch = |blocks: u32| {
        let mut address = out.as_device_ptr().as_raw();
        let mut parameters = [ptr::from_mut(&mut address).cast::<c_void>()];
        // SAFETY: the kernel's one parameter, which it may write to.
        unsafe {
            sys::cuLaunchCooperativeKernel(
                kernel,
                blocks,
                1,
                1,
                1,
                1,
                1,
                0,
                ptr::null_mut(),
                parameters.as_mut_ptr(),
            ) as c_int
        }
    };
    assert_eq!(launch(200), 0);
    assert_eq!(out.as_host_vec()?, [200 * 200]);
    // CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    assert_eq!(launch(32 * 132 + 1), 720);
    Ok(())
}
