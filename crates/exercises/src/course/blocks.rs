//! 03-blocks: how many blocks a launch needs. The student writes the host side.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// What a student has written.
pub struct Blocks {
    /// How many blocks it takes for so many elements, of so many threads each.
    pub blocks: fn(u32, u32) -> u32,
    /// Blocks along x and along y that it takes for so many columns and rows.
    pub grid: fn(u32, u32, (u32, u32)) -> (u32, u32),
}

/// How many counts `blocks` is asked for, at either end.
const COUNTS: u32 = 600;

impl Host for Blocks {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (columns, rows) = (case.size[0], case.size[1]);
        let block = (16, 8);
        let grid = (self.grid)(columns, rows, block);

        let mut outputs = Vec::new();
        let needed = (columns.div_ceil(block.0), rows.div_ceil(block.1));
        // An empty grid cannot be launched, and one far too large need not be.
        if (1..=needed.0 + 1).contains(&grid.0) && (1..=needed.1 + 1).contains(&grid.1) {
            let elements = case.width() * case.height();
            let visits = DeviceBuffer::from_slice(&vec![0_u32; elements])?;
            let kernel = bench.kernel("visit")?;
            let stream = &bench.gpu.stream;
            // SAFETY: the arguments are the kernel's, and there are as many elements as it is told.
            unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(visits.as_device_ptr(), columns, rows))
            }?;
            stream.synchronize()?;
            let shape = [case.height(), case.width()];
            outputs.push(Output::new("visits", &shape, &visits, vec![1; elements])?);
        }
        let needed = vec![needed.0, needed.1];
        outputs.push(Output::of("grid", &[2], vec![grid.0, grid.1], needed)?);

        let few = |n: u32| n;
        let many = |n: u32| u32::MAX - n;
        outputs.push(self.counts("blocks(n, 128)", few, 128)?);
        outputs.push(self.counts("blocks(4294967295 - n, 128)", many, 128)?);
        outputs.push(self.counts("blocks(4294967295 - n, 2)", many, 2)?);
        Ok(outputs)
    }
}

impl Blocks {
    /// The blocks for a row of counts, beside how many it takes.
    fn counts(&self, name: &'static str, count: fn(u32) -> u32, block: u32) -> Result<Output> {
        let counts = (0..COUNTS).map(count);
        let got = counts.clone().map(|count| (self.blocks)(count, block));
        let expected = counts.map(|count| count.div_ceil(block));
        Output::of(name, &[COUNTS as usize], got.collect(), expected.collect())
    }
}
