//! The scene: random spheres; the same seed gives the same spheres on every machine.

use cust::DeviceCopy;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::flags::Flags;

/// A sphere in the layout of the kernels: 28 bytes, with the colour in the book's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Sphere {
    /// Red, from 0 to 1.
    pub r: f32,
    /// Blue, from 0 to 1.
    pub b: f32,
    /// Green, from 0 to 1.
    pub g: f32,
    /// Radius in pixels.
    pub radius: f32,
    /// Centre, in pixels to the right of the picture's centre.
    pub x: f32,
    /// Centre, in pixels below the picture's centre.
    pub y: f32,
    /// Centre, in pixels towards the eye.
    pub z: f32,
}

/// A sphere aligned to 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C, align(32))]
pub struct AlignedSphere(pub Sphere);

/// The module's constant memory: 64 KB of spheres in either layout, as in the `.cu` file. Unused slots have
/// radius 0, so that no ray hits them, because `raytrace_unrolled` reads spheres in groups and beyond the
/// last one.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub union ConstantBank {
    packed: [Sphere; ConstantBank::PACKED],
    aligned: [AlignedSphere; ConstantBank::ALIGNED],
}

impl ConstantBank {
    /// Bytes of constant memory per module.
    const BYTES: usize = 64 * 1024;
    /// Number of 28-byte spheres that fit.
    pub const PACKED: usize = Self::BYTES / size_of::<Sphere>();
    /// Number of 32-byte aligned spheres that fit.
    pub const ALIGNED: usize = Self::BYTES / size_of::<AlignedSphere>();

    /// Stores the first [`Self::PACKED`] of `spheres` contiguously.
    pub fn packed(spheres: &[Sphere]) -> Self {
        let mut packed = [Sphere::default(); Self::PACKED];
        for (slot, sphere) in packed.iter_mut().zip(spheres) {
            *slot = *sphere;
        }
        ConstantBank { packed }
    }

    /// Stores the first [`Self::ALIGNED`] of `spheres`, each aligned to 32 bytes.
    pub fn aligned(spheres: &[Sphere]) -> Self {
        let mut aligned = [AlignedSphere::default(); Self::ALIGNED];
        for (slot, sphere) in aligned.iter_mut().zip(spheres) {
            *slot = AlignedSphere(*sphere);
        }
        ConstantBank { aligned }
    }
}

/// The data of a sphere that an intersection test reads, as the ladder's kernels define it: one vector of 16
/// bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C, align(16))]
pub struct Outline {
    x: f32,
    y: f32,
    radius2: f32,
    radius: f32,
}

/// The remaining data of a sphere, as the ladder's kernels define it.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C, align(16))]
pub struct Surface {
    z: f32,
    r: f32,
    g: f32,
    b: f32,
}

/// Number of spheres that the ladder's kernels test at a time, as in `kernels/raytrace-const-ladder/patch.h`.
pub const GROUP: usize = 20;

/// Converts `spheres` to the layout of the ladder's kernels and pads the last group with spheres of radius 0,
/// which no ray hits.
pub fn grouped(spheres: &[Sphere]) -> (Vec<Outline>, Vec<Surface>) {
    let slots = spheres.len().next_multiple_of(GROUP);
    let none = std::iter::repeat(Sphere::default());
    let spheres = spheres.iter().copied().chain(none).take(slots);
    spheres
        .map(|sphere| (sphere.outline(), sphere.surface()))
        .unzip()
}

impl Sphere {
    fn outline(self) -> Outline {
        Outline {
            x: self.x,
            y: self.y,
            radius2: self.radius * self.radius,
            radius: self.radius,
        }
    }

    fn surface(self) -> Surface {
        Surface {
            z: self.z,
            r: self.r,
            g: self.g,
            b: self.b,
        }
    }
}

/// The constant memory of the ladder's modules.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct ConstantScene {
    outlines: [Outline; ConstantScene::SPHERES],
    surfaces: [Surface; ConstantScene::SPHERES],
}

impl ConstantScene {
    /// Number of spheres that fit, in whole groups.
    pub const SPHERES: usize = ConstantBank::ALIGNED / GROUP * GROUP;

    /// Stores the first [`Self::SPHERES`] of the scene.
    pub fn new(outlines: &[Outline], surfaces: &[Surface]) -> Self {
        let mut scene = ConstantScene {
            outlines: [Outline::default(); Self::SPHERES],
            surfaces: [Surface::default(); Self::SPHERES],
        };
        for (slot, outline) in scene.outlines.iter_mut().zip(outlines) {
            *slot = *outline;
        }
        for (slot, surface) in scene.surfaces.iter_mut().zip(surfaces) {
            *slot = *surface;
        }
        scene
    }
}

/// Returns `--spheres` random spheres. The book's ranges, which are for a picture 1000 pixels wide, are
/// scaled to this picture: centres within ±500, radii from 20 to 120.
pub fn random(flags: &Flags) -> Vec<Sphere> {
    let mut generator = Pcg32::seed_from_u64(flags.seed);
    // From 0 to just below 1, in steps that a float represents exactly.
    let mut random = || (generator.next_u32() >> 8) as f32 / (1 << 24) as f32;
    let (width, height) = (flags.width as f32 / 1000.0, flags.height as f32 / 1000.0);
    let smaller = width.min(height);
    (0..flags.spheres)
        .map(|_| Sphere {
            r: random(),
            b: random(),
            g: random(),
            radius: (random() * 100.0 + 20.0) * smaller,
            x: (random() * 1000.0 - 500.0) * width,
            y: (random() * 1000.0 - 500.0) * height,
            z: (random() * 1000.0 - 500.0) * smaller,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn flags(arguments: &str) -> Flags {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["raytrace-const"].into_iter().chain(words)).unwrap()
    }

    #[test]
    fn layouts_are_those_of_the_kernels() {
        assert_eq!(size_of::<Sphere>(), 28);
        assert_eq!(size_of::<AlignedSphere>(), 32);
        assert_eq!(size_of::<ConstantBank>(), 64 * 1024);
        assert_eq!((ConstantBank::PACKED, ConstantBank::ALIGNED), (2340, 2048));
        assert_eq!((size_of::<Outline>(), size_of::<Surface>()), (16, 16));
        assert_eq!(ConstantScene::SPHERES, 2040);
    }

    #[test]
    fn a_seed_decides_the_scene() {
        let scene = random(&flags("--seed 1"));
        assert_eq!(scene, random(&flags("--seed 1")));
        assert_ne!(scene, random(&flags("--seed 2")));
        // A longer scene begins with the shorter one.
        assert_eq!(scene[..], random(&flags("--seed 1 --spheres 30"))[..20]);
    }

    #[test]
    fn a_scene_is_the_same_on_every_machine() {
        let sphere = random(&flags("--seed 1 --width 1000 --height 1000"))[0];
        assert_eq!(sphere.r, FIRST_RED);
    }

    /// Red of the first sphere of seed 1: another generator would change every picture.
    const FIRST_RED: f32 = 0.201_767_62;

    #[test]
    fn spheres_are_within_the_books_ranges() {
        for sphere in random(&flags("--width 2000 --height 1000 --spheres 2000")) {
            assert!((20.0..120.0).contains(&sphere.radius));
            assert!((-1000.0..1000.0).contains(&sphere.x));
            assert!((-500.0..500.0).contains(&sphere.y));
            assert!((-500.0..500.0).contains(&sphere.z));
            for colour in [sphere.r, sphere.g, sphere.b] {
                assert!((0.0..1.0).contains(&colour));
            }
        }
    }

    #[test]
    fn slots_beyond_the_scene_have_no_radius() {
        let spheres = random(&flags("--spheres 21"));
        // SAFETY: `aligned` has just initialized this layout of the union.
        let slots = unsafe { ConstantBank::aligned(&spheres).aligned };
        assert_eq!(slots[20].0, spheres[20]);
        assert_eq!(
            slots[21..].iter().map(|slot| slot.0.radius).sum::<f32>(),
            0.0
        );
        // SAFETY: `packed` has just initialized this layout of the union.
        let slots = unsafe { ConstantBank::packed(&spheres).packed };
        assert_eq!(slots[..21], spheres);
        assert_eq!(slots[21], Sphere::default());
    }

    #[test]
    fn groups_are_padded_with_invisible_spheres() {
        for (spheres, slots) in [(1, 20), (20, 20), (21, 40), (2041, 2060)] {
            let spheres = random(&flags(&format!("--spheres {spheres}")));
            let (outlines, surfaces) = grouped(&spheres);
            assert_eq!((outlines.len(), surfaces.len()), (slots, slots));
            for (sphere, outline) in spheres.iter().zip(&outlines) {
                assert_eq!(*outline, sphere.outline());
            }
            assert!(
                outlines[spheres.len()..]
                    .iter()
                    .all(|spare| spare.radius2 == 0.0)
            );

            let scene = ConstantScene::new(&outlines, &surfaces);
            let stored = slots.min(ConstantScene::SPHERES);
            assert_eq!(scene.outlines[..stored], outlines[..stored]);
            assert_eq!(scene.surfaces[..stored], surfaces[..stored]);
            assert_eq!(
                scene.outlines[stored..],
                vec![Outline::default(); 2040 - stored]
            );
        }
    }

    /// The ladder's kernels divide by the radius, the book's by the square root of its square.
    #[test]
    fn the_root_of_a_square_is_the_number_itself() {
        for spheres in [
            "--width 1 --height 1",
            "",
            "--width 1073741824 --height 1073741824",
        ] {
            for sphere in random(&flags(&format!("{spheres} --spheres 10000"))) {
                assert_eq!((sphere.radius * sphere.radius).sqrt(), sphere.radius);
            }
        }
    }
}
