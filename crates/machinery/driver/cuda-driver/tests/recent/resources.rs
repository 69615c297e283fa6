//! Green contexts, mipmapped arrays, and attributes of core dumps.

use std::ptr::null_mut;

use cuda_driver::types::{CU_AD_FORMAT_UNSIGNED_INT8, CUDA_ARRAY3D_DESCRIPTOR, CUdevResource};

use super::*;

#[test]
fn green_contexts_run_kernels_on_part_of_a_device() {
    let _context = OwnContext::new();
    let unset = CUdevResource {
        kind: 0,
        reserved: [0; 23],
        sms: [0; 3],
        unused: [0; 9],
    };
    let (mut all, mut parts, mut rest) = (unset, [unset; 2], unset);
    let mut count = 2;
    calls! {
        cuDeviceGetDevResource(0, &mut all, 1);
        cuDeviceGetDevResource(0, &mut rest, 9) => 914;
        cuDevSmResourceSplitByCount(parts.as_mut_ptr(), &mut count, &all, &mut rest, 0, 60);
    }
    assert_eq!((all.sms[0], count), (132, 2));
    assert_eq!([parts[0].sms[0], parts[1].sms[0], rest.sms[0]], [64, 64, 4]);
    let (mut description, mut green, mut context) = (null_mut(), null_mut(), null_mut());
    let (mut stream, mut found) = (null_mut(), null_mut());
    calls! {
        cuDevSmResourceSplitByCount(null_mut(), &mut count, &all, null_mut(), 0, 200) => 915;
        cuDevResourceGenerateDesc(&mut description, parts.as_mut_ptr(), 1);
        cuGreenCtxCreate(&mut green, description, 0, 0) => INVALID_VALUE;
        cuGreenCtxCreate(&mut green, description, 0, 1);
        cuGreenCtxGetDevResource(green, &mut rest, 1);
        cuCtxFromGreenCtx(&mut context, green);
        cuGreenCtxStreamCreate(&mut stream, green, 0, 0) => INVALID_VALUE;
        cuGreenCtxStreamCreate(&mut stream, green, 1, 0);
        cuStreamGetGreenCtx(stream, &mut found);
        cuStreamSynchronize(stream);
        cuStreamGetGreenCtx(null_mut(), &mut context.cast());
    }
    assert_eq!((rest.sms[0], found), (64, green));
    calls! {
        cuStreamDestroy_v2(stream);
        cuGreenCtxDestroy(green);
        cuGreenCtxDestroy(green) => INVALID_CONTEXT;
    }
}

#[test]
fn levels_of_mipmapped_arrays_are_arrays() {
    let _context = OwnContext::new();
    let shape = CUDA_ARRAY3D_DESCRIPTOR {
        Width: 16,
        Height: 8,
        Depth: 0,
        Format: CU_AD_FORMAT_UNSIGNED_INT8,
        NumChannels: 1,
        Flags: 0,
    };
    let (mut mipmap, mut level, mut found) = (null_mut(), null_mut(), shape);
    let (bytes, mut copied) = ([1_u8, 2, 3, 4], [0_u8; 4]);
    calls! {
        cuMipmappedArrayCreate(&mut mipmap, &shape, 9);
        cuMipmappedArrayGetLevel(&mut level, mipmap, 5) => INVALID_VALUE;
        cuMipmappedArrayGetLevel(&mut level, mipmap, 2);
        cuArray3DGetDescriptor_v2(&mut found, level);
        cuMemcpyHtoA_v2(level, 0, bytes.as_ptr().cast(), 4);
        cuArrayDestroy(level);
        cuMemcpyAtoH_v2(copied.as_mut_ptr().cast(), level, 0, 4);
        cuMipmappedArrayDestroy(mipmap);
        cuMipmappedArrayDestroy(mipmap) => INVALID_HANDLE;
        cuArray3DGetDescriptor_v2(&mut found, level) => INVALID_HANDLE;
    }
    assert_eq!((found.Width, found.Height, found.Depth), (4, 2, 0));
    assert_eq!(copied, bytes);
}

#[test]
fn attributes_of_core_dumps_are_stored() {
    let _context = OwnContext::new();
    let (mut size, mut flag, mut text) = (1, 9_u8, [0_u8; 64]);
    calls! {
        cuCoredumpGetAttribute(3, (&raw mut flag).cast(), &mut size);
        cuCoredumpGetAttribute(99, (&raw mut flag).cast(), &mut size) => INVALID_VALUE;
    }
    assert_eq!(flag, 0);
    flag = 1;
    calls! {
        cuCoredumpSetAttribute(3, (&raw mut flag).cast(), &mut size);
        cuCoredumpGetAttribute(3, (&raw mut flag).cast(), &mut size);
        cuCoredumpGetAttributeGlobal(3, text.as_mut_ptr().cast(), &mut size);
    }
    assert_eq!((flag, text[0]), (1, 0));
    size = 4;
    let name = c"abc".as_ptr().cast_mut().cast();
    calls! {
        cuCoredumpSetAttribute(5, name, &mut size);
        cuCoredumpGetAttribute(5, text.as_mut_ptr().cast(), &mut size);
        cuCoredumpGetAttribute(5, null_mut(), &mut size);
    }
    assert_eq!((&text[..4], size), (&b"abc\0"[..], 4));
}
