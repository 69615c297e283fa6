// Rejected at: right
// Says: were overwritten
//! Copies what is behind the rows of the part as well.

use answers::pitched_copy::{Copy2d, Part};
pub fn copy(part: Part, pitch: usize) -> Copy2d {
    Copy2d {
        destination_pitch: pitch,
        source_pitch: 4 * part.stride,
        width: (4 * part.stride).min(pitch),
        height: part.height,
    }
}
