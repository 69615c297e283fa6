//! Which contexts may be made current, beside the machine: who asks need not wait for a launch that has that.

use std::collections::BTreeSet;
use std::sync::Mutex;

use cuda_sim::driver::{ContextId, CudaError};

use super::lock;

/// Those that were made and not destroyed, and the primary ones, which may come back.
static KNOWN: Mutex<BTreeSet<ContextId>> = Mutex::new(BTreeSet::new());

/// A context has been made. Returns it.
pub fn made(context: ContextId) -> ContextId {
    lock(&KNOWN).insert(context);
    context
}

/// A context has been destroyed that is no primary one.
pub fn destroyed(context: ContextId) {
    lock(&KNOWN).remove(&context);
}

/// [`CudaError::InvalidContext`] for what may not be made current.
pub fn check(context: ContextId) -> Result<(), CudaError> {
    match lock(&KNOWN).contains(&context) {
        true => Ok(()),
        false => Err(CudaError::InvalidContext),
    }
}
