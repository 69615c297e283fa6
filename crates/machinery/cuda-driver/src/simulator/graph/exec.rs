//! Executable graphs: instantiation, launch and destruction.

use std::ffi::{CStr, c_char, c_uint, c_ulonglong};
use std::sync::Arc;

use cuda_sim::driver::CudaError;
use cust_raw::{CUgraph, CUgraphExec, CUgraphNode, CUstream};

use super::body::{Body, NodeId};
use super::nodes::{graph_id, node_id};
use super::store::{ExecId, graphs};
use super::{memory, objects};
use crate::report::say;
use crate::simulator::queue::{self, Awaited};
use crate::simulator::raw::{Out, handle, number, set_if_wanted};
use crate::simulator::submit::submit;
use crate::simulator::work::Work;
use crate::simulator::{driver, in_live_stream, machine};
use crate::status::Answer;
use crate::types::graph::InstantiateParams;

/// Flags of executable graphs.
const AUTO_FREE: u64 = 1;
const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;
const USE_NODE_PRIORITY: u64 = 8;

/// Values of `CUgraphInstantiateResult`.
const SUCCESS: i32 = 0;
const ERROR: i32 = 1;
const INVALID_STRUCTURE: i32 = 2;
const NOT_SUPPORTED: i32 = 3;

/// The reason why a graph cannot be instantiated.
struct Refusal {
    error: CudaError,
    /// The `CUgraphInstantiateResult`.
    result: i32,
    /// The node that causes the error, if there is one.
    node: Option<NodeId>,
    why: &'static CStr,
}

/// Instantiates `graph`, after a check that it can be launched.
fn instantiate(graph: CUgraph, flags: u64) -> Result<ExecId, Refusal> {
    let plain = |error| Refusal {
        error,
        result: ERROR,
        node: None,
        why: c"invalid graph or flags",
    };
    // AUTO_FREE frees a launch's remaining memory at the next launch from the host, so device launches
    // exclude it.
    let both = AUTO_FREE | DEVICE_LAUNCH;
    let known = both | UPLOAD | USE_NODE_PRIORITY;
    if flags & !known != 0 || flags & both == both {
        return Err(plain(CudaError::InvalidValue));
    }
    if flags & DEVICE_LAUNCH != 0 {
        say(format_args!(
            "the simulator does not do graphs that kernels launch"
        ));
        return Err(Refusal {
            result: NOT_SUPPORTED,
            why: c"device launch is not supported",
            ..plain(CudaError::NotSupported)
        });
    }
    let mut graphs = graphs();
    let body = graphs.graph(graph_id(graph)).map_err(plain)?;
    if let Some(node) = stuck(body) {
        return Err(Refusal {
            result: INVALID_STRUCTURE,
            node: Some(node),
            why: c"nodes of the graph wait for each other",
            ..plain(CudaError::InvalidValue)
        });
    }
    if body.has_memory() {
        let id = body.id;
        if graphs.execs.values().any(|exec| exec.body.id == id) {
            return Err(Refusal {
                why: c"a graph that allocates memory can have one executable graph",
                ..plain(CudaError::NotSupported)
            });
        }
    }
    graphs.instantiate(graph_id(graph), flags).map_err(plain)
}

/// Returns a node of a dependency cycle, here or in a child graph.
fn stuck(body: &Body) -> Option<NodeId> {
    if body.order(None).is_none() {
        let waits_for_itself =
            |node: &NodeId| body.ancestors(&body.nodes[node].after).contains(node);
        return body.nodes.keys().copied().find(waits_for_itself);
    }
    body.children().find_map(stuck)
}

/// `cuGraphInstantiate` before CUDA 12: reports errors as a node and as text.
pub unsafe fn instantiate_with_log(
    to: *mut CUgraphExec,
    graph: CUgraph,
    error_node: *mut CUgraphNode,
    log: *mut c_char,
    room: usize,
) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphInstantiate` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let made = instantiate(graph, 0);
    let (node, why) = match &made {
        Ok(_) => (None, c""),
        Err(refusal) => (refusal.node, refusal.why),
    };
    // SAFETY: `error_node` is null or writable, as `cuGraphInstantiate` requires of its caller.
    unsafe { set_if_wanted(error_node, handle(node.map_or(0, |node| node.0))) };
    if !log.is_null() && room > 0 {
        let shown = why.count_bytes().min(room - 1);
        // SAFETY: `log` has room for `capacity` bytes, and `length` plus the NUL are no more.
        unsafe {
            log.copy_from_nonoverlapping(why.as_ptr(), shown);
            log.add(shown).write(0);
        }
    }
    to.set(handle(made.map_err(|refusal| refusal.error)?.0));
    Ok(())
}

/// `cuGraphInstantiateWithFlags`, which is named `cuGraphInstantiate` since CUDA 12.
pub unsafe fn instantiate_with_flags(
    to: *mut CUgraphExec,
    graph: CUgraph,
    flags: c_ulonglong,
) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphInstantiateWithFlags` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let made = instantiate(graph, flags).map_err(|refusal| refusal.error)?;
    to.set(handle(made.0));
    Ok(())
}

/// `cuGraphInstantiateWithParams`.
pub unsafe fn instantiate_with_params(
    to: *mut CUgraphExec,
    graph: CUgraph,
    how: *mut InstantiateParams,
) -> Answer {
    // SAFETY: `to` is null or writable and `params` null or a valid structure, as
    // `cuGraphInstantiateWithParams` requires
    // of its caller.
    let (to, how) = unsafe { (Out::new(to)?, how.as_mut().ok_or(CudaError::InvalidValue)?) };
    if how.flags & UPLOAD != 0 {
        drop(in_live_stream(how.upload_stream)?);
    }
    let made = instantiate(graph, how.flags);
    let refusal = made.as_ref().err();
    how.result = refusal.map_or(SUCCESS, |refusal| refusal.result);
    let node = refusal.and_then(|refusal| refusal.node);
    how.error_node = handle(node.map_or(0, |node| node.0));
    to.set(handle(made.map_err(|refusal| refusal.error)?.0));
    Ok(())
}

/// `cuGraphExecGetFlags`.
pub unsafe fn flags(exec: CUgraphExec, to: *mut c_ulonglong) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphExecGetFlags` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    to.set(graphs().exec(exec_id(exec))?.flags);
    Ok(())
}

/// `cuGraphExecDestroy`.
pub unsafe fn destroy(exec: CUgraphExec) -> Answer {
    // User objects stay alive until the graph's launches have completed.
    queue::wait(Awaited::All);
    let calls = graphs().destroy_exec(exec_id(exec))?;
    Ok(objects::call(calls)?)
}

/// `cuGraphUpload`: a no-op, because there is nothing to upload.
pub unsafe fn upload(exec: CUgraphExec, on: CUstream) -> Answer {
    drop(in_live_stream(on)?);
    graphs().exec(exec_id(exec))?;
    Ok(())
}

/// `cuGraphLaunch`.
pub unsafe fn launch(exec: CUgraphExec, on: CUstream) -> Answer {
    let (found, context, stream) = in_live_stream(on)?;
    drop(found);
    let (body, flags) = {
        let graphs = graphs();
        let exec = graphs.exec(exec_id(exec))?;
        (Arc::clone(&exec.body), exec.flags)
    };
    // Memory availability is known only after the previous launch has completed.
    let mut driver = match body.has_memory() {
        true => driver()?,
        false => machine()?,
    };
    memory::make_room(&mut driver, context, &body, flags & AUTO_FREE != 0)?;
    Ok(submit(driver, context, stream, Work::Graph(body))?)
}

/// `cuGraphNodeSetEnabled`: for kernel, memcpy and memset nodes.
pub unsafe fn set_enabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) -> Answer {
    let mut graphs = graphs();
    let node = graphs.exec_node(exec_id(exec), node_id(node))?;
    if !can_be_disabled(&node.work) {
        return Err(CudaError::InvalidValue.into());
    }
    node.enabled = enabled != 0;
    Ok(())
}

/// `cuGraphNodeGetEnabled`.
pub unsafe fn enabled(exec: CUgraphExec, node: CUgraphNode, to: *mut c_uint) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphNodeGetEnabled` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let graphs = graphs();
    let exec = graphs.exec(exec_id(exec))?;
    let node = exec.body.find(node_id(node));
    let node = node.ok_or(CudaError::InvalidValue)?;
    if !can_be_disabled(&node.work) {
        return Err(CudaError::InvalidValue.into());
    }
    to.set(node.enabled.into());
    Ok(())
}

fn can_be_disabled(work: &Work) -> bool {
    matches!(work, Work::Kernel(_) | Work::Memcpy(_) | Work::Memset(_))
}

/// Returns the number of an executable graph's handle.
pub fn exec_id(exec: CUgraphExec) -> ExecId {
    ExecId(number(exec))
}
