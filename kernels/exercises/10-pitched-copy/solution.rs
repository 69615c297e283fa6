//! A copy to pitched memory.

use answers::pitched_copy::{Copy2d, Part};

/// Returns the copy of a part of a matrix to memory whose rows are `pitch` bytes apart.
pub fn copy(part: Part, pitch: usize) -> Copy2d {
    // Lengths along a row are in bytes; the height is in rows.
    Copy2d {
        destination_pitch: pitch,
        source_pitch: part.stride * size_of::<f32>(),
        width: part.width * size_of::<f32>(),
        height: part.height,
    }
}
