//! 34-overlap: copies and kernels in streams.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::serve::serve;

/// What the student's function is called with.
#[derive(Debug, Serialize, Deserialize)]
pub struct Question {
    /// Once for each of these numbers of chunks.
    pub chunks: Vec<u32>,
}

/// What it asked for, each time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// In order.
    pub orders: Vec<Vec<Order>>,
}

/// Something that is put into a stream, or waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// A chunk, by its number, from the host to the device.
    CopyIn(u32, Stream),
    /// The kernel on a chunk.
    Launch(u32, Stream),
    /// The chunk's results from the device to the host.
    CopyOut(u32, Stream),
    /// The host waits for one stream.
    Wait(Stream),
}

/// A stream, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stream(u32);

impl Stream {
    /// Its number, from 0.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// What takes orders. Nothing runs: it is written down what was asked for.
#[derive(Debug, Default)]
pub struct Device {
    streams: u32,
    orders: Vec<Order>,
}

/// More orders than this are a slip.
const MOST: usize = 10_000;

impl Device {
    /// A new stream.
    pub fn stream(&mut self) -> Stream {
        self.streams += 1;
        Stream(self.streams - 1)
    }

    /// Copies chunk `chunk` to the device, in a stream: 10 µs.
    pub fn copy_in(&mut self, chunk: u32, stream: Stream) {
        self.order(Order::CopyIn(chunk, stream));
    }

    /// Launches the kernel on chunk `chunk`, in a stream: 10 µs.
    pub fn launch(&mut self, chunk: u32, stream: Stream) {
        self.order(Order::Launch(chunk, stream));
    }

    /// Copies the results of chunk `chunk` back, in a stream: 10 µs.
    pub fn copy_out(&mut self, chunk: u32, stream: Stream) {
        self.order(Order::CopyOut(chunk, stream));
    }

    /// Waits until all that is in a stream is done.
    pub fn wait(&mut self, stream: Stream) {
        self.order(Order::Wait(stream));
    }

    fn order(&mut self, order: Order) {
        assert!(self.orders.len() < MOST, "more than {MOST} orders");
        self.orders.push(order);
    }
}

/// The program around an answer.
pub fn main(process: fn(&mut Device, u32)) -> ExitCode {
    serve(|question: Question| {
        let orders = question.chunks.iter().map(|&chunks| {
            let mut device = Device::default();
            process(&mut device, chunks);
            device.orders
        });
        Ok(Reply {
            orders: orders.collect(),
        })
    })
}
