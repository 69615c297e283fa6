//! The allocation of an address, and the context that owns the allocation.

use crate::driver::{ContextId, CudaError, Driver};
use crate::memory::global::Allocation;

impl Driver {
    /// Returns the allocation that contains `address`, for `cuMemGetAddressRange` and
    /// `cuPointerGetAttribute`. Fails with [`CudaError::InvalidValue`] if there is none.
    pub fn allocation(&self, address: u64) -> Result<Allocation, CudaError> {
        let allocation = self.global.allocation(address);
        allocation.ok_or(CudaError::InvalidValue)
    }

    /// Returns the context that owns the allocation at start address `address`. Returns `None` if no
    /// allocation starts there, or if it is a module's variable.
    pub fn owner(&self, address: u64) -> Option<ContextId> {
        let mut contexts = self.contexts.iter();
        let owner = contexts.find(|(_, context)| context.owned.contains(&address));
        owner.map(|(&id, _)| id)
    }

    /// Makes `context` the owner of the allocation at start address `address`. Returns `address`.
    pub(super) fn set_owner(&mut self, context: ContextId, address: u64) -> Result<u64, CudaError> {
        self.context_mut(context)?.owned.insert(address);
        Ok(address)
    }

    /// Removes the owner of the allocation at start address `address`, which has been freed, perhaps from
    /// another context.
    pub(super) fn remove_owner(&mut self, address: u64) {
        for context in self.contexts.values_mut() {
            context.owned.remove(&address);
        }
    }
}
