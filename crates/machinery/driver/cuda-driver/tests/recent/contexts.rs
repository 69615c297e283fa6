//! Creation and queries of contexts as of CUDA 11.4 to 13, and of the device.

use std::ptr::{null, null_mut};

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
    calls! {
        cuCtxCreate_v3(&mut context, null(), 0, 0, 0);
        cuCtxDestroy_v2(context);
        cuCtxCreate_v3(&mut context, &affinity, 1, 0, 0) => UNSUPPORTED_AFFINITY;
        cuCtxCreate_v4(&mut context, null(), 0, 0);
        cuCtxDestroy(context);
    }
    let plain = parameters(0, null());
    calls! {
        cuCtxCreate_v4(&mut context, &plain, 0x80, 0);
        cuCtxDestroy_v2(context);
    }
    let limited = parameters(1, null());
    calls! { cuCtxCreate_v4(&mut context, &limited, 0, 0) => UNSUPPORTED_AFFINITY; }
    let shared = parameters(0, (&raw const affinity).cast());
    calls! { cuCtxCreate_v4(&mut context, &shared, 0, 0) => NOT_SUPPORTED; }
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
    for (id, context) in ids.iter_mut().zip([first.0, second.0, null_mut()]) {
        calls! { cuCtxGetId(context, id); }
    }
    assert_ne!(ids[0], ids[1]);
    assert_eq!(ids[1], ids[2], "null is the current one");
    calls! {
        cuCtxSetFlags(0x4);
        cuCtxGetFlags(&mut flags);
    }
    assert_eq!(flags, 0x4);
    calls! {
        cuCtxSetFlags(0x3) => INVALID_VALUE;
        cuCtxGetDevice_v2(&mut device, first.0);
    }
    assert_eq!(device, 0);
    calls! {
        cuCtxSynchronize_v2(first.0);
        cuCtxSynchronize_v2(null_mut());
        cuCtxGetExecAffinity(&mut affinity, 0);
    }
    assert_eq!((affinity.kind, affinity.sm_count), (0, 132));
    calls! {
        cuCtxGetExecAffinity(&mut affinity, 1) => UNSUPPORTED_AFFINITY;
        cuCtxResetPersistingL2Cache();
    }
    let unknown = std::ptr::without_provenance_mut(7);
    calls! {
        cuCtxGetId(unknown, &mut ids[0]) => INVALID_CONTEXT;
        cuCtxGetDevice_v2(&mut device, unknown) => INVALID_CONTEXT;
        cuCtxSynchronize_v2(unknown) => INVALID_CONTEXT;
    }
}

#[test]
fn every_limit_can_be_queried() {
    let _context = OwnContext::new();
    let mut value = 0;
    let expected = [
        (0, Ok(1024)),
        (1, Ok(132 << 16)),
        (2, Ok(8 << 20)),
        (3, Err(UNSUPPORTED_LIMIT)),
        (4, Ok(2048)),
        (5, Ok(64)),
        (6, Ok(11_796_480)),
        (9, Err(UNSUPPORTED_LIMIT)),
        (10, Err(INVALID_VALUE)),
    ];
    for (limit, expected) in expected {
        let code = code!(cuCtxGetLimit(&mut value, limit));
        let actual = if code == 0 { Ok(value) } else { Err(code) };
        assert_eq!(actual, expected, "limit {limit}");
        let set = code!(cuCtxSetLimit(limit, 32));
        assert_eq!(set, expected.err().unwrap_or(0), "limit {limit}");
    }
}

#[test]
fn a_single_device_has_no_peers() {
    let first = OwnContext::new();
    let second = OwnContext::new();
    let mut value = 0;
    calls! {
        cuCtxEnablePeerAccess(first.0, 0) => 217;
        cuCtxEnablePeerAccess(first.0, 1) => INVALID_VALUE;
        cuCtxEnablePeerAccess(null_mut(), 0) => INVALID_CONTEXT;
        cuCtxDisablePeerAccess(first.0) => 705;
        cuDeviceGetP2PAttribute(&mut value, 1, 0, 0) => 101;
        cuDeviceGetP2PAttribute(&mut value, 1, 0, 1) => 101;
        cuDeviceGetP2PAttribute(&mut value, 9, 0, 0) => 101;
    }
    let (from, to) = (floats(&[1.0, 2.0]), floats(&[0.0; 2]));
    // Between two contexts of one device, memory is copied nevertheless.
    calls! { cuMemcpyPeer(to, second.0, from, first.0, 8); }
    assert_eq!(read(to, 2), [1.0, 2.0]);
    calls! { cuMemsetD32_v2(to, 0, 2); }
    let stream = null_mut();
    calls! { cuMemcpyPeerAsync(to, second.0, from, first.0, 8, stream); }
    assert_eq!(read(to, 2), [1.0, 2.0]);
    calls! { cuMemcpyPeer(to, null_mut(), from, first.0, 8); }
}

#[test]
fn devices_are_found_by_pci_bus_id() {
    let _context = OwnContext::new();
    let (mut text, mut device) = ([1 as std::ffi::c_char; 32], -1);
    let mut properties = CUdevprop([0; 14]);
    let mut supported = -1;
    calls! {
        cuDeviceGetPCIBusId(text.as_mut_ptr(), 32, 0);
        cuDeviceGetByPCIBusId(&mut device, text.as_ptr());
    }
    assert_eq!(device, 0);
    for bus_id in [c"00:00.0", c"00:00"] {
        calls! { cuDeviceGetByPCIBusId(&mut device, bus_id.as_ptr()); }
    }
    for (other, error) in [
        (c"0000:01:00.0", 101),
        (c"01:00.0", 101),
        (c"1:2", 1),
        (c"", 1),
        (c"nonsense", 1),
    ] {
        calls! { cuDeviceGetByPCIBusId(&mut device, other.as_ptr()) => error; }
    }
    calls! { cuDeviceGetPCIBusId(text.as_mut_ptr(), 5, 0) => INVALID_VALUE; }
    assert_eq!(text[..5], [48, 48, 48, 48, 0], "a truncated string");
    calls! {
        cuDeviceGetPCIBusId(text.as_mut_ptr(), 0, 0) => INVALID_VALUE;
        cuDeviceGetProperties(&mut properties, 0);
    }
    assert_eq!(properties.0[0], 1024);
    assert_eq!(properties.0[9], 32, "threads of a warp");
    calls! { cuDeviceGetExecAffinitySupport(&mut supported, 0, 0); }
    assert_eq!(supported, 0);
}
