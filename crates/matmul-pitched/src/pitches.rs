//! How long rows become in pitched memory: code 4.2 of the note on memory.

use anyhow::Result;
use common::report::{self, or_dash};
use serde::Serialize;

use crate::pitched::PitchedBuffer;

/// The note's 15 rows a slice, and 3 slices.
const HEIGHT: usize = 15;
const DEPTH: usize = 3;

/// The most rows that are there at a time.
pub const ROWS: u32 = (HEIGHT * DEPTH) as u32;

/// One allocation, which has been freed again. As JSON its fields are what they are here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pitch {
    /// `pitched 2D` (the note's `cudaMallocPitch`) or `pitched 3D` (`cudaMalloc3D`).
    allocation: &'static str,
    /// What was asked for: floats of a row.
    floats: u32,
    /// The same in bytes.
    width_bytes: usize,
    /// What came of it: bytes from a row to the next.
    pitch_bytes: usize,
    /// What `cudaMalloc3D` notes of a row, in bytes; nothing for the other.
    xsize: Option<usize>,
    /// What `cudaMalloc3D` notes of a slice, in rows; nothing for the other.
    ysize: Option<usize>,
    /// Bytes of padding in a row.
    wasted_bytes: usize,
}

/// Allocates rows of each width, in two dimensions and then in three.
///
/// # Errors
///
/// Where the device has not that much memory.
pub fn of(widths: &[u32]) -> Result<Vec<Pitch>> {
    let two = widths.iter().map(|&floats| {
        let buffer = PitchedBuffer::<f32>::new_2d(floats as usize, HEIGHT)?;
        Ok(Pitch::of("pitched 2D", floats, &buffer))
    });
    let three = widths.iter().map(|&floats| {
        let buffer = PitchedBuffer::<f32>::new_3d(floats as usize, HEIGHT, DEPTH)?;
        let pitch = Pitch::of("pitched 3D", floats, &buffer);
        Ok(Pitch {
            xsize: Some(pitch.width_bytes),
            ysize: Some(buffer.height()),
            ..pitch
        })
    });
    two.chain(three).collect()
}

impl Pitch {
    fn of(allocation: &'static str, floats: u32, buffer: &PitchedBuffer<f32>) -> Self {
        let width_bytes = buffer.width() * size_of::<f32>();
        Pitch {
            allocation,
            floats,
            width_bytes,
            pitch_bytes: buffer.pitch(),
            xsize: None,
            ysize: None,
            wasted_bytes: buffer.pitch() - width_bytes,
        }
    }
}

/// The table.
pub fn table(pitches: &[Pitch]) -> String {
    let headers = [
        "allocation",
        "width, floats",
        "width, bytes",
        "pitch, bytes",
        "xsize",
        "ysize",
        "wasted a row, bytes",
    ];
    let or_none = |size: Option<usize>| or_dash(size.map(|size| size.to_string()));
    let rows = pitches.iter().map(|pitch| {
        vec![
            pitch.allocation.to_owned(),
            pitch.floats.to_string(),
            pitch.width_bytes.to_string(),
            pitch.pitch_bytes.to_string(),
            or_none(pitch.xsize),
            or_none(pitch.ysize),
            pitch.wasted_bytes.to_string(),
        ]
    });
    report::table(&headers, rows)
}
