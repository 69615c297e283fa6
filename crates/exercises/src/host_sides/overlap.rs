//! 34-overlap: copies and kernels that run concurrently. The student writes the host side.

use std::collections::BTreeMap;

use answers::overlap::{Order, Reply, Request, Stream};
use anyhow::Result;

use crate::host::{Bench, Case, HostExercise, Output, Program};

/// The grader's host side of 34-overlap.
pub struct Overlap;

/// The duration of each order, in microseconds.
const ORDER_MICROSECONDS: u32 = 10;
/// The maximum number of streams.
const MAX_STREAMS: u32 = 4;

/// The outcome of simulating the orders for a number of chunks.
#[derive(Debug, PartialEq, Eq)]
struct Simulation {
    /// The number of steps of each chunk that ran once, and certainly after the step before.
    steps: Vec<u32>,
    /// The time at which everything is done, in microseconds.
    end: u32,
    /// The number of streams used.
    streams: u32,
    /// The number of chunks whose results the host has waited for at the end.
    awaited: u32,
}

impl HostExercise for Overlap {
    fn run(&self, _bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>> {
        let chunks = case.size[0];
        let request = Request {
            chunks: vec![chunks],
        };
        let Reply { orders } = program.request(request, |reply: &Reply| reply.orders.len() == 1)?;
        let simulation = simulate(&orders[0], chunks);
        let count = case.n();
        // The optimum: three engines that are idle only at the start and the end.
        let optimum = (chunks + 2) * ORDER_MICROSECONDS;
        let at_most = |name, actual: u32, maximum: u32| {
            // A value within the limit is correct, so expect the value itself.
            Output::from_values(name, &[1], vec![actual], vec![actual.min(maximum)])
        };
        Ok(vec![
            Output::from_values("steps in order", &[count], simulation.steps, vec![3; count])?.with_explanation(
                "For each chunk: the number of its steps (copy to the device, kernel, copy back) \
                 that ran once and are ordered after the previous step; 9 if a step ran twice or \
                 possibly too early. Only steps in one stream are ordered.",
                "对每一块：它的各步（复制到设备、核函数、复制回来）中，有几步只做了一次，并且一定排在前一步之后；\
                 9 表示有一步重复了，或者可能过早执行。只有在同一个流中，先后顺序才有保证。",
            ),
            Output::from_values("chunks waited for", &[1], vec![simulation.awaited], vec![chunks])?.with_explanation(
                "The number of chunks that your function has waited for when it returns. The \
                 results of the others may still be in transit: wait for every stream that you use.",
                "函数返回时，已经等待完成的块数。其余各块的结果可能还没有传回来：用到的每个流都要等待。",
            ),
            at_most("streams", simulation.streams, MAX_STREAMS)?.with_explanation(
                "The number of streams that you use; at most 4 are allowed. With more chunks, use \
                 the streams in turn.",
                "你用到的流的个数；最多 4 个。块数更多时，应轮流使用这些流。",
            ),
            at_most("microseconds", simulation.end, optimum)?.with_explanation(
                "The time at which everything is done, if each step takes 10 microseconds. Copies \
                 to the device, kernels and copies back can overlap. Which chunk's step waits for \
                 another chunk or for the host?",
                "假设每一步用 10 µs，全部完成的时刻。复制到设备、\
                 核函数和复制回来这三者可以同时进行。是哪一块的哪一步在等待另一块，或者在等待主机？",
            ),
        ])
    }
}

/// Simulates the orders on a device with one engine for copies to it, one for kernels and one for copies
/// back. An order starts once the host has issued it and the orders before it in its stream and on its engine
/// are done.
fn simulate(orders: &[Order], chunks: u32) -> Simulation {
    let mut engines = [0; 3];
    let mut streams: BTreeMap<Stream, u32> = BTreeMap::new();
    // The time until which the host has waited.
    let mut host = 0;
    // Per chunk: steps so far, the last step's stream, and its end time.
    let mut progress: Vec<(u32, Option<Stream>, u32)> = vec![(0, None, 0); chunks as usize];
    for &order in orders {
        let (engine, chunk, stream) = match order {
            Order::CopyIn(chunk, stream) => (0, chunk, stream),
            Order::Launch(chunk, stream) => (1, chunk, stream),
            Order::CopyOut(chunk, stream) => (2, chunk, stream),
            Order::Wait(stream) => {
                host = host.max(streams.get(&stream).copied().unwrap_or(0));
                continue;
            }
        };
        let last = streams.entry(stream).or_default();
        let start = host.max(*last).max(engines[engine]);
        let end = start + ORDER_MICROSECONDS;
        (*last, engines[engine]) = (end, end);
        let Some((steps, before, end_of_last)) = progress.get_mut(chunk as usize) else {
            continue;
        };
        // Ordered after the step before: in the same stream, or issued after the host had waited for it.
        let is_ordered = before.is_none_or(|before| before == stream) || host >= *end_of_last;
        match *steps == engine as u32 && is_ordered {
            true => (*steps, *before, *end_of_last) = (*steps + 1, Some(stream), end),
            // Above the three steps of a chunk, so that the chunk stays wrong whatever follows.
            false => *steps = 9,
        }
    }
    let end = streams.values().copied().max().unwrap_or(0);
    let awaited = progress
        .iter()
        .filter(|(steps, _, end_of_last)| *steps == 3 && host >= *end_of_last);
    Simulation {
        awaited: awaited.count() as u32,
        steps: progress.iter().map(|(steps, ..)| *steps).collect(),
        end,
        streams: streams.len() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses orders in a short notation: `i0:1` copies chunk 0 in on stream 1.
    fn orders(text: &str) -> Vec<Order> {
        let stream = |number: &str| serde_json::from_str(number).unwrap();
        let order = |word: &str| {
            let (operation, target) = word.split_at(1);
            let (chunk, number) = target.split_once(':').unwrap_or(("0", target));
            let (chunk, stream) = (chunk.parse().unwrap(), stream(number));
            match operation {
                "i" => Order::CopyIn(chunk, stream),
                "k" => Order::Launch(chunk, stream),
                "o" => Order::CopyOut(chunk, stream),
                _ => Order::Wait(stream),
            }
        };
        text.split_whitespace().map(order).collect()
    }

    fn outcome_of(text: &str, chunks: u32) -> (Vec<u32>, u32, u32, u32) {
        let simulation = simulate(&orders(text), chunks);
        (
            simulation.steps,
            simulation.end,
            simulation.streams,
            simulation.awaited,
        )
    }

    #[test]
    fn orders_in_one_stream_are_serialized() {
        let one = "i0:0 k0:0 o0:0 i1:0 k1:0 o1:0 w0";
        assert_eq!(outcome_of(one, 2), (vec![3, 3], 60, 1, 2));
        let two = "i0:0 k0:0 o0:0 i1:1 k1:1 o1:1 w0 w1";
        assert_eq!(outcome_of(two, 2), (vec![3, 3], 40, 2, 2));
        assert_eq!(
            outcome_of("i0:0 k0:0 o0:0 i1:1 k1:1 o1:1 w0", 2),
            (vec![3, 3], 40, 2, 1)
        );
    }

    #[test]
    fn unordered_steps_are_wrong() {
        assert_eq!(outcome_of("i0:0 k0:1 o0:1 w1", 1).0, [9]);
        assert_eq!(outcome_of("i0:0 w0 k0:1 o0:1 w1", 1).0, [3]);
        assert_eq!(outcome_of("k0:0 i0:0 o0:0", 1).0, [9]);
        assert_eq!(outcome_of("i0:0 i0:0 k0:0 o0:0", 1).0, [9]);
        assert_eq!(outcome_of("i0:0 k0:0", 1).0, [2]);
        assert_eq!(outcome_of("i7:0", 1), (vec![0], 10, 1, 0));
    }
}
