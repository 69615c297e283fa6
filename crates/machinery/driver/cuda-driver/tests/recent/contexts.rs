//! Creation and queries of contexts as of CUDA 11.4 to 13, and of the device.

use std::ptr::{null, null_mut};

use cuda_driver::functions::*;
use cuda_driver::types::{CUctxCreateParams, CUdevprop, CUexecAffinityParam};

use super::*;

const UNSUPPORTED_LIMIT: i32 = 215;
const UNSUPPORTED_AFFINITY: i32 = 224;

#[test]
fn every_version_of_context_creation_works() {
    let _first = OwnContext::new();
    let mut context = null_mut();
    let affinity = CUexecAffinityParam {
        kind: 0,
        sm_count: 4,
    };
    let parameters = |affinity_count, graphics| CUctxCreateParams {
        affinities: &affinity,
        affinity_count,
        graphics,
    };
    // SAFETY: `context` is writable.
    unsafe {
        assert_eq!(cuCtxCreate_v3(&mut context, null(), 0, 0, 0), 0);
        assert_eq!(cuCtxDestroy_v2(context), 0);
        let limited = cuCtxCreate_v3(&mut context, &affinity, 1, 0, 0);
        assert_eq!(limited, UNSUPPORTED_AFFINITY);
        assert_eq!(cuCtxCreate_v4(&mut context, null(), 0, 0), 0);
        assert_eq!(cuCtxDestroy(context), 0);
        let plain = parameters(0, null());
        assert_eq!(cuCtxCreate_v4(&mut context, &plain, 0x80, 0), 0);
        assert_eq!(cuCtxDestroy_v2(context), 0);
        let limited = parameters(1, null());
        let limited = cuCtxCreate_v4(&mut context, &limited, 0, 0);
        assert_eq!(limited, UNSUPPORTED_AFFINITY);
        let shared = parameters(0, (&raw const affinity).cast());
        assert_eq!(cuCtxCreate_v4(&mut context, &shared, 0, 0), NOT_SUPPORTED);
    }
}

#[test]
fn contexts_report_id_flags_and_device() {
    let first = OwnContext::new();
    let second = OwnContext::new();
    let (mut ids, mut flags, mut device) = ([0; 3], 0, -1);
    let mut affinity = CUexecAffinityParam {
        kind: -1,
        sm_count: 0,
    };
    // SAFETY: all outputs are writable locals; context handles are looked up, never dereferenced.
    unsafe {
        for (id, context) in ids.iter_mut().zip([first.0, second.0, null_mut()]) {
            assert_eq!(cuCtxGetId(context, id), 0);
        }
        assert_ne!(ids[0], ids[1]);
        assert_eq!(ids[1], ids[2], "null is the current one");
        assert_eq!(cuCtxSetFlags(0x4), 0);
        assert_eq!(cuCtxGetFlags(&mut flags), 0);
        assert_eq!(flags, 0x4);
        assert_eq!(cuCtxSetFlags(0x3), INVALID_VALUE);
        assert_eq!(cuCtxGetDevice_v2(&mut device, first.0), 0);
        assert_eq!(device, 0);
        assert_eq!(cuCtxSynchronize_v2(first.0), 0);
        assert_eq!(cuCtxSynchronize_v2(null_mut()), 0);
        assert_eq!(cuCtxGetExecAffinity(&mut affinity, 0), 0);
        assert_eq!((affinity.kind, affinity.sm_count), (0, 132));
        let other = cuCtxGetExecAffinity(&mut affinity, 1);
        assert_eq!(other, UNSUPPORTED_AFFINITY);
        assert_eq!(cuCtxResetPersistingL2Cache(), 0);
        let unknown = std::ptr::without_provenance_mut(7);
        assert_eq!(cuCtxGetId(unknown, &mut ids[0]), INVALID_CONTEXT);
        assert_eq!(cuCtxGetDevice_v2(&mut device, unknown), INVALID_CONTEXT);
        assert_eq!(cuCtxSynchronize_v2(unknown), INVALID_CONTEXT);
    }
}

#[test]
fn every_limit_can_be_queried() {
    let _context = OwnContext::new();
    let mut value = 0;
    let expected = [
        (0, Ok(1024)),
        (1, Ok(1 << 20)),
        (2, Ok(8 << 20)),
        (3, Err(UNSUPPORTED_LIMIT)),
        (4, Ok(2048)),
        (5, Ok(64)),
        (6, Err(UNSUPPORTED_LIMIT)),
        (9, Err(UNSUPPORTED_LIMIT)),
        (10, Err(INVALID_VALUE)),
    ];
    for (limit, expected) in expected {
        // SAFETY: `value` is writable.
        let code = unsafe { cuCtxGetLimit(&mut value, limit) };
        let actual = if code == 0 { Ok(value) } else { Err(code) };
        assert_eq!(actual, expected, "limit {limit}");
        // SAFETY: `cuCtxSetLimit` takes no pointers.
        let set = unsafe { cuCtxSetLimit(limit, 32) };
        assert_eq!(set, expected.err().unwrap_or(0), "limit {limit}");
    }
}

#[test]
fn a_single_device_has_no_peers() {
    let first = OwnContext::new();
    let second = OwnContext::new();
    let mut value = 0;
    // SAFETY: `value` is writable; handles and addresses are looked up by the driver, never dereferenced.
    unsafe {
        assert_eq!(cuCtxEnablePeerAccess(first.0, 0), 217);
        assert_eq!(cuCtxEnablePeerAccess(first.0, 1), INVALID_VALUE);
        assert_eq!(cuCtxEnablePeerAccess(null_mut(), 0), INVALID_CONTEXT);
        assert_eq!(cuCtxDisablePeerAccess(first.0), 705);
        assert_eq!(cuDeviceGetP2PAttribute(&mut value, 1, 0, 0), 101);
        assert_eq!(cuDeviceGetP2PAttribute(&mut value, 1, 0, 1), 101);
        assert_eq!(cuDeviceGetP2PAttribute(&mut value, 9, 0, 0), INVALID_VALUE);
        let (from, to) = (floats(&[1.0, 2.0]), floats(&[0.0; 2]));
        // Between two contexts of one device, memory is copied nevertheless.
        assert_eq!(cuMemcpyPeer(to, second.0, from, first.0, 8), 0);
        assert_eq!(read(to, 2), [1.0, 2.0]);
        assert_eq!(cuMemsetD32_v2(to, 0, 2), 0);
        let stream = null_mut();
        assert_eq!(cuMemcpyPeerAsync(to, second.0, from, first.0, 8, stream), 0);
        assert_eq!(read(to, 2), [1.0, 2.0]);
        let status = cuMemcpyPeer(to, null_mut(), from, first.0, 8);
        assert_eq!(status, INVALID_CONTEXT);
    }
}

#[test]
fn devices_are_found_by_pci_bus_id() {
    let _context = OwnContext::new();
    let (mut text, mut device) = ([1 as std::ffi::c_char; 32], -1);
    let mut properties = CUdevprop([0; 14]);
    let mut supported = -1;
    // SAFETY: the buffers have the lengths passed, and the strings are NUL-terminated.
    unsafe {
        assert_eq!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 32, 0), 0);
        assert_eq!(cuDeviceGetByPCIBusId(&mut device, text.as_ptr()), 0);
        assert_eq!(device, 0);
        for bus_id in [c"00:00.0", c"00:00"] {
            assert_eq!(cuDeviceGetByPCIBusId(&mut device, bus_id.as_ptr()), 0);
        }
        for other in [c"0000:01:00.0", c"", c"nonsense"] {
            assert_eq!(cuDeviceGetByPCIBusId(&mut device, other.as_ptr()), 101);
        }
        assert_eq!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 5, 0), 0);
        assert_eq!(text[..5], [48, 48, 48, 48, 0], "a truncated string");
        assert_eq!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 0, 0), INVALID_VALUE);
        assert_eq!(cuDeviceGetProperties(&mut properties, 0), 0);
        assert_eq!(properties.0[0], 1024);
        assert_eq!(properties.0[9], 32, "threads of a warp");
        assert_eq!(cuDeviceGetExecAffinitySupport(&mut supported, 0, 0), 0);
        assert_eq!(supported, 0);
    }
}
