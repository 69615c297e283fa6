//! Graphs: one file per topic, as in the table of functions.

pub mod exec;
pub mod nodes;
pub mod objects;
pub mod params;
mod params_in;
mod params_out;
pub mod topology;
pub mod update;

use cuda_sim::driver::CudaError;
use cust_raw::CUgraphNode;

use crate::arguments::{In, number};
use crate::log::warn;
use crate::simulator::NodeId;
use crate::types::graph::EdgeData;

/// Returns the number of a node's handle.
pub fn node_id(node: CUgraphNode) -> NodeId {
    NodeId(number(node))
}

/// Rejects edge data other than the default, a full dependency: programmatic dependencies are not supported.
///
/// # Safety
/// `data` must have `count` elements.
pub unsafe fn check_edges(data: Option<In<EdgeData>>, count: usize) -> Result<(), CudaError> {
    let Some(data) = data else {
        return Ok(());
    };
    // SAFETY: `data` has `count` elements, by this function's contract.
    let data = unsafe { data.read_all(count) };
    if data.iter().any(|edge| *edge != EdgeData::default()) {
        warn(format_args!(
            "the simulator does not support programmatic dependencies in graphs"
        ));
        return Err(CudaError::NotSupported);
    }
    Ok(())
}
