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
        let x = whole(case, 0);
        let y = whole(case, 1);
        let expected = x.iter().zip(&y).map(|(x, y)| a * x + y).collect();

        let device_x = bench.input("x", &x)?;
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

/// Whole numbers, so small that 2.5 times one and what is added to it are floats as well: whoever rounds
/// the product first gets the same as who rounds once.
fn whole(case: &Case, stream: u64) -> Vec<f32> {
    let numbers = case.integers(stream, case.n(), 1 << 14);
    let from_the_middle = |number| number as f32 - f32::from(1_u16 << 13);
    numbers.into_iter().map(from_the_middle).collect()
}
