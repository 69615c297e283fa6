//! One thread, one element: y = a x + y over vectors.

use anyhow::Result;
use cust::launch;
use cust::memory::DeviceBuffer;

use crate::host::{Bench, Case, Host, Output};

/// Threads of a block.
const BLOCK: u32 = 128;

/// The host side.
pub struct FirstThread;

impl Host for FirstThread {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let n = case.size[0];
        let a = 2.5_f32;
        let x = case.floats(0, case.n());
        let y = case.floats(1, case.n());
        let expected = x.iter().zip(&y).map(|(x, y)| a.mul_add(*x, *y)).collect();

        let device_x = DeviceBuffer::from_slice(&x)?;
        let device_y = DeviceBuffer::from_slice(&y)?;
        let kernel = bench.kernel("axpy")?;
        let stream = &bench.gpu.stream;
        let blocks = n.div_ceil(BLOCK);
        // SAFETY: the arguments are those that the kernel is declared with, both vectors have n
        // elements, and what it does with them the simulator watches.
        unsafe {
            launch!(kernel<<<blocks, BLOCK, 0, stream>>>(
                a, device_x.as_device_ptr(), device_y.as_device_ptr(), n
            ))
        }?;
        stream.synchronize()?;
        Ok(vec![Output::new("y", &[case.n()], &device_y, expected)?])
    }
}
