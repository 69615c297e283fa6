//! Memory operations of streams, batches of copies, and events of contexts.

use std::ptr::null_mut;

use cuda_driver::types::graph::BatchNodeParams;
use cuda_driver::types::{
    CUevent, CUmemLocation, CUstream, MemcpyAttributes, MemcpyBatchOp, MemcpyBatchOperand,
    MemoryOperation,
};

use super::*;

fn stream() -> CUstream {
    let mut stream = null_mut();
    calls! { cuStreamCreate(&mut stream, 1); }
    stream
}

fn allocate(bytes: usize) -> u64 {
    let mut address = 0;
    calls! {
        cuMemAlloc_v2(&mut address, bytes);
        cuMemsetD8_v2(address, 0, bytes);
    }
    address
}

fn words<const COUNT: usize>(address: u64) -> [u32; COUNT] {
    let mut words = [0; COUNT];
    calls! { cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), address, 4 * COUNT); }
    words
}

fn operation(kind: i32, address: u64, value: u64, flags: u32) -> MemoryOperation {
    MemoryOperation {
        kind,
        barrier_flags: 0,
        address,
        value,
        flags,
        alias: 0,
        padding: 0,
    }
}

#[test]
fn waits_hold_back_their_stream_until_the_value_is_written() {
    let _context = OwnContext::new();
    let (waiting, writing, memory) = (stream(), stream(), allocate(16));
    calls! {
        cuStreamWaitValue32_v2(waiting, memory, 1, 1);
        cuMemsetD32Async(memory + 4, 9, 1, waiting);
        cuStreamQuery(waiting) => 600;
        cuStreamWriteValue64_v2(writing, memory + 8, 1 << 32 | 7, 0);
        cuStreamSynchronize(writing);
    }
    assert_eq!(words(memory), [0, 0, 7, 1]);
    calls! {
        cuStreamWriteValue32_v2(writing, memory, 1, 0);
        cuStreamSynchronize(waiting);
    }
    assert_eq!(words(memory), [1, 9, 7, 1]);
    calls! {
        cuStreamWriteValue32_v2(writing, memory + 2, 1, 0) => INVALID_VALUE;
        cuStreamWriteValue32_v2(writing, memory, 1, 1) => INVALID_VALUE;
        cuStreamWaitValue32_v2(writing, 0, 1, 0) => INVALID_VALUE;
        cuStreamWaitValue32_v2(writing, memory, 1, 1 << 30) => NOT_SUPPORTED;
    }
}

#[test]
fn batches_of_operations_run_in_streams_and_graphs() {
    let _context = OwnContext::new();
    let (stream, memory) = (stream(), allocate(16));
    let mut operations = [
        operation(MemoryOperation::WRITE_32, memory, 5, 0),
        operation(MemoryOperation::WAIT_32, memory, 4, 0),
        operation(MemoryOperation::WRITE_64, memory + 8, 6, 0),
    ];
    calls! {
        cuStreamBatchMemOp_v2(stream, 3, operations.as_mut_ptr(), 0);
        cuStreamBatchMemOp_v2(stream, 3, operations.as_mut_ptr(), 1) => INVALID_VALUE;
        cuStreamSynchronize(stream);
    }
    assert_eq!(words(memory), [5, 0, 6, 0]);
    let (mut graph, mut node, mut exec) = (null_mut(), null_mut(), null_mut());
    operations[0].value = 8;
    let mut params = BatchNodeParams {
        ctx: null_mut(),
        count: 1,
        operations: operations.as_mut_ptr(),
        flags: 0,
    };
    let mut kind = 0;
    calls! {
        cuGraphCreate(&mut graph, 0);
        cuGraphAddBatchMemOpNode(&mut node, graph, null_mut(), 0, &params);
        cuGraphNodeGetType(node, &mut kind);
        cuGraphInstantiateWithFlags(&mut exec, graph, 0);
        cuGraphLaunch(exec, stream);
        cuStreamSynchronize(stream);
    }
    assert_eq!((kind, words(memory)), (12, [8]));
    operations[0].value = 9;
    params.operations = operations.as_mut_ptr();
    calls! {
        cuGraphExecBatchMemOpNodeSetParams(exec, node, &params);
        cuGraphLaunch(exec, stream);
        cuStreamSynchronize(stream);
        cuGraphBatchMemOpNodeGetParams(node, &mut params);
    }
    assert_eq!((words(memory), params.count), ([9], 1));
}

#[test]
fn batches_of_copies_are_checked_as_a_whole() {
    let _context = OwnContext::new();
    let (stream, from, to) = (stream(), allocate(64), allocate(64));
    calls! { cuMemsetD32_v2(from, 3, 16); }
    let nowhere = CUmemLocation { kind: 0, id: 0 };
    let mut attributes = MemcpyAttributes {
        source_order: 1,
        source_location: nowhere,
        destination_location: nowhere,
        flags: 0,
    };
    let (mut destinations, mut sources) = ([to, to + 8], [from, from + 4]);
    let (mut sizes, mut starts) = ([4, 4], [0]);
    let mut copy = |sources: &mut [u64; 2], attributes: &mut MemcpyAttributes, stream| {
        code!(cuMemcpyBatchAsync_v2(
            destinations.as_mut_ptr(),
            sources.as_mut_ptr(),
            sizes.as_mut_ptr(),
            2,
            attributes,
            starts.as_mut_ptr(),
            1,
            stream
        ))
    };
    assert_eq!(copy(&mut [from, 0], &mut attributes, stream), INVALID_VALUE);
    assert_eq!(
        copy(&mut sources, &mut attributes, null_mut()),
        INVALID_VALUE
    );
    calls! { cuStreamSynchronize(stream); }
    assert_eq!(words(to), [0; 3]);
    assert_eq!(copy(&mut sources, &mut attributes, stream), 0);
    calls! { cuStreamSynchronize(stream); }
    assert_eq!(words(to), [3, 0, 3]);
    attributes.source_order = 9;
    assert_eq!(copy(&mut sources, &mut attributes, stream), INVALID_VALUE);
    let side = |base| MemcpyBatchOperand {
        kind: 1,
        base,
        shape: [16, 2],
        rest: 0,
    };
    let mut block = MemcpyBatchOp {
        source: side(from),
        destination: side(to),
        extent: [8, 2, 1],
        source_order: 1,
        flags: 0,
    };
    calls! {
        cuMemcpy3DBatchAsync_v2(1, &mut block, 0, stream);
        cuStreamSynchronize(stream);
    }
    assert_eq!(words(to), [3, 3, 3, 0, 3, 3, 0]);
    block.extent[0] = 0;
    calls! { cuMemcpy3DBatchAsync_v2(1, &mut block, 0, stream) => INVALID_VALUE; }
}

#[test]
fn events_of_contexts_order_all_streams() {
    let _context = OwnContext::new();
    let (mut context, mut event): (_, CUevent) = (null_mut(), null_mut());
    let (first, second, memory) = (stream(), stream(), allocate(4));
    let (mut flag, mut host) = (0, null_mut());
    calls! {
        cuMemHostAlloc(&mut host, 4, 2);
        cuMemHostGetDevicePointer_v2(&mut flag, host, 0);
    }
    // SAFETY: the page-locked memory has 4 bytes, which the waiting stream reads atomically.
    let flag_of_host = unsafe { std::sync::atomic::AtomicU32::from_ptr(host.cast()) };
    flag_of_host.store(0, std::sync::atomic::Ordering::Release);
    calls! {
        cuCtxGetCurrent(&mut context);
        cuEventCreate(&mut event, 2);
        cuStreamWaitValue32_v2(first, flag, 1, 1);
        cuCtxRecordEvent(context, event);
        cuCtxWaitEvent(context, event);
        cuMemsetD32Async(memory, 2, 1, second);
        cuEventQuery(event) => 600;
        cuStreamQuery(second) => 600;
        cuCtxRecordEvent(context, null_mut()) => INVALID_HANDLE;
        cuCtxWaitEvent(null_mut(), event) => INVALID_CONTEXT;
    }
    flag_of_host.store(1, std::sync::atomic::Ordering::Release);
    calls! { cuStreamSynchronize(second); }
    assert_eq!(words(memory), [2]);
    calls! { cuEventQuery(event); }
}
