//! 03-blocks: the number of blocks of a launch. The student writes the host side.

use answers::blocks::{Reply, Request};
use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, HostExercise, Output, Program};

/// The grader's host side of 03-blocks.
pub struct Blocks;

/// The number of element counts for which `blocks` is called, per row of results.
const COUNTS_PER_ROW: u32 = 600;

/// The rows of results: name, first count, whether counts ascend from there, and threads per block.
const ROWS: [(&str, u32, bool, u32); 3] = [
    ("blocks(n, 128)", 0, true, 128),
    ("blocks(4294967295 - n, 128)", u32::MAX, false, 128),
    ("blocks(4294967295 - n, 2)", u32::MAX, false, 2),
];

impl HostExercise for Blocks {
    fn run(&self, bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>> {
        let (columns, rows) = (case.size[0], case.size[1]);
        let block = (16, 8);
        let counts: Vec<(u32, u32)> = ROWS
            .iter()
            .flat_map(|&(_, first, up, threads)| {
                let count = move |n| if up { first + n } else { first - n };
                (0..COUNTS_PER_ROW).map(move |n| (count(n), threads))
            })
            .collect();
        let request = Request {
            matrix: (columns, rows),
            block,
            counts: counts.clone(),
        };
        let Reply { grid, blocks } =
            program.request(request, |reply: &Reply| reply.blocks.len() == counts.len())?;

        let mut outputs = Vec::new();
        let needed = (columns.div_ceil(block.0), rows.div_ceil(block.1));
        // Skip the launch if the grid is empty or far too large: the grid itself is reported as wrong.
        if (1..=needed.0 + 1).contains(&grid.0) && (1..=needed.1 + 1).contains(&grid.1) {
            let elements = case.width() * case.height();
            let visits = DeviceBuffer::from_slice(&vec![0_u32; elements])?;
            let kernel = bench.kernel("visit")?;
            let stream = &bench.gpu.stream;
            // SAFETY: the arguments match the signature of `visit`, and `visits` has `columns * rows` elements.
            unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(visits.as_device_ptr(), columns, rows))
            }?;
            stream.synchronize()?;
            let shape = [case.height(), case.width()];
            outputs.push(Output::new("visits", &shape, &visits, vec![1; elements])?);
        }
        let needed = vec![needed.0, needed.1];
        outputs.push(Output::from_values(
            "grid",
            &[2],
            vec![grid.0, grid.1],
            needed,
        )?);

        let expected = counts
            .iter()
            .map(|&(count, threads)| count.div_ceil(threads));
        let expected: Vec<u32> = expected.collect();
        let row = COUNTS_PER_ROW as usize;
        let pairs = blocks.chunks(row).zip(expected.chunks(row));
        for ((name, ..), (actual, expected)) in ROWS.iter().zip(pairs) {
            outputs.push(Output::from_values(
                name,
                &[row],
                actual.to_vec(),
                expected.to_vec(),
            )?);
        }
        Ok(outputs)
    }
}
