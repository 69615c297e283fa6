//! A machine with several devices, each with its memory and its contexts, as `CUDA_SIM_DEVICES` asks for. The
//! functions are called by what C calls.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use cuda_driver::functions::*;
use cuda_driver::types::graph::KernelNodeParams;
use cuda_driver::types::{CUmemAccessDesc, CUmemAllocationProp, CUmemLocation};
use cust::sys::{CUcontext, CUdeviceptr, CUfunction, CUgraphNode, CUmemoryPool, CUuuid};

/// Writes what it reads at `from` to `to`.
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

/// The contexts of a test: the machine is its alone while it lives.
struct Machine {
    contexts: Vec<CUcontext>,
    _alone: MutexGuard<'static, ()>,
}

impl Machine {
    /// A context of each device, that of the first current.
    fn new() -> Self {
        static FORCED: Once = Once::new();
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the
        // environment waits.
        FORCED.call_once(|| unsafe {
            std::env::set_var("CUDA_BACKEND", "sim");
            std::env::set_var("CUDA_SIM_DEVICES", DEVICES.to_string());
        });
        let create = |device| {
            let mut context = null_mut();
            // SAFETY: a handle to write to.
            unsafe {
                assert_eq!(cuInit(0), 0);
                assert_eq!(cuCtxCreate_v2(&mut context, 0, device), 0);
            }
            context
        };
        let made = Self {
            contexts: (0..DEVICES).map(create).collect(),
            _alone: alone,
        };
        made.on(0);
        made
    }

    /// Makes the context of a device current.
    fn on(&self, device: usize) {
        // SAFETY: it was created above.
        assert_eq!(unsafe { cuCtxSetCurrent(self.contexts[device]) }, 0);
    }

    /// The kernel, loaded into the current context.
    fn kernel(&self) -> CUfunction {
        let (mut module, mut kernel) = (null_mut(), null_mut());
        // SAFETY: PTX with a NUL; handles to write to.
        unsafe {
            assert_eq!(cuModuleLoadData(&mut module, COPY.as_ptr().cast()), 0);
            let found = cuModuleGetFunction(&mut kernel, module, c"copy".as_ptr());
            assert_eq!(found, 0);
        }
        kernel
    }

    /// Copies a word with a kernel of the current device, and waits: what the driver answers.
    fn copy(&self, mut to: CUdeviceptr, mut from: CUdeviceptr) -> c_int {
        let kernel = self.kernel();
        let mut words = [&raw mut to, &raw mut from].map(<*mut u64>::cast::<c_void>);
        // SAFETY: as many parameters as the kernel has.
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
            // SAFETY: it was created above.
            assert_eq!(unsafe { cuCtxDestroy_v2(context) }, 0);
        }
    }
}

/// Memory of the current device that begins with a number.
fn memory(value: u32) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: a number to write to, and as many bytes as are allocated.
    unsafe {
        assert_eq!(cuMemAlloc_v2(&mut address, MEMORY), 0);
        assert_eq!(cuMemsetD32_v2(address, value, MEMORY / 4), 0);
    }
    address
}

/// The number at an address.
fn word(address: CUdeviceptr) -> u32 {
    let mut word = 0_u32;
    // SAFETY: four bytes to write to.
    let code = unsafe { cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) };
    assert_eq!(code, 0);
    word
}

/// The device that an address says it is of.
fn home(address: CUdeviceptr) -> c_int {
    let mut device = -1;
    // SAFETY: the ordinal is an `int`.
    let code = unsafe { cuPointerGetAttribute((&raw mut device).cast(), 9, address) };
    assert_eq!(code, 0);
    device
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    // SAFETY: two numbers to write to.
    assert_eq!(unsafe { cuMemGetInfo_v2(&mut free, &mut total) }, 0);
    free
}

#[test]
fn every_device_is_there_under_its_own_name() {
    let _machine = Machine::new();
    let mut count = 0;
    let (mut uuids, mut places, mut buses) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // SAFETY: what is written to is as large as C says.
    unsafe {
        assert_eq!(cuDeviceGetCount(&mut count), 0);
        assert_eq!(count, DEVICES);
        for ordinal in 0..DEVICES {
            let (mut device, mut uuid, mut bus) = (-1, CUuuid { bytes: [0; 16] }, -1);
            assert_eq!(cuDeviceGet(&mut device, ordinal), 0);
            assert_eq!(cuDeviceGetUuid(&mut uuid, device), 0);
            uuids.insert(uuid.bytes);
            let mut place = [0 as c_char; 16];
            assert_eq!(cuDeviceGetPCIBusId(place.as_mut_ptr(), 16, device), 0);
            let mut found = -1;
            assert_eq!(cuDeviceGetByPCIBusId(&mut found, place.as_ptr()), 0);
            assert_eq!(found, device);
            places.insert(place);
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
fn each_device_has_its_primary_context() {
    let _machine = Machine::new();
    let mut contexts = [null_mut(); 2];
    // SAFETY: handles and numbers to write to.
    unsafe {
        for (device, context) in (1..).zip(&mut contexts) {
            assert_eq!(cuDevicePrimaryCtxRetain(context, device), 0);
            assert_eq!(cuCtxSetCurrent(*context), 0);
            let mut found = -1;
            assert_eq!(cuCtxGetDevice(&mut found), 0);
            assert_eq!(found, device);
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
fn memory_is_its_devices_own() {
    let machine = Machine::new();
    let before: Vec<_> = (0..3)
        .map(|device| {
            machine.on(device);
            free_bytes()
        })
        .collect();
    machine.on(1);
    let address = memory(5);
    assert_eq!(home(address), 1);
    for (device, before) in before.into_iter().enumerate() {
        machine.on(device);
        let taken = if device == 1 { MEMORY } else { 0 };
        assert_eq!(free_bytes(), before - taken, "device {device}");
    }
}

#[test]
fn a_kernel_reaches_another_devices_memory_when_it_was_let_in() {
    let machine = Machine::new();
    let to = memory(0);
    machine.on(1);
    let from = memory(7);
    machine.on(0);
    let peer = machine.contexts[1];
    let mut can = 0;
    // SAFETY: handles of contexts, and numbers to write to.
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
    assert_eq!(word(to), 7);
    // The way back was not opened.
    machine.on(1);
    assert_eq!(machine.copy(to, from), 700);
    machine.on(0);
    // SAFETY: a context's handle.
    assert_eq!(unsafe { cuCtxDisablePeerAccess(peer) }, 0);
    assert_eq!(machine.copy(to, from), 700);
}

/// As tinygrad makes one of what it does on all devices.
#[test]
fn a_graph_has_kernels_of_several_devices() {
    let machine = Machine::new();
    let (mut graph, mut exec) = (null_mut(), null_mut());
    // SAFETY: a handle to write to.
    assert_eq!(unsafe { cuGraphCreate(&mut graph, 0) }, 0);
    let mut before: CUgraphNode = null_mut();
    let copies = [2, 0, 1].map(|device| {
        machine.on(device);
        let (mut to, mut from) = (memory(0), memory(7 + device as u32));
        let mut words = [&raw mut to, &raw mut from].map(<*mut u64>::cast::<c_void>);
        let how = KernelNodeParams {
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
        // SAFETY: a handle to write to, a list of one node or none, and the kernel's parameters.
        let made = unsafe { cuGraphAddKernelNode_v2(&mut before, graph, &after, count, &how) };
        assert_eq!(made, 0);
        (device, to)
    });
    machine.on(1);
    // SAFETY: handles to write to, and such as were made.
    unsafe {
        assert_eq!(cuGraphInstantiateWithFlags(&mut exec, graph, 0), 0);
        assert_eq!(cuGraphLaunch(exec, null_mut()), 0);
        assert_eq!(cuCtxSynchronize(), 0);
    }
    for (device, to) in copies {
        machine.on(device);
        assert_eq!(word(to), 7 + device as u32);
    }
    // SAFETY: handles that were made.
    unsafe {
        assert_eq!(cuGraphExecDestroy(exec), 0);
        assert_eq!(cuGraphDestroy(graph), 0);
    }
}

#[test]
fn managed_and_host_memory_are_everybodys() {
    let machine = Machine::new();
    let (mut managed, mut host) = (0, null_mut());
    // SAFETY: addresses to write to; both are the host's as well.
    unsafe {
        assert_eq!(cuMemAllocManaged(&mut managed, 4, 1), 0);
        assert_eq!(cuMemAllocHost_v2(&mut host, 4), 0);
        host.cast::<u32>().write(9);
    }
    machine.on(2);
    assert_eq!(machine.copy(managed, host as u64), 0);
    // SAFETY: it was written as a number.
    assert_eq!(unsafe { (managed as *const u32).read() }, 9);
}

#[test]
fn memory_is_copied_between_devices_that_do_not_reach_each_other() {
    let machine = Machine::new();
    let to = memory(0);
    machine.on(2);
    let from = memory(11);
    let [first, _, third] = machine.contexts[..] else {
        panic!("three contexts")
    };
    // SAFETY: as many bytes as there are.
    unsafe {
        assert_eq!(cuMemcpyPeer(to, first, from, third, 4), 0);
        assert_eq!([word(to), word(to + 4)], [11, 0]);
        assert_eq!(cuMemcpyDtoD_v2(to + 4, from, 4), 0);
        let on = null_mut();
        assert_eq!(cuMemcpyPeerAsync(to + 8, first, from, third, 4, on), 0);
        // The kinds of memory are enums, of which none is zero.
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
        assert_eq!(cuMemcpy3DPeerAsync(&copy, on), 0);
        copy.dstContext = null_mut();
        assert_eq!(cuMemcpy3DPeer(&copy), 201);
    }
    let copied: Vec<_> = (0..6).map(|i| word(to + 4 * i)).collect();
    assert_eq!(copied, [11, 11, 11, 11, 11, 0]);
}

#[test]
fn a_pool_is_its_devices_and_opened_by_itself() {
    let machine = Machine::new();
    let (mut pools, mut of_pool) = ([null_mut(); 2], 0);
    let stream = null_mut();
    // SAFETY: handles and addresses to write to.
    unsafe {
        for (device, pool) in (0..).zip(&mut pools) {
            assert_eq!(cuDeviceGetDefaultMemPool(pool, device), 0);
        }
        assert_ne!(pools[0], pools[1]);
        assert_eq!(cuDeviceSetMemPool(0, pools[1]), 1, "another device's pool");
        machine.on(1);
        assert_eq!(cuMemAllocAsync(&mut of_pool, MEMORY, stream), 0);
        assert_eq!(cuMemsetD32_v2(of_pool, 13, 1), 0);
    }
    assert_eq!(home(of_pool), 1);
    machine.on(0);
    let to = memory(0);
    // SAFETY: a handle and a list of one.
    unsafe {
        assert_eq!(may(0, pools[1]), 0);
        assert_eq!(open_pool(pools[1], 0), 0);
        assert_eq!(may(0, pools[1]), 3);
    }
    assert_eq!(machine.copy(to, of_pool), 0);
    assert_eq!(word(to), 13);
    // Access to all else of the device does not open a pool.
    machine.on(2);
    // SAFETY: a context's handle.
    assert_eq!(unsafe { cuCtxEnablePeerAccess(machine.contexts[1], 0) }, 0);
    let own = memory(0);
    assert_eq!(machine.copy(own, of_pool), 700);
}

/// What a device may do with a pool.
unsafe fn may(device: c_int, pool: CUmemoryPool) -> c_int {
    let mut flags = -1;
    let mut at = CUmemLocation {
        kind: 1,
        id: device,
    };
    // SAFETY: the caller's promise; the structures are laid out alike.
    let code = unsafe { cuMemPoolGetAccess(&mut flags, pool, (&raw mut at).cast()) };
    assert_eq!(code, 0);
    flags
}

/// Lets a device read and write a pool.
unsafe fn open_pool(pool: CUmemoryPool, device: c_int) -> c_int {
    let access = to_read_and_write(device);
    // SAFETY: the caller's promise; the structures are laid out alike.
    unsafe { cuMemPoolSetAccess(pool, (&raw const access).cast(), 1) }
}

fn to_read_and_write(device: c_int) -> CUmemAccessDesc {
    CUmemAccessDesc {
        location: CUmemLocation {
            kind: 1,
            id: device,
        },
        flags: 3,
    }
}

#[test]
fn mapped_memory_is_open_to_the_devices_that_are_named() {
    let machine = Machine::new();
    let size = 2 << 20;
    let how = CUmemAllocationProp {
        kind: 1,
        shared: 0,
        location: CUmemLocation { kind: 1, id: 1 },
        windows: null_mut(),
        flags: [0; 8],
    };
    let (mut handle, mut range, mut found) = (0, 0, how);
    machine.on(1);
    let before = free_bytes();
    // SAFETY: handles, addresses and structures to write to.
    unsafe {
        assert_eq!(cuMemCreate(&mut handle, size, &how, 0), 0);
        assert_eq!(free_bytes(), before - size);
        found.location.id = -1;
        assert_eq!(
            cuMemGetAllocationPropertiesFromHandle(&mut found, handle),
            0
        );
        assert_eq!(found.location.id, 1);
        assert_eq!(cuMemAddressReserve(&mut range, size, 0, 0, 0), 0);
        assert_eq!(cuMemMap(range, size, 0, handle, 0), 0);
        let list = [0, 1].map(to_read_and_write);
        assert_eq!(cuMemSetAccess(range, size, list.as_ptr(), 2), 0);
        assert_eq!(cuMemsetD32_v2(range, 17, 1), 0);
    }
    assert_eq!(home(range), 1);
    machine.on(0);
    let to = memory(0);
    assert_eq!(machine.copy(to, range), 0);
    assert_eq!(word(to), 17);
    machine.on(2);
    let own = memory(0);
    assert_eq!(machine.copy(own, range), 700);
    machine.on(1);
    // SAFETY: what was made above.
    unsafe {
        assert_eq!(cuMemUnmap(range, size), 0);
        assert_eq!(cuMemRelease(handle), 0);
        assert_eq!(cuMemAddressFree(range, size), 0);
    }
    assert_eq!(free_bytes(), before);
}

#[test]
fn a_stream_waits_for_another_devices_event() {
    let machine = Machine::new();
    let (mut producer, mut consumer, mut event) = (null_mut(), null_mut(), null_mut());
    // SAFETY: handles to write to, and as many bytes as there are.
    unsafe {
        assert_eq!(cuStreamCreate(&mut producer, 1), 0);
        assert_eq!(cuEventCreate(&mut event, 0), 0);
        let from = memory(1);
        machine.on(1);
        let to = memory(2);
        assert_eq!(cuStreamCreate(&mut consumer, 1), 0);
        // An event is recorded where it was made, and waited for anywhere.
        assert_eq!(cuEventRecord(event, consumer), 400);
        assert_eq!(cuMemsetD32Async(from, 19, 1, producer), 0);
        assert_eq!(cuEventRecord(event, producer), 0);
        assert_eq!(cuStreamWaitEvent(consumer, event, 0), 0);
        assert_eq!(cuMemcpyDtoDAsync_v2(to, from, 4, consumer), 0);
        assert_eq!(cuStreamSynchronize(consumer), 0);
        assert_eq!(word(to), 19);
    }
}
