//! Memory, events and memory pools that are shared with other processes of the same user, by handles or by file
//! descriptors. Only Linux has what they need.
//!
//! A simulated device shares nothing with other interfaces such as Vulkan, so the only external memory is that of
//! `cuMemExportToShareableHandle`, and there are no external semaphores. All other handles have the errors of an H200's
//! driver for handles that it cannot import (580.159.04).

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::{CudaError, DISABLE_TIMING, EventId, ImportOrigin};
use cuda_sim::memory::shared::{FileAddress, FileId, IS_SUPPORTED, SharedFile};

use super::SIMULATOR;
use super::device::check_device;
use crate::arguments::{In, Out, handle, number, required};
use crate::simulator::{Stream, WaitTarget, require_current};
use crate::status::{CallResult, warn};
use crate::types::external::{BufferDescription, HandleDescription, SemaphoreDescription};
use crate::types::{CUdeviceptr, CUevent, CUexternalMemory, CUmemoryPool, ShareableHandle};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, without which no memory can be opened.
const LAZY_ENABLE_PEER_ACCESS: c_uint = 1;

/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
const FILE_DESCRIPTOR: c_int = 1;

/// The kinds of handles: the first word of each. Their values are arbitrary, and distinguish handles from other data.
const MEMORY: u64 = u64::from_le_bytes(*b"WBmemory");
const EVENT: u64 = u64::from_le_bytes(*b"WBevent\0");
const POOL_MEMORY: u64 = u64::from_le_bytes(*b"WBpooled");

/// The contents of a handle.
struct Contents {
    file: FileAddress,
    /// The device of memory.
    device: u32,
    /// The pool of memory, if it is from a pool.
    pool: FileId,
}

impl Contents {
    /// Returns a handle of the given kind.
    fn encode(&self, kind: u64) -> ShareableHandle {
        let Self { file, device, pool } = self;
        let process = u64::from(file.process) << 32 | u64::from(file.descriptor as u32);
        let words = [
            kind,
            process,
            file.id.volume,
            file.id.number,
            u64::from(*device),
            pool.volume,
            pool.number,
            0,
        ];
        let mut bytes = [0; 64];
        for (bytes, word) in bytes.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        ShareableHandle(bytes)
    }

    /// Returns the contents of a handle; `None` if it is of another kind.
    fn decode(kind: u64, handle: ShareableHandle) -> Option<Self> {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(handle.0.chunks(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        let [found, process, volume, file, device, pool_volume, pool, _] = words;
        (found == kind).then_some(Self {
            file: FileAddress {
                process: (process >> 32) as u32,
                descriptor: process as u32 as i32,
                id: FileId {
                    volume,
                    number: file,
                },
            },
            device: device as u32,
            pool: FileId {
                volume: pool_volume,
                number: pool,
            },
        })
    }

    /// Returns true if this process has created the handle.
    fn is_own(&self) -> bool {
        self.file.process == std::process::id()
    }
}

/// No pool.
const NO_POOL: FileId = FileId {
    volume: 0,
    number: 0,
};

/// Returns [`CudaError::NotSupported`] on systems without shared memory.
fn check_supported() -> Result<(), CudaError> {
    match IS_SUPPORTED {
        true => Ok(()),
        false => Err(CudaError::NotSupported),
    }
}

/// Returns true if memory can be shared by the kinds of handles in this bit set: none or file descriptors.
pub fn can_share(kinds: c_int) -> bool {
    kinds == 0 || kinds == FILE_DESCRIPTOR && IS_SUPPORTED
}

/// `cuIpcGetMemHandle`: the handle is that of the whole allocation, which must not be from a pool.
pub fn memory_handle(out: Out<ShareableHandle>, address: CUdeviceptr) -> CallResult {
    check_supported()?;
    let mut driver = SIMULATOR.lock_driver_settled()?;
    let base = driver.allocation(address)?.base;
    if SIMULATOR.pools.lock().pool_of(base) != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let (file, device) = driver.share(base)?;
    let contents = Contents {
        file,
        device,
        pool: NO_POOL,
    };
    out.set(contents.encode(MEMORY));
    Ok(())
}

/// `cuIpcOpenMemHandle`: as a GPU's driver does, rejects a handle of the same process.
pub fn open_memory(
    address: Out<CUdeviceptr>,
    handle: ShareableHandle,
    flags: c_uint,
) -> CallResult {
    check_supported()?;
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    if flags != LAZY_ENABLE_PEER_ACCESS {
        return Err(CudaError::InvalidValue.into());
    }
    let contents = Contents::decode(MEMORY, handle).ok_or(CudaError::InvalidValue)?;
    if contents.is_own() {
        return Err(CudaError::InvalidContext.into());
    }
    let file = open_file(&contents.file)?;
    address.set(driver.import(context, contents.device, file, ImportOrigin::Handle)?);
    Ok(())
}

/// Opens the memory of another process. Warns of the likely causes if that fails.
fn open_file(address: &FileAddress) -> Result<SharedFile, CudaError> {
    SharedFile::open(address).ok_or_else(|| {
        warn(format_args!(
            "cannot open memory of process {}: it has ended or freed the memory, or has another user or PID namespace",
            address.process
        ));
        CudaError::InvalidValue
    })
}

/// `cuIpcCloseMemHandle`: waits for all pending work, which may use the memory.
pub fn close_memory(address: CUdeviceptr) -> CallResult {
    check_supported()?;
    let mut driver = SIMULATOR.lock_driver_drained()?;
    Ok(driver.release_import(address, ImportOrigin::Handle)?)
}

/// `cuIpcGetEventHandle`: the event must have been created for use by several processes.
pub fn event_handle(out: Out<ShareableHandle>, event: CUevent) -> CallResult {
    check_supported()?;
    let event = event_id(event)?;
    if !SIMULATOR.lock_driver()?.is_interprocess(event)? {
        return Err(CudaError::InvalidHandle.into());
    }
    // Recordings are numbered from now on.
    SIMULATOR.wait(WaitTarget::Event(event));
    let contents = Contents {
        file: SIMULATOR.shared_events.share(event)?,
        device: 0,
        pool: NO_POOL,
    };
    out.set(contents.encode(EVENT));
    Ok(())
}

/// Returns the event of a handle. Returns [`CudaError::InvalidValue`] for a null handle.
fn event_id(event: CUevent) -> Result<EventId, CudaError> {
    match event.is_null() {
        true => Err(CudaError::InvalidValue),
        false => Ok(EventId(number(event))),
    }
}

/// `cuIpcOpenEventHandle`: the event cannot be shared again.
pub fn open_event(out: Out<CUevent>, event: ShareableHandle) -> CallResult {
    check_supported()?;
    let (mut driver, context) = SIMULATOR.lock_current_context()?;
    let contents = Contents::decode(EVENT, event).ok_or(CudaError::MapFailed)?;
    if contents.is_own() {
        return Err(CudaError::InvalidContext.into());
    }
    let create = || driver.create_event(context, DISABLE_TIMING);
    let event = SIMULATOR.shared_events.open(&contents.file, create)?;
    out.set(handle(event.0));
    Ok(())
}

/// `cuMemExportToShareableHandle`: exports created memory as a file descriptor.
pub fn export_memory(
    out: Out<c_void>,
    memory: c_ulonglong,
    kind: c_int,
    flags: c_ulonglong,
) -> CallResult {
    check_export(kind, flags)?;
    let descriptor = SIMULATOR.lock_driver_settled()?.export_created(memory)?;
    // SAFETY: a handle of this kind is an `int`.
    unsafe { out.set_as(descriptor) };
    Ok(())
}

/// `cuMemImportFromShareableHandle`. The descriptor stays the caller's.
pub fn import_memory(memory: Out<c_ulonglong>, descriptor: *mut c_void, kind: c_int) -> CallResult {
    check_supported()?;
    check_kind(kind)?;
    let mut driver = SIMULATOR.lock_driver_settled()?;
    memory.set(driver.import_created(number(descriptor) as i32)?);
    Ok(())
}

/// Checks the kind of handle and the flags of an export. No flags exist.
fn check_export(kind: c_int, flags: c_ulonglong) -> Result<(), CudaError> {
    check_supported()?;
    check_kind(kind)?;
    match flags {
        0 => Ok(()),
        _ => Err(CudaError::InvalidValue),
    }
}

/// Returns [`CudaError::InvalidValue`] for the handles of other systems, and for none.
fn check_kind(kind: c_int) -> Result<(), CudaError> {
    match kind {
        FILE_DESCRIPTOR => Ok(()),
        _ => Err(CudaError::InvalidValue),
    }
}

/// `cuMemPoolExportToShareableHandle`: exports a pool as a file descriptor.
pub fn export_pool(
    out: Out<c_void>,
    pool: CUmemoryPool,
    kind: c_int,
    flags: c_ulonglong,
) -> CallResult {
    check_export(kind, flags)?;
    SIMULATOR.pools.lock().pool(number(pool))?;
    let descriptor = SIMULATOR.shared_pools.export(number(pool))?;
    // SAFETY: a handle of this kind is an `int`.
    unsafe { out.set_as(descriptor) };
    Ok(())
}

/// `cuMemPoolImportFromShareableHandle`. The descriptor stays the caller's.
pub fn import_pool(
    out: Out<CUmemoryPool>,
    descriptor: *mut c_void,
    kind: c_int,
    flags: c_ulonglong,
) -> CallResult {
    check_export(kind, flags)?;
    let create = |device: u32| {
        let device = check_device(device as c_int)?;
        Ok(SIMULATOR.pools.lock().create(device))
    };
    let descriptor = number(descriptor) as i32;
    out.set(handle(SIMULATOR.shared_pools.import(descriptor, create)?));
    Ok(())
}

/// `cuMemPoolExportPointer`: exports an allocation of a shareable pool.
pub fn export_pointer(out: Out<ShareableHandle>, address: CUdeviceptr) -> CallResult {
    check_supported()?;
    let mut driver = SIMULATOR.lock_driver_settled()?;
    let base = driver.allocation(address)?.base;
    let pool = SIMULATOR.pools.lock().pool_of(base);
    let pool = SIMULATOR.shared_pools.id(pool);
    let pool = pool.ok_or(CudaError::InvalidValue)?;
    let (file, device) = driver.share(base)?;
    let contents = Contents { file, device, pool };
    out.set(contents.encode(POOL_MEMORY));
    Ok(())
}

/// `cuMemPoolImportPointer`: imports an allocation of an imported pool. The program frees it as one of its own.
pub fn import_pointer(
    out: Out<CUdeviceptr>,
    pool: CUmemoryPool,
    data: In<ShareableHandle>,
) -> CallResult {
    check_supported()?;
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let pool = number(pool);
    let accessible_by = SIMULATOR.pools.lock().pool(pool)?.accessible_by;
    let contents = Contents::decode(POOL_MEMORY, data.read());
    let is_of_pool = |contents: &Contents| SIMULATOR.shared_pools.id(pool) == Some(contents.pool);
    let contents = required(contents.filter(is_of_pool))?;
    let file = open_file(&contents.file)?;
    let bytes = file.bytes();
    let address = driver.import(context, contents.device, file, ImportOrigin::Pool)?;
    driver.set_accessible_from(address, accessible_by);
    drop(driver);
    SIMULATOR.pools.record_allocation(pool, address, bytes);
    out.set(address);
    Ok(())
}

/// The types of handles on Linux: file descriptors of memory, of semaphores, and of semaphores with a counter.
const OPAQUE_DESCRIPTOR: c_int = 1;
const TIMELINE_DESCRIPTOR: c_int = 9;
/// The types of memory and semaphores of other systems and interfaces: those of Windows, and NvSci's. For memory, type 9 is a
/// descriptor of Linux's dma-buf; for semaphores, 10 is a Windows handle.
const FOREIGN_MEMORY: [c_int; 8] = [2, 3, 4, 5, 6, 7, 8, 9];
const FOREIGN_SEMAPHORES: [c_int; 8] = [2, 3, 4, 5, 6, 7, 8, 10];
/// `CUDA_EXTERNAL_MEMORY_DEDICATED`: the only flag.
const DEDICATED: c_uint = 1;

/// `CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD`
const DMA_BUFFER: c_int = 1;

/// `cuImportExternalMemory`. After success, the descriptor is closed.
pub fn import_external_memory(
    out: Out<CUexternalMemory>,
    from: In<HandleDescription>,
) -> CallResult {
    let from = from.read();
    require_current()?;
    if FOREIGN_MEMORY.contains(&from.kind) {
        return Err(CudaError::NotSupported.into());
    }
    if from.kind != OPAQUE_DESCRIPTOR || from.bytes == 0 || from.flags & !DEDICATED != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let descriptor = from.handle[0] as c_int;
    let mut driver = SIMULATOR.lock_driver_settled()?;
    let memory = driver.import_external(descriptor, from.bytes);
    drop(driver);
    let memory = memory.inspect_err(|&error| {
        if error == CudaError::Unknown {
            warn(format_args!(
                "cuImportExternalMemory: {descriptor} is not a file descriptor of cuMemExportToShareableHandle, the only \
                 external memory that the simulator can import"
            ));
        }
    })?;
    // SAFETY: `cuImportExternalMemory` passes the descriptor to the driver.
    unsafe { SharedFile::close(descriptor) };
    out.set(handle(memory));
    Ok(())
}

/// `cuExternalMemoryGetMappedBuffer`: the program frees the buffer with `cuMemFree`.
pub fn mapped_buffer(
    out: Out<CUdeviceptr>,
    memory: CUexternalMemory,
    from: In<BufferDescription>,
) -> CallResult {
    let from = from.read();
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    if from.flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    out.set(driver.map_external(context, number(memory), from.offset, from.bytes)?);
    Ok(())
}

/// `cuDestroyExternalMemory`.
pub fn destroy_memory(memory: CUexternalMemory) -> CallResult {
    let mut driver = SIMULATOR.lock_driver()?;
    Ok(driver.destroy_external(number(memory))?)
}

/// `cuImportExternalSemaphore`: there are none.
pub fn import_semaphore(_out: Out<*mut c_void>, from: In<SemaphoreDescription>) -> CallResult {
    let from = from.read();
    require_current()?;
    match from.kind {
        OPAQUE_DESCRIPTOR | TIMELINE_DESCRIPTOR if from.flags == 0 => {
            warn(format_args!(
                "cuImportExternalSemaphore: the simulator has no semaphores of other interfaces"
            ));
            Err(CudaError::Unknown.into())
        }
        kind if FOREIGN_SEMAPHORES.contains(&kind) => Err(CudaError::NotSupported.into()),
        _ => Err(CudaError::InvalidValue.into()),
    }
}

/// `cuDestroyExternalSemaphore`: no semaphore has been imported.
pub fn destroy_semaphore(_semaphore: *mut c_void) -> CallResult {
    Err(CudaError::InvalidHandle.into())
}

/// `cuSignalExternalSemaphoresAsync`, `cuWaitExternalSemaphoresAsync`: no semaphore has been imported.
pub fn use_semaphores(
    _semaphores: In<*mut c_void>,
    _parameters: In<c_void>,
    count: c_uint,
    stream: Stream,
) -> CallResult {
    let _locked = SIMULATOR.lock_live_stream(stream)?;
    match count {
        0 => Err(CudaError::InvalidValue.into()),
        _ => Err(CudaError::InvalidHandle.into()),
    }
}

/// `cuMemGetHandleForAddressRange`: a dma-buf, the only kind of handle, is memory of a device that Linux knows.
pub fn range_handle(
    _out: Out<c_void>,
    _address: CUdeviceptr,
    _bytes: usize,
    kind: c_int,
    _flags: c_ulonglong,
) -> CallResult {
    require_current()?;
    match kind {
        DMA_BUFFER => Err(CudaError::NotSupported.into()),
        _ => Err(CudaError::InvalidValue.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_contain_their_file() {
        let contents = Contents {
            file: FileAddress {
                process: u32::MAX,
                descriptor: i32::MAX,
                id: FileId {
                    volume: u64::MAX,
                    number: 5,
                },
            },
            device: 3,
            pool: FileId {
                volume: 1,
                number: 2,
            },
        };
        let handle = contents.encode(MEMORY);
        assert!(Contents::decode(EVENT, handle).is_none());
        let decoded = Contents::decode(MEMORY, handle).unwrap();
        assert_eq!(decoded.file, contents.file);
        assert_eq!((decoded.device, decoded.pool), (3, contents.pool));
    }
}
