//! A copy to pitched memory.

use answers::pitched_copy::{Copy2d, Part};

/// The copy of a part of a matrix to memory whose rows are `pitch` bytes apart.
pub fn copy(part: Part, pitch: usize) -> Copy2d {
    // TODO: a part is counted in floats, and a copy counts otherwise.
    Copy2d {
        destination_pitch: pitch,
        source_pitch: part.stride,
        width: part.width,
        height: part.height,
    }
}
