//! The CPU reference of the picture: a plain loop on one thread.
//!
//! Every operation rounds like the kernel's: `mul_add` corresponds to `fmaf` in `kernels/raytrace-const.cu`,
//! so that the pictures are equal bit by bit.

use multiversion::multiversion;

use crate::picture::{Picture, Pixel};
use crate::scene::Sphere;

/// A distance beyond all spheres, as in the kernels.
const INF: f32 = 2e10;

/// Draws `spheres` like the kernels.
#[multiversion(targets("x86_64+fma"))]
pub fn render(spheres: &[Sphere], width: u32, height: u32) -> Picture {
    let mut picture = Picture::black(width, height);
    let rows = picture.pixels.chunks_exact_mut(width as usize);
    for (row, y) in rows.zip(0_i32..) {
        for (pixel, x) in row.iter_mut().zip(0_i32..) {
            let ox = (x - width as i32 / 2) as f32;
            let oy = (y - height as i32 / 2) as f32;
            *pixel = colour(spheres, ox, oy);
        }
    }
    picture
}

/// Returns the colour of the nearest sphere on the ray through (`ox`, `oy`), or black if there is none.
#[inline(always)]
fn colour(spheres: &[Sphere], ox: f32, oy: f32) -> Pixel {
    let mut nearest = -INF;
    let mut rgb = [0.0; 3];
    for sphere in spheres {
        if let Some((z, shade)) = hit(sphere, ox, oy)
            && z > nearest
        {
            nearest = z;
            rgb = [sphere.r * shade, sphere.g * shade, sphere.b * shade];
        }
    }
    let [r, g, b] = rgb.map(|channel| (channel * 255.0) as i32 as u8);
    [r, g, b, 255]
}

/// Returns the intersection of the ray with the sphere: its z, and the z component of the unit normal there.
#[inline(always)]
fn hit(sphere: &Sphere, ox: f32, oy: f32) -> Option<(f32, f32)> {
    let dx = ox - sphere.x;
    let dy = oy - sphere.y;
    let radius = sphere.radius;
    let distance_squared = dx.mul_add(dx, dy * dy);
    if distance_squared < radius * radius {
        let dz = radius.mul_add(radius, -distance_squared).sqrt();
        Some((dz + sphere.z, dz / (radius * radius).sqrt()))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Sphere = Sphere {
        r: 1.0,
        b: 1.0,
        g: 1.0,
        radius: 3.0,
        x: 0.0,
        y: 0.0,
        z: 0.0,
    };
    const BLACK: Pixel = [0, 0, 0, 255];

    #[test]
    fn a_sphere_is_brightest_in_its_middle_and_black_around() {
        let picture = render(&[WHITE], 11, 9);
        let at = |x: usize, y: usize| picture.pixels[y * 11 + x];
        assert_eq!(at(5, 4), [255, 255, 255, 255]);
        // One pixel aside, the normal's z component is sqrt(9 - 1) / 3.
        assert_eq!(at(6, 4), [240, 240, 240, 255]);
        assert_eq!(at(8, 4), BLACK);
        assert_eq!(at(0, 0), BLACK);
    }

    #[test]
    fn the_nearest_sphere_is_visible_in_any_order() {
        let near = Sphere {
            r: 0.0,
            z: 10.0,
            ..WHITE
        };
        for spheres in [[WHITE, near], [near, WHITE]] {
            assert_eq!(render(&spheres, 1, 1).pixels, [[0, 255, 255, 255]]);
        }
    }

    #[test]
    fn a_sphere_without_radius_is_not_seen() {
        assert_eq!(render(&[Sphere::default()], 1, 1).pixels, [BLACK]);
        assert_eq!(render(&[], 3, 1).pixels, [BLACK; 3]);
    }
}
