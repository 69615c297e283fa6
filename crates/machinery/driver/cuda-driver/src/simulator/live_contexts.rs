//! The set of contexts that may be made current. It has its own lock, so that lookups do not wait for a
//! running launch, which holds the driver's.

use std::collections::BTreeSet;
use std::sync::Mutex;

use cuda_sim::driver::{ContextId, CudaError};

use super::lock_mutex;

/// Contexts that were created and not destroyed. Primary contexts stay in the set, since they can be retained
/// again.
static LIVE: Mutex<BTreeSet<ContextId>> = Mutex::new(BTreeSet::new());

/// Registers a new context. Returns it.
pub fn register(context: ContextId) -> ContextId {
    lock_mutex(&LIVE).insert(context);
    context
}

/// Removes a destroyed context that is not a primary context.
pub fn unregister(context: ContextId) {
    lock_mutex(&LIVE).remove(&context);
}

/// Returns [`CudaError::InvalidContext`] for a context that may not be made current.
pub fn check(context: ContextId) -> Result<(), CudaError> {
    match lock_mutex(&LIVE).contains(&context) {
        true => Ok(()),
        false => Err(CudaError::InvalidContext),
    }
}
