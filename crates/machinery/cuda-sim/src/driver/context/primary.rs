//! Each device's primary context, which its users share and count.

use super::{Context, checked_flags};
use crate::driver::{ContextId, CudaError, Driver};

/// What is known of the primary context whether or not it exists at the moment.
#[derive(Clone, Default)]
pub(in crate::driver) struct PrimaryContext {
    /// Its handle, from its first user on: the same each time it is made again.
    id: Option<ContextId>,
    /// How many have retained it and not released it yet.
    users: u64,
    /// The flags it has, or will be made with.
    flags: u32,
}

impl Driver {
    /// `cuDevicePrimaryCtxRetain`: one more user of the primary context of `device`, which is made if there is
    /// none. [`CudaError::InvalidDevice`], here and below, where there is no such device.
    pub fn retain_primary(&mut self, device: u32) -> Result<ContextId, CudaError> {
        self.check_device(device)?;
        let primary = &mut self.primary[device as usize];
        primary.users += 1;
        let handles = &mut self.handles;
        let id = *primary.id.get_or_insert_with(|| ContextId(handles.next()));
        let flags = primary.flags;
        self.contexts
            .entry(id)
            .or_insert_with(|| Context::new(device, flags));
        Ok(id)
    }

    /// `cuDevicePrimaryCtxRelease`: one user less; when the last one goes, so does the context.
    /// [`CudaError::InvalidContext`] where nobody has retained it.
    pub fn release_primary(&mut self, device: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        let primary = &mut self.primary[device as usize];
        let left = primary.users.checked_sub(1);
        primary.users = left.ok_or(CudaError::InvalidContext)?;
        if left == Some(0) {
            self.reset_primary(device)?;
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxReset`: destroys the primary context whoever uses it. Its users still have
    /// to release it.
    pub fn reset_primary(&mut self, device: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        if let Some(context) = self.primary[device as usize].id {
            self.remove_context(context);
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxGetState`: the primary context's flags and whether it exists.
    pub fn primary_state(&self, device: u32) -> Result<(u32, bool), CudaError> {
        self.check_device(device)?;
        let primary = &self.primary[device as usize];
        let exists = primary.id.is_some_and(|id| self.contexts.contains_key(&id));
        Ok((primary.flags, exists))
    }

    /// `cuDevicePrimaryCtxSetFlags`: sets the primary context's flags, at once and for when it is
    /// made again. [`CudaError::InvalidValue`] as for [`Driver::create_context`].
    pub fn set_primary_flags(&mut self, device: u32, flags: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        let primary = &mut self.primary[device as usize];
        primary.flags = checked_flags(flags)?;
        if let Some(context) = primary.id.and_then(|id| self.contexts.get_mut(&id)) {
            context.flags = flags;
        }
        Ok(())
    }

    /// Whether `context` is the handle of a primary context, which may be destroyed at the moment.
    pub(super) fn is_primary(&self, context: ContextId) -> bool {
        self.primary_of(context).is_some()
    }

    /// The device of which `context` is the primary one, destroyed or not.
    pub(super) fn primary_of(&self, context: ContextId) -> Option<u32> {
        let mut all = self.primary.iter();
        let found = all.position(|primary| primary.id == Some(context))?;
        Some(found as u32)
    }
}
