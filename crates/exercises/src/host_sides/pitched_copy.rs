//! 10-pitched-copy: a two-dimensional copy. The student writes the host side.

use std::ptr;

use answers::pitched_copy::{Copy2d, Part, Reply, Request};
use anyhow::Result;
use common::PitchedBuffer;
use common::error::check;
use cust::sys::{self, CUmemorytype};

use crate::host::{Bench, Case, HostExercise, Output, Program};

/// The grader's host side of 10-pitched-copy.
pub struct PitchedCopy;

impl HostExercise for PitchedCopy {
    fn run(&self, _bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>> {
        let part = Part {
            width: case.width(),
            height: case.height(),
            stride: case.width() + 1 + case.integers(1, 1, 50)[0] as usize,
        };
        let matrix = case.floats(0, part.stride * part.height);
        let rows = matrix.chunks(part.stride);
        let expected: Vec<f32> = rows.flat_map(|row| &row[..part.width]).copied().collect();

        let mut pitched = PitchedBuffer::<f32>::new_2d(part.width, part.height)?;
        pitched.fill_8(0)?;
        let pitch = pitched.pitch();
        let copy: Reply = program.request(Request { part, pitch }, |_| true)?;
        let reads = extent(&copy, copy.source_pitch);
        let writes = extent(&copy, copy.destination_pitch);
        if reads.is_none_or(|bytes| bytes > size_of_val(&matrix[..]))
            || writes.is_none_or(|bytes| bytes > pitch * part.height)
        {
            return compare_parameters(&copy, &part, pitch);
        }
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: matrix.as_ptr().cast(),
            srcDevice: 0,
            srcArray: ptr::null_mut(),
            srcPitch: copy.source_pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: ptr::null_mut(),
            dstDevice: pitched.as_device_ptr().as_raw(),
            dstArray: ptr::null_mut(),
            dstPitch: copy.destination_pitch,
            WidthInBytes: copy.width,
            Height: copy.height,
        };
        // SAFETY: the copy reads within `matrix` and writes within the allocation of `pitched`, as the bounds
        // check above ensures.
        check(unsafe { sys::cuMemcpy2D_v2(&copy) })?;

        let mut copied = vec![0.0; part.width * part.height];
        pitched.copy_3d_to(&mut copied, part.width)?;
        let shape = [part.height, part.width];
        let [en, zh] = explain(&copied, &expected, &matrix, &part);
        let output = Output::from_values("copied", &shape, copied, expected)?;
        Ok(vec![output.with_explanation(en, zh)])
    }
}

/// Explains the first wrong element by its position in the whole matrix, in English and Chinese.
fn explain(copied: &[f32], expected: &[f32], matrix: &[f32], part: &Part) -> [String; 2] {
    let is_wrong = |&index: &usize| copied[index] != expected[index];
    let Some(index) = (0..copied.len()).find(is_wrong) else {
        return Default::default();
    };
    let format_index =
        |index: usize, width: usize| format!("[{}][{}]", index / width, index % width);
    let (position, actual) = (format_index(index, part.width), copied[index]);
    if actual == 0.0 {
        return [
            format!("Nothing was copied to {position}."),
            format!("没有任何内容复制到 {position}。"),
        ];
    }
    match matrix.iter().position(|&value| value == actual) {
        Some(origin) => {
            let origin = format_index(origin, part.stride);
            [
                format!("Element {position} of the copy is {origin} of the whole matrix."),
                format!("副本的元素 {position} 是整个矩阵的 {origin}。"),
            ]
        }
        None => [
            format!(
                "Element {position} of the copy is not an element of the matrix: not all of its \
                 bytes were copied."
            ),
            format!("副本的元素 {position} 不是矩阵的元素：它的字节没有全部复制。"),
        ],
    }
}

/// Returns the number of bytes from the first to the last byte of a copy's rows with this pitch; `None` on
/// overflow.
fn extent(copy: &Copy2d, pitch: usize) -> Option<usize> {
    let before = copy.height.saturating_sub(1).checked_mul(pitch)?;
    before.checked_add(copy.width)
}

/// Reports the parameters of a copy that is out of bounds, next to the expected ones.
fn compare_parameters(copy: &Copy2d, part: &Part, pitch: usize) -> Result<Vec<Output>> {
    let float = size_of::<f32>();
    let pairs = [
        ("destination_pitch", copy.destination_pitch, pitch),
        ("source_pitch", copy.source_pitch, part.stride * float),
        ("width", copy.width, part.width * float),
        ("height", copy.height, part.height),
    ];
    let number = |number: usize| vec![u32::try_from(number).unwrap_or(u32::MAX)];
    let output = |(name, actual, expected)| {
        Ok(Output::from_values(name, &[1], number(actual), number(expected))?.with_explanation(
            "The parameters of your copy. Pitches and the width are in bytes, the height in rows; \
             the width covers only the data to copy, without the padding of a row.",
            "你的复制操作的参数。pitch 和 width 以字节为单位，height 是行数；width \
             只算要复制的数据，不包括行末的补齐。",
        ))
    };
    pairs.into_iter().map(output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_of_the_first_wrong_element_is_reported() {
        let part = Part {
            width: 2,
            height: 2,
            stride: 3,
        };
        let matrix = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let message = |copied: [f32; 4]| explain(&copied, &[1.0, 2.0, 4.0, 5.0], &matrix, &part);
        for (copied, expected) in [
            ([1.0, 2.0, 3.0, 4.0], "Element [1][0] of the copy is [0][2]"),
            ([1.0, 0.0, 4.0, 0.0], "Nothing was copied to [0][1]."),
            ([1.0, 2.5, 4.0, 5.0], "is not an element of the matrix"),
            ([1.0, 2.0, 4.0, 5.0], ""),
        ] {
            assert!(
                message(copied)[0].contains(expected),
                "{:?}",
                message(copied)
            );
        }
    }
}
