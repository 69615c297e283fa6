//! Kernel nodes, whose kernels a program identifies by host functions.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::graph::KernelNodeParams;
use cust_raw::{CUgraph, CUgraphExec, CUgraphNode};

use super::types::KernelNode;
use crate::arguments::{Out, read};
use crate::context::context;
use crate::program;
use crate::status::{Result, check};
use crate::types::Dim3;

/// Converts a kernel node's parameters to the driver's.
pub fn driver_params(params: &KernelNode) -> Result<KernelNodeParams> {
    Ok(KernelNodeParams {
        func: program::kernel(params.function)?,
        grid: [params.grid.x, params.grid.y, params.grid.z],
        block: [params.block.x, params.block.y, params.block.z],
        shared_mem_bytes: params.dynamic_shared,
        kernel_params: params.arguments,
        extra: params.extra,
        kern: null_mut(),
        ctx: null_mut(),
    })
}

/// `cudaGraphAddKernelNode`.
pub unsafe fn add(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    params: *const KernelNode,
) -> Result {
    // SAFETY: `cudaGraphAddKernelNode` requires `params` to be null or readable.
    unsafe {
        let params = driver_params(&read(params)?)?;
        check(cu::cuGraphAddKernelNode_v2(
            to, graph, after, count, &params,
        ))
    }
}

/// `cudaGraphKernelNodeGetParams`.
pub unsafe fn get(node: CUgraphNode, to: *mut KernelNode) -> Result {
    // SAFETY: `cudaGraphKernelNodeGetParams` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    // SAFETY: zero is a valid value of every field, and the driver writes all of them.
    let node_params: KernelNodeParams = unsafe {
        let mut node_params = std::mem::zeroed();
        check(cu::cuGraphKernelNodeGetParams_v2(node, &mut node_params))?;
        node_params
    };
    let dim3 = |[x, y, z]: [_; 3]| Dim3 { x, y, z };
    to.set(KernelNode {
        function: program::host_function(node_params.func)?,
        grid: dim3(node_params.grid),
        block: dim3(node_params.block),
        dynamic_shared: node_params.shared_mem_bytes,
        arguments: node_params.kernel_params,
        extra: node_params.extra,
    });
    Ok(())
}

/// `cudaGraphKernelNodeSetParams`.
pub unsafe fn set(node: CUgraphNode, params: *const KernelNode) -> Result {
    // SAFETY: `cudaGraphKernelNodeSetParams` requires `params` to be null or readable.
    unsafe {
        let params = driver_params(&read(params)?)?;
        check(cu::cuGraphKernelNodeSetParams_v2(node, &params))
    }
}

/// `cudaGraphExecKernelNodeSetParams`.
pub unsafe fn set_in(exec: CUgraphExec, node: CUgraphNode, params: *const KernelNode) -> Result {
    // SAFETY: `cudaGraphExecKernelNodeSetParams` requires `params` to be null or readable.
    unsafe {
        let params = driver_params(&read(params)?)?;
        check(cu::cuGraphExecKernelNodeSetParams_v2(exec, node, &params))
    }
}

/// `cudaGraphKernelNodeGetAttribute`.
pub unsafe fn attribute(node: CUgraphNode, attribute: c_int, to: *mut c_void) -> Result {
    context()?;
    // SAFETY: `cudaGraphKernelNodeGetAttribute` has the same requirements for `to` as
    // `cuGraphKernelNodeGetAttribute`.
    check(unsafe { cu::cuGraphKernelNodeGetAttribute(node, attribute, to) })
}

/// `cudaGraphKernelNodeSetAttribute`.
pub unsafe fn set_attribute(node: CUgraphNode, attribute: c_int, from: *const c_void) -> Result {
    context()?;
    // SAFETY: `cudaGraphKernelNodeSetAttribute` has the same requirements for `from` as
    // `cuGraphKernelNodeSetAttribute`.
    check(unsafe { cu::cuGraphKernelNodeSetAttribute(node, attribute, from) })
}

/// `cudaGraphKernelNodeCopyAttributes`. The runtime takes the source first, the driver the destination.
pub unsafe fn copy_attributes(from: CUgraphNode, to: CUgraphNode) -> Result {
    context()?;
    // SAFETY: the driver validates both nodes.
    check(unsafe { cu::cuGraphKernelNodeCopyAttributes(to, from) })
}
