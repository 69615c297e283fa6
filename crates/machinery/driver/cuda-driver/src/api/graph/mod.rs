//! Graphs: one file per topic, as in the table of functions.

/// Generates the functions that replace the operation of a node with `$set`, from the expression that creates the
/// operation.
macro_rules! setters {
    ($set:ident $target:tt;) => {};
    (
        $set:ident ($($target:ident: $target_type:ty),*);
        $(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $op:expr; $($rest:tt)*
    ) => {
        $(#[$doc])*
        pub fn $name($($target: $target_type,)* $($argument: $type),*) -> CallResult {
            $set($($target,)* $op?)
        }

        setters! { $set($($target: $target_type),*); $($rest)* }
    };
}

pub mod exec;
pub mod nodes;
pub mod objects;
pub mod params;
mod params_in;
mod params_out;
pub mod topology;

use cuda_sim::driver::CudaError;

use crate::arguments::{In, number};
use crate::log::warn;
use crate::simulator::NodeId;
use crate::types::CUgraphNode;
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
    // A full or a programmatic dependency; the ports of a kernel node are 0 to 2.
    let is_valid = |edge: &EdgeData| {
        let port = match edge.kind {
            0 => edge.from_port == 0,
            1 => edge.from_port <= 2,
            _ => false,
        };
        port && edge.to_port == 0 && edge.reserved == [0; 5]
    };
    if !data.iter().all(is_valid) {
        return Err(CudaError::InvalidValue);
    }
    if data.iter().any(|edge| *edge != EdgeData::default()) {
        warn(format_args!(
            "the simulator does not support programmatic dependencies in graphs"
        ));
        return Err(CudaError::NotSupported);
    }
    Ok(())
}
