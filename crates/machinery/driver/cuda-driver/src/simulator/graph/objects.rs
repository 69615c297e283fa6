//! User objects: resources of the program with reference counts, destroyed when no graph needs them any more.

use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::{CUhostFn, CUuserObject};

use super::GraphId;
use super::store::graphs;
use crate::simulator::arguments::{Out, handle, number};
use crate::simulator::thread;
use crate::status::CallResult;

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which CUDA requires for every object.
const NO_SYNC: c_uint = 1;

/// `CU_GRAPH_USER_OBJECT_MOVE`: transfers the caller's references to the graph.
const MOVE: c_uint = 1;

/// All user objects, by number.
pub struct Objects(BTreeMap<u64, Object>);

struct Object {
    /// Number of references held by the program and by graphs.
    references: u64,
    destructor: Destructor,
}

/// The function to call when an object's last reference is released.
#[derive(Clone, Copy)]
pub struct Destructor {
    function: CUhostFn,
    data: *mut c_void,
}

// SAFETY: `cuUserObjectCreate` requires a destructor that any thread may call.
unsafe impl Send for Destructor {}

impl Destructor {
    /// Returns the function and its argument together, so that a closure captures the whole `Send` struct.
    fn parts(self) -> (CUhostFn, *mut c_void) {
        (self.function, self.data)
    }
}

/// Calls destructors on a thread of the driver. The caller must not hold a lock.
pub fn call_destructors(destructors: Vec<Destructor>) -> Result<(), CudaError> {
    if destructors.is_empty() {
        return Ok(());
    }
    thread::call_host_function(move || {
        for destructor in destructors {
            if let (Some(function), data) = destructor.parts() {
                // SAFETY: the program registered the destructor with this argument, and it is called exactly
                // once.
                unsafe { function(data) }
            }
        }
    })
}

impl Objects {
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds references, by object.
    pub fn retain_all(&mut self, counts: &BTreeMap<u64, u64>) {
        for (object, count) in counts {
            if let Some(object) = self.0.get_mut(object) {
                object.references += count;
            }
        }
    }

    /// Drops references and returns the destructors of objects that reached zero.
    pub fn release_all(&mut self, counts: &BTreeMap<u64, u64>) -> Vec<Destructor> {
        let mut destructors = Vec::new();
        for (&object, &count) in counts {
            if let Ok(Some(destructor)) = self.release(object, count) {
                destructors.push(destructor);
            }
        }
        destructors
    }

    fn release(&mut self, object: u64, count: u64) -> Result<Option<Destructor>, CudaError> {
        let entry = self.0.get_mut(&object).ok_or(CudaError::InvalidValue)?;
        entry.references = entry
            .references
            .checked_sub(count)
            .ok_or(CudaError::InvalidValue)?;
        if entry.references > 0 {
            return Ok(None);
        }
        Ok(self.0.remove(&object).map(|object| object.destructor))
    }
}

/// `cuUserObjectCreate`.
pub fn create(
    out: Out<CUuserObject>,
    data: *mut c_void,
    destroy: CUhostFn,
    references: c_uint,
    flags: c_uint,
) -> CallResult {
    if destroy.is_none() || references == 0 || flags != NO_SYNC {
        return Err(CudaError::InvalidValue.into());
    }
    let mut graphs = graphs();
    let id = graphs.next();
    let object = Object {
        references: references.into(),
        destructor: Destructor {
            function: destroy,
            data,
        },
    };
    graphs.objects.0.insert(id, object);
    out.set(handle(id));
    Ok(())
}

/// `cuUserObjectRetain`.
pub fn retain(object: CUuserObject, count: c_uint) -> CallResult {
    let mut graphs = graphs();
    let object = graphs.objects.0.get_mut(&number(object));
    let object = object.ok_or(CudaError::InvalidValue)?;
    object.references += u64::from(check_nonzero(count)?);
    Ok(())
}

/// `cuUserObjectRelease`.
pub fn release(object: CUuserObject, count: c_uint) -> CallResult {
    let count = check_nonzero(count)?;
    let destructor = graphs().objects.release(number(object), count.into())?;
    Ok(call_destructors(destructor.into_iter().collect())?)
}

/// `cuGraphRetainUserObject`.
pub fn retain_in_graph(
    graph: GraphId,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> CallResult {
    let count = u64::from(check_nonzero(count)?);
    if flags & !MOVE != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let object = number(object);
    let mut graphs = graphs();
    graphs.graph(graph)?;
    let entry = graphs.objects.0.get_mut(&object);
    let entry = entry.ok_or(CudaError::InvalidValue)?;
    match flags {
        MOVE if entry.references < count => return Err(CudaError::InvalidValue.into()),
        MOVE => {}
        _ => entry.references += count,
    }
    let objects = &mut graphs.graph_mut(graph)?.objects;
    *objects.entry(object).or_default() += count;
    Ok(())
}

/// `cuGraphReleaseUserObject`.
pub fn release_in_graph(graph: GraphId, object: CUuserObject, count: c_uint) -> CallResult {
    let count = u64::from(check_nonzero(count)?);
    let object = number(object);
    let mut graphs = graphs();
    let objects = &mut graphs.graph_mut(graph)?.objects;
    let entry = objects.get_mut(&object).ok_or(CudaError::InvalidValue)?;
    *entry = entry.checked_sub(count).ok_or(CudaError::InvalidValue)?;
    if *entry == 0 {
        objects.remove(&object);
    }
    let destructor = graphs.objects.release(object, count)?;
    drop(graphs);
    Ok(call_destructors(destructor.into_iter().collect())?)
}

fn check_nonzero(count: c_uint) -> Result<c_uint, CudaError> {
    if count == 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(count)
}
