//! The interface of exercise 34-overlap: copies and kernels in streams.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::protocol::serve;

/// The arguments of the student's function.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The number of chunks of each call.
    pub chunks: Vec<u32>,
}

/// The orders that the student's function gave.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// The orders of each call, in sequence.
    pub orders: Vec<Vec<Order>>,
    /// The number of streams that each call created.
    pub streams: Vec<u32>,
}

/// An operation enqueued in a stream, or a wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Copies a chunk from the host to the device.
    CopyIn(u32, Stream),
    /// Launches the kernel on a chunk.
    Launch(u32, Stream),
    /// Copies a chunk's results from the device to the host.
    CopyOut(u32, Stream),
    /// Blocks the host until a stream is idle.
    Wait(Stream),
}

/// A stream, identified by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stream(u32);

impl Stream {
    /// Returns the stream's number, from 0.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A mock device that records orders without executing them.
#[derive(Debug)]
pub struct Device {
    streams: u32,
    orders: Vec<Order>,
}

/// The maximum number of orders; more indicate an error such as an endless loop.
const MAX_ORDERS: usize = 10_000;

impl Device {
    /// Creates a stream.
    pub fn stream(&mut self) -> Stream {
        self.streams += 1;
        Stream(self.streams - 1)
    }

    /// Copies chunk `chunk` to the device in a stream, which takes 10 µs.
    pub fn copy_in(&mut self, chunk: u32, stream: Stream) {
        self.order(Order::CopyIn(chunk, stream));
    }

    /// Launches the kernel on chunk `chunk` in a stream, which takes 10 µs.
    pub fn launch(&mut self, chunk: u32, stream: Stream) {
        self.order(Order::Launch(chunk, stream));
    }

    /// Copies the results of chunk `chunk` back in a stream, which takes 10 µs.
    pub fn copy_out(&mut self, chunk: u32, stream: Stream) {
        self.order(Order::CopyOut(chunk, stream));
    }

    /// Waits until all operations in a stream are done.
    pub fn wait(&mut self, stream: Stream) {
        self.order(Order::Wait(stream));
    }

    fn order(&mut self, order: Order) {
        assert!(
            self.orders.len() < MAX_ORDERS,
            "more than {MAX_ORDERS} orders"
        );
        self.orders.push(order);
    }
}

/// Runs the program around a submission.
pub fn main(process: fn(&mut Device, u32)) -> ExitCode {
    serve(
        || Ok(()),
        |(), request: Request| {
            let calls = request.chunks.iter().map(|&chunks| {
                let mut device = Device {
                    streams: 0,
                    orders: Vec::new(),
                };
                process(&mut device, chunks);
                (device.orders, device.streams)
            });
            let (orders, streams) = calls.unzip();
            Ok(Reply { orders, streams })
        },
    )
}
