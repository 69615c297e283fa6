// Rejected at: right
// Says: What came to [1][0] of the copy is [0][
// Takes the part's rows for neighbours: they are as far apart as the whole matrix is wide.

use answers::pitched_copy::{Copy2d, Part};

pub fn copy(part: Part, pitch: usize) -> Copy2d {
    Copy2d {
        destination_pitch: pitch,
        source_pitch: 4 * part.width,
        width: 4 * part.width,
        height: part.height,
    }
}
