//! 06-fields: an array of records, or an array for each of their fields.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// The kinetic energy of particles, whose fields lie where the student's `place` says.
pub struct Fields;

const FIELDS: usize = 8;
const BLOCK: usize = 256;

impl Host for Fields {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let count = case.n();
        let particles = case.floats(0, count * FIELDS);
        let energy = |particle: &[f32]| match *particle {
            [_, _, _, vx, vy, vz, mass, _] => 0.5 * mass * (vx * vx + vy * vy + vz * vz),
            _ => f32::NAN,
        };
        let expected = particles.chunks(FIELDS).map(energy).collect();

        let records = DeviceBuffer::from_slice(&particles)?;
        let memory = bench.output::<f32>(count.next_multiple_of(32) * FIELDS)?;
        let energies = bench.output(count)?;
        let (fill, sum) = (bench.kernel("fill")?, bench.kernel("energies")?);
        let blocks = |threads: usize| threads.div_ceil(BLOCK) as u32;
        let stream = &bench.gpu.stream;
        // SAFETY: the arguments are the kernels', and the arrays are as long as the `.cu` file says.
        unsafe {
            launch!(fill<<<blocks(count * FIELDS), BLOCK as u32, 0, stream>>>(
                records.as_device_ptr(), memory.as_device_ptr(), count as i32
            ))
        }?;
        // SAFETY: as above.
        bench.launch(|| unsafe {
            launch!(sum<<<blocks(count), BLOCK as u32, 0, stream>>>(
                memory.as_device_ptr(), energies.as_device_ptr(), count as i32
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("energy", &[count], &energies, expected)?])
    }
}
