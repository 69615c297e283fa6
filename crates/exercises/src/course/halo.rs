//! Sums of nine neighbours, with zeros beyond the ends.

use anyhow::Result;
use cust::launch;

use super::whole;
use crate::host::{Bench, Case, Host, Output};

/// Threads of a block.
const BLOCK: u32 = 128;
/// Points on either side that a sum has.
const RADIUS: usize = 4;

/// The host side.
pub struct Halo;

impl Host for Halo {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let n = case.n();
        let points = whole::floats(case, 0, n);
        let around = |i: usize| i.saturating_sub(RADIUS)..(i + RADIUS + 1).min(n);
        let expected = (0..n).map(|i| points[around(i)].iter().sum()).collect();

        let device_points = bench.input("in", &points)?;
        let out = bench.output::<f32>(n)?;
        let kernel = bench.kernel("sums")?;
        let stream = &bench.gpu.stream;
        let grid = case.size[0].div_ceil(BLOCK);
        // SAFETY: the arguments are those that the kernel is declared with: n points, n sums.
        unsafe {
            launch!(kernel<<<grid, BLOCK, 0, stream>>>(
                device_points.as_device_ptr(), out.as_device_ptr(), case.size[0]
            ))
        }?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[n], &out, expected)?])
    }
}
