// Rejected at: right
// Says: Nothing was copied
//! Omits the last row of a matrix that is copied whole.

use answers::pitched_copy::{Copy2d, Part};

pub fn copy(part: Part, pitch: usize) -> Copy2d {
    Copy2d {
        destination_pitch: pitch,
        source_pitch: part.stride * size_of::<f32>(),
        width: part.width * size_of::<f32>(),
        height: part.height - usize::from(part.stride == part.width),
    }
}
