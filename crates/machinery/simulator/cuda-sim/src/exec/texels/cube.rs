//! Cube maps: the face that a direction hits, and filtering across edges. Source: CUDA C++ Programming Guide,
//! "Cubemap Textures".

use super::FACES;
use super::filter::{self, Channels, Terms, WHOLE, channel, position, weights};
use crate::exec::image::{AddressMode, Texture};

/// Returns the face that a direction hits, and the position on it from 0 to 1 in both dimensions, truncated
/// to the bits that are used. If several components are equally large, z takes precedence over y, and y over
/// x.
///
/// The direction is multiplied by the reciprocal of its largest component, as the machine code does before it
/// accesses the texture unit.
fn face(direction: [f32; 3]) -> (i64, [f32; 2]) {
    let [wide, high, deep] = direction.map(f32::abs);
    let reciprocal = 1.0 / wide.max(high).max(deep);
    let [x, y, z] = direction.map(|along| along * reciprocal);
    let (face, s, t) = if deep >= wide && deep >= high {
        if z < 0.0 { (5, -x, -y) } else { (4, x, -y) }
    } else if high >= wide {
        if y < 0.0 { (3, x, -z) } else { (2, x, z) }
    } else {
        if x < 0.0 { (1, z, -y) } else { (0, -z, -y) }
    };
    let position = |along: f32| filter::truncate((f64::from(along) + 1.0) / 2.0) as f32;
    (face, [s, t].map(position))
}

/// Returns the change of the position on the face that a direction hits, from 0 to 1 in both dimensions, if the
/// direction changes by `gradient`.
pub fn face_gradient(direction: [f32; 3], gradient: [f32; 3]) -> [f32; 2] {
    let lengths = direction.map(f32::abs);
    let axis = (0..3).rev().fold(2, |longest, axis| {
        if lengths[axis] > lengths[longest] {
            axis
        } else {
            longest
        }
    });
    let (length, growth) = (lengths[axis], gradient[axis] * direction[axis].signum());
    let others = [[1, 2], [0, 2], [0, 1]][axis];
    // The position is half of the quotient of a component and the longest one, plus a constant.
    others.map(|other| {
        (gradient[other] * length - direction[other] * growth) / (2.0 * length * length)
    })
}

/// Returns the position of a texel as a point on the surface of a cube from `-size` to `size`, in doubled
/// coordinates. A texel one step beyond an edge is folded over to the next face. Returns `None` beyond a
/// corner, where no face follows.
fn point(face: i64, size: i64, at: [i64; 2]) -> Option<[i64; 3]> {
    let [mut s, mut t] = at.map(|along| 2 * along + 1 - size);
    let mut depth = size;
    match (s.abs() > size, t.abs() > size) {
        (false, false) => {}
        (true, false) => (s, depth) = (s.signum() * size, size - 1),
        (false, true) => (t, depth) = (t.signum() * size, size - 1),
        (true, true) => return None,
    }
    Some(match face {
        0 => [depth, -t, -s],
        1 => [-depth, -t, s],
        2 => [s, depth, t],
        3 => [s, -depth, -t],
        4 => [s, -t, depth],
        _ => [-s, -t, -depth],
    })
}

/// Returns the texel at a point computed by [`point`]: x, y and face.
fn texel(size: i64, [x, y, z]: [i64; 3]) -> [i64; 3] {
    let (face, s, t) = match [x.abs(), y.abs()].map(|along| along == size) {
        [true, _] if x > 0 => (0, -z, -y),
        [true, _] => (1, z, -y),
        [_, true] if y > 0 => (2, x, z),
        [_, true] => (3, x, -z),
        _ if z > 0 => (4, x, -y),
        _ => (5, -x, -y),
    };
    [(s + size - 1) / 2, (t + size - 1) / 2, face]
}

/// Returns the texel around which a cube map is sampled; `None` on the border.
pub fn nearest(texture: &Texture, direction: [f32; 3], first: i64) -> Option<[i64; 3]> {
    let (face, [s, t]) = face(direction);
    let slice = (first + face).min(texture.image.extent(2) - 1);
    filter::nearest(&plain(texture), [s, t, 0.0], 2, slice).0
}

/// Returns the texture as which a face of a cube map is sampled.
fn plain(texture: &Texture) -> Texture {
    let modes = texture.modes.map(|mode| match mode {
        _ if texture.seamless => AddressMode::Clamp,
        AddressMode::Border => mode,
        _ if texture.normalised => mode,
        _ => AddressMode::Clamp,
    });
    // The components of a direction are normalized, so a position on a face is always from 0 to 1.
    Texture {
        normalised: true,
        modes,
        ..*texture
    }
}

/// Samples a cube map, whose faces start at slice `first` in z, in a direction, as [`filter::at`] does.
///
/// # Safety
/// The requirements of [`filter::at`].
pub unsafe fn at(
    texture: &Texture,
    memory: *const u8,
    direction: [f32; 3],
    first: i64,
    values: &mut Channels,
) {
    let (face, [s, t]) = face(direction);
    let plain = plain(texture);
    if crosses_edges(texture, first) {
        let mut terms = Terms::new();
        // SAFETY: the caller guarantees the image's memory, and all six faces exist.
        unsafe { add_across(&plain, memory, [s, t], face, first, WHOLE, &mut terms) };
        *values = terms.sums(texture);
        return;
    }
    let slice = (first + face).min(texture.image.extent(2) - 1);
    // SAFETY: the caller guarantees the image's memory, and the slice is inside.
    unsafe { filter::at(&plain, memory, [s, t, 0.0], 2, slice, values) }
}

/// Returns true if the filter of a cube map whose faces start at slice `first` continues on the next face.
fn crosses_edges(texture: &Texture, first: i64) -> bool {
    texture.seamless && texture.linear_filter && first + FACES <= texture.image.extent(2)
}

/// Adds the texels of a fetch from one level to the sum over levels, as [`filter::add_level`] does.
///
/// # Safety
/// The requirements of [`filter::at`].
pub unsafe fn add_level(
    texture: &Texture,
    memory: *const u8,
    direction: [f32; 3],
    first: i64,
    share: i64,
    terms: &mut Terms,
) {
    let (face, [s, t]) = face(direction);
    let plain = plain(texture);
    if crosses_edges(texture, first) {
        // SAFETY: the caller guarantees the image's memory, and all six faces exist.
        return unsafe { add_across(&plain, memory, [s, t], face, first, share, terms) };
    }
    let slice = (first + face).min(texture.image.extent(2) - 1);
    // SAFETY: the caller guarantees the image's memory, and the slice is inside.
    unsafe { filter::add_level(&plain, memory, [s, t, 0.0], 2, slice, share, terms) }
}

/// Adds the four texels around a position on a face, some of which may be on the next face. At a corner, where three
/// faces meet, there are three.
///
/// # Safety
/// The requirements of [`filter::at`], and all six faces must exist.
unsafe fn add_across(
    texture: &Texture,
    memory: *const u8,
    at: [f32; 2],
    face: i64,
    first: i64,
    share: i64,
    terms: &mut Terms,
) {
    let image = &texture.image;
    let size = image.extent(0);
    let [(x, right), (y, below)] = [0, 1].map(|n: usize| position(texture, n, at[n]));
    let mut weights = weights([right, below, 0], share)[0];
    let texel = |dx: usize, dy: usize| {
        let point = point(face, size, [x + dx as i64, y + dy as i64])?;
        Some(texel(size, point))
    };
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        if texel(dx, dy).is_none() {
            distribute_weight(&mut weights, dx, dy);
        }
    }
    for (dy, row) in weights.iter().enumerate() {
        for (dx, &weight) in row.iter().enumerate() {
            if let Some([x, y, face]) = texel(dx, dy).filter(|_| weight != 0) {
                terms.add(texture, weight, |number| {
                    // SAFETY: the texel is on a face, and all faces exist.
                    unsafe { channel(image, memory, [x, y, first + face], number) }
                });
            }
        }
    }
}

/// Distributes the weight of a texel that does not exist: a third, rounded, to each neighbour, and the
/// remainder to the texel across. Measured on an NVIDIA H200 (`scripts/layers.cu`).
fn distribute_weight(weights: &mut [[i64; 2]; 2], x: usize, y: usize) {
    let weight = std::mem::take(&mut weights[y][x]);
    let third = (weight + 1) / 3;
    weights[y][1 - x] += third;
    weights[1 - y][x] += third;
    weights[1 - y][1 - x] += weight - 2 * third;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_hit_the_face_that_the_guide_gives() {
        for (direction, expected) in [
            ([2.0, -0.5, 1.0], (0, [0.25, 0.625])),
            ([-2.0, -0.5, 1.0], (1, [0.75, 0.625])),
            ([0.5, 4.0, -2.0], (2, [0.5625, 0.25])),
            ([0.5, -4.0, -2.0], (3, [0.5625, 0.75])),
            ([1.0, 0.0, 2.0], (4, [0.75, 0.5])),
            ([1.0, 0.0, -2.0], (5, [0.25, 0.5])),
            // Two or three components are equally large.
            ([1.0, 1.0, -1.0], (5, [0.0, 0.0])),
            ([-1.0, 1.0, 0.0], (2, [0.0, 0.5])),
        ] {
            assert_eq!(face(direction), expected, "{direction:?}");
        }
    }

    #[test]
    fn texels_and_points_round_trip() {
        const SIZE: i64 = 3;
        for face in 0..FACES {
            for y in 0..SIZE {
                for x in 0..SIZE {
                    let at = point(face, SIZE, [x, y]).unwrap();
                    assert_eq!(texel(SIZE, at), [x, y, face]);
                    // The direction to the texel hits its centre.
                    let (hit, position) = super::face(at.map(|along| along as f32));
                    let middle = [x, y].map(|n| (2 * n + 1) as f32 / (2 * SIZE) as f32);
                    let off = (0..2).map(|n| (position[n] - middle[n]).abs());
                    assert_eq!(hit, face);
                    assert!(off.fold(0.0, f32::max) < 1e-6);
                }
            }
        }
    }

    #[test]
    fn a_texel_beyond_an_edge_is_adjacent_on_the_next_face() {
        const SIZE: i64 = 4;
        for face in 0..FACES {
            for along in 0..SIZE {
                for (inside, beyond) in [
                    ([0, along], [-1, along]),
                    ([SIZE - 1, along], [SIZE, along]),
                    ([along, 0], [along, -1]),
                    ([along, SIZE - 1], [along, SIZE]),
                ] {
                    let next = texel(SIZE, point(face, SIZE, beyond).unwrap());
                    assert_ne!(next[2], face);
                    let [from, to] = [
                        point(face, SIZE, inside).unwrap(),
                        point(next[2], SIZE, [next[0], next[1]]).unwrap(),
                    ];
                    // Over the edge: one step in each of two dimensions.
                    let steps: Vec<i64> = (0..3).map(|n| (from[n] - to[n]).abs()).collect();
                    assert_eq!(steps.iter().sum::<i64>(), 2, "{face} {beyond:?}");
                    assert_eq!(steps.iter().max(), Some(&1));
                }
            }
        }
        assert_eq!(point(0, SIZE, [-1, SIZE]), None);
    }

    #[test]
    fn a_corner_weight_is_distributed() {
        let distributed = |corner| {
            let mut weights = [[100, corner], [70, 22]];
            distribute_weight(&mut weights, 1, 0);
            weights
        };
        assert_eq!(distributed(63), [[121, 0], [91, 43]]);
        assert_eq!(distributed(64), [[121, 0], [92, 43]]);
        assert_eq!(distributed(65), [[122, 0], [91, 44]]);
        assert_eq!(distributed(1), [[100, 0], [71, 22]]);
    }
}
