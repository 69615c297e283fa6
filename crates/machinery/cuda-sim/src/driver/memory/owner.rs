//! What an address belongs to: its allocation, and the context that the allocation was made in.

use crate::driver::{ContextId, CudaError, Driver};
use crate::memory::global::Allocation;

impl Driver {
    /// The allocation that `address` points into, for `cuMemGetAddressRange` and
    /// `cuPointerGetAttribute`. [`CudaError::InvalidValue`] where there is none.
    pub fn allocation(&self, address: u64) -> Result<Allocation, CudaError> {
        let found = self.global.allocation(address);
        found.ok_or(CudaError::InvalidValue)
    }

    /// The context in which the allocation that starts at `address` was made. `None` where no
    /// allocation starts there, or it is a module's variable.
    pub fn owner(&self, address: u64) -> Option<ContextId> {
        let mut contexts = self.contexts.iter();
        let owner = contexts.find(|(_, context)| context.owned.contains(&address));
        owner.map(|(&id, _)| id)
    }

    /// From now on the allocation that starts at `address` is `context`'s. Returns `address`.
    pub(super) fn own(&mut self, context: ContextId, address: u64) -> Result<u64, CudaError> {
        self.context_mut(context)?.owned.insert(address);
        Ok(address)
    }

    /// Forgets which context the allocation that starts at `address` was made in: it is freed,
    /// maybe in another context.
    pub(super) fn disown(&mut self, address: u64) {
        for context in self.contexts.values_mut() {
            context.owned.remove(&address);
        }
    }
}
