//! Execution of a launched graph: one node after another, concurrently in modelled time.

use std::collections::BTreeMap;

use cuda_sim::driver::{ContextId, CudaError, StreamId};

use super::body::Body;
use crate::simulator::lock_driver;
use crate::simulator::options::shuffle_seed;
use crate::simulator::stream_op::StreamOp;
use crate::simulator::submit::{Origin, execute};

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
