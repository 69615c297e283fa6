//! A machine with several devices, each with its own memory and contexts, configured by `CUDA_SIM_DEVICES`.
//! The tests call the exported C functions.

#[macro_use]
mod support;

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use cuda_driver::types::graph::KernelNodeParams;
use cuda_driver::types::{
    CUDA_MEMCPY3D_PEER, CUcontext, CUdeviceptr, CUfunction, CUgraphNode, CUmemAccessDesc,
    CUmemAllocationProp, CUmemLocation, CUmemoryPool, CUuuid,
};
use support::{DEVICE, read, zeroed};

/// A kernel that copies a word from `from` to `to`.
const COPY: &CStr = c"
.version 6.4
.target sm_52
.address_size 64
.visible .entry copy(.param .u64 to, .param .u64 from)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [to];
    ld.param.u64 %d2, [from];
    ld.global.u32 %r1, [%d2];
    st.global.u32 [%d1], %r1;
    ret;
}";

const DEVICES: c_int = 3;
const MEMORY: usize = 1 << 20;

/// The contexts of a test, which has the machine to itself while this value lives.
struct Machine {
    contexts: Vec<CUcontext>,
    _alone: MutexGuard<'static, ()>,
}

impl Machine {
    /// Creates a context on each device and makes the first one current.
    fn new() -> Self {
        static FORCED: Once = Once::new();
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `support::start`.
        FORCED.call_once(|| unsafe { std::env::set_var("CUDA_SIM_DEVICES", DEVICES.to_string()) });
        support::start();
        let create = |device| {
            let mut context = null_mut();
            calls! { cuCtxCreate_v2(&mut context, 0, device); }
            context
        };
        let added = Self {
            contexts: (0..DEVICES).map(create).collect(),
            _alone: alone,
        };
        added.make_current(0);
        added
    }

    /// Makes the context of a device current.
    fn make_current(&self, device: usize) {
        calls! { cuCtxSetCurrent(self.contexts[device]); }
    }

    /// Loads the kernel into the current context.
    fn kernel(&self) -> CUfunction {
        support::function(support::module(COPY), c"copy")
    }

    /// Copies a word with a kernel on the current device, and waits. Returns the driver's result.
    fn copy(&self, to: CUdeviceptr, from: CUdeviceptr) -> c_int {
        support::ok(support::launch(
            self.kernel(),
            [1, 1],
            null_mut(),
            &[to, from],
        ));
        code!(cuCtxSynchronize())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for &context in &self.contexts {
            calls! { cuCtxDestroy_v2(context); }
        }
    }
}

/// Allocates memory on the current device, and stores a number there.
fn allocate_word(value: u32) -> CUdeviceptr {
    let address = support::allocate(MEMORY);
    calls! { cuMemsetD32_v2(address, value, MEMORY / 4); }
    address
}

/// Returns the device of an address.
fn device_of(address: CUdeviceptr) -> c_int {
    let mut device = -1;
    calls! { cuPointerGetAttribute((&raw mut device).cast(), 9, address); }
    device
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    calls! { cuMemGetInfo_v2(&mut free, &mut total); }
    free
}

#[test]
fn devices_have_distinct_names() {
    let _machine = Machine::new();
    let mut count = 0;
    let (mut uuids, mut places, mut buses) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    calls! { cuDeviceGetCount(&mut count); }
    assert_eq!(count, DEVICES);
    for ordinal in 0..DEVICES {
        let (mut device, mut uuid, mut bus) = (-1, CUuuid { bytes: [0; 16] }, -1);
        calls! {
            cuDeviceGet(&mut device, ordinal);
            cuDeviceGetUuid(&mut uuid, device);
        }
        uuids.insert(uuid.bytes);
        let mut bus_id = [0 as c_char; 16];
        calls! { cuDeviceGetPCIBusId(bus_id.as_mut_ptr(), 16, device); }
        let mut actual = -1;
        calls! { cuDeviceGetByPCIBusId(&mut actual, bus_id.as_ptr()); }
        assert_eq!(actual, device);
        places.insert(bus_id);
        calls! { cuDeviceGetAttribute(&mut bus, 33, device); }
        buses.insert(bus);
    }
    let mut device = 0;
    calls! {
        cuDeviceGet(&mut device, DEVICES) => 101;
        cuDeviceGet(&mut device, -1) => 101;
    }
    let nowhere = c"0000:07:00.0";
    calls! { cuDeviceGetByPCIBusId(&mut device, nowhere.as_ptr()) => 101; }
    let mut context = null_mut();
    calls! { cuCtxCreate_v2(&mut context, 0, DEVICES) => 101; }
    let all = DEVICES as usize;
    assert_eq!([uuids.len(), places.len(), buses.len()], [all; 3]);
}

#[test]
fn devices_have_separate_primary_contexts() {
    let _machine = Machine::new();
    let mut contexts = [null_mut(); 2];
    for (device, context) in (1..).zip(&mut contexts) {
        calls! {
            cuDevicePrimaryCtxRetain(context, device);
            cuCtxSetCurrent(*context);
        }
        let mut actual = -1;
        calls! { cuCtxGetDevice(&mut actual); }
        assert_eq!(actual, device);
    }
    assert_ne!(contexts[0], contexts[1]);
    calls! {
        cuDevicePrimaryCtxRelease_v2(1);
        cuDevicePrimaryCtxRelease_v2(1) => 201;
    }
    let (mut flags, mut active) = (0, -1);
    for (device, expected) in [(1, 0), (2, 1)] {
        let code = code!(cuDevicePrimaryCtxGetState(device, &mut flags, &mut active));
        assert_eq!((code, active), (0, expected), "device {device}");
    }
    calls! { cuDevicePrimaryCtxRelease_v2(2); }
}

#[test]
fn memory_belongs_to_one_device() {
    let machine = Machine::new();
    let before: Vec<_> = (0..3)
        .map(|device| {
            machine.make_current(device);
            free_bytes()
        })
        .collect();
    machine.make_current(1);
    let address = allocate_word(5);
    assert_eq!(device_of(address), 1);
    for (device, before) in before.into_iter().enumerate() {
        machine.make_current(device);
        let taken = if device == 1 { MEMORY } else { 0 };
        assert_eq!(free_bytes(), before - taken, "device {device}");
    }
}

#[test]
fn peer_access_allows_kernels_to_use_peer_memory() {
    let machine = Machine::new();
    let to = allocate_word(0);
    machine.make_current(1);
    let from = allocate_word(7);
    machine.make_current(0);
    let peer = machine.contexts[1];
    let mut can = 0;
    calls! { cuDeviceCanAccessPeer(&mut can, 0, 1); }
    assert_eq!(can, 1);
    calls! { cuDeviceCanAccessPeer(&mut can, 1, 1); }
    assert_eq!(can, 0);
    calls! { cuDeviceGetP2PAttribute(&mut can, 2, 0, 1); }
    assert_eq!(can, 1);
    calls! {
        cuDeviceGetP2PAttribute(&mut can, 2, 1, 1) => 101;
        cuCtxDisablePeerAccess(peer) => 705;
        cuCtxEnablePeerAccess(machine.contexts[0], 0) => 217;
        cuCtxEnablePeerAccess(peer, 0);
        cuCtxEnablePeerAccess(peer, 0) => 704;
    }
    assert_eq!(machine.copy(to, from), 0);
    assert_eq!(read::<u32>(to), 7);
    // Access in the opposite direction was not enabled.
    machine.make_current(1);
    assert_eq!(machine.copy(to, from), 700);
    machine.make_current(0);
    calls! { cuCtxDisablePeerAccess(peer); }
    assert_eq!(machine.copy(to, from), 700);
}

/// tinygrad builds such a graph from its operations on all devices.
#[test]
fn graphs_run_kernels_on_several_devices() {
    let machine = Machine::new();
    let (mut graph, mut exec) = (null_mut(), null_mut());
    calls! { cuGraphCreate(&mut graph, 0); }
    let mut before: CUgraphNode = null_mut();
    let copies = [2, 0, 1].map(|device| {
        machine.make_current(device);
        let (mut to, mut from) = (allocate_word(0), allocate_word(7 + device as u32));
        let mut words = [&raw mut to, &raw mut from].map(<*mut u64>::cast::<c_void>);
        let params = KernelNodeParams {
            func: machine.kernel(),
            grid: [1; 3],
            block: [1; 3],
            shared_mem_bytes: 0,
            kernel_params: words.as_mut_ptr(),
            extra: null_mut(),
            kern: null_mut(),
            ctx: null_mut(),
        };
        let (after, count) = (before, usize::from(!before.is_null()));
        calls! { cuGraphAddKernelNode_v2(&mut before, graph, &after, count, &params); }
        (device, to)
    });
    machine.make_current(1);
    calls! {
        cuGraphInstantiateWithFlags(&mut exec, graph, 0);
        cuGraphLaunch(exec, null_mut());
        cuCtxSynchronize();
    }
    for (device, to) in copies {
        machine.make_current(device);
        assert_eq!(read::<u32>(to), 7 + device as u32);
    }
    calls! {
        cuGraphExecDestroy(exec);
        cuGraphDestroy(graph);
    }
}

#[test]
fn managed_and_host_memory_are_shared_by_all_devices() {
    let machine = Machine::new();
    let (mut managed, host) = (0, support::allocate_host::<u32>(4));
    calls! { cuMemAllocManaged(&mut managed, 4, 1); }
    // SAFETY: the host can access the allocation.
    unsafe { host.write(9) };
    machine.make_current(2);
    assert_eq!(machine.copy(managed, host as u64), 0);
    // SAFETY: the host can access managed memory.
    assert_eq!(unsafe { (managed as *const u32).read() }, 9);
}

#[test]
fn copies_between_devices_need_no_peer_access() {
    let machine = Machine::new();
    let to = allocate_word(0);
    machine.make_current(2);
    let from = allocate_word(11);
    let [first, _, third] = machine.contexts[..] else {
        panic!("three contexts")
    };
    calls! { cuMemcpyPeer(to, first, from, third, 4); }
    assert_eq!([read::<u32>(to), read::<u32>(to + 4)], [11, 0]);
    calls! { cuMemcpyDtoD_v2(to + 4, from, 4); }
    let make_current = null_mut();
    calls! { cuMemcpyPeerAsync(to + 8, first, from, third, 4, make_current); }
    let mut copy = CUDA_MEMCPY3D_PEER {
        srcMemoryType: DEVICE,
        srcDevice: from,
        srcContext: third,
        dstMemoryType: DEVICE,
        dstDevice: to + 12,
        dstContext: first,
        WidthInBytes: 4,
        Height: 1,
        Depth: 1,
        ..zeroed()
    };
    calls! { cuMemcpy3DPeer(&copy); }
    copy.dstDevice = to + 16;
    calls! { cuMemcpy3DPeerAsync(&copy, make_current); }
    copy.dstContext = null_mut();
    calls! { cuMemcpy3DPeer(&copy); }
    let copied: Vec<_> = (0..6).map(|i| read::<u32>(to + 4 * i)).collect();
    assert_eq!(copied, [11, 11, 11, 11, 11, 0]);
}

#[test]
fn pools_have_their_own_access_rights() {
    let machine = Machine::new();
    let (mut pools, mut of_pool) = ([null_mut(); 2], 0);
    let stream = null_mut();
    for (device, pool) in (0..).zip(&mut pools) {
        calls! { cuDeviceGetDefaultMemPool(pool, device); }
    }
    assert_ne!(pools[0], pools[1]);
    calls! { cuDeviceSetMemPool(0, pools[1]) => 1, "another device's pool"; }
    machine.make_current(1);
    calls! {
        cuMemAllocAsync(&mut of_pool, MEMORY, stream);
        cuMemsetD32_v2(of_pool, 13, 1);
    }
    assert_eq!(device_of(of_pool), 1);
    machine.make_current(0);
    let to = allocate_word(0);
    assert_eq!(access_rights(0, pools[1]), 0);
    grant_pool_access(pools[1], 0);
    assert_eq!(access_rights(0, pools[1]), 3);
    assert_eq!(machine.copy(to, of_pool), 0);
    assert_eq!(read::<u32>(to), 13);
    // Peer access to the device does not extend to a pool.
    machine.make_current(2);
    calls! { cuCtxEnablePeerAccess(machine.contexts[1], 0); }
    let allocation = allocate_word(0);
    assert_eq!(machine.copy(allocation, of_pool), 700);
}

/// Returns a device's access rights to a pool.
fn access_rights(device: c_int, pool: CUmemoryPool) -> c_int {
    let mut flags = -1;
    let mut at = CUmemLocation {
        kind: 1,
        id: device,
    };
    calls! { cuMemPoolGetAccess(&mut flags, pool, (&raw mut at).cast()); }
    flags
}

/// Grants a device read and write access to a pool.
fn grant_pool_access(pool: CUmemoryPool, device: c_int) {
    let access = read_write_access(device);
    calls! { cuMemPoolSetAccess(pool, (&raw const access).cast(), 1); }
}

fn read_write_access(device: c_int) -> CUmemAccessDesc {
    CUmemAccessDesc {
        location: CUmemLocation {
            kind: 1,
            id: device,
        },
        flags: 3,
    }
}

#[test]
fn mapped_memory_is_accessible_to_listed_devices() {
    let machine = Machine::new();
    let size = 2 << 20;
    let params = CUmemAllocationProp {
        kind: 1,
        shared: 0,
        location: CUmemLocation { kind: 1, id: 1 },
        windows: null_mut(),
        flags: [0; 8],
    };
    let (mut handle, mut range, mut actual) = (0, 0, params);
    machine.make_current(1);
    let before = free_bytes();
    calls! { cuMemCreate(&mut handle, size, &params, 0); }
    assert_eq!(free_bytes(), before - size);
    actual.location.id = -1;
    calls! { cuMemGetAllocationPropertiesFromHandle(&mut actual, handle); }
    assert_eq!(actual.location.id, 1);
    calls! {
        cuMemAddressReserve(&mut range, size, 0, 0, 0);
        cuMemMap(range, size, 0, handle, 0);
    }
    let list = [0, 1].map(read_write_access);
    calls! {
        cuMemSetAccess(range, size, list.as_ptr(), 2);
        cuMemsetD32_v2(range, 17, 1);
    }
    assert_eq!(device_of(range), 1);
    machine.make_current(0);
    let to = allocate_word(0);
    assert_eq!(machine.copy(to, range), 0);
    assert_eq!(read::<u32>(to), 17);
    machine.make_current(2);
    let allocation = allocate_word(0);
    assert_eq!(machine.copy(allocation, range), 700);
    machine.make_current(1);
    calls! {
        cuMemUnmap(range, size);
        cuMemRelease(handle);
        cuMemAddressFree(range, size);
    }
    assert_eq!(free_bytes(), before);
}

#[test]
fn streams_wait_for_events_of_other_devices() {
    let machine = Machine::new();
    let (mut producer, mut consumer, mut event) = (null_mut(), null_mut(), null_mut());
    calls! {
        cuStreamCreate(&mut producer, 1);
        cuEventCreate(&mut event, 0);
    }
    let from = allocate_word(1);
    machine.make_current(1);
    let to = allocate_word(2);
    calls! {
        cuStreamCreate(&mut consumer, 1);
        // An event is recorded on its own device, and can be waited for on any.
        cuEventRecord(event, consumer) => 400;
        cuMemsetD32Async(from, 19, 1, producer);
        cuEventRecord(event, producer);
        cuStreamWaitEvent(consumer, event, 0);
        cuMemcpyDtoDAsync_v2(to, from, 4, consumer);
        cuStreamSynchronize(consumer);
    }
    assert_eq!(read::<u32>(to), 19);
}
