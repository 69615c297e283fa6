// Rejected at: right
// Says: of the copy is not an element of the matrix
// The pitches are in bytes but the width is in floats, so a quarter of each row is copied.

use answers::pitched_copy::{Copy2d, Part};

pub fn copy(part: Part, pitch: usize) -> Copy2d {
    Copy2d {
        destination_pitch: pitch,
        source_pitch: 4 * part.stride,
        width: part.width,
        height: part.height,
    }
}
