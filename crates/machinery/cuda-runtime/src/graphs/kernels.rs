//! Nodes that launch kernels, which a program names by functions on the host.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::graph::KernelNodeParams;
use cust_raw::{CUgraph, CUgraphExec, CUgraphNode};

use super::types::KernelNode;
use crate::arguments::{Out, read};
use crate::program;
use crate::start::context;
use crate::status::{Answer, driver};
use crate::types::Dim3;

/// A kernel node's parameters as the driver wants them.
pub fn driver_params(how: &KernelNode) -> Answer<KernelNodeParams> {
    Ok(KernelNodeParams {
        func: program::kernel(how.function)?,
        grid: [how.grid.x, how.grid.y, how.grid.z],
        block: [how.block.x, how.block.y, how.block.z],
        shared_mem_bytes: how.dynamic_shared,
        kernel_params: how.arguments,
        extra: how.extra,
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
    how: *const KernelNode,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        let how = driver_params(&read(how)?)?;
        driver(cu::cuGraphAddKernelNode_v2(to, graph, after, count, &how))
    }
}

/// `cudaGraphKernelNodeGetParams`.
pub unsafe fn get(node: CUgraphNode, to: *mut KernelNode) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    // SAFETY: all zero is a structure without a kernel, and the driver writes all of it.
    let found: KernelNodeParams = unsafe {
        let mut found = std::mem::zeroed();
        driver(cu::cuGraphKernelNodeGetParams_v2(node, &mut found))?;
        found
    };
    let dim3 = |[x, y, z]: [_; 3]| Dim3 { x, y, z };
    to.set(KernelNode {
        function: program::host_function(found.func)?,
        grid: dim3(found.grid),
        block: dim3(found.block),
        dynamic_shared: found.shared_mem_bytes,
        arguments: found.kernel_params,
        extra: found.extra,
    });
    Ok(())
}

/// `cudaGraphKernelNodeSetParams`.
pub unsafe fn set(node: CUgraphNode, how: *const KernelNode) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        let how = driver_params(&read(how)?)?;
        driver(cu::cuGraphKernelNodeSetParams_v2(node, &how))
    }
}

/// `cudaGraphExecKernelNodeSetParams`.
pub unsafe fn set_in(exec: CUgraphExec, node: CUgraphNode, how: *const KernelNode) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        let how = driver_params(&read(how)?)?;
        driver(cu::cuGraphExecKernelNodeSetParams_v2(exec, node, &how))
    }
}

/// `cudaGraphKernelNodeGetAttribute`.
pub unsafe fn attribute(node: CUgraphNode, attribute: c_int, to: *mut c_void) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphKernelNodeGetAttribute(node, attribute, to) })
}

/// `cudaGraphKernelNodeSetAttribute`.
pub unsafe fn set_attribute(node: CUgraphNode, attribute: c_int, from: *const c_void) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphKernelNodeSetAttribute(node, attribute, from) })
}

/// `cudaGraphKernelNodeCopyAttributes`: the runtime names the source first.
pub unsafe fn copy_attributes(from: CUgraphNode, to: CUgraphNode) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuGraphKernelNodeCopyAttributes(to, from) })
}
