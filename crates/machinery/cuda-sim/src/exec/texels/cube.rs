//! Cube maps: the face that a direction meets, and mixtures across edges. Source: CUDA C++ Programming Guide,
//! "Cubemap Textures".

use super::filter::{self, between, channel, mixed, weights};
use super::geometry::FACES;
use crate::exec::image::{AddressMode, Texture};

/// A face, and a place on it from 0 to 1 in both directions, cut off at the bits that are looked at. Of two faces
/// that are equally near, z counts before y, and y before x.
///
/// The direction is multiplied by the reciprocal of its largest part, as the machine code does it before it asks
/// the texture unit.
fn face(direction: [f32; 3]) -> (i64, [f32; 2]) {
    let [wide, high, deep] = direction.map(f32::abs);
    let reciprocal = 1.0 / wide.max(high).max(deep);
    let [x, y, z] = direction.map(|along| along * reciprocal);
    let (face, s, t) = if deep >= wide && deep >= high {
        match z < 0.0 {
            false => (4, x, -y),
            true => (5, -x, -y),
        }
    } else if high >= wide {
        match y < 0.0 {
            false => (2, x, z),
            true => (3, x, -z),
        }
    } else {
        match x < 0.0 {
            false => (0, -z, -y),
            true => (1, z, -y),
        }
    };
    let place = |along: f32| filter::cut((f64::from(along) + 1.0) / 2.0) as f32;
    (face, [s, t].map(place))
}

/// Where a texel of a face lies, beside which the faces are: a point on the surface of a cube that reaches from
/// `-size` to `size`. The texel may be one beyond an edge: it is folded over to the next face. None at a
/// corner, where no face is next.
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

/// The texel at a point that [`point`] gave: in x and y, and its face.
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

/// What a cube map has in a direction, whose faces begin at a slice in z.
///
/// # Safety
/// As for [`filter::at`].
pub unsafe fn at(
    texture: &Texture,
    memory: *const u8,
    direction: [f32; 3],
    first: i64,
) -> [u32; 4] {
    let (face, [s, t]) = face(direction);
    let last = texture.image.extent(2) - 1;
    let modes = texture.modes.map(|mode| match mode {
        _ if texture.seamless => AddressMode::Clamp,
        AddressMode::Border => mode,
        _ if texture.normalised => mode,
        _ => AddressMode::Clamp,
    });
    // Directions have no unit, so a place on a face is always from 0 to 1.
    let plain = Texture {
        normalised: true,
        modes,
        ..*texture
    };
    if texture.seamless && texture.linear_filter && first + FACES <= last + 1 {
        // SAFETY: the caller's promise; all faces are there.
        return unsafe { across(&plain, memory, [s, t], face, first) };
    }
    // SAFETY: the caller's promise; the slice is inside.
    unsafe { filter::at(&plain, memory, [s, t, 0.0], 2, (first + face).min(last)) }
}

/// The mixture of the four texels around a place on a face, of which some may be on the next face. At a corner,
/// where three faces meet, there are three.
///
/// # Safety
/// As for [`filter::at`], and all six faces are there.
unsafe fn across(
    texture: &Texture,
    memory: *const u8,
    place: [f32; 2],
    face: i64,
    first: i64,
) -> [u32; 4] {
    let image = &texture.image;
    let size = image.extent(0);
    let [(x, right), (y, below)] = [0, 1].map(|n: usize| between(texture, n, place[n]));
    let mut weights = weights([right, below, 0])[0];
    let texel = |dx: usize, dy: usize| {
        let point = point(face, size, [x + dx as i64, y + dy as i64])?;
        Some(texel(size, point))
    };
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        if texel(dx, dy).is_none() {
            share_out(&mut weights, dx, dy);
        }
    }
    let mut around = Vec::with_capacity(4);
    for (dy, row) in weights.iter().enumerate() {
        for (dx, &weight) in row.iter().enumerate() {
            let counts = texel(dx, dy).filter(|_| weight != 0);
            around.extend(counts.map(|texel| (weight, texel)));
        }
    }
    let mut found = [0; 4];
    for (number, found) in (0..image.channels).zip(&mut found) {
        let terms: Vec<_> = around
            .iter()
            .map(|&(weight, [x, y, face])| {
                // SAFETY: the texel is on a face, and the faces are there.
                let bits = unsafe { channel(image, memory, [x, y, first + face], number) };
                (weight, bits)
            })
            .collect();
        *found = mixed(texture, &terms);
    }
    found
}

/// Gives the weight of a texel that is not there to the other three: a third, rounded, to each beside it, and what
/// is left to the one across. Read off an NVIDIA H200 (`scripts/layers.cu`).
fn share_out(weights: &mut [[i64; 2]; 2], x: usize, y: usize) {
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
    fn directions_meet_the_face_that_the_guide_says() {
        for (direction, wanted) in [
            ([2.0, -0.5, 1.0], (0, [0.25, 0.625])),
            ([-2.0, -0.5, 1.0], (1, [0.75, 0.625])),
            ([0.5, 4.0, -2.0], (2, [0.5625, 0.25])),
            ([0.5, -4.0, -2.0], (3, [0.5625, 0.75])),
            ([1.0, 0.0, 2.0], (4, [0.75, 0.5])),
            ([1.0, 0.0, -2.0], (5, [0.25, 0.5])),
            // Two or three are equally near.
            ([1.0, 1.0, -1.0], (5, [0.0, 0.0])),
            ([-1.0, 1.0, 0.0], (2, [0.0, 0.5])),
        ] {
            assert_eq!(face(direction), wanted, "{direction:?}");
        }
    }

    #[test]
    fn texels_are_where_their_points_are() {
        const SIZE: i64 = 3;
        for face in 0..FACES {
            for y in 0..SIZE {
                for x in 0..SIZE {
                    let at = point(face, SIZE, [x, y]).unwrap();
                    assert_eq!(texel(SIZE, at), [x, y, face]);
                    // The direction to it meets its middle.
                    let (met, place) = super::face(at.map(|along| along as f32));
                    let middle = [x, y].map(|n| (2 * n + 1) as f32 / (2 * SIZE) as f32);
                    let off = (0..2).map(|n| (place[n] - middle[n]).abs());
                    assert_eq!(met, face);
                    assert!(off.fold(0.0, f32::max) < 1e-6);
                }
            }
        }
    }

    #[test]
    fn a_texel_beyond_an_edge_is_beside_it_on_the_next_face() {
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
                    // Over the edge: one step in each of two directions.
                    let steps: Vec<i64> = (0..3).map(|n| (from[n] - to[n]).abs()).collect();
                    assert_eq!(steps.iter().sum::<i64>(), 2, "{face} {beyond:?}");
                    assert_eq!(steps.iter().max(), Some(&1));
                }
            }
        }
        assert_eq!(point(0, SIZE, [-1, SIZE]), None);
    }

    #[test]
    fn a_corner_is_shared_out() {
        let shared = |corner| {
            let mut weights = [[100, corner], [70, 22]];
            share_out(&mut weights, 1, 0);
            weights
        };
        assert_eq!(shared(63), [[121, 0], [91, 43]]);
        assert_eq!(shared(64), [[121, 0], [92, 43]]);
        assert_eq!(shared(65), [[122, 0], [91, 44]]);
        assert_eq!(shared(1), [[100, 0], [71, 22]]);
    }
}
