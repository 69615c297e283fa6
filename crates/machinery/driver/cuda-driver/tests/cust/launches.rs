//! Launches that run, fault, or are rejected.

use std::ffi::{c_int, c_void};
use std::ptr;

use cust::context::{CurrentContext, legacy};
use cust::device::Device;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::function::FunctionAttribute;
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use rayon::prelude::*;

use super::support::INVALID_VALUE;
use super::{SAXPY, Test, simulator};

#[test]
fn kernels_read_symbols_and_write_results() -> Test {
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
    // SAFETY: the parameters match the kernel's signature, and both buffers hold n floats.
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

/// The second form of passing parameters: one buffer, in the launch's `extra` list.
#[test]
fn parameters_can_be_passed_in_a_buffer() -> Test {
    let _context = simulator();
    let module = Module::from_ptx(SAXPY, &[])?;
    module.get_global::<f32>(c"factor")?.copy_from(&3.0)?;
    let kernel = module.get_function("saxpy")?.to_raw().cast();
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
        let (none, extra) = (ptr::null_mut(), extra.as_mut_ptr());
        code!(cuLaunchKernel(
            kernel, 1, 1, 1, 32, 1, 1, 0, none, parameters, extra
        ))
    };
    let (none, all) = (ptr::null_mut(), packed.len());
    assert_eq!(launch(0, none), INVALID_VALUE);
    assert_eq!(launch(all + 1, none), 701);
    // The bytes that are missing are zero: those of the number of elements.
    assert_eq!(launch(all - 4, none), 0);
    // Both forms at once.
    assert_eq!(launch(all, [none.cast(); 3].as_mut_ptr()), INVALID_VALUE);
    assert_eq!(launch(all, none), 0);
    assert_eq!(y.as_host_vec()?, [3.5; 32]);
    let stream = ptr::null_mut();
    calls! { cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, none, none) => INVALID_VALUE; }
    Ok(())
}

#[test]
fn oversized_launches_are_rejected() -> Test {
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
        // SAFETY: the callee passes its handles only to the driver, which looks them up and never
        // dereferences them.
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

/// Uses its own context, so that the fault does not affect other tests.
#[test]
fn faults_appear_at_the_next_call_and_end_with_the_context() -> Test {
    let _primary = simulator();
    let device = Device::get_device(0)?;
    let own_context = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device)?;
    let module = Module::from_ptx(SAXPY, &[])?;
    let kernel = module.get_function("saxpy")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let x = DeviceBuffer::from_slice(&[0f32; 8])?;
    // SAFETY: the buffer is deliberately too short: the simulator rejects the access.
    let launched = unsafe {
        launch!(kernel<<<1, 32, 0, stream>>>(x.as_device_ptr(), x.as_device_ptr(), 32u32))
    };
    let fault = Some(CudaError::IllegalAddress);
    assert_eq!(launched, Ok(()));
    assert_eq!(stream.synchronize().err(), fault);
    assert_eq!(x.as_host_vec().err(), fault);
    assert_eq!(DeviceBuffer::from_slice(&[1]).err(), fault);
    drop(own_context);
    // The primary context is current again and usable.
    CurrentContext::synchronize()?;
    Ok(())
}

/// Many host threads launch at once, including rayon's workers, and all launches complete. The simulator has
/// its own threads, so no worker waits for work that it would have to execute itself.
#[test]
fn host_threads_launch_concurrently() -> Test {
    let context = simulator();
    let module = Module::from_ptx(SAXPY, &[])?;
    module.get_global::<f32>(c"factor")?.copy_from(&2.0)?;
    // Enough blocks to spread every launch over several threads.
    const N: u32 = 64 * 128;
    let launch_many = |seed: u32| {
        CurrentContext::set_current(&context).unwrap();
        let kernel = module.get_function("saxpy").unwrap();
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
        let x = DeviceBuffer::from_slice(&vec![seed as f32; N as usize]).unwrap();
        let y = DeviceBuffer::from_slice(&vec![0f32; N as usize]).unwrap();
        for _ in 0..10 {
            // SAFETY: the parameters match the kernel's signature, and both buffers hold N floats.
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
        // rayon's workers, more launches than workers, and launches within a join.
        (8..40u32).into_par_iter().for_each(launch_many);
        rayon::join(|| launch_many(40), || launch_many(41));
    });
    Ok(())
}

#[test]
fn occupancy_callback_is_called() -> Test {
    extern "C" fn shared_per_block(threads: c_int) -> usize {
        if threads > 256 { 1 << 20 } else { 0 }
    }
    let _context = simulator();
    let module = Module::from_ptx(SAXPY, &[])?;
    let kernel = module.get_function("saxpy")?.to_raw().cast();
    let (mut grid, mut block) = (0, 0);
    let callback = Some(shared_per_block as _);
    calls! { cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, kernel, callback, 0, 0); }
    assert_eq!((grid, block), (8 * 132, 256));
    Ok(())
}

/// The kernel synchronizes the grid as `cooperative_groups` does, with the workspace that the driver provides.
#[test]
fn cooperative_launches_have_all_blocks_resident() -> Test {
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
    // `CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH`
    calls! { cuDeviceGetAttribute(&mut able, 95, 0); }
    assert_eq!(able, 1);
    let module = Module::from_ptx(PTX, &[])?;
    let kernel = module.get_function("k")?.to_raw().cast();
    let out = DeviceBuffer::from_slice(&[0u32])?;
    let launch = |blocks: u32| {
        let mut address = out.as_device_ptr().as_raw();
        let mut parameters = [ptr::from_mut(&mut address).cast::<c_void>()];
        let (stream, parameters) = (ptr::null_mut(), parameters.as_mut_ptr());
        code!(cuLaunchCooperativeKernel(
            kernel, blocks, 1, 1, 1, 1, 1, 0, stream, parameters
        ))
    };
    assert_eq!(launch(200), 0);
    assert_eq!(out.as_host_vec()?, [200 * 200]);
    // `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`
    assert_eq!(launch(32 * 132 + 1), 720);
    Ok(())
}
