//! Tensor maps: descriptors of arrays in device memory, from which bulk tensor copies compute addresses. Sources: CUDA
//! Driver API, `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`; PTX ISA, section 5.5 (tensors).
//!
//! NVIDIA does not document the 128 bytes of a descriptor. Here they are the fields of [`TensorMap`] in their order,
//! after a word that tells descriptors from other memory.

use std::ops::Range;

/// Size of a descriptor in bytes.
pub const TENSOR_MAP_BYTES: usize = 128;
/// Alignment of a descriptor in bytes.
pub const TENSOR_MAP_ALIGN: u64 = 64;
/// Maximum number of dimensions.
pub const MAX_RANK: usize = 5;
/// Maximum number of spatial dimensions of an im2col map: all but the channels and the batch.
pub const MAX_SPATIAL: usize = MAX_RANK - 2;

/// The first word of each descriptor: the letters `WTMA`.
const MARK: u32 = 0x414d_5457;
/// The required alignment of addresses and strides in bytes.
const ALIGN: u64 = 16;
/// The same with slices of 32 bytes.
const INTERLEAVED_32_ALIGN: u64 = 32;
const MAX_SIZE: u64 = 1 << 32;
const STRIDE_LIMIT: u64 = 1 << 40;
const MAX_BOX: u32 = 256;
const MAX_STEP: u32 = 8;
const MAX_PIXELS: u32 = 1024;

/// The type of an element, with the number of its `CUtensorMapDataType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ElementType {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    BF16,
    /// Single precision; subnormal numbers are flushed to zero.
    F32Ftz,
    /// Single precision, rounded to TF32.
    TF32,
    /// TF32; subnormal numbers are flushed to zero.
    TF32Ftz,
}

impl ElementType {
    const ALL: [ElementType; 13] = [
        ElementType::U8,
        ElementType::U16,
        ElementType::U32,
        ElementType::S32,
        ElementType::U64,
        ElementType::S64,
        ElementType::F16,
        ElementType::F32,
        ElementType::F64,
        ElementType::BF16,
        ElementType::F32Ftz,
        ElementType::TF32,
        ElementType::TF32Ftz,
    ];

    /// Returns the type with a number of `CUtensorMapDataType`; `None` for packed types, which require compute
    /// capability 10.0, and for invalid numbers.
    pub fn from_number(number: u32) -> Option<ElementType> {
        ElementType::ALL.get(number as usize).copied()
    }

    /// Returns the type with a number of `tensormap.replace.elemtype`. Source: PTX ISA, section `tensormap.replace`.
    pub fn from_ptx_number(number: u32) -> Option<ElementType> {
        use ElementType::*;
        let all = [
            U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, BF16, TF32, TF32Ftz,
        ];
        all.get(number as usize).copied()
    }

    /// Returns the size of an element in bytes.
    pub fn bytes(self) -> u64 {
        use ElementType::*;
        match self {
            U8 => 1,
            U16 | F16 | BF16 => 2,
            U32 | S32 | F32 | F32Ftz | TF32 | TF32Ftz => 4,
            U64 | S64 | F64 => 8,
        }
    }

    /// Returns true for a floating-point type.
    pub fn is_float(self) -> bool {
        use ElementType::*;
        !matches!(self, U8 | U16 | U32 | S32 | U64 | S64)
    }

    /// Returns true if loads change the values of some elements.
    pub fn converts(self) -> bool {
        use ElementType::*;
        matches!(self, TF32 | TF32Ftz)
    }

    /// Returns the value that a load stores for the bits of an element of 4 bytes. An H200 flushes subnormal numbers of
    /// no type.
    pub fn convert(self, bits: u32) -> u32 {
        if !self.converts() {
            return bits;
        }
        if f32::from_bits(bits).is_nan() {
            return 0x7fff_e000;
        }
        // To the nearest value with 10 bits of fraction; ties to even.
        let is_odd = bits >> 13 & 1;
        bits.wrapping_add(0xfff + is_odd) & !0x1fff
    }

    /// Returns the bytes of the NaN with which loads fill elements outside the array.
    pub fn nan(self) -> u64 {
        0x7ff7_7ff7_7ff7_7ff7
    }
}

/// The pattern by which a copy permutes units of 16 bytes in shared memory, with its `CUtensorMapSwizzle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Swizzle {
    None,
    Span32,
    Span64,
    Span128,
}

impl Swizzle {
    /// Returns the pattern with a number; `None` for patterns that require compute capability 10.0.
    pub fn from_number(number: u32) -> Option<Swizzle> {
        let all = [
            Swizzle::None,
            Swizzle::Span32,
            Swizzle::Span64,
            Swizzle::Span128,
        ];
        all.get(number as usize).copied()
    }

    /// Returns the span in bytes, the maximum size of a row of the box; `None` without a pattern.
    pub fn span(self) -> Option<u64> {
        match self {
            Swizzle::None => None,
            _ => Some(16 << self as u64),
        }
    }

    /// Returns the address in shared memory at which the byte is stored that belongs to `address`: the bits that number
    /// a unit of 16 bytes are combined with those that number a line of 128 bytes.
    pub fn apply(self, address: u64) -> u64 {
        let mask = (1 << self as u64) - 1;
        address ^ (address >> 7 & mask) << 4
    }
}

/// The memory layout of channels, with the number of its `CUtensorMapInterleave`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Interleave {
    None,
    /// Slices of channels of 16 bytes.
    Slices16,
    /// Slices of channels of 32 bytes.
    Slices32,
}

impl Interleave {
    /// Returns the layout with a number; `None` for an invalid one.
    pub fn from_number(number: u32) -> Option<Interleave> {
        let all = [Interleave::None, Interleave::Slices16, Interleave::Slices32];
        all.get(number as usize).copied()
    }

    /// Returns the bytes of a slice of channels; `None` without slices.
    pub fn slice_bytes(self) -> Option<u64> {
        match self {
            Interleave::None => None,
            Interleave::Slices16 => Some(16),
            Interleave::Slices32 => Some(32),
        }
    }
}

/// The elements that one copy transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A box of the array: its sizes, before the element strides divide them.
    Tile([u32; MAX_RANK]),
    Im2col(Im2col),
}

/// The part of an image that an im2col copy transfers: pixels, each with some of its channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Im2col {
    /// Offsets of the corners of the pixels' bounding box from those of the image, width first.
    pub lower: [i32; MAX_SPATIAL],
    pub upper: [i32; MAX_SPATIAL],
    pub channels: u32,
    pub pixels: u32,
}

/// The description of an array. Dimensions and coordinates start with the innermost one.
///
/// An interleaved layout divides the channels into slices. A slice of one pixel is contiguous and has no dimension of
/// its own: the first dimension is the width, whose neighbours are a slice apart, and the last but one numbers the
/// slices. A copy transfers one slice, whatever its box or its number of channels is (measured on an H200).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorMap {
    pub element: ElementType,
    pub rank: usize,
    pub interleave: Interleave,
    pub swizzle: Swizzle,
    /// The number of the `CUtensorMapL2promotion`, which has no effect here.
    pub promotion: u8,
    /// True if elements outside the array are loaded as NaN instead of zero.
    pub fills_nan: bool,
    /// Address of the array in device memory.
    pub address: u64,
    /// Sizes in elements; 0 beyond the rank.
    pub sizes: [u64; MAX_RANK],
    /// Distances in bytes between neighbours in the dimensions from the second on; 0 beyond the rank.
    pub strides: [u64; MAX_RANK - 1],
    /// Strides of the copied elements in each dimension; 0 beyond the rank.
    pub steps: [u32; MAX_RANK],
    pub extent: Extent,
}

impl TensorMap {
    /// Returns true if the map meets the requirements of `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col`, as an
    /// H200's driver checks them.
    pub fn is_valid(&self) -> bool {
        let rank = self.rank;
        let interleaved = self.interleave != Interleave::None;
        let lowest_rank = match self.extent {
            Extent::Tile(_) if !interleaved => 1,
            _ => 3,
        };
        if !(lowest_rank..=MAX_RANK).contains(&rank) {
            return false;
        }
        let align = match self.interleave {
            Interleave::Slices32 => INTERLEAVED_32_ALIGN,
            _ => ALIGN,
        };
        let is_stride = |&stride: &u64| stride.is_multiple_of(align) && stride < STRIDE_LIMIT;
        self.address.is_multiple_of(align)
            && self.sizes[..rank]
                .iter()
                .all(|&size| (1..=MAX_SIZE).contains(&size))
            && self.strides[..rank - 1].iter().all(is_stride)
            && self.steps[..rank]
                .iter()
                .all(|step| (1..=MAX_STEP).contains(step))
            && (!self.fills_nan || self.element.is_float())
            && self.is_valid_extent()
            && self.is_valid_row()
    }

    fn is_valid_extent(&self) -> bool {
        match self.extent {
            Extent::Tile(size) => size[..self.rank]
                .iter()
                .all(|size| (1..=MAX_BOX).contains(size)),
            Extent::Im2col(Im2col {
                lower,
                upper,
                channels,
                pixels,
            }) => {
                let limit = match self.rank {
                    3 => 1 << 15,
                    4 => 1 << 7,
                    _ => 1 << 4,
                };
                let is_offset = |offset: &i32| (-limit..limit).contains(offset);
                let offsets = lower.iter().chain(&upper);
                let has_pixels = |spatial| !self.bounds(spatial).is_empty();
                (1..=MAX_BOX).contains(&channels)
                    && (1..=MAX_PIXELS).contains(&pixels)
                    && offsets.into_iter().all(is_offset)
                    && (0..self.rank - 2).all(has_pixels)
            }
        }
    }

    /// Returns true if the box has a multiple of 16 bytes in the first dimension, and they fit into the span of the
    /// swizzle. In an interleaved layout, only the former is required.
    fn is_valid_row(&self) -> bool {
        let bytes = self.inner_bytes();
        let fits = |span| bytes <= span || self.interleave != Interleave::None;
        bytes.is_multiple_of(ALIGN) && self.swizzle.span().is_none_or(fits)
    }

    /// Returns the bytes that the box has in the first dimension, or those of the channels.
    fn inner_bytes(&self) -> u64 {
        let elements = match self.extent {
            Extent::Tile(size) => size[0],
            Extent::Im2col(im2col) => im2col.channels,
        };
        u64::from(elements) * self.element.bytes()
    }

    /// Returns the contiguous bytes that a copy consists of: the box's in the first dimension, or a slice.
    pub fn row_bytes(&self) -> u64 {
        let slice = self.interleave.slice_bytes();
        slice.unwrap_or_else(|| self.inner_bytes())
    }

    /// Returns the distance in bytes between rows in shared memory: with a swizzle, a row has its own span.
    pub fn row_pitch(&self) -> u64 {
        match self.interleave {
            Interleave::None => self.swizzle.span().unwrap_or_else(|| self.row_bytes()),
            _ => self.row_bytes(),
        }
    }

    /// Returns the dimensions in which rows follow each other.
    pub fn row_dimensions(&self) -> Range<usize> {
        usize::from(self.interleave == Interleave::None)..self.rank
    }

    /// Returns the number of rows of a copy.
    pub fn rows(&self) -> u64 {
        match self.extent {
            Extent::Tile(_) => self
                .row_dimensions()
                .map(|dimension| u64::from(self.count(dimension)))
                .product(),
            Extent::Im2col(im2col) => im2col.pixels.into(),
        }
    }

    /// Returns the number of rows that a tile has in one of the [`TensorMap::row_dimensions`].
    pub fn count(&self, dimension: usize) -> u32 {
        let numbers_slices = self.interleave != Interleave::None && dimension + 2 == self.rank;
        match self.extent {
            Extent::Tile(size) if !numbers_slices => {
                size[dimension].div_ceil(self.steps[dimension])
            }
            _ => 1,
        }
    }

    /// Returns the distance in bytes between neighbours in one of the [`TensorMap::row_dimensions`].
    pub fn stride(&self, dimension: usize) -> u64 {
        match dimension {
            0 => self.row_bytes(),
            _ => self.strides[dimension - 1],
        }
    }

    /// Returns the coordinates that the pixels of an im2col copy may have in a spatial dimension, width first, before
    /// their offsets are added; none for a tile.
    pub fn bounds(&self, spatial: usize) -> Range<i64> {
        match self.extent {
            Extent::Tile(_) => 0..0,
            Extent::Im2col(Im2col { lower, upper, .. }) => {
                let size = self.sizes[self.row_dimensions().start + spatial] as i64;
                lower[spatial].into()..size + i64::from(upper[spatial])
            }
        }
    }

    /// Returns the number of bytes that a copy reports to its barrier. Elements outside the array count as well.
    pub fn copied_bytes(&self) -> u64 {
        self.rows() * self.row_bytes()
    }
}

/// A cursor over the bytes of a descriptor.
struct Fields<'a> {
    bytes: &'a mut [u8; TENSOR_MAP_BYTES],
    at: usize,
}

impl Fields<'_> {
    /// Writes the low `N` bytes of a number, or reads them into it.
    fn field<const N: usize>(&mut self, write: bool, value: &mut u64) {
        let bytes = &mut self.bytes[self.at..self.at + N];
        self.at += N;
        if write {
            bytes.copy_from_slice(&value.to_le_bytes()[..N]);
        } else {
            let mut read = [0; 8];
            read[..N].copy_from_slice(bytes);
            *value = u64::from_le_bytes(read);
        }
    }
}

/// The fields of a descriptor as numbers, in the order of its bytes.
#[derive(Default)]
struct Numbers {
    mark: u64,
    /// The element type, the rank, the interleave layout, the swizzle, the L2 promotion, the fill and the extent.
    small: [u64; 7],
    address: u64,
    /// Sizes minus 1.
    sizes: [u64; MAX_RANK],
    /// Strides in units of 16 bytes.
    strides: [u64; MAX_RANK - 1],
    steps: [u64; MAX_RANK],
    boxes: [u64; MAX_RANK],
    corners: [u64; 2 * MAX_SPATIAL],
    channels: u64,
    pixels: u64,
}

impl Numbers {
    fn transfer(&mut self, write: bool, bytes: &mut [u8; TENSOR_MAP_BYTES]) {
        let mut fields = Fields { bytes, at: 0 };
        fields.field::<4>(write, &mut self.mark);
        for value in &mut self.small {
            fields.field::<1>(write, value);
        }
        fields.field::<8>(write, &mut self.address);
        for value in &mut self.sizes {
            fields.field::<4>(write, value);
        }
        for value in &mut self.strides {
            fields.field::<5>(write, value);
        }
        for value in &mut self.steps {
            fields.field::<1>(write, value);
        }
        for value in &mut self.boxes {
            fields.field::<2>(write, value);
        }
        for value in &mut self.corners {
            fields.field::<2>(write, value);
        }
        fields.field::<2>(write, &mut self.channels);
        fields.field::<2>(write, &mut self.pixels);
    }
}

impl TensorMap {
    /// Returns the descriptor of the map, which must be valid.
    pub fn encode(&self) -> [u8; TENSOR_MAP_BYTES] {
        let mut numbers = Numbers {
            mark: MARK.into(),
            small: [
                self.element as u64,
                self.rank as u64,
                self.interleave as u64,
                self.swizzle as u64,
                self.promotion.into(),
                self.fills_nan.into(),
                matches!(self.extent, Extent::Im2col(_)).into(),
            ],
            address: self.address,
            sizes: self.sizes.map(|size| size.wrapping_sub(1)),
            strides: self.strides.map(|stride| stride / ALIGN),
            steps: self.steps.map(u64::from),
            ..Numbers::default()
        };
        match self.extent {
            Extent::Tile(size) => numbers.boxes = size.map(u64::from),
            Extent::Im2col(im2col) => {
                for dimension in 0..MAX_SPATIAL {
                    numbers.corners[dimension] = im2col.lower[dimension] as u64;
                    numbers.corners[MAX_SPATIAL + dimension] = im2col.upper[dimension] as u64;
                }
                (numbers.channels, numbers.pixels) = (im2col.channels.into(), im2col.pixels.into());
            }
        }
        let mut bytes = [0; TENSOR_MAP_BYTES];
        numbers.transfer(true, &mut bytes);
        bytes
    }

    /// Returns the map of a descriptor; `None` if the bytes are not a descriptor. Its fields may be invalid after
    /// `tensormap.replace`.
    pub fn decode(bytes: &[u8; TENSOR_MAP_BYTES]) -> Option<TensorMap> {
        let mut numbers = Numbers::default();
        numbers.transfer(false, &mut { *bytes });
        let [
            element,
            rank,
            interleave,
            swizzle,
            promotion,
            fill,
            is_im2col,
        ] = numbers.small.map(|value| value as u32);
        if numbers.mark != u64::from(MARK) {
            return None;
        }
        let rank = rank as usize;
        let corner = |index: usize| i32::from(numbers.corners[index] as i16);
        let extent = match is_im2col {
            0 => Extent::Tile(numbers.boxes.map(|size| size as u32)),
            _ => Extent::Im2col(Im2col {
                lower: std::array::from_fn(corner),
                upper: std::array::from_fn(|dimension| corner(MAX_SPATIAL + dimension)),
                channels: numbers.channels as u32,
                pixels: numbers.pixels as u32,
            }),
        };
        let mut sizes = numbers.sizes.map(|size| size + 1);
        for size in sizes.iter_mut().skip(rank) {
            *size = 0;
        }
        Some(TensorMap {
            element: ElementType::from_number(element)?,
            rank,
            interleave: Interleave::from_number(interleave)?,
            swizzle: Swizzle::from_number(swizzle)?,
            promotion: promotion as u8,
            fills_nan: fill != 0,
            address: numbers.address,
            sizes,
            strides: numbers.strides.map(|stride| stride * ALIGN),
            steps: numbers.steps.map(|step| step as u32),
            extent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            element: ElementType::F32,
            rank: 3,
            interleave: Interleave::None,
            swizzle: Swizzle::Span64,
            promotion: 2,
            fills_nan: true,
            address: 0x7_1234_5670,
            sizes: [64, 1 << 32, 1, 0, 0],
            strides: [256, (1 << 40) - 16, 0, 0],
            steps: [1, 8, 3, 0, 0],
            extent: Extent::Tile([16, 256, 1, 0, 0]),
        }
    }

    #[test]
    fn descriptors_hold_all_fields() {
        let tiled = map();
        let im2col = TensorMap {
            rank: 5,
            sizes: [64, 9, 8, 7, 6],
            extent: Extent::Im2col(Im2col {
                lower: [-1, 5, -16],
                upper: [0, -2, 3],
                channels: 16,
                pixels: 1024,
            }),
            steps: [1, 2, 3, 4, 5],
            ..tiled
        };
        for map in [tiled, im2col] {
            assert!(map.is_valid());
            assert_eq!(TensorMap::decode(&map.encode()), Some(map));
        }
        assert_eq!(TensorMap::decode(&[0; TENSOR_MAP_BYTES]), None);
    }

    #[test]
    fn strides_of_elements_divide_the_box() {
        let map = map();
        assert_eq!((map.count(1), map.count(2), map.rows()), (32, 1, 32));
        assert_eq!((map.row_bytes(), map.copied_bytes()), (64, 2048));
    }

    #[test]
    fn swizzles_permute_units_within_their_span() {
        for (swizzle, units) in [
            (Swizzle::None, 1),
            (Swizzle::Span32, 2),
            (Swizzle::Span64, 4),
            (Swizzle::Span128, 8),
        ] {
            for address in 0..4096 {
                let (line, unit) = (address / 128, address / 16 % 8);
                let expected = line * 128 + (unit ^ (line % units)) * 16 + address % 16;
                assert_eq!(swizzle.apply(address), expected, "{swizzle:?} {address}");
            }
        }
    }

    #[test]
    fn loads_round_to_tf32() {
        for (element, bits, expected) in [
            (ElementType::F32, 0x0000_0001, 0x0000_0001),
            (ElementType::F32Ftz, 0x8000_0001, 0x8000_0001),
            (ElementType::TF32, 0x3f80_1000, 0x3f80_0000),
            (ElementType::TF32, 0x3f80_1001, 0x3f80_2000),
            (ElementType::TF32, 0x3f80_3000, 0x3f80_4000),
            (ElementType::TF32, 0x7f7f_ffff, 0x7f80_0000),
            (ElementType::TF32Ftz, 0x007f_ffff, 0x0080_0000),
            (ElementType::TF32, 0xff80_0000, 0xff80_0000),
            (ElementType::TF32, 0x7f80_0001, 0x7fff_e000),
        ] {
            assert_eq!(element.convert(bits), expected, "{element:?} {bits:#x}");
        }
    }
}
