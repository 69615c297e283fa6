//! Host memory that the device reaches by itself: page-locked memory of the driver's, and memory of
//! the program's that is registered.

use super::not_zero;
use crate::driver::{ContextId, CudaError, Driver};
use crate::memory::global::BASE;

impl Driver {
    /// `cuMemAllocHost`: page-locked host memory of `bytes` bytes. The address is good on host and
    /// device. Errors are those of [`Driver::allocate`].
    pub fn allocate_host(&mut self, context: ContextId, bytes: u64) -> Result<u64, CudaError> {
        let global = self.global_of(context)?;
        let address = global.allocate_host(not_zero(bytes)?)?;
        self.own(context, address)
    }

    /// `cuMemFreeHost`: frees page-locked host memory by its first address.
    /// [`CudaError::InvalidValue`] for any other address.
    pub fn free_host(&mut self, context: ContextId, address: u64) -> Result<(), CudaError> {
        self.context(context)?;
        self.global.free_host(address)?;
        self.disown(address);
        Ok(())
    }

    /// `cuMemHostRegister`: maps `bytes` bytes of the caller's memory into the device, at their own
    /// address. [`CudaError::InvalidValue`] for none or a null address,
    /// [`CudaError::HostMemoryAlreadyRegistered`] where part of them is mapped already.
    ///
    /// # Safety
    /// `[host, host + bytes)` must be readable and writable until it is unregistered or `context`
    /// is destroyed.
    pub unsafe fn register_host(
        &mut self,
        context: ContextId,
        host: *mut u8,
        bytes: u64,
    ) -> Result<(), CudaError> {
        self.context(context)?;
        let end = (host as u64).checked_add(not_zero(bytes)?);
        if host.is_null() || end.is_none_or(|end| end > BASE) {
            return Err(CudaError::InvalidValue);
        }
        // SAFETY: the caller's promise.
        unsafe { self.global_of(context)?.map(host, bytes) }?;
        self.own(context, host as u64)?;
        Ok(())
    }

    /// `cuMemHostUnregister`: ends what [`Driver::register_host`] began.
    /// [`CudaError::HostMemoryNotRegistered`] for any other address.
    pub fn unregister_host(&mut self, context: ContextId, host: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let unmapped = self.global.unmap(host);
        unmapped.map_err(|_| CudaError::HostMemoryNotRegistered)?;
        self.disown(host);
        Ok(())
    }
}
