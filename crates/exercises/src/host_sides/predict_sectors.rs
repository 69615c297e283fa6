//! 05-predict-sectors: the number of sectors of a warp's load, predicted and then counted.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// Six access patterns, each executed by one warp.
pub struct PredictSectors;

/// Maps a lane to the index of the element that it loads.
type Element = fn(usize) -> usize;

/// The kernels' names and access patterns.
const KERNELS: [(&str, Element); 6] = [
    ("neighbours", |lane| lane),
    ("backwards", |lane| 31 - lane),
    ("one_further", |lane| lane + 1),
    ("every_third", |lane| 3 * lane),
    ("every_eighth", |lane| 8 * lane),
    ("the_same", |_| 0),
];

/// The kernels' names, which label the predictions.
const NAMES: [&str; 6] = {
    let mut names = [""; 6];
    let mut number = 0;
    while number < names.len() {
        names[number] = KERNELS[number].0;
        number += 1;
    }
    names
};

const WARP: usize = 32;
const LENGTH: usize = 8 * WARP;
const SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

impl Host for PredictSectors {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let predicted = bench.variable::<u32>("predicted", KERNELS.len())?;
        let numbers = case.floats(0, LENGTH);
        let from = bench.input("in", &numbers)?;
        let stream = &bench.gpu.stream;

        let mut outputs = Vec::new();
        let mut sectors = Vec::new();
        for (name, element) in KERNELS {
            let to = bench.output(WARP)?;
            let kernel = bench.kernel(name)?;
            // SAFETY: the arguments match the kernel's signature, and no lane loads past the `LENGTH`
            // elements of `in`.
            unsafe {
                launch!(kernel<<<1, WARP as u32, 0, stream>>>(
                    from.as_device_ptr(), to.as_device_ptr()
                ))
            }?;
            stream.synchronize()?;
            let expected = (0..WARP).map(|lane| numbers[element(lane)]).collect();
            outputs.push(Output::new(name, &[WARP], &to, expected)?);
            // Count the course's own kernels: the student may have changed the copies in the submission.
            let measured = bench.uncounted(|| {
                let (kernel, to) = (
                    bench.start_code()?.kernel(name)?,
                    bench.output::<f32>(WARP)?,
                );
                // SAFETY: the arguments match the kernel's signature; `to` has `WARP` elements, one per lane.
                unsafe {
                    launch!(kernel<<<1, WARP as u32, 0, stream>>>(
                        from.as_device_ptr(), to.as_device_ptr()
                    ))
                }?;
                stream.synchronize()?;
                bench.counter(SECTORS)
            })?;
            sectors.push(match measured {
                Some(measured) => u32::try_from(measured)?,
                None => count_sectors(element),
            });
        }
        outputs.push(
            Output::from_values("predicted", &[KERNELS.len()], predicted, sectors)?
                .predicted(&NAMES),
        );
        Ok(outputs)
    }
}

/// Returns the number of 32-byte sectors that a warp's elements occupy, for machines without counters.
fn count_sectors(element: Element) -> u32 {
    let mut sectors: Vec<_> = (0..WARP).map(|lane| 4 * element(lane) / 32).collect();
    sectors.sort_unstable();
    sectors.dedup();
    sectors.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_computed_from_addresses_match_an_h200() {
        let counts = KERNELS.map(|(_, element)| count_sectors(element));
        assert_eq!(counts, [4, 4, 5, 12, 32, 1]);
    }
}
