//! A machine with several devices, each with its own memory and contexts, configured by `CUDA_SIM_DEVICES`.
//! The tests call the exported C functions.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use cuda_driver::functions::*;
use cuda_driver::types::graph::KernelNodeParams;
use cuda_driver::types::{CUmemAccessDesc, CUmemAllocationProp, CUmemLocation};
use cust::sys::{CUcontext, CUdeviceptr, CUfunction, CUgraphNode, CUmemoryPool, CUuuid};

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
        // SAFETY: set before any driver call, and only the driver reads it; Rust's own reading of the
        // environment takes a lock.
        FORCED.call_once(|| unsafe {
            std::env::set_var("CUDA_BACKEND", "sim");
            std::env::set_var("CUDA_SIM_DEVICES", DEVICES.to_string());
        });
        let create = |device| {
            let mut context = null_mut();
            // SAFETY: `context` is writable.
            unsafe {
                assert_eq!(cuInit(0), 0);
                assert_eq!(cuCtxCreate_v2(&mut context, 0, device), 0);
            }
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
        // SAFETY: `cuCtxSetCurrent` takes no pointers.
        assert_eq!(unsafe { cuCtxSetCurrent(self.contexts[device]) }, 0);
    }

    /// Loads the kernel into the current context.
    fn kernel(&self) -> CUfunction {
        let (mut module, mut kernel) = (null_mut(), null_mut());
        // SAFETY: the PTX is NUL-terminated, and the outputs are writable.
        unsafe {
            assert_eq!(cuModuleLoadData(&mut module, COPY.as_ptr().cast()), 0);
            let actual = cuModuleGetFunction(&mut kernel, module, c"copy".as_ptr());
            assert_eq!(actual, 0);
        }
        kernel
    }

    /// Copies a word with a kernel on the current device, and waits. Returns the driver's result.
    fn copy(&self, mut to: CUdeviceptr, mut from: CUdeviceptr) -> c_int {
        let kernel = self.kernel();
        let mut words = [&raw mut to, &raw mut from].map(<*mut u64>::cast::<c_void>);
        // SAFETY: the parameter list matches the kernel's signature.
        unsafe {
            let (none, words) = (null_mut(), words.as_mut_ptr());
            let launched = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, null_mut(), words, none);
            assert_eq!(launched, 0);
            cuCtxSynchronize()
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for &context in &self.contexts {
            // SAFETY: `context` is an opaque handle that the driver looks up, never dereferences.
            assert_eq!(unsafe { cuCtxDestroy_v2(context) }, 0);
        }
    }
}

/// Allocates memory on the current device, and stores a number there.
fn allocate_word(value: u32) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: `address` is writable.
    unsafe {
        assert_eq!(cuMemAlloc_v2(&mut address, MEMORY), 0);
        assert_eq!(cuMemsetD32_v2(address, value, MEMORY / 4), 0);
    }
    address
}

/// Returns the number at an address.
fn read_word(address: CUdeviceptr) -> u32 {
    let mut word = 0_u32;
    // SAFETY: `word` is writable; `address` is a device address that the driver looks up.
    let code = unsafe { cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) };
    assert_eq!(code, 0);
    word
}

/// Returns the device of an address.
fn device_of(address: CUdeviceptr) -> c_int {
    let mut device = -1;
    // SAFETY: the attribute's value is an `int`, and `ordinal` is writable.
    let code = unsafe { cuPointerGetAttribute((&raw mut device).cast(), 9, address) };
    assert_eq!(code, 0);
    device
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    // SAFETY: `free` and `total` are writable.
    assert_eq!(unsafe { cuMemGetInfo_v2(&mut free, &mut total) }, 0);
    free
}

#[test]
fn devices_have_distinct_names() {
    let _machine = Machine::new();
    let mut count = 0;
    let (mut uuids, mut places, mut buses) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // SAFETY: all outputs are writable locals; `nowhere` is an opaque handle that the driver looks up, never
    // dereferences.
    unsafe {
        assert_eq!(cuDeviceGetCount(&mut count), 0);
        assert_eq!(count, DEVICES);
        for ordinal in 0..DEVICES {
            let (mut device, mut uuid, mut bus) = (-1, CUuuid { bytes: [0; 16] }, -1);
            assert_eq!(cuDeviceGet(&mut device, ordinal), 0);
            assert_eq!(cuDeviceGetUuid(&mut uuid, device), 0);
            uuids.insert(uuid.bytes);
            let mut bus_id = [0 as c_char; 16];
            assert_eq!(cuDeviceGetPCIBusId(bus_id.as_mut_ptr(), 16, device), 0);
            let mut actual = -1;
            assert_eq!(cuDeviceGetByPCIBusId(&mut actual, bus_id.as_ptr()), 0);
            assert_eq!(actual, device);
            places.insert(bus_id);
            assert_eq!(cuDeviceGetAttribute(&mut bus, 33, device), 0);
            buses.insert(bus);
        }
        let mut device = 0;
        assert_eq!(cuDeviceGet(&mut device, DEVICES), 101);
        assert_eq!(cuDeviceGet(&mut device, -1), 101);
        let nowhere = c"0000:07:00.0";
        assert_eq!(cuDeviceGetByPCIBusId(&mut device, nowhere.as_ptr()), 101);
        let mut context = null_mut();
        assert_eq!(cuCtxCreate_v2(&mut context, 0, DEVICES), 101);
    }
    let all = DEVICES as usize;
    assert_eq!([uuids.len(), places.len(), buses.len()], [all; 3]);
}

#[test]
fn devices_have_separate_primary_contexts() {
    let _machine = Machine::new();
    let mut contexts = [null_mut(); 2];
    // SAFETY: all outputs are writable locals; `context` is an opaque handle that the driver looks up, never
    // dereferences.
    unsafe {
        for (device, context) in (1..).zip(&mut contexts) {
            assert_eq!(cuDevicePrimaryCtxRetain(context, device), 0);
            assert_eq!(cuCtxSetCurrent(*context), 0);
            let mut actual = -1;
            assert_eq!(cuCtxGetDevice(&mut actual), 0);
            assert_eq!(actual, device);
        }
        assert_ne!(contexts[0], contexts[1]);
        assert_eq!(cuDevicePrimaryCtxRelease_v2(1), 0);
        assert_eq!(cuDevicePrimaryCtxRelease_v2(1), 201);
        let (mut flags, mut active) = (0, -1);
        for (device, expected) in [(1, 0), (2, 1)] {
            let code = cuDevicePrimaryCtxGetState(device, &mut flags, &mut active);
            assert_eq!((code, active), (0, expected), "device {device}");
        }
        assert_eq!(cuDevicePrimaryCtxRelease_v2(2), 0);
    }
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
    // SAFETY: `can` is writable; `machine` is an opaque handle that the driver looks up, never dereferences.
    unsafe {
        assert_eq!(cuDeviceCanAccessPeer(&mut can, 0, 1), 0);
        assert_eq!(can, 1);
        assert_eq!(cuDeviceCanAccessPeer(&mut can, 1, 1), 0);
        assert_eq!(can, 0);
        assert_eq!(cuDeviceGetP2PAttribute(&mut can, 2, 0, 1), 0);
        assert_eq!(can, 1);
        assert_eq!(cuDeviceGetP2PAttribute(&mut can, 2, 1, 1), 101);
        assert_eq!(cuCtxDisablePeerAccess(peer), 705);
        assert_eq!(cuCtxEnablePeerAccess(machine.contexts[0], 0), 217);
        assert_eq!(cuCtxEnablePeerAccess(peer, 0), 0);
        assert_eq!(cuCtxEnablePeerAccess(peer, 0), 704);
    }
    assert_eq!(machine.copy(to, from), 0);
    assert_eq!(read_word(to), 7);
    // Access in the opposite direction was not enabled.
    machine.make_current(1);
    assert_eq!(machine.copy(to, from), 700);
    machine.make_current(0);
    // SAFETY: `cuCtxDisablePeerAccess` takes no pointers.
    assert_eq!(unsafe { cuCtxDisablePeerAccess(peer) }, 0);
    assert_eq!(machine.copy(to, from), 700);
}

/// tinygrad builds such a graph from its operations on all devices.
#[test]
fn graphs_run_kernels_on_several_devices() {
    let machine = Machine::new();
    let (mut graph, mut exec) = (null_mut(), null_mut());
    // SAFETY: `graph` is writable.
    assert_eq!(unsafe { cuGraphCreate(&mut graph, 0) }, 0);
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
        // SAFETY: `before` is writable; `graph` is an opaque handle that the driver looks up, never
        // dereferences.
        let added = unsafe { cuGraphAddKernelNode_v2(&mut before, graph, &after, count, &params) };
        assert_eq!(added, 0);
        (device, to)
    });
    machine.make_current(1);
    // SAFETY: the outputs are writable, and the driver validates handles.
    unsafe {
        assert_eq!(cuGraphInstantiateWithFlags(&mut exec, graph, 0), 0);
        assert_eq!(cuGraphLaunch(exec, null_mut()), 0);
        assert_eq!(cuCtxSynchronize(), 0);
    }
    for (device, to) in copies {
        machine.make_current(device);
        assert_eq!(read_word(to), 7 + device as u32);
    }
    // SAFETY: `exec` and `graph` are handles or addresses that the driver looks up, never dereferences.
    unsafe {
        assert_eq!(cuGraphExecDestroy(exec), 0);
        assert_eq!(cuGraphDestroy(graph), 0);
    }
}

#[test]
fn managed_and_host_memory_are_shared_by_all_devices() {
    let machine = Machine::new();
    let (mut managed, mut host) = (0, null_mut());
    // SAFETY: the outputs are writable, and the host can access both allocations.
    unsafe {
        assert_eq!(cuMemAllocManaged(&mut managed, 4, 1), 0);
        assert_eq!(cuMemAllocHost_v2(&mut host, 4), 0);
        host.cast::<u32>().write(9);
    }
    machine.make_current(2);
    assert_eq!(machine.copy(managed, host as u64), 0);
    // SAFETY: the callee passes its handles only to the driver, which looks them up and never dereferences
    // them.
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
    // SAFETY: `copy` is writable; all-zero bytes are valid for the structures; handles and addresses are
    // looked up by the driver, never dereferenced.
    unsafe {
        assert_eq!(cuMemcpyPeer(to, first, from, third, 4), 0);
        assert_eq!([read_word(to), read_word(to + 4)], [11, 0]);
        assert_eq!(cuMemcpyDtoD_v2(to + 4, from, 4), 0);
        let make_current = null_mut();
        assert_eq!(
            cuMemcpyPeerAsync(to + 8, first, from, third, 4, make_current),
            0
        );
        // The memory types are enums without a zero value.
        let mut copy = MaybeUninit::<cust::sys::CUDA_MEMCPY3D_PEER>::zeroed();
        let device = cust::sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
        (*copy.as_mut_ptr()).srcMemoryType = device;
        (*copy.as_mut_ptr()).dstMemoryType = device;
        let mut copy = copy.assume_init();
        (copy.srcDevice, copy.srcContext) = (from, third);
        (copy.dstDevice, copy.dstContext) = (to + 12, first);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (4, 1, 1);
        assert_eq!(cuMemcpy3DPeer(&copy), 0);
        copy.dstDevice = to + 16;
        assert_eq!(cuMemcpy3DPeerAsync(&copy, make_current), 0);
        copy.dstContext = null_mut();
        assert_eq!(cuMemcpy3DPeer(&copy), 201);
    }
    let copied: Vec<_> = (0..6).map(|i| read_word(to + 4 * i)).collect();
    assert_eq!(copied, [11, 11, 11, 11, 11, 0]);
}

#[test]
fn pools_have_their_own_access_rights() {
    let machine = Machine::new();
    let (mut pools, mut of_pool) = ([null_mut(); 2], 0);
    let stream = null_mut();
    // SAFETY: `pools` and `of_pool` are writable; `pool` and `stream` are handles or addresses that the
    // driver looks up, never dereferences.
    unsafe {
        for (device, pool) in (0..).zip(&mut pools) {
            assert_eq!(cuDeviceGetDefaultMemPool(pool, device), 0);
        }
        assert_ne!(pools[0], pools[1]);
        assert_eq!(cuDeviceSetMemPool(0, pools[1]), 1, "another device's pool");
        machine.make_current(1);
        assert_eq!(cuMemAllocAsync(&mut of_pool, MEMORY, stream), 0);
        assert_eq!(cuMemsetD32_v2(of_pool, 13, 1), 0);
    }
    assert_eq!(device_of(of_pool), 1);
    machine.make_current(0);
    let to = allocate_word(0);
    // SAFETY: `pool` is writable, and the list has one element.
    unsafe {
        assert_eq!(access_rights(0, pools[1]), 0);
        assert_eq!(grant_pool_access(pools[1], 0), 0);
        assert_eq!(access_rights(0, pools[1]), 3);
    }
    assert_eq!(machine.copy(to, of_pool), 0);
    assert_eq!(read_word(to), 13);
    // Peer access to the device does not extend to a pool.
    machine.make_current(2);
    // SAFETY: `machine` is an opaque handle that the driver looks up, never dereferences.
    assert_eq!(unsafe { cuCtxEnablePeerAccess(machine.contexts[1], 0) }, 0);
    let allocation = allocate_word(0);
    assert_eq!(machine.copy(allocation, of_pool), 700);
}

/// Returns a device's access rights to a pool.
unsafe fn access_rights(device: c_int, pool: CUmemoryPool) -> c_int {
    let mut flags = -1;
    let mut at = CUmemLocation {
        kind: 1,
        id: device,
    };
    // SAFETY: the pool's handle is only looked up; both versions of the structure have the same layout.
    let code = unsafe { cuMemPoolGetAccess(&mut flags, pool, (&raw mut at).cast()) };
    assert_eq!(code, 0);
    flags
}

/// Grants a device read and write access to a pool.
unsafe fn grant_pool_access(pool: CUmemoryPool, device: c_int) -> c_int {
    let access = read_write_access(device);
    // SAFETY: the pool's handle is only looked up; both versions of the structure have the same layout.
    unsafe { cuMemPoolSetAccess(pool, (&raw const access).cast(), 1) }
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
    // SAFETY: `handle`, `actual` and `range` are writable, and the list has one element; handles and addresses
    // are only looked up.
    unsafe {
        assert_eq!(cuMemCreate(&mut handle, size, &params, 0), 0);
        assert_eq!(free_bytes(), before - size);
        actual.location.id = -1;
        assert_eq!(
            cuMemGetAllocationPropertiesFromHandle(&mut actual, handle),
            0
        );
        assert_eq!(actual.location.id, 1);
        assert_eq!(cuMemAddressReserve(&mut range, size, 0, 0, 0), 0);
        assert_eq!(cuMemMap(range, size, 0, handle, 0), 0);
        let list = [0, 1].map(read_write_access);
        assert_eq!(cuMemSetAccess(range, size, list.as_ptr(), 2), 0);
        assert_eq!(cuMemsetD32_v2(range, 17, 1), 0);
    }
    assert_eq!(device_of(range), 1);
    machine.make_current(0);
    let to = allocate_word(0);
    assert_eq!(machine.copy(to, range), 0);
    assert_eq!(read_word(to), 17);
    machine.make_current(2);
    let allocation = allocate_word(0);
    assert_eq!(machine.copy(allocation, range), 700);
    machine.make_current(1);
    // SAFETY: `range` and `handle` are handles or addresses that the driver looks up, never dereferences.
    unsafe {
        assert_eq!(cuMemUnmap(range, size), 0);
        assert_eq!(cuMemRelease(handle), 0);
        assert_eq!(cuMemAddressFree(range, size), 0);
    }
    assert_eq!(free_bytes(), before);
}

#[test]
fn streams_wait_for_events_of_other_devices() {
    let machine = Machine::new();
    let (mut producer, mut consumer, mut event) = (null_mut(), null_mut(), null_mut());
    // SAFETY: `producer`, `event` and `consumer` are writable; all other handles are only looked up, never
    // dereferenced.
    unsafe {
        assert_eq!(cuStreamCreate(&mut producer, 1), 0);
        assert_eq!(cuEventCreate(&mut event, 0), 0);
        let from = allocate_word(1);
        machine.make_current(1);
        let to = allocate_word(2);
        assert_eq!(cuStreamCreate(&mut consumer, 1), 0);
        // An event is recorded on its own device, and can be waited for on any.
        assert_eq!(cuEventRecord(event, consumer), 400);
        assert_eq!(cuMemsetD32Async(from, 19, 1, producer), 0);
        assert_eq!(cuEventRecord(event, producer), 0);
        assert_eq!(cuStreamWaitEvent(consumer, event, 0), 0);
        assert_eq!(cuMemcpyDtoDAsync_v2(to, from, 4, consumer), 0);
        assert_eq!(cuStreamSynchronize(consumer), 0);
        assert_eq!(read_word(to), 19);
    }
}
