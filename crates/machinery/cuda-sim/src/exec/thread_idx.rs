//! `threadIdx` of every thread of a block.

use crate::lanes::LANES;

/// The places of a block's threads in it.
pub struct Threads {
    /// By warp and axis, a row each.
    pub rows: Vec<[[u32; LANES]; 3]>,
    /// Threads of a block in x, y and z.
    pub size: [u32; 3],
}

impl Threads {
    /// Of blocks of this size, in x, y and z.
    pub fn of(size: [u32; 3]) -> Threads {
        let warps = size.iter().product::<u32>().div_ceil(LANES as u32);
        let mut at = [0; 3];
        let rows = (0..warps).map(|_| {
            let mut rows = [[0; LANES]; 3];
            for lane in 0..LANES {
                for (row, at) in rows.iter_mut().zip(at) {
                    row[lane] = at;
                }
                // Step through the block instead of dividing for every thread.
                at[0] += 1;
                for axis in 0..2 {
                    if at[axis] == size[axis] {
                        at[axis] = 0;
                        at[axis + 1] += 1;
                    }
                }
            }
            rows
        });
        Threads {
            rows: rows.collect(),
            size,
        }
    }
}
