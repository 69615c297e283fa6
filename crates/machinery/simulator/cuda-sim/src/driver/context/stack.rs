//! The stack of current contexts of a host thread.

use crate::driver::{ContextId, CudaError};

/// A host thread's stack of contexts. The top context is current.
#[derive(Debug, Default)]
pub struct ContextStack {
    /// The top context.
    current: Option<ContextId>,
    /// The other contexts, bottom first.
    below: Vec<ContextId>,
}

impl ContextStack {
    /// Creates the empty stack of a new thread.
    pub const fn new() -> Self {
        Self {
            current: None,
            below: Vec::new(),
        }
    }

    /// `cuCtxGetCurrent`: returns the current context; `None` if the stack is empty.
    pub fn current(&self) -> Option<ContextId> {
        self.current
    }

    /// Returns the current context. Fails with [`CudaError::InvalidContext`] if there is none.
    pub fn require_current(&self) -> Result<ContextId, CudaError> {
        self.current.ok_or(CudaError::InvalidContext)
    }

    /// `cuCtxPushCurrent`: makes `context` current until it is popped.
    pub fn push(&mut self, context: ContextId) {
        self.below.extend(self.current.replace(context));
    }

    /// `cuCtxPopCurrent`: pops and returns the current context; the one below becomes current. Fails with
    /// [`CudaError::InvalidContext`] if there is none.
    pub fn pop(&mut self) -> Result<ContextId, CudaError> {
        let popped = self.require_current()?;
        self.current = self.below.pop();
        Ok(popped)
    }

    /// `cuCtxSetCurrent`: replaces the current context by `context`. `None` pops the current context.
    pub fn set_current(&mut self, context: Option<ContextId>) {
        match context {
            Some(context) => self.current = Some(context),
            None => self.current = self.below.pop(),
        }
    }

    /// Releases unused capacity and keeps the contexts. For a stack that is never dropped, because calls may
    /// still come while its thread ends.
    pub fn shrink(&mut self) {
        self.below.shrink_to_fit();
    }
}
