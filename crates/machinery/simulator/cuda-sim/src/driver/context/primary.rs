//! The primary context of each device, which is shared and reference-counted.

use super::{Context, validate_flags};
use crate::driver::{ContextId, CudaError, Driver};

/// The state of a primary context that persists while the context does not exist.
#[derive(Clone, Default)]
pub(in crate::driver) struct PrimaryContext {
    /// The context's handle, from its first retain on. It stays the same when the context is recreated.
    id: Option<ContextId>,
    /// The number of retains without a matching release.
    retain_count: u64,
    /// The context's flags, or those that it will be created with.
    flags: u32,
}

impl Driver {
    /// `cuDevicePrimaryCtxRetain`: increments the reference count of the primary context of `device`, and
    /// creates it if it does not exist. This and the functions below fail with [`CudaError::InvalidDevice`]
    /// if there is no such device.
    pub fn retain_primary(&mut self, device: u32) -> Result<ContextId, CudaError> {
        self.check_device(device)?;
        let primary = &mut self.primary[device as usize];
        primary.retain_count += 1;
        let handles = &mut self.handles;
        let id = *primary.id.get_or_insert_with(|| ContextId(handles.next()));
        let flags = primary.flags;
        self.contexts
            .entry(id)
            .or_insert_with(|| Context::new(device, flags));
        Ok(id)
    }

    /// `cuDevicePrimaryCtxRelease`: decrements the reference count, and destroys the context when it reaches
    /// 0. Fails with [`CudaError::InvalidContext`] if the context is not retained.
    pub fn release_primary(&mut self, device: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        let primary = &mut self.primary[device as usize];
        let left = primary.retain_count.checked_sub(1);
        primary.retain_count = left.ok_or(CudaError::InvalidContext)?;
        if left == Some(0) {
            self.reset_primary(device)?;
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxReset`: destroys the primary context regardless of its reference count, which does
    /// not change.
    pub fn reset_primary(&mut self, device: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        if let Some(context) = self.primary[device as usize].id {
            self.remove_context(context);
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxGetState`: returns the primary context's flags, and true if it exists.
    pub fn primary_state(&self, device: u32) -> Result<(u32, bool), CudaError> {
        self.check_device(device)?;
        let primary = &self.primary[device as usize];
        let exists = primary.id.is_some_and(|id| self.contexts.contains_key(&id));
        Ok((primary.flags, exists))
    }

    /// `cuDevicePrimaryCtxSetFlags`: sets the primary context's flags, both now and for when it is recreated.
    /// Fails with [`CudaError::InvalidValue`] as [`Driver::create_context`] does.
    pub fn set_primary_flags(&mut self, device: u32, flags: u32) -> Result<(), CudaError> {
        self.check_device(device)?;
        let primary = &mut self.primary[device as usize];
        primary.flags = validate_flags(flags)?;
        if let Some(context) = primary.id.and_then(|id| self.contexts.get_mut(&id)) {
            context.flags = flags;
        }
        Ok(())
    }

    /// Returns true if `context` is the handle of a primary context, live or destroyed.
    pub(super) fn is_primary(&self, context: ContextId) -> bool {
        self.primary_device(context).is_some()
    }

    /// Returns the device whose primary context is `context`, live or destroyed. Returns `None` for other
    /// contexts.
    pub(super) fn primary_device(&self, context: ContextId) -> Option<u32> {
        let mut all = self.primary.iter();
        let device = all.position(|primary| primary.id == Some(context))?;
        Some(device as u32)
    }
}
