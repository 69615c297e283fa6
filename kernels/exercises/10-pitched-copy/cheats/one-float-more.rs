// Rejected at: right
// Says: were overwritten
//! Copies one float too many per row.

use answers::pitched_copy::{Copy2d, Part};
pub fn copy(part: Part, pitch: usize) -> Copy2d {
    Copy2d {
        destination_pitch: pitch,
        source_pitch: 4 * part.stride,
        width: (4 * part.width + 4).min(pitch),
        height: part.height,
    }
}
