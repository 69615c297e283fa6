//! The elements of an array that a bulk tensor copy transfers, and `tensormap.replace`. Source: PTX ISA, section 5.5
//! (tensors).

use crate::exec::sm::bulk::Run;
use crate::memory::tensor_map::{
    ElementType, Extent, Im2col, Interleave, MAX_RANK, Swizzle, TensorMap,
};

/// The position of a copy in an array, innermost dimension first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position {
    pub coordinates: [i32; MAX_RANK],
    /// Offsets of the pixels of an im2col copy, width first.
    pub offsets: [u16; MAX_RANK - 2],
}

/// Returns the parts of a copy that are inside the array.
pub fn runs(map: &TensorMap, position: Position) -> Vec<Run> {
    match map.extent {
        Extent::Tile(_) => tile_runs(map, position.coordinates.map(i64::from)),
        Extent::Im2col(im2col) => im2col_runs(map, im2col, position),
    }
}

/// Returns the part of the row `number` of a copy that is inside the array, if any. `coordinates` are those of the
/// row's first element.
fn row_run(map: &TensorMap, number: u64, coordinates: &[i64; MAX_RANK]) -> Option<Run> {
    let dimensions = map.row_dimensions();
    let is_inside =
        |dimension: usize| (0..map.sizes[dimension] as i64).contains(&coordinates[dimension]);
    if !dimensions.clone().all(is_inside) {
        return None;
    }
    let size = map.element.bytes();
    let elements = (map.row_bytes() / size) as i64;
    // The first element of the row and the part inside; a slice is inside as a whole.
    let (start, inside) = match dimensions.start {
        0 => (0, 0..elements),
        _ => {
            let start = coordinates[0];
            (
                start,
                start.max(0)..(start + elements).min(map.sizes[0] as i64),
            )
        }
    };
    if inside.is_empty() {
        return None;
    }
    let add = |address: u64, dimension: usize| {
        let distance = (coordinates[dimension] as u64).wrapping_mul(map.stride(dimension));
        address.wrapping_add(distance)
    };
    let row_start = dimensions.fold(map.address, add);
    Some(Run {
        at: number * map.row_bytes() + (inside.start - start) as u64 * size,
        address: row_start.wrapping_add(inside.start as u64 * size),
        bytes: (inside.end - inside.start) as u64 * size,
    })
}

fn tile_runs(map: &TensorMap, start: [i64; MAX_RANK]) -> Vec<Run> {
    let row = |number: u64| {
        let mut coordinates = start;
        let mut rest = number;
        for dimension in map.row_dimensions() {
            let count = u64::from(map.count(dimension));
            coordinates[dimension] += (rest % count * u64::from(map.steps[dimension])) as i64;
            rest /= count;
        }
        row_run(map, number, &coordinates)
    };
    (0..map.rows()).filter_map(row).collect()
}

/// Returns a spatial coordinate of an im2col copy that is outside of the bounding box of the pixels.
pub fn outside_box(map: &TensorMap, position: Position) -> Option<i32> {
    let spatial = &position.coordinates[map.row_dimensions().start..][..map.rank - 2];
    let outside = |&(number, &at): &(usize, &i32)| !map.bounds(number).contains(&at.into());
    let found = spatial.iter().enumerate().find(outside);
    found.map(|(_, &coordinate)| coordinate)
}

/// Pixels are taken along the width, height, depth and batch, within the bounding box of the map. The offsets are
/// added to their positions, which may then be outside of the image.
fn im2col_runs(map: &TensorMap, im2col: Im2col, position: Position) -> Vec<Run> {
    let spatial = map.rank - 2;
    let width = map.row_dimensions().start;
    let batch = map.rank - 1;
    let mut pixel = position.coordinates.map(i64::from);
    let mut runs = Vec::new();
    for number in 0..u64::from(im2col.pixels) {
        let mut coordinates = pixel;
        for (at, offset) in coordinates[width..].iter_mut().zip(position.offsets) {
            *at += i64::from(offset);
        }
        runs.extend(row_run(map, number, &coordinates));
        let mut dimension = 0;
        loop {
            if dimension == spatial {
                pixel[batch] += i64::from(map.steps[batch]);
                break;
            }
            let bounds = map.bounds(dimension);
            let at = &mut pixel[width + dimension];
            *at += i64::from(map.steps[width + dimension]);
            if *at < bounds.end {
                break;
            }
            *at = bounds.start;
            dimension += 1;
        }
    }
    runs
}

/// A field of a tensor map that `tensormap.replace` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    GlobalAddress,
    Rank,
    BoxDim,
    GlobalDim,
    GlobalStride,
    ElementStride,
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    FillMode,
}

impl Field {
    /// The fields with their names in PTX.
    pub const ALL: [(&str, Field); 10] = [
        ("global_address", Field::GlobalAddress),
        ("rank", Field::Rank),
        ("box_dim", Field::BoxDim),
        ("global_dim", Field::GlobalDim),
        ("global_stride", Field::GlobalStride),
        ("element_stride", Field::ElementStride),
        ("elemtype", Field::ElementType),
        ("interleave_layout", Field::InterleaveLayout),
        ("swizzle_mode", Field::SwizzleMode),
        ("fill_mode", Field::FillMode),
    ];

    /// Returns true for a field with one value per dimension.
    pub fn has_dimensions(self) -> bool {
        use Field::*;
        matches!(self, BoxDim | GlobalDim | GlobalStride | ElementStride)
    }

    /// Returns true if the instruction takes a literal, not a register.
    pub fn takes_literal(self) -> bool {
        use Field::*;
        matches!(
            self,
            ElementType | InterleaveLayout | SwizzleMode | FillMode
        )
    }

    /// Replaces the field. Returns `None` for a number that the field cannot hold, or a dimension that does not exist.
    pub fn replace(self, map: &mut TensorMap, dimension: usize, value: u64) -> Option<()> {
        let number = value as u32;
        match self {
            Field::GlobalAddress => map.address = value,
            // The number is one less than the rank.
            Field::Rank => map.rank = value as usize + 1,
            Field::BoxDim => match &mut map.extent {
                Extent::Tile(size) => *size.get_mut(dimension)? = number,
                Extent::Im2col(_) => return None,
            },
            Field::GlobalDim => *map.sizes.get_mut(dimension)? = number.into(),
            Field::GlobalStride => *map.strides.get_mut(dimension)? = value,
            Field::ElementStride => *map.steps.get_mut(dimension)? = number,
            Field::ElementType => map.element = ElementType::from_ptx_number(number)?,
            Field::InterleaveLayout => map.interleave = Interleave::from_number(number)?,
            Field::SwizzleMode => map.swizzle = Swizzle::from_number(number)?,
            Field::FillMode => map.fills_nan = number != 0,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rank: usize, extent: Extent) -> TensorMap {
        TensorMap {
            element: ElementType::U32,
            rank,
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            promotion: 0,
            fills_nan: false,
            address: 0x1000,
            sizes: [7, 5, 3, 2, 1],
            strides: [32, 160, 480, 960],
            steps: [1; MAX_RANK],
            extent,
        }
    }

    /// Returns the address of each element of a copy; `None` outside the array.
    fn elements(map: &TensorMap, position: Position) -> Vec<Option<u64>> {
        let mut elements = vec![None; (map.copied_bytes() / 4) as usize];
        for run in runs(map, position) {
            for word in 0..run.bytes / 4 {
                let element = &mut elements[(run.at / 4 + word) as usize];
                assert_eq!(*element, None, "an element is copied twice");
                *element = Some(run.address + word * 4);
            }
        }
        elements
    }

    /// Returns the address of an element; `None` outside the array.
    fn element(map: &TensorMap, coordinates: [i64; MAX_RANK]) -> Option<u64> {
        let mut address = map.address;
        for dimension in 0..map.rank {
            if !(0..map.sizes[dimension] as i64).contains(&coordinates[dimension]) {
                return None;
            }
            let stride = match dimension {
                0 => map.interleave.slice_bytes().unwrap_or(4),
                _ => map.strides[dimension - 1],
            };
            address += coordinates[dimension] as u64 * stride;
        }
        Some(address)
    }

    #[test]
    fn tiles_of_all_ranks_are_clipped_at_the_array() {
        for rank in 1..=MAX_RANK {
            for start in [-5, -1, 0, 1, 4, 9] {
                let map = TensorMap {
                    steps: [1, 2, 1, 3, 1],
                    ..map(rank, Extent::Tile([4, 3, 2, 4, 2]))
                };
                let coordinates = [start; MAX_RANK];
                let position = Position {
                    coordinates,
                    ..Position::default()
                };
                let counts: Vec<i64> = (0..MAX_RANK)
                    .map(|dimension| match dimension {
                        0 => 4,
                        _ if dimension >= rank => 1,
                        _ => [4i64, 2, 2, 2, 2][dimension],
                    })
                    .collect();
                let mut expected = Vec::new();
                for e in 0..counts[4] {
                    for d in 0..counts[3] {
                        for c in 0..counts[2] {
                            for b in 0..counts[1] {
                                for a in 0..counts[0] {
                                    let offsets = [a, 2 * b, c, 3 * d, e];
                                    let at = std::array::from_fn(|n| i64::from(start) + offsets[n]);
                                    expected.push(element(&map, at));
                                }
                            }
                        }
                    }
                }
                assert_eq!(elements(&map, position), expected, "{rank} {start}");
            }
        }
    }

    #[test]
    fn im2col_pixels_stay_within_the_bounding_box() {
        let im2col = Im2col {
            lower: [-1, -1, 0],
            upper: [-1, -1, 0],
            channels: 4,
            pixels: 20,
        };
        let map = map(4, Extent::Im2col(im2col));
        for offsets in [[0, 0, 0], [1, 2, 0]] {
            let position = Position {
                coordinates: [4, 2, -1, 0, 0],
                offsets,
            };
            // The corners of the filter are at widths -1 to 3 and heights -1 to 1.
            let pixels =
                (0..2).flat_map(|n| (-1..2).flat_map(move |h| (-1..4).map(move |w| (w, h, n))));
            let pixels = pixels.skip(3).take(20);
            let expected: Vec<Option<u64>> = pixels
                .flat_map(|(w, h, n)| {
                    let (w, h) = (w + i64::from(offsets[0]), h + i64::from(offsets[1]));
                    (4..8).map(move |c| [c, w, h, n, 0])
                })
                .map(|coordinates| element(&map, coordinates))
                .collect();
            assert_eq!(elements(&map, position), expected, "{offsets:?}");
        }
    }

    #[test]
    fn interleaved_copies_transfer_one_slice() {
        let word = |address: Option<u64>, word: u64| address.map(|address| address + 4 * word);
        for (interleave, words) in [(Interleave::Slices16, 4), (Interleave::Slices32, 8)] {
            let tile = TensorMap {
                interleave,
                steps: [2, 1, 3, 2, 1],
                ..map(4, Extent::Tile([8, 3, 4, 2, 1]))
            };
            let im2col = Im2col {
                lower: [-1, 0, 0],
                upper: [0, -1, 0],
                channels: 4,
                pixels: 9,
            };
            let im2col = TensorMap {
                interleave,
                steps: [2, 1, 1, 2, 1],
                ..map(4, Extent::Im2col(im2col))
            };
            let position = Position {
                coordinates: [2, 3, 1, -1, 0],
                offsets: [1, 0, 0],
            };
            // Width, height, slice and batch of each pixel.
            let in_tile = (0..3).flat_map(|h| (0..4).map(move |w| [2 + 2 * w, 3 + h, 1, -1, 0]));
            // Widths -1, 1, 3 and 5 and heights 0 to 3 are within the bounding box.
            let mut in_image = Vec::from([2, 4, 6].map(|w| [w, 3, 1, -1, 0]));
            let next = (0..2).flat_map(|h| [-1, 1, 3, 5].map(|w| [w, h, 1, 1, 0]));
            in_image.extend(next.take(6));
            let in_image = in_image
                .into_iter()
                .map(|[w, h, s, n, z]| [w + 1, h, s, n, z]);
            for (map, pixels) in [
                (tile, in_tile.collect::<Vec<_>>()),
                (im2col, in_image.collect()),
            ] {
                let expected: Vec<Option<u64>> = pixels
                    .into_iter()
                    .map(|coordinates| element(&map, coordinates))
                    .flat_map(|pixel| (0..words).map(move |number| word(pixel, number)))
                    .collect();
                assert_eq!(elements(&map, position), expected, "{map:?}");
            }
        }
    }

    #[test]
    fn first_pixels_must_be_within_the_bounding_box() {
        let im2col = Im2col {
            lower: [-1, -2, 0],
            upper: [-1, 0, 0],
            channels: 4,
            pixels: 1,
        };
        let map = map(4, Extent::Im2col(im2col));
        // Widths -1 to 3 and heights -2 to 2.
        for (width, height, outside) in [
            (-1, -2, None),
            (3, 2, None),
            (-2, 0, Some(-2)),
            (4, 0, Some(4)),
            (0, -3, Some(-3)),
            (0, 3, Some(3)),
        ] {
            let position = Position {
                coordinates: [-100, width, height, 100, 0],
                offsets: [9, 9, 0],
            };
            assert_eq!(outside_box(&map, position), outside, "{width} {height}");
        }
    }
}
