//! A copy to pitched memory.

use answers::pitched_copy::{Copy2d, Part};

/// Returns the copy of a part of a matrix to memory whose rows are `pitch` bytes apart.
pub fn copy(part: Part, pitch: usize) -> Copy2d {
    // TODO: the part's sizes are in floats, but a copy uses other units.
    Copy2d {
        destination_pitch: pitch,
        source_pitch: part.stride,
        width: part.width,
        height: part.height,
    }
}
