//! Kernel launches, kernel attributes and occupancy.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};

use cuda_runtime::types::{FunctionAttributes, LaunchConfig};

use super::program::*;

/// Runs saxpy with `launch`, which receives the kernel's arguments, and checks its output.
fn saxpy(launch: impl FnOnce(*mut *mut c_void)) {
    start();
    let factor = 3.0_f32;
    let (x, y) = (Memory::of(&[2.0_f32; 1000]), Memory::of(&[1.0_f32; 1000]));
    let from = (&raw const factor).cast();
    calls! { cudaMemcpyToSymbol(host(&FACTOR), from, 4, 0, HOST_TO_DEVICE); }
    let mut n = 900_u32;
    let (mut x_ptr, mut y_ptr) = (x.0, y.0);
    let mut arguments: [*mut c_void; 3] = [
        (&raw mut x_ptr).cast(),
        (&raw mut y_ptr).cast(),
        (&raw mut n).cast(),
    ];
    launch(arguments.as_mut_ptr());
    calls! { cudaDeviceSynchronize(); }
    let result = y.values::<f32>(1000);
    assert!(result[..900].iter().all(|&value| value == 7.0));
    assert!(result[900..].iter().all(|&value| value == 1.0));
}

#[test]
fn a_kernel_is_launched_in_every_way() {
    let (grid, block) = (dim(8, 1, 1), dim(128, 1, 1));
    saxpy(|arguments| {
        calls! { cudaLaunchKernel(host(&SAXPY), grid, block, arguments, 0, null_mut()); }
    });
    saxpy(|arguments| {
        calls! {
            cudaLaunchCooperativeKernel(host(&SAXPY), grid, block, arguments, 0, null_mut());
        }
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
        calls! { cudaLaunchKernelExC(&config, host(&SAXPY), arguments); }
    });
    // The calls that a compiler emits for `<<<…>>>`.
    saxpy(|arguments| {
        assert_eq!(
            code!(__cudaPushCallConfiguration(grid, block, 0, null_mut())),
            0
        );
        let (mut grid, mut block, mut shared) = (ONE, ONE, 1_usize);
        let mut stream: *mut c_void = null_mut();
        calls! {
            __cudaPopCallConfiguration(
                &mut grid, &mut block, &mut shared, (&raw mut stream).cast()
            );
            cudaLaunchKernel(host(&SAXPY), grid, block, arguments, shared, stream.cast());
        }
    });
    // The calls that older compilers emitted.
    saxpy(|arguments| {
        calls! { cudaConfigureCall(grid, block, 0, null_mut()); }
        for (i, (bytes, offset)) in [(8, 0), (8, 8), (4, 16)].into_iter().enumerate() {
            // SAFETY: saxpy has three arguments.
            let argument = unsafe { *arguments.add(i) };
            calls! { cudaSetupArgument(argument, bytes, offset); }
        }
        calls! { cudaLaunch(host(&SAXPY)); }
    });
}

#[test]
fn invalid_launches_are_rejected() {
    start();
    let launch = |kernel, grid, block, shared| {
        code!(cudaLaunchKernel(
            kernel,
            grid,
            block,
            null_mut(),
            shared,
            null_mut()
        ))
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
        // Runtimes before CUDA 13 return `cudaErrorInvalidConfiguration`.
        fails(launch(empty, grid, block, 0), "cudaErrorInvalidValue");
    }
    fails(launch(empty, ONE, ONE, 1 << 20), "cudaErrorInvalidValue");
    fails(launch(empty, ONE, ONE, 1 << 40), "cudaErrorInvalidValue");
    for unknown in [null(), host(&UNREGISTERED), host(&NOT_IN_IMAGE)] {
        let launched = launch(unknown, ONE, ONE, 0);
        fails(launched, "cudaErrorInvalidDeviceFunction");
    }
    ok(launch(empty, ONE, ONE, 0));
    calls! { cudaLaunch(empty) => "cudaErrorMissingConfiguration"; }
    let (mut grid, mut block, mut shared) = (ONE, ONE, 0);
    let mut stream: *mut c_void = null_mut();
    calls! {
        __cudaPopCallConfiguration(&mut grid, &mut block, &mut shared, (&raw mut stream).cast())
            => "cudaErrorMissingConfiguration";
    }
}

#[test]
fn a_kernel_reports_its_attributes() {
    start();
    let mut attributes = FunctionAttributes::default();
    let mut name = null();
    let mut function = null_mut();
    calls! { cudaFuncGetAttributes(&mut attributes, host(&SAXPY)); }
    assert_eq!(
        (attributes.ptx_version, attributes.binary_version),
        (52, 90)
    );
    assert_eq!(
        (attributes.max_threads_per_block, attributes.shared_size),
        (1024, 0)
    );
    assert!(attributes.registers > 0);
    calls! {
        cudaFuncSetAttribute(host(&SAXPY), 8, 100_000);
        cudaFuncGetAttributes(&mut attributes, host(&SAXPY));
    }
    assert_eq!(attributes.max_dynamic_shared_size, 100_000);
    calls! {
        cudaFuncSetAttribute(host(&SAXPY), 8, 0);
        cudaFuncSetAttribute(host(&SAXPY), 8, 1 << 20) => "cudaErrorInvalidValue";
        cudaFuncSetCacheConfig(host(&SAXPY), 1);
        cudaFuncSetSharedMemConfig(host(&SAXPY), 1);
        cudaFuncGetName(&mut name, host(&SAXPY));
    }
    // SAFETY: the name is a C string that lives as long as the program.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"saxpy");
    calls! { cudaGetFuncBySymbol(&mut function, host(&SAXPY)); }
    assert!(!function.is_null());
    calls! {
        cudaFuncGetAttributes(&mut attributes, host(&UNREGISTERED))
            => "cudaErrorInvalidDeviceFunction";
    }
}

#[test]
fn occupancy_counts_resident_blocks() {
    start();
    let kernel = host(&EMPTY);
    let blocks = get::<c_int>(|to| {
        code!(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            to, kernel, 128, 0
        ))
    });
    assert_eq!(blocks, 16);
    let with_flags = get::<c_int>(|to| {
        code!(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            to, kernel, 128, 0, 1
        ))
    });
    assert_eq!(with_flags, blocks);
    let shared = get::<usize>(|to| {
        code!(cudaOccupancyAvailableDynamicSMemPerBlock(
            to, kernel, 2, 128
        ))
    });
    assert!(shared >= 48 << 10, "{shared}");
    let mut blocks = 0;
    calls! {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel, 0, 0)
            => "cudaErrorInvalidValue";
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
        code!(cudaLaunchKernel(
            kernel,
            ONE,
            ONE,
            null_mut(),
            0,
            null_mut()
        ))
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
    code!(__cudaUnregisterFatBinary(handle));
    fails(launch(host(&INVALID_PTX)), "cudaErrorInvalidDeviceFunction");
}
