//! `threadIdx` of every thread of a block.

use crate::lanes::LANES;

/// `threadIdx` of the threads of a block.
pub struct ThreadIndices {
    /// Rows of coordinates, by warp and axis.
    pub rows: Vec<[[u32; LANES]; 3]>,
    /// Block size in threads: x, y, z.
    pub size: [u32; 3],
}

impl ThreadIndices {
    /// Computes the coordinates of blocks of this size.
    pub fn of(size: [u32; 3]) -> ThreadIndices {
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
        ThreadIndices {
            rows: rows.collect(),
            size,
        }
    }
}
