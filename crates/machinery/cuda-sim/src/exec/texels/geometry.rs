//! Which coordinates an instruction gives. Source: PTX ISA sections 9.7.10.3 (`tex`) and 9.7.11.1 (`suld`).

use crate::exec::image::Image;

/// The shape that an instruction takes an image for, packed into its `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// How many coordinates there are, without the layer.
    pub dimensions: u32,
    /// A layer is chosen first: a slice in z, or six of them where it is a cube.
    pub layered: bool,
    /// The coordinates are a direction, seen from the middle of a cube.
    pub cube: bool,
}

/// The faces of a cube.
pub const FACES: i64 = 6;

impl Geometry {
    /// The one with a name, as `1d` or `acube`.
    pub fn named(name: &str) -> Option<Geometry> {
        let (dimensions, layered, cube) = match name {
            "1d" => (1, false, false),
            "2d" => (2, false, false),
            "3d" => (3, false, false),
            "a1d" => (1, true, false),
            "a2d" => (2, true, false),
            "cube" => (3, false, true),
            "acube" => (3, true, true),
            _ => return None,
        };
        Some(Geometry {
            dimensions,
            layered,
            cube,
        })
    }

    /// How many operands say a place: the coordinates, and the layer.
    pub fn operands(self) -> usize {
        self.dimensions as usize + usize::from(self.layered)
    }

    pub fn packed(self) -> u32 {
        self.dimensions | u32::from(self.layered) << 2 | u32::from(self.cube) << 3
    }

    pub fn of(packed: u32) -> Geometry {
        Geometry {
            dimensions: packed & 3,
            layered: packed >> 2 & 1 == 1,
            cube: packed >> 3 & 1 == 1,
        }
    }

    /// The slice in z where the layer with a number begins. There is none beyond the last: it is meant then.
    pub fn slice(self, image: &Image, layer: u32) -> i64 {
        let faces = if self.cube { FACES } else { 1 };
        let last = (image.extent(2) / faces - 1).max(0);
        i64::from(layer).min(last) * faces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometries_are_packed_and_unpacked() {
        for name in ["1d", "2d", "3d", "a1d", "a2d", "cube", "acube"] {
            let one = Geometry::named(name).unwrap();
            assert_eq!(Geometry::of(one.packed()), one);
            assert!(one.packed() < 16);
        }
        assert_eq!(Geometry::named("4d"), None);
    }
}
