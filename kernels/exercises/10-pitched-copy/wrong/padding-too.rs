// Rejected at: right
// Says: The parameters of your copy
// Copies the padding too, which the matrix on the host does not have.

use answers::pitched_copy::{Copy2d, Part};

pub fn copy(part: Part, pitch: usize) -> Copy2d {
    Copy2d {
        destination_pitch: pitch,
        source_pitch: 4 * part.stride,
        width: pitch,
        height: part.height,
    }
}
