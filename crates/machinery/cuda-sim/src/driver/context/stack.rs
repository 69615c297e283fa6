//! Which context is current in a host thread.

use crate::driver::{ContextId, CudaError};

/// A host thread's stack of contexts; the one on top is current.
#[derive(Debug, Default)]
pub struct ContextStack {
    /// The context on top.
    current: Option<ContextId>,
    /// The other contexts, the lowest first.
    below: Vec<ContextId>,
}

impl ContextStack {
    /// The stack of a thread that has no context yet.
    pub const fn new() -> Self {
        Self {
            current: None,
            below: Vec::new(),
        }
    }

    /// `cuCtxGetCurrent`: the current context.
    pub fn current(&self) -> Option<ContextId> {
        self.current
    }

    /// The current context, or [`CudaError::InvalidContext`] where there is none.
    pub fn require_current(&self) -> Result<ContextId, CudaError> {
        self.current.ok_or(CudaError::InvalidContext)
    }

    /// `cuCtxPushCurrent`: makes `context` current until it is popped.
    pub fn push(&mut self, context: ContextId) {
        self.below.extend(self.current.replace(context));
    }

    /// `cuCtxPopCurrent`: takes the current context off the stack; the one below it is current from
    /// then on. [`CudaError::InvalidContext`] where there is none.
    pub fn pop(&mut self) -> Result<ContextId, CudaError> {
        let popped = self.require_current()?;
        self.current = self.below.pop();
        Ok(popped)
    }

    /// `cuCtxSetCurrent`: puts `context` in the place of the current one. `None` takes the current
    /// one off the stack.
    pub fn set_current(&mut self, context: Option<ContextId>) {
        match context {
            Some(context) => self.current = Some(context),
            None => self.current = self.below.pop(),
        }
    }

    /// Gives spare memory back, and keeps what is on the stack. For a stack that is never dropped,
    /// because calls may still come while its thread ends.
    pub fn shrink(&mut self) {
        self.below.shrink_to_fit();
    }
}
