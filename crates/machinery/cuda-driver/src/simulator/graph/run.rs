//! A launch of a graph: its nodes one after another, in modelled time beside each other.

use std::collections::BTreeMap;

use cuda_sim::driver::{ContextId, CudaError, StreamId};

use super::body::Body;
use crate::simulator::conditions::conditions;
use crate::simulator::machine;
use crate::simulator::perform::{Within, perform};

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
            perform(context, stream, &node.work, Within::Graph)?;
        }
        let end = machine()?.stream_time(context, stream)?;
        last = last.max(end);
        ends.insert(id, end);
    }
    machine()?.place_stream(context, stream, last)
}
