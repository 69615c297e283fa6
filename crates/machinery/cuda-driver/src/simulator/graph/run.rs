//! A launch of a graph: its nodes one after another, in modelled time beside each other.

use std::collections::BTreeMap;

use cuda_sim::driver::{ContextId, CudaError, StreamId};

use super::body::Body;
use crate::simulator::conditions::conditions;
use crate::simulator::machine;
use crate::simulator::perform::{Within, perform};
use crate::simulator::work::Work;

/// Does all nodes of a graph in a stream. In modelled time each begins when the last of those that it waits
/// for ends; the stream goes on when all have ended.
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

/// Where a node is done that is not done where the graph is launched: a kernel runs in the context that its module
/// was loaded into, on another device perhaps. It takes that context's time, which no other's is compared with.
fn home(launched: ContextId, work: &Work) -> Result<Option<(ContextId, StreamId)>, CudaError> {
    let Work::Kernel(kernel) = work else {
        return Ok(None);
    };
    let driver = machine()?;
    // Of one that is not there any more the launch says so.
    let module = driver.function_module(kernel.function);
    let context = module.and_then(|module| driver.module_context(module));
    let other = context.ok().filter(|&context| context != launched);
    Ok(other.map(|context| (context, StreamId::LEGACY)))
}
