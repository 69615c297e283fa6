//! Calls of the driver API in any order, with handles that are live, stale or never were, and
//! numbers of any size: each is answered, and none of it is a panic or touches memory that is not
//! the simulator's or the caller's.
//!
//! What C leaves to the caller the caller keeps to: a pointer to host memory points to as many bytes
//! as the call says.

#![no_main]

use std::ffi::{CString, c_int, c_void};
use std::ptr::{null, null_mut};

use arbitrary::Arbitrary;
use cuda_driver::functions::*;
use cust_raw::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, CUevent, CUfunction, CUmemorytype, CUmodule, CUstream,
};
use libfuzzer_sys::fuzz_target;

/// Kernels that store, loop for ever, fault, use shared memory, trap and print.
const MODULE: &str = include_str!("module.ptx");
const KERNELS: [&str; 6] = [
    "store", "endless", "astray", "bounded", "trapping", "missing",
];

/// Bytes of host memory that copies may use.
const HOST: usize = 1 << 14;

/// One of the handles of a kind that there ever were, modulo their number, or any number.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Which {
    Known(u8),
    Null,
    Wild(u64),
}

/// An address: of an allocation and so many bytes on, or any number that no host pointer is.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Where {
    In(u8, i16),
    Null,
    Wild(u64),
}

#[derive(Arbitrary, Debug)]
enum Call {
    RetainPrimary,
    ReleasePrimary,
    ResetPrimary,
    PrimaryFlags(u32),
    CreateContext(u32),
    DestroyContext(Which),
    PushContext(Which),
    PopContext,
    SetContext(Which),
    Synchronize,
    Limit(u8),
    SetLimit(u8, usize),
    CacheConfig(u8),
    BankSize(u8),
    Load {
        cut: Option<u16>,
        options: u8,
    },
    Unload(Which),
    Function(Which, u8),
    Variable(Which, bool),
    Allocate(u32),
    AllocateMuch(usize),
    AllocatePitched(usize, usize, u32),
    AllocateManaged(u16, u32),
    AllocateHost(u16, u32),
    Free(Where),
    FreeHost(Where),
    Register(u16, u16, u32),
    Unregister(u16),
    Info,
    AddressRange(Where),
    PointerAttribute(Where, u8),
    Advise(Where, usize, u8),
    ToDevice(Where, u16, Option<Which>),
    ToHost(Where, u16, Option<Which>),
    Across(Where, Where, usize, Option<Which>),
    Copy2D {
        to: Where,
        from: Where,
        shape: [u16; 4],
        size: [usize; 2],
    },
    Copy2DHost {
        device: Where,
        up: bool,
        shape: [u8; 4],
        size: [u8; 2],
    },
    Copy3D {
        to: Where,
        from: Where,
        shape: [u16; 8],
        size: [usize; 3],
    },
    Fill8(Where, u8, usize),
    Fill16(Where, u16, usize),
    Fill32(Where, u32, usize),
    FillRows(Where, usize, u8, usize, usize, u8),
    CreateStream(u32, Option<i32>),
    DestroyStream(Which),
    QueryStream(Which),
    SynchronizeStream(Which),
    StreamFlags(Which),
    WaitEvent(Which, Which, u32),
    CreateEvent(u32),
    DestroyEvent(Which),
    Record(Which, Which),
    QueryEvent(Which),
    SynchronizeEvent(Which),
    Elapsed(Which, Which),
    Launch {
        kernel: Which,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        stream: Which,
        to: Where,
    },
    SmallLaunch {
        kernel: u8,
        blocks: u8,
        threads: u8,
        to: Where,
    },
    KernelAttribute(Which, u8),
    SetKernelAttribute(Which, u8, i32),
    KernelModule(Which),
    Occupancy(Which, i32, usize, u32),
    BestBlock(Which, usize, i32),
    DynamicShared(Which, i32, i32),
    DeviceAttribute(i16, i8),
    DeviceName(u8, i8),
}

/// A copy of nothing from device memory to device memory.
const NO_COPY_2D: CUDA_MEMCPY2D = CUDA_MEMCPY2D {
    srcXInBytes: 0,
    srcY: 0,
    srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    srcHost: null(),
    srcDevice: 0,
    srcArray: null_mut(),
    srcPitch: 0,
    dstXInBytes: 0,
    dstY: 0,
    dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    dstHost: null_mut(),
    dstDevice: 0,
    dstArray: null_mut(),
    dstPitch: 0,
    WidthInBytes: 0,
    Height: 0,
};

/// The same in three dimensions.
const NO_COPY_3D: CUDA_MEMCPY3D = CUDA_MEMCPY3D {
    srcXInBytes: 0,
    srcY: 0,
    srcZ: 0,
    srcLOD: 0,
    srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    srcHost: null(),
    srcDevice: 0,
    srcArray: null_mut(),
    reserved0: null_mut(),
    srcPitch: 0,
    srcHeight: 0,
    dstXInBytes: 0,
    dstY: 0,
    dstZ: 0,
    dstLOD: 0,
    dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    dstHost: null_mut(),
    dstDevice: 0,
    dstArray: null_mut(),
    reserved1: null_mut(),
    dstPitch: 0,
    dstHeight: 0,
    WidthInBytes: 0,
    Height: 0,
    Depth: 0,
};

/// Every handle there ever was.
#[derive(Default)]
struct Known {
    contexts: Vec<CUcontext>,
    modules: Vec<CUmodule>,
    functions: Vec<CUfunction>,
    streams: Vec<CUstream>,
    events: Vec<CUevent>,
    addresses: Vec<u64>,
    registered: Vec<*mut c_void>,
}

fuzz_target!(init: start(), |calls: Vec<Call>| {
    let mut known = Known::default();
    let mut host = vec![0u8; HOST];
    for call in calls {
        // SAFETY: `make` keeps to what C asks of a caller.
        unsafe { make(call, &mut known, &mut host) };
    }
    // SAFETY: as above.
    unsafe { clear(&known) };
});

/// Chooses the simulator, and lets no kernel run for long.
fn start() {
    // SAFETY: nothing else runs yet.
    unsafe {
        std::env::set_var("CUDA_BACKEND", "sim");
        std::env::set_var("CUDA_SIM_TIME_LIMIT", "0.05");
        assert_eq!(cuInit(0), 0);
    }
}

/// As it was before.
unsafe fn clear(known: &Known) {
    // SAFETY: the handles are numbers; what is registered still is there.
    unsafe {
        for &host in &known.registered {
            cuMemHostUnregister(host);
        }
        let mut context = null_mut();
        while cuCtxPopCurrent_v2(&mut context) == 0 {}
        for &context in &known.contexts {
            cuCtxDestroy_v2(context);
        }
        cuDevicePrimaryCtxReset_v2(0);
        while cuDevicePrimaryCtxRelease_v2(0) == 0 {}
    }
}

/// The handle that `which` names.
fn pick<T>(known: &[*mut T], which: Which) -> *mut T {
    match which {
        Which::Known(n) if !known.is_empty() => known[usize::from(n) % known.len()],
        Which::Wild(number) => std::ptr::without_provenance_mut(number as usize),
        _ => null_mut(),
    }
}

impl Known {
    fn stream(&self, which: Which) -> CUstream {
        pick(&self.streams, which)
    }

    /// Never one of the host's, but of memory that the simulator gave out.
    fn address(&self, place: Where) -> u64 {
        match place {
            Where::In(n, offset) if !self.addresses.is_empty() => {
                let address = self.addresses[usize::from(n) % self.addresses.len()];
                address.wrapping_add_signed(offset.into())
            }
            Where::Wild(number) => number | 1 << 48,
            _ => 0,
        }
    }
}

/// Makes a call.
///
/// # Safety
/// The driver has been started.
unsafe fn make(call: Call, known: &mut Known, host: &mut [u8]) {
    let at = host.as_mut_ptr().cast::<c_void>();
    let (mut int, mut number, mut size, mut address) = (0, 0, 0, 0);
    // SAFETY: host pointers come with no more bytes than they have; everything else is a number,
    // which the driver has to make sure of.
    unsafe {
        match call {
            Call::RetainPrimary => {
                let mut context = null_mut();
                if cuDevicePrimaryCtxRetain(&mut context, 0) == 0 {
                    cuCtxSetCurrent(context);
                    known.contexts.push(context);
                }
            }
            Call::ReleasePrimary => {
                cuDevicePrimaryCtxRelease_v2(0);
            }
            Call::ResetPrimary => {
                cuDevicePrimaryCtxReset_v2(0);
            }
            Call::PrimaryFlags(flags) => {
                cuDevicePrimaryCtxSetFlags_v2(0, flags);
                cuDevicePrimaryCtxGetState(0, &mut number, &mut int);
            }
            Call::CreateContext(flags) => {
                let mut context = null_mut();
                if cuCtxCreate_v2(&mut context, flags, 0) == 0 {
                    known.contexts.push(context);
                }
            }
            Call::DestroyContext(which) => {
                cuCtxDestroy_v2(pick(&known.contexts, which));
            }
            Call::PushContext(which) => {
                cuCtxPushCurrent_v2(pick(&known.contexts, which));
            }
            Call::PopContext => {
                cuCtxPopCurrent_v2(null_mut());
            }
            Call::SetContext(which) => {
                cuCtxSetCurrent(pick(&known.contexts, which));
                cuCtxGetFlags(&mut number);
                cuCtxGetApiVersion(pick(&known.contexts, which), &mut number);
            }
            Call::Synchronize => {
                cuCtxSynchronize();
            }
            Call::Limit(limit) => {
                cuCtxGetLimit(&mut size, limit.into());
            }
            Call::SetLimit(limit, value) => {
                cuCtxSetLimit(limit.into(), value);
            }
            Call::CacheConfig(config) => {
                cuCtxSetCacheConfig(config.into());
            }
            Call::BankSize(config) => {
                cuCtxSetSharedMemConfig(config.into());
            }
            Call::Load { cut, options } => load(known, cut, options),
            Call::Unload(which) => {
                cuModuleUnload(pick(&known.modules, which));
            }
            Call::Function(which, name) => {
                let name = KERNELS[usize::from(name) % KERNELS.len()];
                let name = CString::new(name).unwrap_or_default();
                let mut function = null_mut();
                let module = pick(&known.modules, which);
                if cuModuleGetFunction(&mut function, module, name.as_ptr()) == 0 {
                    known.functions.push(function);
                }
            }
            Call::Variable(which, constant) => {
                let name = if constant { c"factor" } else { c"table" };
                let module = pick(&known.modules, which);
                if cuModuleGetGlobal_v2(&mut address, &mut size, module, name.as_ptr()) == 0 {
                    known.addresses.push(address);
                }
            }
            Call::Allocate(bytes) => {
                // Half a megabyte at most: what is written lies in memory for real.
                if cuMemAlloc_v2(&mut address, bytes as usize % (1 << 19)) == 0 {
                    known.addresses.push(address);
                }
            }
            Call::AllocateMuch(bytes) => {
                if cuMemAlloc_v2(&mut address, bytes) == 0 {
                    cuMemFree_v2(address);
                }
            }
            Call::AllocatePitched(width, height, element) => {
                if cuMemAllocPitch_v2(&mut address, &mut size, width, height, element) == 0 {
                    cuMemFree_v2(address);
                }
            }
            Call::AllocateManaged(bytes, flags) => {
                if cuMemAllocManaged(&mut address, bytes.into(), flags) == 0 {
                    cuMemsetD8_v2(address, 1, bytes.into());
                    cuMemFree_v2(address);
                }
            }
            Call::AllocateHost(bytes, flags) => {
                let mut pointer = null_mut();
                if cuMemHostAlloc(&mut pointer, bytes.into(), flags) == 0 {
                    cuMemHostGetDevicePointer_v2(&mut address, pointer, 0);
                    cuMemFreeHost(pointer);
                }
            }
            Call::Free(place) => {
                cuMemFree_v2(known.address(place));
            }
            Call::FreeHost(place) => {
                let place = known.address(place) as usize;
                cuMemFreeHost(std::ptr::without_provenance_mut(place));
            }
            Call::Register(from, bytes, flags) => {
                let from = usize::from(from) % HOST;
                let start = at.byte_add(from);
                if cuMemHostRegister_v2(start, usize::from(bytes).min(HOST - from), flags) == 0 {
                    known.registered.push(start);
                }
            }
            Call::Unregister(from) => {
                cuMemHostUnregister(at.byte_add(usize::from(from) % HOST));
            }
            Call::Info => {
                cuMemGetInfo_v2(&mut size, &mut 0);
            }
            Call::AddressRange(place) => {
                let mut base = 0;
                cuMemGetAddressRange_v2(&mut base, &mut size, known.address(place));
            }
            Call::PointerAttribute(place, attribute) => {
                // Room for the longest.
                let mut value = [0u64; 8];
                let value = value.as_mut_ptr().cast();
                cuPointerGetAttribute(value, attribute.into(), known.address(place));
            }
            Call::Advise(place, bytes, advice) => {
                let place = known.address(place);
                cuMemAdvise(place, bytes, advice.into(), 0);
                cuMemPrefetchAsync(place, bytes, 0, null_mut());
            }
            Call::ToDevice(to, bytes, stream) => {
                let (to, bytes) = (known.address(to), usize::from(bytes) % HOST);
                match stream.map(|which| known.stream(which)) {
                    Some(stream) => cuMemcpyHtoDAsync_v2(to, at, bytes, stream),
                    None => cuMemcpyHtoD_v2(to, at, bytes),
                };
            }
            Call::ToHost(from, bytes, stream) => {
                let (from, bytes) = (known.address(from), usize::from(bytes) % HOST);
                match stream.map(|which| known.stream(which)) {
                    Some(stream) => cuMemcpyDtoHAsync_v2(at, from, bytes, stream),
                    None => cuMemcpyDtoH_v2(at, from, bytes),
                };
            }
            Call::Across(to, from, bytes, stream) => {
                let (to, from) = (known.address(to), known.address(from));
                match stream.map(|which| known.stream(which)) {
                    Some(stream) => cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
                    None => cuMemcpyDtoD_v2(to, from, bytes),
                };
            }
            Call::Copy2D {
                to,
                from,
                shape,
                size,
            } => {
                let [to_x, to_y, from_x, from_y] = shape.map(usize::from);
                let [width, height] = size;
                cuMemcpy2D_v2(&CUDA_MEMCPY2D {
                    srcXInBytes: from_x,
                    srcY: from_y,
                    srcDevice: known.address(from),
                    srcPitch: width.wrapping_add(from_y),
                    dstXInBytes: to_x,
                    dstY: to_y,
                    dstDevice: known.address(to),
                    dstPitch: width.wrapping_add(to_x),
                    WidthInBytes: width,
                    Height: height,
                    ..NO_COPY_2D
                });
            }
            Call::Copy2DHost {
                device,
                up,
                shape,
                size,
            } => {
                rows_and_host(known.address(device), up, shape, size, at);
            }
            Call::Copy3D {
                to,
                from,
                shape,
                size,
            } => {
                let [width, height, depth] = size;
                let [to_x, to_y, to_z, to_rows, from_x, from_y, from_z, from_rows] =
                    shape.map(usize::from);
                let mut copy = NO_COPY_3D;
                copy.srcDevice = known.address(from);
                (copy.srcXInBytes, copy.srcY, copy.srcZ) = (from_x, from_y, from_z);
                (copy.srcPitch, copy.srcHeight) = (width.wrapping_add(from_x), from_rows);
                copy.dstDevice = known.address(to);
                (copy.dstXInBytes, copy.dstY, copy.dstZ) = (to_x, to_y, to_z);
                (copy.dstPitch, copy.dstHeight) = (width.wrapping_add(to_x), to_rows);
                (copy.WidthInBytes, copy.Height, copy.Depth) = (width, height, depth);
                cuMemcpy3D_v2(&copy);
            }
            Call::Fill8(to, value, n) => {
                cuMemsetD8_v2(known.address(to), value, n);
            }
            Call::Fill16(to, value, n) => {
                cuMemsetD16_v2(known.address(to), value, n);
            }
            Call::Fill32(to, value, n) => {
                cuMemsetD32_v2(known.address(to), value, n);
            }
            Call::FillRows(to, pitch, value, width, height, unit) => {
                let to = known.address(to);
                match unit % 3 {
                    0 => cuMemsetD2D8_v2(to, pitch, value, width, height),
                    1 => cuMemsetD2D16_v2(to, pitch, value.into(), width, height),
                    _ => cuMemsetD2D32_v2(to, pitch, value.into(), width, height),
                };
            }
            Call::CreateStream(flags, priority) => {
                let mut stream = null_mut();
                let code = match priority {
                    Some(priority) => cuStreamCreateWithPriority(&mut stream, flags, priority),
                    None => cuStreamCreate(&mut stream, flags),
                };
                if code == 0 {
                    known.streams.push(stream);
                }
            }
            Call::DestroyStream(which) => {
                cuStreamDestroy_v2(known.stream(which));
            }
            Call::QueryStream(which) => {
                cuStreamQuery(known.stream(which));
            }
            Call::SynchronizeStream(which) => {
                cuStreamSynchronize(known.stream(which));
            }
            Call::StreamFlags(which) => {
                cuStreamGetFlags(known.stream(which), &mut number);
                cuStreamGetPriority(known.stream(which), &mut int);
            }
            Call::WaitEvent(stream, event, flags) => {
                let event = pick(&known.events, event);
                cuStreamWaitEvent(known.stream(stream), event, flags);
            }
            Call::CreateEvent(flags) => {
                let mut event = null_mut();
                if cuEventCreate(&mut event, flags) == 0 {
                    known.events.push(event);
                }
            }
            Call::DestroyEvent(which) => {
                cuEventDestroy_v2(pick(&known.events, which));
            }
            Call::Record(event, stream) => {
                cuEventRecord(pick(&known.events, event), known.stream(stream));
            }
            Call::QueryEvent(which) => {
                cuEventQuery(pick(&known.events, which));
            }
            Call::SynchronizeEvent(which) => {
                cuEventSynchronize(pick(&known.events, which));
            }
            Call::Elapsed(start, end) => {
                let (start, end) = (pick(&known.events, start), pick(&known.events, end));
                cuEventElapsedTime(&mut 0.0, start, end);
            }
            Call::Launch {
                kernel,
                grid,
                block,
                shared,
                stream,
                to,
            } => {
                let kernel = pick(&known.functions, kernel);
                launch(
                    kernel,
                    grid,
                    block,
                    shared,
                    known.stream(stream),
                    known.address(to),
                );
            }
            Call::SmallLaunch {
                kernel,
                blocks,
                threads,
                to,
            } => {
                let kernel = pick(&known.functions, Which::Known(kernel));
                let grid = [blocks.into(), 1, 1];
                launch(
                    kernel,
                    grid,
                    [threads.into(), 1, 1],
                    0,
                    null_mut(),
                    known.address(to),
                );
            }
            Call::KernelAttribute(which, attribute) => {
                let kernel = pick(&known.functions, which);
                cuFuncGetAttribute(&mut int, attribute.into(), kernel);
            }
            Call::SetKernelAttribute(which, attribute, value) => {
                let kernel = pick(&known.functions, which);
                cuFuncSetAttribute(kernel, attribute.into(), value);
            }
            Call::KernelModule(which) => {
                cuFuncGetModule(&mut null_mut(), pick(&known.functions, which));
            }
            Call::Occupancy(which, threads, shared, flags) => {
                let kernel = pick(&known.functions, which);
                cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                    &mut int, kernel, threads, shared, flags,
                );
            }
            Call::BestBlock(which, shared, limit) => {
                let kernel = pick(&known.functions, which);
                cuOccupancyMaxPotentialBlockSize(&mut int, &mut 0, kernel, None, shared, limit);
            }
            Call::DynamicShared(which, blocks, threads) => {
                let kernel = pick(&known.functions, which);
                cuOccupancyAvailableDynamicSMemPerBlock(&mut size, kernel, blocks, threads);
            }
            Call::DeviceAttribute(attribute, device) => {
                cuDeviceGetAttribute(&mut int, attribute.into(), device.into());
            }
            Call::DeviceName(bytes, device) => {
                let bytes = c_int::from(bytes);
                cuDeviceGetName(at.cast(), bytes, device.into());
            }
        }
    }
}

/// Loads the module, or its beginning.
///
/// # Safety
/// The driver has been started.
unsafe fn load(known: &mut Known, cut: Option<u16>, options: u8) {
    let end = cut.map_or(MODULE.len(), |cut| usize::from(cut) % MODULE.len());
    let text = CString::new(&MODULE[..end]).unwrap_or_default();
    let mut module = null_mut();
    // The log's size, none, and the log: what a caller asks for who wants to know what was wrong.
    let mut log = [0u8; 64];
    let mut names = [4, 3];
    let bytes = usize::from(options) % (log.len() + 1);
    let mut values = [
        std::ptr::without_provenance_mut(bytes),
        log.as_mut_ptr().cast(),
    ];
    // SAFETY: the text ends in NUL, and the log has as many bytes as is said.
    let code = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            u32::from(options) % 3,
            names.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if code == 0 {
        known.modules.push(module);
    }
}

/// Copies rows between a device address and the host's memory at `at`.
///
/// # Safety
/// There are [`HOST`] bytes at `at`.
unsafe fn rows_and_host(device: u64, up: bool, shape: [u8; 4], size: [u8; 2], at: *mut c_void) {
    // Less than 32 rows of less than 256 bytes, and as many before: all inside.
    let [host_x, host_y, device_x, pitch] = shape.map(usize::from);
    let [width, height] = size.map(usize::from);
    let (host_x, host_y) = (host_x % 64, host_y % 16);
    let (width, height) = (width % 192, height % 32);
    let host_pitch = 256;
    let mut copy = NO_COPY_2D;
    (copy.WidthInBytes, copy.Height) = (width, height);
    if up {
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        copy.srcHost = at;
        (copy.srcXInBytes, copy.srcY, copy.srcPitch) = (host_x, host_y, host_pitch);
        copy.dstDevice = device;
        (copy.dstXInBytes, copy.dstPitch) = (device_x, pitch);
    } else {
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        copy.dstHost = at;
        (copy.dstXInBytes, copy.dstY, copy.dstPitch) = (host_x, host_y, host_pitch);
        copy.srcDevice = device;
        (copy.srcXInBytes, copy.srcPitch) = (device_x, pitch);
    }
    // SAFETY: (16 + 32) rows of 256 bytes are what the host's side may take of the memory there.
    unsafe { cuMemcpy2D_v2(&copy) };
}

/// Launches a kernel of the module, whose one parameter is an address.
///
/// # Safety
/// The driver has been started.
unsafe fn launch(
    kernel: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: CUstream,
    mut to: u64,
) {
    let mut parameters = [(&raw mut to).cast::<c_void>()];
    let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
    let parameters = parameters.as_mut_ptr();
    // SAFETY: every kernel there is takes one address.
    unsafe {
        cuLaunchKernel(
            kernel,
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            shared,
            stream,
            parameters,
            null_mut(),
        );
    }
}
