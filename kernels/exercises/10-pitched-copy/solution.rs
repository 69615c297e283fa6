//! A copy to pitched memory.

use answers::pitched_copy::{Copy2d, Part};

/// The copy of a part of a matrix to memory whose rows are `pitch` bytes apart.
pub fn copy(part: Part, pitch: usize) -> Copy2d {
    // What runs along a row is counted in bytes; rows are counted in rows.
    Copy2d {
        destination_pitch: pitch,
        source_pitch: part.stride * size_of::<f32>(),
        width: part.width * size_of::<f32>(),
        height: part.height,
    }
}
