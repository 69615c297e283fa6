//! The coordinates that an instruction takes. Source: PTX ISA sections 9.7.10.3 (`tex`) and 9.7.11.1 (`suld`).

use crate::exec::image::Image;

/// The geometry for which an instruction accesses an image, packed into `arg0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Number of coordinates, without the layer.
    pub dimensions: u32,
    /// True if a layer is selected first: a slice in z, or six slices of a cube map.
    pub layered: bool,
    /// True if the coordinates are a direction from the centre of a cube.
    pub cube: bool,
}

/// Number of faces of a cube.
pub const FACES: i64 = 6;

impl Geometry {
    /// Returns the geometry with a PTX name such as `1d` or `acube`.
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

    /// Returns the number of operands of a position: the coordinates and the layer.
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

    /// Returns the first slice in z of a layer. Layers beyond the last select the last.
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
    fn geometries_round_trip_through_packing() {
        for name in ["1d", "2d", "3d", "a1d", "a2d", "cube", "acube"] {
            let geometry = Geometry::named(name).unwrap();
            assert_eq!(Geometry::of(geometry.packed()), geometry);
            assert!(geometry.packed() < 16);
        }
        assert_eq!(Geometry::named("4d"), None);
    }
}
