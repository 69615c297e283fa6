//! Executable graphs: instantiation, launch, execution, destruction, and updates of one node, or of all nodes from another
//! graph with the same topology.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong};
use std::sync::Arc;

use cuda_sim::driver::{ContextId, CudaError, EventId};

use super::nodes::existing_event;
use super::params::{read_changed, replace_op};
use super::params_in;
use crate::api::SIMULATOR;
use crate::arguments::{In, InOut, Out, handle};
use crate::simulator::{
    Difference, DifferenceKind, ExecId, GraphId, NodeId, Stream, StreamOp, WaitTarget,
    call_host_functions, make_room, merge_graphs,
};
use crate::status::{CallResult, warn};
use crate::types::graph::{
    BatchNodeParams, InstantiateParams, KernelNodeParams, NodeParams, UpdateResult,
};
use crate::types::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUgraphExec, CUgraphNode,
};

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
    let mut graphs = SIMULATOR.graphs();
    let body = graphs.graph(graph).map_err(error_only)?;
    if let Some(node) = body.find_forbidden() {
        return Err(InstantiateError {
            result: INVALID_STRUCTURE,
            node: Some(node),
            message:
                c"a graph of a conditional node has a node of a type that is not permitted there",
            ..error_only(CudaError::InvalidValue)
        });
    }
    if let Some(node) = body.find_cycle() {
        return Err(InstantiateError {
            result: INVALID_STRUCTURE,
            node: Some(node),
            message: c"the graph has a dependency cycle",
            ..error_only(CudaError::InvalidValue)
        });
    }
    if body.has_memory() && graphs.is_instantiated(body.id) {
        return Err(InstantiateError {
            message: c"a graph that allocates memory can have only one executable graph",
            ..error_only(CudaError::NotSupported)
        });
    }
    graphs.instantiate(graph, flags).map_err(error_only)
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
        drop(SIMULATOR.lock_live_stream(upload_stream)?);
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
    out.set(SIMULATOR.graphs().exec(exec)?.flags);
    Ok(())
}

/// `cuGraphExecDestroy`.
pub fn destroy(exec: ExecId) -> CallResult {
    // User objects stay alive until the graph's launches have completed.
    SIMULATOR.wait(WaitTarget::All);
    let destructors = SIMULATOR.graphs().destroy_exec(exec)?;
    Ok(call_host_functions(destructors)?)
}

/// `cuGraphUpload`: a no-op, because there is nothing to upload.
pub fn upload(exec: ExecId, h_stream: Stream) -> CallResult {
    drop(SIMULATOR.lock_live_stream(h_stream)?);
    SIMULATOR.graphs().exec(exec)?;
    Ok(())
}

/// `cuGraphLaunch`.
pub fn launch(exec: ExecId, h_stream: Stream) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    drop(driver);
    let (body, flags) = {
        let graphs = SIMULATOR.graphs();
        let exec = graphs.exec(exec)?;
        (Arc::clone(&exec.body), exec.flags)
    };
    // Memory availability is known only after the previous launch has completed.
    let mut driver = match body.has_memory() {
        true => SIMULATOR.lock_driver_settled()?,
        false => SIMULATOR.lock_driver()?,
    };
    let frees = flags & AUTO_FREE != 0;
    make_room(&mut driver, &SIMULATOR.pools, context, &body, frees)?;
    Ok(SIMULATOR.submit(driver, context, stream, StreamOp::Graph(body))?)
}

/// `cuGraphNodeSetEnabled`: for kernel, memcpy and memset nodes.
pub fn set_enabled(exec: ExecId, node: NodeId, enabled: c_uint) -> CallResult {
    let mut graphs = SIMULATOR.graphs();
    let node = graphs.exec_node(exec, node)?;
    if !can_be_disabled(&node.op) {
        return Err(CudaError::InvalidValue.into());
    }
    node.enabled = enabled != 0;
    Ok(())
}

/// `cuGraphNodeGetEnabled`.
pub fn enabled(exec: ExecId, node: NodeId, out: Out<c_uint>) -> CallResult {
    let graphs = SIMULATOR.graphs();
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
        StreamOp::Kernel(_) | StreamOp::Library(_) | StreamOp::Memcpy(_) | StreamOp::Memset(_)
    )
}

/// Replaces the operation of an executable graph's node; the original graph does not change.
fn set(exec: ExecId, node: NodeId, op: StreamOp) -> CallResult {
    let driver = SIMULATOR.lock_driver()?;
    let mut graphs = SIMULATOR.graphs();
    let node = graphs.exec_node(exec, node)?;
    match (&mut node.op, op) {
        (StreamOp::Graph(old), StreamOp::Graph(new)) => {
            // The nodes keep their numbers, which the program holds as handles.
            let merged = merge_graphs(old, &new).map_err(|difference| difference.error())?;
            node.op = StreamOp::Graph(Arc::new(merged));
        }
        (old, new) if old.is_multi_row() || new.is_multi_row() => {
            return Err(CudaError::InvalidValue.into());
        }
        (_, new) => replace_op(&driver, node, new)?,
    }
    Ok(())
}

setters! {
    set(exec: ExecId, node: NodeId);
    /// `cuGraphExecKernelNodeSetParams`, before CUDA 12.
    set_kernel_v1(params: In<CUDA_KERNEL_NODE_PARAMS>) params_in::kernel_v1(params).map(StreamOp::Kernel);
    /// `cuGraphExecKernelNodeSetParams`.
    set_kernel(params: In<KernelNodeParams>) params_in::kernel(params).map(StreamOp::Kernel);
    /// `cuGraphExecMemcpyNodeSetParams`: only for copies of one row.
    set_memcpy(params: In<CUDA_MEMCPY3D>, _context: Option<ContextId>) params_in::memcpy(params);
    /// `cuGraphExecMemsetNodeSetParams`: only for fills of one row.
    set_memset(params: In<CUDA_MEMSET_NODE_PARAMS>, _context: Option<ContextId>) params_in::memset_v1(params);
    /// `cuGraphExecHostNodeSetParams`.
    set_host(params: In<CUDA_HOST_NODE_PARAMS>) params_in::host(params);
    /// `cuGraphExecChildGraphNodeSetParams`: the new graph must have the topology of the old one.
    set_child(graph: GraphId) params_in::child(graph);
    /// `cuGraphExecBatchMemOpNodeSetParams`.
    set_batch(params: In<BatchNodeParams>) params_in::batch(params);
    /// `cuGraphExecEventRecordNodeSetEvent`.
    set_recorded_event(event: EventId) existing_event(event).map(StreamOp::RecordEvent);
    /// `cuGraphExecEventWaitNodeSetEvent`.
    set_awaited_event(event: EventId) existing_event(event).map(StreamOp::WaitEvent);
    /// `cuGraphExecNodeSetParams`: for nodes of any type.
    set_any(params: InOut<NodeParams>) read_changed(&params);
}

/// `cuGraphExecUpdate` before CUDA 12.
pub fn update(
    exec: ExecId,
    graph: GraphId,
    error_node: Out<CUgraphNode>,
    result: Out<c_int>,
) -> CallResult {
    let (code, node, call_result) = apply(exec, graph);
    result.set(code);
    error_node.set(handle(node));
    call_result
}

/// `cuGraphExecUpdate`.
pub fn update_with_info(
    exec: ExecId,
    graph: GraphId,
    out: Option<Out<UpdateResult>>,
) -> CallResult {
    let (result, node, call_result) = apply(exec, graph);
    let info = UpdateResult {
        result,
        error_node: handle(node),
        error_from_node: std::ptr::null_mut(),
    };
    Out::set_optional(out, info);
    call_result
}

/// Updates an executable graph to the operations of `graph`. Returns the `CUgraphExecUpdateResult` and the node that
/// the program receives, and the result of the call.
fn apply(exec: ExecId, graph: GraphId) -> (c_int, u64, CallResult) {
    let updated = SIMULATOR.graphs().update(exec, graph);
    let called = updated.and_then(|destructors| {
        call_host_functions(destructors).map_err(|_| Difference {
            kind: DifferenceKind::Error,
            node: None,
        })
    });
    match called {
        Ok(()) => (0, 0, Ok(())),
        Err(Difference { kind, node }) => {
            let error = Difference { kind, node }.error();
            let node = node.map_or(0, |node| node.0);
            (kind as c_int, node, Err(error.into()))
        }
    }
}
