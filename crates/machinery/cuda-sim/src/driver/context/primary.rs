//! The device's primary context, which its users share and count.

use super::{Context, checked_flags};
use crate::driver::{ContextId, CudaError, Driver};

/// What is known of the primary context whether or not it exists at the moment.
#[derive(Default)]
pub(in crate::driver) struct PrimaryContext {
    /// Its handle, from its first user on: the same each time it is made again.
    id: Option<ContextId>,
    /// How many have retained it and not released it yet.
    users: u64,
    /// The flags it has, or will be made with.
    flags: u32,
}

impl Driver {
    /// `cuDevicePrimaryCtxRetain`: one more user of the primary context, which is made if there is
    /// none.
    pub fn retain_primary(&mut self) -> ContextId {
        self.primary.users += 1;
        let handles = &mut self.handles;
        let id = self.primary.id;
        let id = id.unwrap_or_else(|| ContextId(handles.next()));
        self.primary.id = Some(id);
        let flags = self.primary.flags;
        self.contexts
            .entry(id)
            .or_insert_with(|| Context::new(flags));
        id
    }

    /// `cuDevicePrimaryCtxRelease`: one user less; when the last one goes, so does the context.
    /// [`CudaError::InvalidContext`] where nobody has retained it.
    pub fn release_primary(&mut self) -> Result<(), CudaError> {
        let left = self.primary.users.checked_sub(1);
        self.primary.users = left.ok_or(CudaError::InvalidContext)?;
        if left == Some(0) {
            self.reset_primary();
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxReset`: destroys the primary context whoever uses it. Its users still have
    /// to release it.
    pub fn reset_primary(&mut self) {
        if let Some(context) = self.primary.id {
            self.remove_context(context);
        }
    }

    /// `cuDevicePrimaryCtxGetState`: the primary context's flags and whether it exists.
    pub fn primary_state(&self) -> (u32, bool) {
        let id = self.primary.id;
        let exists = id.is_some_and(|id| self.contexts.contains_key(&id));
        (self.primary.flags, exists)
    }

    /// `cuDevicePrimaryCtxSetFlags`: sets the primary context's flags, at once and for when it is
    /// made again. [`CudaError::InvalidValue`] as for [`Driver::create_context`].
    pub fn set_primary_flags(&mut self, flags: u32) -> Result<(), CudaError> {
        self.primary.flags = checked_flags(flags)?;
        if let Some(context) = self.primary.id.and_then(|id| self.contexts.get_mut(&id)) {
            context.flags = flags;
        }
        Ok(())
    }

    /// Whether `context` is the handle of the primary context, which may be destroyed at the moment.
    pub(super) fn is_primary(&self, context: ContextId) -> bool {
        self.primary.id == Some(context)
    }
}
