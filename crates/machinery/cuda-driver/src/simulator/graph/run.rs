//! Execution of a launched graph: one node after another, concurrently in modelled time.

use std::collections::BTreeMap;

use cuda_sim::driver::{ContextId, CudaError, StreamId};

use super::body::Body;
use crate::simulator::conditions::conditions;
use crate::simulator::machine;
use crate::simulator::perform::{Within, perform};
use crate::simulator::work::Work;

/// Executes all nodes of a graph in a stream. In modelled time, each node starts when the last of its
/// dependencies ends,
/// and the stream continues when all nodes have ended.
pub fn run(context: ContextId, stream: StreamId, body: &Body) -> Result<(), CudaError> {
    let order = body.order(conditions().shuffle);
    let order = order.ok_or(CudaError::InvalidValue)?;
    let begin = machine()?.stream_time(context, stream)?;
    let mut ends = BTreeMap::new();
    let mut last = begin;
    for id in order {
        let node = &body.nodes[&id];
        let before = node.after.iter().filter_map(|id| ends.get(id).copied());
        machine()?.place_stream(context, stream, before.fold(begin, Ord::max))?;
        if node.enabled {
            let (context, stream) = home(context, &node.work)?.unwrap_or((context, stream));
            perform(context, stream, &node.work, Within::Graph)?;
        }
        let end = machine()?.stream_time(context, stream)?;
        last = last.max(end);
        ends.insert(id, end);
    }
    machine()?.place_stream(context, stream, last)
}

/// Returns the context and stream of a node that does not run where the graph was launched: a kernel runs in
/// the context
/// of its module, possibly on another device. Its modelled time is that context's, which is not compared with
/// others.
fn home(launched: ContextId, work: &Work) -> Result<Option<(ContextId, StreamId)>, CudaError> {
    let Work::Kernel(kernel) = work else {
        return Ok(None);
    };
    let driver = machine()?;
    // If the function was unloaded, the launch reports it.
    let module = driver.function_module(kernel.function);
    let context = module.and_then(|module| driver.module_context(module));
    let other = context.ok().filter(|&context| context != launched);
    Ok(other.map(|context| (context, StreamId::LEGACY)))
}
