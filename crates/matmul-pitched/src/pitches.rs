//! The table of row pitches that the driver chooses for several widths: code 4.2 of the note on memory.

use chapter::lang::Lang;
use chapter::report::Extra;
use chapter::text::{or_dash, table};
use common::PitchedBuffer;
use serde::Serialize;

// The note's sizes: rows per slice, and slices.
pub const HEIGHT: usize = 15;
pub const DEPTH: usize = 3;

/// Maximum number of rows allocated at a time.
pub const ROWS: u32 = (HEIGHT * DEPTH) as u32;

/// The pitches of rows of several widths: a table, and a field of the record.
#[derive(Debug, Default, Serialize)]
pub struct Pitches {
    pitches: Vec<Pitch>,
}

/// A row of the table: one allocation. The JSON record has the same fields.
#[derive(Debug, Serialize)]
struct Pitch {
    /// The kind: `pitched 2D` (the note's `cudaMallocPitch`) or `pitched 3D` (`cudaMalloc3D`).
    allocation: &'static str,
    /// The requested width: floats per row.
    floats: usize,
    /// The requested width in bytes.
    width_bytes: usize,
    /// The pitch: bytes from one row to the next.
    pitch_bytes: usize,
    /// The width in bytes that `cudaMalloc3D` returns; `None` for two dimensions.
    xsize: Option<usize>,
    /// The height in rows that `cudaMalloc3D` returns; `None` for two dimensions.
    ysize: Option<usize>,
    /// Bytes of padding per row.
    wasted_bytes: usize,
}

impl Pitches {
    /// Adds a two-dimensional allocation.
    pub fn add_2d(&mut self, buffer: &PitchedBuffer<f32>) {
        self.pitches.push(Pitch::of("pitched 2D", buffer));
    }

    /// Adds a three-dimensional allocation.
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
    fn tables(&self, lang: Lang) -> Vec<String> {
        let headers = lang.pick(
            [
                "allocation",
                "width, floats",
                "width, bytes",
                "pitch, bytes",
                "xsize",
                "ysize",
                "padding, bytes",
            ],
            [
                "分配函数",
                "宽度（float）",
                "宽度（字节）",
                "pitch（字节）",
                "xsize",
                "ysize",
                "补齐（字节）",
            ],
        );
        let dash_if_none = |size: Option<usize>| or_dash(size.map(|size| size.to_string()));
        let rows = self.pitches.iter().map(|pitch| {
            vec![
                pitch.allocation.to_owned(),
                pitch.floats.to_string(),
                pitch.width_bytes.to_string(),
                pitch.pitch_bytes.to_string(),
                dash_if_none(pitch.xsize),
                dash_if_none(pitch.ysize),
                pitch.wasted_bytes.to_string(),
            ]
        });
        vec![table(&headers, rows)]
    }
}
