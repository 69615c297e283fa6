//! The real `cust`, unmodified, on the simulator.

extern crate cuda_driver as _;

use std::error::Error;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Once;

use cust::context::{Context, CurrentContext, ResourceLimit, legacy};
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::event::{Event, EventFlags, EventStatus};
use cust::function::FunctionAttribute;
use cust::launch;
use cust::memory::{
    AsyncCopyDestination, CopyDestination, DeviceBox, DeviceBuffer, LockedBuffer, UnifiedBuffer,
    mem_get_info,
};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};
use cust::sys;
use rayon::prelude::*;

const SAXPY: &str = include_str!("ptx/saxpy.ptx");

type Test = Result<(), Box<dyn Error>>;

/// A context on the simulator. All tests of this file share the one primary context.
fn simulator() -> Context {
    static FORCED: Once = Once::new();
    // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the
    // environment waits.
    FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
    cust::quick_init().unwrap()
}

#[test]
fn the_device_says_what_it_is() -> Test {
    let _context = simulator();
    assert_eq!(
        cuda_driver::backend(),
        Some(cuda_driver::Backend::Simulator)
    );
    let device = CurrentContext::get_device()?;
    assert_eq!(device.name()?, "NVIDIA H200 (simulated)");
    assert_eq!(device.get_attribute(DeviceAttribute::WarpSize)?, 32);
    assert_eq!(
        device.get_attribute(DeviceAttribute::MultiprocessorCount)?,
        132
    );
    assert_eq!(Device::num_devices()?, 1);
    assert_eq!(Device::get_device(1), Err(CudaError::InvalidDevice));
    assert!(device.total_memory()? > 0);
    // SAFETY: a null pointer is refused.
    let null = unsafe { sys::cuDeviceGetCount(ptr::null_mut()) };
    assert_eq!(null, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
    Ok(())
}

#[test]
fn buffers_go_there_and_back() -> Test {
    let _context = simulator();
    let data: Vec<u32> = (0..1000).collect();
    let buffer = DeviceBuffer::from_slice(&data)?;
    assert_eq!(buffer.as_host_vec()?, data);

    let mut other = DeviceBuffer::<u32>::zeroed(1000)?;
    assert!(other.as_host_vec()?.iter().all(|&word| word == 0));
    buffer.copy_to(&mut other)?;
    assert_eq!(other.as_host_vec()?, data);
    other.set_32(7)?;
    assert!(other.as_host_vec()?.iter().all(|&word| word == 7));

    let mut boxed = DeviceBox::new(&41u64)?;
    boxed.copy_from(&42)?;
    assert_eq!(boxed.as_host_value()?, 42);
    Ok(())
}

#[test]
fn host_memory_of_each_kind_works() -> Test {
    let _context = simulator();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut unified = UnifiedBuffer::new(&3u32, 100)?;
    unified[99] = 4;
    assert_eq!(unified.iter().sum::<u32>(), 3 * 99 + 4);

    let locked = LockedBuffer::new(&5u32, 100)?;
    let mut device = DeviceBuffer::from_slice(&[0u32; 100])?;
    // SAFETY: the stream is waited for before either buffer is used again.
    unsafe { device.async_copy_from(&locked, &stream) }?;
    stream.synchronize()?;
    assert_eq!(device.as_host_vec()?, [5; 100]);
    Ok(())
}

#[test]
fn too_much_memory_is_an_error() {
    let _context = simulator();
    let (_, total) = mem_get_info().unwrap();
    // SAFETY: never used.
    let refused = unsafe { DeviceBuffer::<u8>::uninitialized(total + 1) };
    assert_eq!(refused.err(), Some(CudaError::OutOfMemory));
}

#[test]
fn bad_addresses_are_errors() {
    let _context = simulator();
    let mut address = 0;
    let mut word = [0u8; 4];
    let host = word.as_mut_ptr().cast::<c_void>();
    let invalid = sys::CUresult::CUDA_ERROR_INVALID_VALUE;
    // SAFETY: `address` can be written to, and `host` has 4 bytes; all else is refused.
    unsafe {
        assert_eq!(sys::cuMemAlloc_v2(&mut address, 0), invalid);
        assert_eq!(sys::cuMemAlloc_v2(ptr::null_mut(), 4), invalid);
        assert_eq!(
            sys::cuMemAlloc_v2(&mut address, 4),
            sys::CUresult::CUDA_SUCCESS
        );
        assert_eq!(sys::cuMemcpyHtoD_v2(address, ptr::null(), 4), invalid);
        assert_eq!(sys::cuMemcpyHtoD_v2(address + 1, host, 4), invalid);
        assert_eq!(sys::cuMemcpyDtoH_v2(host, 0, 4), invalid);
        assert_eq!(sys::cuMemsetD32_v2(address, 1, 2), invalid);
        assert_eq!(sys::cuMemFree_v2(address + 1), invalid);
        assert_eq!(sys::cuMemFree_v2(address), sys::CUresult::CUDA_SUCCESS);
        assert_eq!(sys::cuMemFree_v2(address), invalid);
        assert_eq!(sys::cuMemFree_v2(0), sys::CUresult::CUDA_SUCCESS);
        assert_eq!(sys::cuMemcpyDtoH_v2(host, address, 4), invalid);
        assert_eq!(sys::cuMemcpy2D_v2(ptr::null()), invalid);
        assert_eq!(sys::cuMemcpy3D_v2(ptr::null()), invalid);
    }
}

/// Rows of a pitched table, copied in, filled in part, copied out: the raw functions `cust` has no
/// wrappers for.
#[test]
fn pitched_rows_are_copied_and_filled() {
    const WIDTH: usize = 40;
    const HEIGHT: usize = 3;
    let _context = simulator();
    let source: Vec<u8> = (0..WIDTH * HEIGHT).map(|i| i as u8).collect();
    let mut result = vec![0u8; WIDTH * HEIGHT];
    let (mut address, mut pitch) = (0, 0);
    let succeeded = sys::CUresult::CUDA_SUCCESS;
    // SAFETY: the structures are plain data of which zero is a value, once their memory types are
    // set; the host arrays are as large as the copies say.
    unsafe {
        let made = sys::cuMemAllocPitch_v2(&mut address, &mut pitch, WIDTH, HEIGHT, 4);
        assert_eq!(made, succeeded);
        assert_eq!(pitch, 512);

        let mut copy = std::mem::MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
        let to = copy.as_mut_ptr();
        // No memory type is 0: refused, not misread.
        assert_eq!(
            sys::cuMemcpy2D_v2(to),
            sys::CUresult::CUDA_ERROR_INVALID_VALUE
        );
        (*to).srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_HOST;
        (*to).srcHost = source.as_ptr().cast();
        (*to).srcPitch = WIDTH;
        (*to).dstMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
        (*to).dstDevice = address;
        (*to).dstPitch = pitch;
        (*to).WidthInBytes = WIDTH;
        (*to).Height = HEIGHT;
        assert_eq!(sys::cuMemcpy2D_v2(to), succeeded);
        assert_eq!(
            sys::cuMemsetD2D8_v2(address, pitch, 0xff, 2, HEIGHT),
            succeeded
        );

        let mut copy = std::mem::MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
        let back = copy.as_mut_ptr();
        (*back).srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_UNIFIED;
        (*back).srcDevice = address;
        (*back).srcPitch = pitch;
        (*back).dstMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_HOST;
        (*back).dstHost = result.as_mut_ptr().cast();
        (*back).WidthInBytes = WIDTH;
        (*back).Height = HEIGHT;
        (*back).Depth = 1;
        assert_eq!(sys::cuMemcpy3D_v2(back), succeeded);
        (*back).srcMemoryType = sys::CUmemorytype::CU_MEMORYTYPE_ARRAY;
        assert_eq!(
            sys::cuMemcpy3D_v2(back),
            sys::CUresult::CUDA_ERROR_NOT_SUPPORTED
        );
        assert_eq!(sys::cuMemFree_v2(address), succeeded);
    }
    for (got, sent) in result.chunks(WIDTH).zip(source.chunks(WIDTH)) {
        assert_eq!(got[..2], [0xff; 2]);
        assert_eq!(got[2..], sent[2..]);
    }
}

#[test]
fn a_pointer_tells_its_attributes() {
    let _context = simulator();
    let buffer = DeviceBuffer::from_slice(&[0u8; 100]).unwrap();
    let start = buffer.as_device_ptr().as_raw();
    let (mut kind, mut size, mut base) = (0u32, 0usize, 0);
    let succeeded = sys::CUresult::CUDA_SUCCESS;
    // SAFETY: each attribute gets room for a value of its type.
    unsafe {
        use sys::CUpointer_attribute::*;
        let ask =
            |to: *mut c_void, attribute| sys::cuPointerGetAttribute(to, attribute, start + 50);
        assert_eq!(
            ask((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
            succeeded
        );
        assert_eq!(
            ask((&raw mut size).cast(), CU_POINTER_ATTRIBUTE_RANGE_SIZE),
            succeeded
        );
        assert_eq!(
            ask((&raw mut size).cast(), CU_POINTER_ATTRIBUTE_HOST_POINTER),
            sys::CUresult::CUDA_ERROR_INVALID_VALUE
        );
        assert_eq!(
            sys::cuMemGetAddressRange_v2(&mut base, ptr::null_mut(), start + 99),
            succeeded
        );
        assert_eq!(
            sys::cuMemGetAddressRange_v2(&mut base, ptr::null_mut(), start + 100),
            sys::CUresult::CUDA_ERROR_NOT_FOUND
        );
    }
    assert_eq!((kind, size, base), (2, 100, start));
}

#[test]
fn streams_and_events_keep_order_and_time() -> Test {
    let _primary = simulator();
    // A context of its own: the other tests' work would delay the default stream's, and so this.
    let device = Device::get_device(0)?;
    let _own = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device)?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, Some(-1))?;
    let other = Stream::new(StreamFlags::DEFAULT, None)?;
    assert_eq!(stream.get_priority()?, -1);
    // cust makes no non-blocking streams, whatever one asks for.
    assert_eq!(stream.get_flags()?, StreamFlags::DEFAULT);
    let (start, end) = (
        Event::new(EventFlags::DEFAULT)?,
        Event::new(EventFlags::DEFAULT)?,
    );
    assert_eq!(end.elapsed_time_f32(&start), Err(CudaError::InvalidHandle));
    let locked = LockedBuffer::new(&1u8, 1 << 20)?;
    let mut device = DeviceBuffer::<u8>::zeroed(1 << 20)?;
    start.record(&stream)?;
    // SAFETY: neither buffer is touched before the stream is waited for.
    unsafe { device.async_copy_from(&locked, &stream) }?;
    end.record(&stream)?;
    assert_eq!(end.elapsed_time_f32(&start), Err(CudaError::NotReady));
    assert_eq!(end.query()?, EventStatus::Ready);
    end.synchronize()?;
    // 1 MiB at 55.5 GB/s and 2.2 µs.
    let took = end.elapsed_time_f32(&start)?;
    assert!((0.0210..0.0212).contains(&took), "{took} ms");
    other.wait_event(end, StreamWaitEventFlags::DEFAULT)?;

    let (sender, receiver) = std::sync::mpsc::channel();
    stream.add_callback(Box::new(move || sender.send(42).unwrap()))?;
    stream.synchronize()?;
    assert_eq!(receiver.recv()?, 42);
    Ok(())
}

#[test]
fn handles_are_checked() {
    let _context = simulator();
    let made_up = ptr::without_provenance_mut::<c_void>(0xdead_beef);
    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    let wrong_kind = stream.as_inner().cast::<c_void>();
    let invalid = sys::CUresult::CUDA_ERROR_INVALID_HANDLE;
    // SAFETY: handles are looked up, never followed.
    unsafe {
        for handle in [made_up, wrong_kind, ptr::null_mut()] {
            assert_eq!(sys::cuEventRecord(handle.cast(), ptr::null_mut()), invalid);
            assert_eq!(sys::cuEventDestroy_v2(handle.cast()), invalid);
            assert_eq!(sys::cuModuleUnload(handle.cast()), invalid);
            let launched = sys::cuLaunchKernel(
                handle.cast(),
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                ptr::null_mut(),
            );
            assert_eq!(launched, invalid);
        }
        assert_eq!(sys::cuStreamSynchronize(made_up.cast()), invalid);
        assert_eq!(
            sys::cuCtxSetCurrent(made_up.cast()),
            sys::CUresult::CUDA_ERROR_INVALID_CONTEXT
        );
        assert_eq!(
            sys::cuStreamSynchronize(ptr::without_provenance_mut(2)),
            sys::CUresult::CUDA_ERROR_NOT_SUPPORTED
        );
    }
}

#[test]
fn threads_have_their_own_current_context() -> Test {
    let context = simulator();
    std::thread::spawn(|| {
        assert_eq!(
            CurrentContext::synchronize(),
            Err(CudaError::InvalidContext)
        );
        assert_eq!(
            DeviceBuffer::from_slice(&[1]).err(),
            Some(CudaError::InvalidContext)
        );
    })
    .join()
    .unwrap();
    let again = context.clone();
    std::thread::spawn(move || {
        CurrentContext::set_current(&again).unwrap();
        let buffer = DeviceBuffer::from_slice(&[1, 2, 3]).unwrap();
        assert_eq!(buffer.as_host_vec().unwrap(), [1, 2, 3]);
    })
    .join()
    .unwrap();
    Ok(())
}

#[test]
fn contexts_of_ones_own_stack_up_and_go() -> Test {
    let _primary = simulator();
    let device = Device::get_device(0)?;
    let own = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device)?;
    let stack = ResourceLimit::StackSize;
    CurrentContext::set_resource_limit(stack, 2048)?;
    assert_eq!(CurrentContext::get_resource_limit(stack)?, 2048);
    legacy::ContextStack::pop()?;
    assert_eq!(CurrentContext::get_resource_limit(stack)?, 1024);
    drop(own);
    CurrentContext::synchronize()?;
    Ok(())
}

#[test]
fn limits_are_kept() -> Test {
    let _context = simulator();
    CurrentContext::set_resource_limit(ResourceLimit::PrintfFifoSize, 2 << 20)?;
    assert_eq!(
        CurrentContext::get_resource_limit(ResourceLimit::PrintfFifoSize)?,
        2 << 20
    );
    let range = CurrentContext::get_stream_priority_range()?;
    assert_eq!((range.least, range.greatest), (0, -5));
    Ok(())
}

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
fn images_that_are_no_ptx_are_refused() {
    let _context = simulator();
    let cases = [
        ("", CudaError::InvalidImage),
        ("hello", CudaError::InvalidImage),
        (".version 6.4 hello", CudaError::InvalidPtx),
        // For a newer GPU.
        (
            ".version 6.4\n.target sm_120\n.address_size 64\n",
            CudaError::InvalidPtx,
        ),
        (
            ".version 6.4\n.target sm_52\n.address_size 64\n.const .b8 big[65537];\n",
            CudaError::InvalidPtx,
        ),
    ];
    for (text, error) in cases {
        assert_eq!(Module::from_ptx(text, &[]).err(), Some(error), "{text}");
    }
    let cubin = Module::from_cubin(b"\x7fELF\x02\x01\x01\0", &[]);
    assert_eq!(cubin.err(), Some(CudaError::NotSupported));
    let missing = Module::from_file("no/such/file.ptx");
    assert_eq!(missing.err(), Some(CudaError::FileNotFound));
    // SAFETY: null is refused.
    let null = unsafe { sys::cuModuleLoadData(&mut ptr::null_mut(), ptr::null()) };
    assert_eq!(null, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
}

/// Bytes that are no text are refused, and everything ends at the first NUL.
#[test]
fn images_of_any_bytes_are_read_or_refused() {
    let _context = simulator();
    const HEAD: &[u8] = b".version 6.4\n.target sm_52\n.address_size 64\n";
    let kernel = b".visible .entry k() { ret; }";
    let cases: [(&[u8], sys::CUresult, &str); 6] = [
        (b"\0", sys::CUresult::CUDA_SUCCESS, ""),
        (b"\0\xff\xfe", sys::CUresult::CUDA_SUCCESS, ""),
        (
            "// naïve ☃ \u{10ffff}\n".as_bytes(),
            sys::CUresult::CUDA_SUCCESS,
            "",
        ),
        (
            b"// \xff\n",
            sys::CUresult::CUDA_ERROR_INVALID_IMAGE,
            "byte 75 is not UTF-8",
        ),
        (
            b"\xc3",
            sys::CUresult::CUDA_ERROR_INVALID_IMAGE,
            "byte 72 is not UTF-8",
        ),
        (
            ".entry ☃() { ret; }".as_bytes(),
            sys::CUresult::CUDA_ERROR_INVALID_PTX,
            "☃",
        ),
    ];
    for (bytes, wanted, said) in cases {
        let image = [HEAD, kernel, bytes, b"\0"].concat();
        let mut module = ptr::null_mut();
        // SAFETY: the image ends in NUL.
        let code = unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) };
        assert_eq!(code, wanted, "{bytes:?}");
        for room in 1..200usize {
            let mut text = [b'x'; 200];
            let image = CStr::from_bytes_until_nul(&image).unwrap();
            let (code, filled) = load_with_log(image, &mut text[..room]);
            assert_eq!(code, wanted, "{bytes:?}");
            // Nothing is cut in the middle of a letter.
            let message = CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap();
            assert!(message.len() < room && filled == message.len() + 1);
            assert!(room < 199 || message.contains(said), "{message}");
        }
    }
}

/// Loads a module with `log` for the error log; with the code, how many bytes of it were filled.
fn load_with_log(image: &CStr, log: &mut [u8]) -> (sys::CUresult, usize) {
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values: [*mut c_void; 2] = [
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut(log.len()),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: two options with their values, and a buffer of the size given.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    (code, values[1].addr())
}

/// The loader's message goes into the caller's buffer, cut to its size.
#[test]
fn the_error_log_says_why_ptx_does_not_load() {
    let _context = simulator();
    let ptx = c".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k() { blend.f32 %f1, %f2; ret; }";
    for room in [200usize, 10, 1] {
        let mut text = vec![b'x'; room + 1];
        let (code, filled) = load_with_log(ptx, &mut text[..room]);
        assert_eq!(code, sys::CUresult::CUDA_ERROR_INVALID_PTX);
        let message = CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap();
        assert_eq!(filled, message.len() + 1);
        assert_eq!(text[room], b'x');
        if room == 200 {
            assert!(
                message.contains("blend") && message.contains("line 4"),
                "{message}"
            );
        } else {
            assert_eq!(message.len(), room - 1);
        }
    }
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
fn errors_have_names() {
    let _context = simulator();
    let mut name = ptr::null();
    // SAFETY: a string that lasts is written to `name`.
    let name = unsafe {
        sys::cuGetErrorName(sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, &mut name);
        CStr::from_ptr(name)
    };
    assert_eq!(name, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    // cust puts quotes round what `cuGetErrorString` says.
    assert_eq!(CudaError::OutOfMemory.to_string(), "\"out of memory\"");
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
