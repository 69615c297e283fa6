//! The set of contexts that may be made current. It has its own lock, so that lookups do not wait for a
//! running launch,
//! which holds the driver's.

use std::collections::BTreeSet;
use std::sync::Mutex;

use cuda_sim::driver::{ContextId, CudaError};

use super::lock;

/// Contexts that were created and not destroyed. Primary contexts stay in the set, since they can be retained
/// again.
static KNOWN: Mutex<BTreeSet<ContextId>> = Mutex::new(BTreeSet::new());

/// Registers a new context. Returns it.
pub fn made(context: ContextId) -> ContextId {
    lock(&KNOWN).insert(context);
    context
}

/// Removes a destroyed context that is not a primary context.
pub fn destroyed(context: ContextId) {
    lock(&KNOWN).remove(&context);
}

/// Returns [`CudaError::InvalidContext`] for a context that may not be made current.
pub fn check(context: ContextId) -> Result<(), CudaError> {
    match lock(&KNOWN).contains(&context) {
        true => Ok(()),
        false => Err(CudaError::InvalidContext),
    }
}
