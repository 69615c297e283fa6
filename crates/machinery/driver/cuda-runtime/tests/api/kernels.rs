//! Kernel launches, kernel attributes and occupancy.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};

use cuda_runtime as cuda;
use cuda_runtime::types::{Dim3, FunctionAttributes, LaunchConfig};

use super::program::{
    EMPTY, FACTOR, HOST_TO_DEVICE, Memory, NOT_IN_IMAGE, SAXPY, UNREGISTERED, fails, get, host, ok,
    register, register_kernel, start,
};

const fn dim(x: u32, y: u32, z: u32) -> Dim3 {
    Dim3 { x, y, z }
}

const ONE: Dim3 = dim(1, 1, 1);

/// Runs saxpy with `launch`, which receives the kernel's arguments, and checks its output.
fn saxpy(launch: impl FnOnce(*mut *mut c_void)) {
    start();
    let factor = 3.0_f32;
    let (x, y) = (Memory::of(&[2.0_f32; 1000]), Memory::of(&[1.0_f32; 1000]));
    // SAFETY: the variable `factor` has four bytes.
    unsafe {
        let from = (&raw const factor).cast();
        ok(cuda::cudaMemcpyToSymbol(
            host(&FACTOR),
            from,
            4,
            0,
            HOST_TO_DEVICE,
        ));
    }
    let mut n = 900_u32;
    let (mut x_ptr, mut y_ptr) = (x.0, y.0);
    let mut arguments: [*mut c_void; 3] = [
        (&raw mut x_ptr).cast(),
        (&raw mut y_ptr).cast(),
        (&raw mut n).cast(),
    ];
    launch(arguments.as_mut_ptr());
    // SAFETY: any thread may synchronize.
    ok(unsafe { cuda::cudaDeviceSynchronize() });
    let result = y.values::<f32>(1000);
    assert!(result[..900].iter().all(|&value| value == 7.0));
    assert!(result[900..].iter().all(|&value| value == 1.0));
}

#[test]
fn a_kernel_is_launched_in_every_way() {
    let (grid, block) = (dim(8, 1, 1), dim(128, 1, 1));
    // SAFETY: `arguments` points to saxpy's three arguments.
    unsafe {
        saxpy(|arguments| {
            ok(cuda::cudaLaunchKernel(
                host(&SAXPY),
                grid,
                block,
                arguments,
                0,
                null_mut(),
            ));
        });
        saxpy(|arguments| {
            let code = cuda::cudaLaunchCooperativeKernel(
                host(&SAXPY),
                grid,
                block,
                arguments,
                0,
                null_mut(),
            );
            ok(code);
        });
        saxpy(|arguments| {
            let config = LaunchConfig {
                grid,
                block,
                dynamic_shared: 0,
                stream: null_mut(),
                attributes: null_mut(),
                attribute_count: 0,
            };
            ok(cuda::cudaLaunchKernelExC(&config, host(&SAXPY), arguments));
        });
        // The calls that a compiler emits for `<<<…>>>`.
        saxpy(|arguments| {
            assert_eq!(
                cuda::__cudaPushCallConfiguration(grid, block, 0, null_mut()),
                0
            );
            let (mut grid, mut block, mut shared) = (ONE, ONE, 1_usize);
            let mut stream: *mut c_void = null_mut();
            ok(cuda::__cudaPopCallConfiguration(
                &mut grid,
                &mut block,
                &mut shared,
                (&raw mut stream).cast(),
            ));
            ok(cuda::cudaLaunchKernel(
                host(&SAXPY),
                grid,
                block,
                arguments,
                shared,
                stream.cast(),
            ));
        });
        // The calls that older compilers emitted.
        saxpy(|arguments| {
            ok(cuda::cudaConfigureCall(grid, block, 0, null_mut()));
            for (i, (bytes, offset)) in [(8, 0), (8, 8), (4, 16)].into_iter().enumerate() {
                ok(cuda::cudaSetupArgument(*arguments.add(i), bytes, offset));
            }
            ok(cuda::cudaLaunch(host(&SAXPY)));
        });
    }
}

#[test]
fn invalid_launches_are_rejected() {
    start();
    let launch = |kernel, grid, block, shared| {
        // SAFETY: the kernel has no parameters.
        unsafe { cuda::cudaLaunchKernel(kernel, grid, block, null_mut(), shared, null_mut()) }
    };
    let empty = host(&EMPTY);
    for (grid, block) in [
        (dim(0, 1, 1), ONE),
        (ONE, dim(1, 0, 1)),
        (ONE, dim(1025, 1, 1)),
        (ONE, dim(64, 32, 1)),
        (ONE, dim(1, 1, 65)),
        (dim(1, 65536, 1), ONE),
    ] {
        fails(
            launch(empty, grid, block, 0),
            "cudaErrorInvalidConfiguration",
        );
    }
    fails(launch(empty, ONE, ONE, 1 << 20), "cudaErrorInvalidValue");
    fails(launch(empty, ONE, ONE, 1 << 40), "cudaErrorInvalidValue");
    for unknown in [null(), host(&UNREGISTERED), host(&NOT_IN_IMAGE)] {
        fails(
            launch(unknown, ONE, ONE, 0),
            "cudaErrorInvalidDeviceFunction",
        );
    }
    ok(launch(empty, ONE, ONE, 0));
    // SAFETY: no launch is configured, so the calls fail before they use their arguments.
    unsafe {
        fails(cuda::cudaLaunch(empty), "cudaErrorMissingConfiguration");
        let (mut grid, mut block, mut shared) = (ONE, ONE, 0);
        let mut stream: *mut c_void = null_mut();
        let code = cuda::__cudaPopCallConfiguration(
            &mut grid,
            &mut block,
            &mut shared,
            (&raw mut stream).cast(),
        );
        fails(code, "cudaErrorMissingConfiguration");
    }
}

#[test]
fn a_kernel_reports_its_attributes() {
    start();
    let mut attributes = FunctionAttributes::default();
    let mut name = null();
    let mut function = null_mut();
    // SAFETY: all out-parameters are local variables, and the name is a C string.
    unsafe {
        ok(cuda::cudaFuncGetAttributes(&mut attributes, host(&SAXPY)));
        assert_eq!(
            (attributes.ptx_version, attributes.binary_version),
            (64, 90)
        );
        assert_eq!(
            (attributes.max_threads_per_block, attributes.shared_size),
            (1024, 0)
        );
        assert!(attributes.registers > 0);
        ok(cuda::cudaFuncSetAttribute(host(&SAXPY), 8, 100_000));
        ok(cuda::cudaFuncGetAttributes(&mut attributes, host(&SAXPY)));
        assert_eq!(attributes.max_dynamic_shared_size, 100_000);
        ok(cuda::cudaFuncSetAttribute(host(&SAXPY), 8, 0));
        fails(
            cuda::cudaFuncSetAttribute(host(&SAXPY), 8, 1 << 20),
            "cudaErrorInvalidValue",
        );
        ok(cuda::cudaFuncSetCacheConfig(host(&SAXPY), 1));
        ok(cuda::cudaFuncSetSharedMemConfig(host(&SAXPY), 1));
        ok(cuda::cudaFuncGetName(&mut name, host(&SAXPY)));
        assert_eq!(CStr::from_ptr(name), c"saxpy");
        ok(cuda::cudaGetFuncBySymbol(&mut function, host(&SAXPY)));
        assert!(!function.is_null());
        let unknown = cuda::cudaFuncGetAttributes(&mut attributes, host(&UNREGISTERED));
        fails(unknown, "cudaErrorInvalidDeviceFunction");
    }
}

#[test]
fn occupancy_counts_resident_blocks() {
    start();
    let kernel = host(&EMPTY);
    // SAFETY: all out-parameters are local variables.
    unsafe {
        let blocks = get::<c_int>(|to| {
            cuda::cudaOccupancyMaxActiveBlocksPerMultiprocessor(to, kernel, 128, 0)
        });
        assert_eq!(blocks, 16);
        let with_flags = get::<c_int>(|to| {
            cuda::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, kernel, 128, 0, 1)
        });
        assert_eq!(with_flags, blocks);
        let shared =
            get::<usize>(|to| cuda::cudaOccupancyAvailableDynamicSMemPerBlock(to, kernel, 2, 128));
        assert!(shared >= 48 << 10, "{shared}");
        let mut blocks = 0;
        let code = cuda::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel, 0, 0);
        fails(code, "cudaErrorInvalidValue");
    }
}

/// Device code that does not compile, is machine code, or has an unknown format fails when it is first used.
#[test]
fn device_code_that_does_not_load_fails_at_its_first_use() {
    static INVALID_PTX: u8 = 0;
    static FAT_BINARY: u8 = 1;
    static ELF: u8 = 2;
    start();
    let launch = |kernel| {
        // SAFETY: every call is rejected.
        unsafe { cuda::cudaLaunchKernel(kernel, ONE, ONE, null_mut(), 0, null_mut()) }
    };
    let invalid_ptx =
        c".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k() { nonsense; }\n";
    let handle = register(invalid_ptx.as_ptr().cast());
    register_kernel(handle, &INVALID_PTX, c"k");
    fails(launch(host(&INVALID_PTX)), "cudaErrorInvalidPtx");
    fails(launch(host(&INVALID_PTX)), "cudaErrorInvalidPtx");
    let fat_binary: &[u8; 8] = &[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    register_kernel(register(fat_binary.as_ptr().cast()), &FAT_BINARY, c"k");
    fails(launch(host(&FAT_BINARY)), "cudaErrorInvalidKernelImage");
    register_kernel(register(c"\x7fELF\x02\x01\x01".as_ptr().cast()), &ELF, c"k");
    fails(launch(host(&ELF)), "cudaErrorInvalidKernelImage");
    // SAFETY: `handle` was returned by `__cudaRegisterFatBinary`.
    unsafe { cuda::__cudaUnregisterFatBinary(handle) };
    fails(launch(host(&INVALID_PTX)), "cudaErrorInvalidDeviceFunction");
}
