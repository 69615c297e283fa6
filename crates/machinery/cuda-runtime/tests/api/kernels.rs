//! Launches, and what is known and set of kernels.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};

use cuda_runtime as cuda;
use cuda_runtime::types::{Dim3, FunctionAttributes, LaunchConfig};

use super::program::{
    FACTOR, GHOST, Memory, NOTHING, SAXPY, STRANGER, TO_DEVICE, fails, get, host, ok, register,
    register_kernel, start,
};

const fn dim(x: u32, y: u32, z: u32) -> Dim3 {
    Dim3 { x, y, z }
}

const ONE: Dim3 = dim(1, 1, 1);

/// Runs saxpy with `launch`, which is given its arguments, and checks what it has computed.
fn saxpy(launch: impl FnOnce(*mut *mut c_void)) {
    start();
    let factor = 3.0_f32;
    let (x, y) = (Memory::of(&[2.0_f32; 1000]), Memory::of(&[1.0_f32; 1000]));
    // SAFETY: the variable has so many bytes.
    unsafe {
        let from = (&raw const factor).cast();
        ok(cuda::cudaMemcpyToSymbol(
            host(&FACTOR),
            from,
            4,
            0,
            TO_DEVICE,
        ));
    }
    let mut n = 900_u32;
    let (mut x_at, mut y_at) = (x.0, y.0);
    let mut arguments: [*mut c_void; 3] = [
        (&raw mut x_at).cast(),
        (&raw mut y_at).cast(),
        (&raw mut n).cast(),
    ];
    launch(arguments.as_mut_ptr());
    // SAFETY: any thread may wait.
    ok(unsafe { cuda::cudaDeviceSynchronize() });
    let result = y.values::<f32>(1000);
    assert!(result[..900].iter().all(|&value| value == 7.0));
    assert!(result[900..].iter().all(|&value| value == 1.0));
}

#[test]
fn a_kernel_is_launched_in_every_way() {
    let (grid, block) = (dim(8, 1, 1), dim(128, 1, 1));
    // SAFETY: the arguments are the kernel's.
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
            let launched = cuda::cudaLaunchCooperativeKernel(
                host(&SAXPY),
                grid,
                block,
                arguments,
                0,
                null_mut(),
            );
            ok(launched);
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
        // As a compiler does it for `<<<…>>>`.
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
        // As older compilers did.
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
fn launches_that_cannot_be_are_refused() {
    start();
    let launch = |kernel, grid, block, shared| {
        // SAFETY: the kernel has no arguments.
        unsafe { cuda::cudaLaunchKernel(kernel, grid, block, null_mut(), shared, null_mut()) }
    };
    let nothing = host(&NOTHING);
    for (grid, block) in [
        (dim(0, 1, 1), ONE),
        (ONE, dim(1, 0, 1)),
        (ONE, dim(1025, 1, 1)),
        (ONE, dim(64, 32, 1)),
        (ONE, dim(1, 1, 65)),
        (dim(1, 65536, 1), ONE),
    ] {
        fails(
            launch(nothing, grid, block, 0),
            "cudaErrorInvalidConfiguration",
        );
    }
    fails(launch(nothing, ONE, ONE, 1 << 20), "cudaErrorInvalidValue");
    fails(launch(nothing, ONE, ONE, 1 << 40), "cudaErrorInvalidValue");
    for unknown in [null(), host(&STRANGER), host(&GHOST)] {
        fails(
            launch(unknown, ONE, ONE, 0),
            "cudaErrorInvalidDeviceFunction",
        );
    }
    ok(launch(nothing, ONE, ONE, 0));
    // SAFETY: nothing is configured.
    unsafe {
        fails(cuda::cudaLaunch(nothing), "cudaErrorMissingConfiguration");
        let (mut grid, mut block, mut shared) = (ONE, ONE, 0);
        let mut stream: *mut c_void = null_mut();
        let none = cuda::__cudaPopCallConfiguration(
            &mut grid,
            &mut block,
            &mut shared,
            (&raw mut stream).cast(),
        );
        fails(none, "cudaErrorMissingConfiguration");
    }
}

#[test]
fn a_kernel_says_what_it_is() {
    start();
    let mut found = FunctionAttributes::default();
    let mut name = null();
    let mut function = null_mut();
    // SAFETY: attributes, a handle and the address of a string are written.
    unsafe {
        ok(cuda::cudaFuncGetAttributes(&mut found, host(&SAXPY)));
        assert_eq!((found.ptx_version, found.binary_version), (64, 90));
        assert_eq!((found.max_threads_per_block, found.shared_size), (1024, 0));
        assert!(found.registers > 0);
        ok(cuda::cudaFuncSetAttribute(host(&SAXPY), 8, 100_000));
        ok(cuda::cudaFuncGetAttributes(&mut found, host(&SAXPY)));
        assert_eq!(found.max_dynamic_shared_size, 100_000);
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
        let unknown = cuda::cudaFuncGetAttributes(&mut found, host(&STRANGER));
        fails(unknown, "cudaErrorInvalidDeviceFunction");
    }
}

#[test]
fn blocks_that_fit_are_counted() {
    start();
    let kernel = host(&NOTHING);
    // SAFETY: numbers are written.
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
        let none = cuda::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel, 0, 0);
        fails(none, "cudaErrorInvalidValue");
    }
}

/// Device code that does not load, is machine code, or is in no known form, fails where it is used.
#[test]
fn device_code_that_does_not_load_fails_at_its_first_use() {
    static WRONG: u8 = 0;
    static BINARY: u8 = 1;
    static ELF: u8 = 2;
    start();
    let launch = |kernel| {
        // SAFETY: refused.
        unsafe { cuda::cudaLaunchKernel(kernel, ONE, ONE, null_mut(), 0, null_mut()) }
    };
    let wrong =
        c".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k() { nonsense; }\n";
    let handle = register(wrong.as_ptr().cast());
    register_kernel(handle, &WRONG, c"k");
    fails(launch(host(&WRONG)), "cudaErrorInvalidPtx");
    fails(launch(host(&WRONG)), "cudaErrorInvalidPtx");
    let binary: &[u8; 8] = &[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    register_kernel(register(binary.as_ptr().cast()), &BINARY, c"k");
    fails(launch(host(&BINARY)), "cudaErrorInvalidKernelImage");
    register_kernel(register(c"\x7fELF\x02\x01\x01".as_ptr().cast()), &ELF, c"k");
    fails(launch(host(&ELF)), "cudaErrorInvalidKernelImage");
    // SAFETY: as a compiler calls it, when a library is unloaded.
    unsafe { cuda::__cudaUnregisterFatBinary(handle) };
    fails(launch(host(&WRONG)), "cudaErrorInvalidDeviceFunction");
}
