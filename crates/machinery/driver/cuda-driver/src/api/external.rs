//! Memory and semaphores of other interfaces, such as Vulkan.
//!
//! A simulated device shares nothing with other interfaces, so the only external memory is that of
//! `cuMemExportToShareableHandle`, and there are no external semaphores. All other handles have the errors of an H200's
//! driver for handles that it cannot import (580.159.04).

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::CudaError;
use cuda_sim::memory::shared::SharedFile;

use super::SIMULATOR;
use crate::arguments::{In, Out, handle, number};
use crate::log::warn;
use crate::simulator::{Stream, require_current};
use crate::status::CallResult;
use crate::types::external::{BufferDescription, HandleDescription, SemaphoreDescription};
use crate::types::{CUdeviceptr, CUexternalMemory};

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
pub fn import_memory(out: Out<CUexternalMemory>, from: In<HandleDescription>) -> CallResult {
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
