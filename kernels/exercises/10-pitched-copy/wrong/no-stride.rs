// Rejected at: right
// Says: Element [1][0] of the copy is [0][
// Treats the part's rows as adjacent, although they are a row of the whole matrix apart.

use answers::pitched_copy::{Copy2d, Part};

pub fn copy(part: Part, pitch: usize) -> Copy2d {
    Copy2d {
        destination_pitch: pitch,
        source_pitch: 4 * part.width,
        width: 4 * part.width,
        height: part.height,
    }
}
