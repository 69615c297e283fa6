//! How long rows become in pitched memory: code 4.2 of the note on memory.

use chapter::report::Extra;
use chapter::report::table::{or_dash, table};
use serde::Serialize;

use crate::pitched::PitchedBuffer;

/// The note's 15 rows a slice, and 3 slices.
pub const HEIGHT: usize = 15;
pub const DEPTH: usize = 3;

/// The most rows that are there at a time.
pub const ROWS: u32 = (HEIGHT * DEPTH) as u32;

/// What became of rows of several widths: a table, and a field of the record.
#[derive(Debug, Default, Serialize)]
pub struct Pitches {
    pitches: Vec<Pitch>,
}

/// One allocation. As JSON its fields are what they are here.
#[derive(Debug, Serialize)]
struct Pitch {
    /// `pitched 2D` (the note's `cudaMallocPitch`) or `pitched 3D` (`cudaMalloc3D`).
    allocation: &'static str,
    /// What was asked for: floats of a row.
    floats: usize,
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

impl Pitches {
    /// Adds an allocation in two dimensions.
    pub fn add_2d(&mut self, buffer: &PitchedBuffer<f32>) {
        self.pitches.push(Pitch::of("pitched 2D", buffer));
    }

    /// Adds an allocation in three dimensions.
    pub fn add_3d(&mut self, buffer: &PitchedBuffer<f32>) {
        let pitch = Pitch::of("pitched 3D", buffer);
        self.pitches.push(Pitch {
            xsize: Some(pitch.width_bytes),
            ysize: Some(buffer.height()),
            ..pitch
        });
    }
}

impl Pitch {
    fn of(allocation: &'static str, buffer: &PitchedBuffer<f32>) -> Self {
        let width_bytes = buffer.width() * size_of::<f32>();
        Pitch {
            allocation,
            floats: buffer.width(),
            width_bytes,
            pitch_bytes: buffer.pitch(),
            xsize: None,
            ysize: None,
            wasted_bytes: buffer.pitch() - width_bytes,
        }
    }
}

impl Extra for Pitches {
    fn tables(&self) -> Vec<String> {
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
        let rows = self.pitches.iter().map(|pitch| {
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
        vec![table(&headers, rows)]
    }
}
