//! Executable graphs: instantiation, launch, execution and destruction.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_uint, c_ulonglong};
use std::sync::Arc;

use cuda_sim::driver::{ContextId, CudaError, StreamId};
use cust_raw::{CUgraphExec, CUgraphNode};

use super::store::{ExecId, graphs};
use super::{Body, GraphId, NodeId, memory, objects};
use crate::log::warn;
use crate::simulator::arguments::{InOut, Out, Stream, handle};
use crate::simulator::options::shuffle_seed;
use crate::simulator::queue::{self, WaitTarget};
use crate::simulator::stream_op::StreamOp;
use crate::simulator::submit::{Origin, execute, submit};
use crate::simulator::{lock_driver, lock_driver_drained, lock_live_stream};
use crate::status::CallResult;
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
struct InstantiateError {
    error: CudaError,
    /// The `CUgraphInstantiateResult`.
    result: i32,
    /// The node that causes the error, if there is one.
    node: Option<NodeId>,
    message: &'static CStr,
}

/// Instantiates `graph`, after a check that it can be launched.
fn instantiate(graph: GraphId, flags: u64) -> Result<ExecId, InstantiateError> {
    let error_only = |error| InstantiateError {
        error,
        result: ERROR,
        node: None,
        message: c"invalid graph or flags",
    };
    // AUTO_FREE frees a launch's remaining memory at the next launch from the host, so device launches
    // exclude it.
    let excluded = AUTO_FREE | DEVICE_LAUNCH;
    let valid_flags = excluded | UPLOAD | USE_NODE_PRIORITY;
    if flags & !valid_flags != 0 || flags & excluded == excluded {
        return Err(error_only(CudaError::InvalidValue));
    }
    if flags & DEVICE_LAUNCH != 0 {
        warn(format_args!(
            "the simulator does not support device-side graph launches"
        ));
        return Err(InstantiateError {
            result: NOT_SUPPORTED,
            message: c"device launch is not supported",
            ..error_only(CudaError::NotSupported)
        });
    }
    let mut graphs = graphs();
    let body = graphs.graph(graph).map_err(error_only)?;
    if let Some(node) = find_cycle(body) {
        return Err(InstantiateError {
            result: INVALID_STRUCTURE,
            node: Some(node),
            message: c"the graph has a dependency cycle",
            ..error_only(CudaError::InvalidValue)
        });
    }
    if body.has_memory() {
        let id = body.id;
        if graphs.execs.values().any(|exec| exec.body.id == id) {
            return Err(InstantiateError {
                message: c"a graph that allocates memory can have only one executable graph",
                ..error_only(CudaError::NotSupported)
            });
        }
    }
    graphs.instantiate(graph, flags).map_err(error_only)
}

/// Returns a node of a dependency cycle, here or in a child graph.
fn find_cycle(body: &Body) -> Option<NodeId> {
    if body.order(None).is_none() {
        let waits_for_itself = |node: &NodeId| {
            body.ancestors(&body.nodes[node].dependencies)
                .contains(node)
        };
        return body.nodes.keys().copied().find(waits_for_itself);
    }
    body.children().find_map(find_cycle)
}

/// `cuGraphInstantiate` before CUDA 12: reports errors as a node and as text.
pub fn instantiate_with_log(
    out: Out<CUgraphExec>,
    graph: GraphId,
    error_node: Option<Out<CUgraphNode>>,
    log: Option<Out<c_char>>,
    capacity: usize,
) -> CallResult {
    let result = instantiate(graph, 0);
    let (node, message) = match &result {
        Ok(_) => (None, c""),
        Err(error) => (error.node, error.message),
    };
    Out::set_optional(error_node, handle(node.map_or(0, |node| node.0)));
    if let Some(log) = log
        && capacity > 0
    {
        // SAFETY: `log` has room for `capacity` bytes, as `cuGraphInstantiate` requires of its caller.
        unsafe { log.set_text(capacity, message.to_bytes()) };
    }
    out.set(handle(result.map_err(|error| error.error)?.0));
    Ok(())
}

/// `cuGraphInstantiateWithFlags`, which is named `cuGraphInstantiate` since CUDA 12.
pub fn instantiate_with_flags(
    out: Out<CUgraphExec>,
    graph: GraphId,
    flags: c_ulonglong,
) -> CallResult {
    let result = instantiate(graph, flags).map_err(|error| error.error)?;
    out.set(handle(result.0));
    Ok(())
}

/// `cuGraphInstantiateWithParams`.
pub fn instantiate_with_params(
    out: Out<CUgraphExec>,
    graph: GraphId,
    params: InOut<InstantiateParams>,
) -> CallResult {
    let InstantiateParams {
        flags,
        upload_stream,
        ..
    } = params.read();
    if flags & UPLOAD != 0 {
        drop(lock_live_stream(upload_stream)?);
    }
    let result = instantiate(graph, flags);
    let error = result.as_ref().err();
    let node = error.and_then(|error| error.node);
    params.set(InstantiateParams {
        flags,
        upload_stream,
        error_node: handle(node.map_or(0, |node| node.0)),
        result: error.map_or(SUCCESS, |error| error.result),
    });
    out.set(handle(result.map_err(|error| error.error)?.0));
    Ok(())
}

/// `cuGraphExecGetFlags`.
pub fn flags(exec: ExecId, out: Out<c_ulonglong>) -> CallResult {
    out.set(graphs().exec(exec)?.flags);
    Ok(())
}

/// `cuGraphExecDestroy`.
pub fn destroy(exec: ExecId) -> CallResult {
    // User objects stay alive until the graph's launches have completed.
    queue::wait(WaitTarget::All);
    let destructors = graphs().destroy_exec(exec)?;
    Ok(objects::call_destructors(destructors)?)
}

/// `cuGraphUpload`: a no-op, because there is nothing to upload.
pub fn upload(exec: ExecId, h_stream: Stream) -> CallResult {
    drop(lock_live_stream(h_stream)?);
    graphs().exec(exec)?;
    Ok(())
}

/// `cuGraphLaunch`.
pub fn launch(exec: ExecId, h_stream: Stream) -> CallResult {
    let (driver, context, stream) = lock_live_stream(h_stream)?;
    drop(driver);
    let (body, flags) = {
        let graphs = graphs();
        let exec = graphs.exec(exec)?;
        (Arc::clone(&exec.body), exec.flags)
    };
    // Memory availability is known only after the previous launch has completed.
    let mut driver = match body.has_memory() {
        true => lock_driver_drained()?,
        false => lock_driver()?,
    };
    memory::make_room(&mut driver, context, &body, flags & AUTO_FREE != 0)?;
    Ok(submit(driver, context, stream, StreamOp::Graph(body))?)
}

/// `cuGraphNodeSetEnabled`: for kernel, memcpy and memset nodes.
pub fn set_enabled(exec: ExecId, node: NodeId, enabled: c_uint) -> CallResult {
    let mut graphs = graphs();
    let node = graphs.exec_node(exec, node)?;
    if !can_be_disabled(&node.op) {
        return Err(CudaError::InvalidValue.into());
    }
    node.enabled = enabled != 0;
    Ok(())
}

/// `cuGraphNodeGetEnabled`.
pub fn enabled(exec: ExecId, node: NodeId, out: Out<c_uint>) -> CallResult {
    let graphs = graphs();
    let exec = graphs.exec(exec)?;
    let node = exec.body.find(node);
    let node = node.ok_or(CudaError::InvalidValue)?;
    if !can_be_disabled(&node.op) {
        return Err(CudaError::InvalidValue.into());
    }
    out.set(node.enabled.into());
    Ok(())
}

fn can_be_disabled(op: &StreamOp) -> bool {
    matches!(
        op,
        StreamOp::Kernel(_) | StreamOp::Memcpy(_) | StreamOp::Memset(_)
    )
}

/// Executes all nodes of a graph in a stream. In modelled time, each node starts when the last of its
/// dependencies ends, and the stream continues when all nodes have ended.
pub fn run(context: ContextId, stream: StreamId, body: &Body) -> Result<(), CudaError> {
    let order = body.order(shuffle_seed());
    let order = order.ok_or(CudaError::InvalidValue)?;
    let start = lock_driver()?.stream_time(context, stream)?;
    let mut ends = BTreeMap::new();
    let mut last = start;
    for id in order {
        let node = &body.nodes[&id];
        let dependency = node
            .dependencies
            .iter()
            .filter_map(|id| ends.get(id).copied());
        lock_driver()?.set_stream_time(context, stream, dependency.fold(start, Ord::max))?;
        if node.enabled {
            let (context, stream) = module_context(context, &node.op)?.unwrap_or((context, stream));
            execute(context, stream, &node.op, Origin::Graph)?;
        }
        let end = lock_driver()?.stream_time(context, stream)?;
        last = last.max(end);
        ends.insert(id, end);
    }
    lock_driver()?.set_stream_time(context, stream, last)
}

/// Returns the context and stream of a node that does not run where the graph was launched: a kernel runs in
/// the context of its module, possibly on another device. Its modelled time is that context's, which is not
/// compared with others.
fn module_context(
    launch_context: ContextId,
    op: &StreamOp,
) -> Result<Option<(ContextId, StreamId)>, CudaError> {
    let StreamOp::Kernel(kernel) = op else {
        return Ok(None);
    };
    let driver = lock_driver()?;
    // If the function was unloaded, the launch reports it.
    let module = driver.function_module(kernel.launch.function());
    let context = module.and_then(|module| driver.module_context(module));
    let context = context.ok().filter(|&context| context != launch_context);
    Ok(context.map(|context| (context, StreamId::LEGACY)))
}
