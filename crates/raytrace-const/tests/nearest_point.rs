//! Correctness of the rung `nearest point`, which has one test for sixteen rays. That it misses no sphere
//! depends on rounding, so it is tested with random numbers, and the kernel with spheres whose rim a ray just
//! hits.

use clap::Parser;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use raytrace_const::scene::{self, Sphere};
use raytrace_const::{Flags, Picture, ladder, reference};

/// Returns the square of a distance, rounded like in the kernels.
fn squared(dx: f32, dy: f32) -> f32 {
    dx.mul_add(dx, dy * dy)
}

/// Returns the squared distances from the centre (x, y) to the closest ray of the patch at (`left`, `top`),
/// and to the closest point of the rectangle that its rays span.
fn of_rays_and_of_point([left, top]: [i32; 2], [x, y]: [f32; 2]) -> (f32, f32) {
    let [across, down] = [left, top].map(|first| [0, 1, 2, 3].map(|i| (first + i) as f32));
    let rays = across
        .iter()
        .flat_map(|ox| down.iter().map(move |oy| squared(ox - x, oy - y)));
    let within = |centre: f32, ends: [f32; 4]| centre.max(ends[0]).min(ends[3]) - centre;
    let point = squared(within(x, across), within(y, down));
    (rays.fold(f32::INFINITY, f32::min), point)
}

#[test]
fn no_ray_is_closer_than_the_nearest_point() {
    let mut random = Pcg32::seed_from_u64(1);
    let (mut equal, mut closer) = (0, 0);
    // From pictures of a few pixels to pictures whose columns a float cannot distinguish.
    for bits in (3..30).cycle().take(1_000_000) {
        let mut coordinate = || (random.next_u32() >> (32 - bits)) as i32 - (1 << (bits - 1));
        let corner = [coordinate(), coordinate()];
        // Half of the centres are about as far away as the patch is large.
        let near = [corner[0] + coordinate() % 8, corner[1] + coordinate() % 8];
        let far = [coordinate(), coordinate()];
        let mut fraction = || random.next_u32() as f32 / u32::MAX as f32;
        let centre = if fraction() < 0.5 { near } else { far };
        let centre = centre.map(|whole| whole as f32 + fraction());

        let (rays, point) = of_rays_and_of_point(corner, centre);
        assert!(point <= rays, "{corner:?} {centre:?}: {point} {rays}");
        *if point == rays {
            &mut equal
        } else {
            &mut closer
        } += 1;
    }
    // If the centre is outside in both dimensions, the closest point is on a ray.
    assert!(equal > 100_000 && closer > 100_000, "{equal} {closer}");
}

/// Draws a white sphere in the back, and in front of it spheres that the ray through a pixel barely hits or
/// misses: the square of the radius is slightly larger or smaller than the squared distance of the ray. A
/// pixel that hits one is black, as a sphere is at its rim. Each pixel is the corner of a patch, and the
/// centre is outside the patch in both dimensions, so the outcome depends on rounding.
#[test]
fn the_kernel_finds_barely_hit_spheres() {
    let arguments =
        "raytrace-const --variant nearest-point --width 128 --height 128 --spheres 2040";
    let flags = Flags::parse_from(arguments.split(' '));
    let mut spheres = scene::random(&flags);
    let mut random = Pcg32::seed_from_u64(2);
    spheres[0] = Sphere {
        r: 1.0,
        b: 1.0,
        g: 1.0,
        radius: 1000.0,
        x: 0.0,
        y: 0.0,
        z: -2000.0,
    };
    for sphere in &mut spheres[1..] {
        let mut coordinate = || {
            let first = (random.next_u32() % 32) as f32 * 4.0 - 64.0;
            let aside = random.next_u32() as f32 / u32::MAX as f32 / 2.0;
            match random.next_u32() % 2 {
                0 => (first, first - aside),
                _ => (first + 3.0, first + 3.0 + aside),
            }
        };
        let ((ox, x), (oy, y)) = (coordinate(), coordinate());
        let distance2 = squared(ox - x, oy - y);
        let mut radius = distance2.sqrt().next_down();
        while radius * radius <= distance2 {
            radius = radius.next_up();
        }
        if random.next_u32() % 2 == 0 {
            radius = radius.next_down();
        }
        *sphere = Sphere {
            radius,
            x,
            y,
            z: 0.0,
            ..*sphere
        };
    }
    let expected = reference::render(&spheres, flags.width, flags.height);
    let dots = expected.pixels.iter().filter(|pixel| pixel[0] == 0).count();
    assert!((500..1000).contains(&dots), "{dots}");

    let chapter = flags.open().unwrap();
    let mut picture = Picture::black(flags.width, flags.height);
    ladder::run(&flags, &chapter, &spheres, &expected, &mut picture).unwrap();
    assert!(!chapter.is_wrong());
    assert!(picture.pixels == expected.pixels);
}
