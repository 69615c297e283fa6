//! Layered arrays and cube maps: valid shapes, reads and writes.

use super::objects::describe;
use super::*;

/// `CUDA_ARRAY3D_LAYERED`, `CUDA_ARRAY3D_SURFACE_LDST`, `CUDA_ARRAY3D_CUBEMAP`,
/// `CUDA_ARRAY3D_TEXTURE_GATHER`.
const LAYERED: u32 = 1;
const WRITABLE: u32 = 2;
const CUBE: u32 = 4;
const GATHERED: u32 = 8;

/// `CU_TR_ADDRESS_MODE_WRAP`, `CU_TR_ADDRESS_MODE_CLAMP`; `CU_TRSF_NORMALIZED_COORDINATES`,
/// `CU_TRSF_SEAMLESS_CUBEMAP`.
const WRAP: i32 = 0;
const CLAMP: i32 = 1;
const NORMALIZED: u32 = 2;
const SEAMLESS: u32 = 0x40;

/// Creates an array of floats. Returns its reported size and flags, or an error code.
fn create_floats(size: [usize; 3], flags: u32) -> Result<([usize; 3], u32), i32> {
    let array = create_array(size, 32, 1, flags)?;
    let actual = describe(array);
    calls! { cuArrayDestroy(array); }
    Ok(([actual.Width, actual.Height, actual.Depth], actual.Flags))
}

#[test]
fn layered_arrays_and_cube_maps_are_validated_like_the_driver() {
    let _context = primary_context();
    for (size, flags) in [
        ([5, 0, 10], LAYERED),
        ([7, 8, 10], LAYERED | WRITABLE),
        ([32768, 0, 2048], LAYERED),
        ([8, 8, 6], CUBE),
        ([8, 8, 30], CUBE | LAYERED),
        ([1, 1, 2046], CUBE | LAYERED),
    ] {
        assert_eq!(create_floats(size, flags), Ok((size, flags)));
    }
    for (size, flags) in [
        // Layers without a layer count, and more layers than allowed.
        ([5, 0, 0], LAYERED),
        ([5, 5, 0], LAYERED),
        ([5, 0, 2049], LAYERED),
        ([32769, 0, 2], LAYERED),
        // Without the flag, a one-dimensional array has no depth.
        ([5, 0, 10], 0),
        // A cube has equal width and height, and six faces.
        ([8, 7, 6], CUBE),
        ([8, 8, 0], CUBE),
        ([8, 8, 5], CUBE),
        ([8, 8, 12], CUBE),
        ([8, 0, 6], CUBE),
        // Each cube of an array must be square too.
        ([8, 8, 7], CUBE | LAYERED),
        ([8, 8, 2052], CUBE | LAYERED),
        // Gathers need two dimensions.
        ([8, 8, 6], LAYERED | GATHERED),
    ] {
        assert_eq!(create_floats(size, flags), Err(1), "{size:?} {flags}");
    }
}

/// Returns the bytes of floats.
fn floats(values: impl Iterator<Item = usize>) -> Vec<u8> {
    values.flat_map(|n| (n as f32).to_ne_bytes()).collect()
}

/// Fetches a texel and returns its first channel; `coordinates` contains the coordinates and the rest of the
/// instruction.
fn first_channel(geometry: &str, coordinates: &str, object: u64, layer: u32, at: [f32; 3]) -> f32 {
    let body = format!(
        "mov.u32 %r4, {layer};
        cvt.rzi.s32.f32 %r5, %f0; cvt.rzi.s32.f32 %r6, %f1;
        tex.{geometry} {{%f4, %f5, %f6, %f7}}, [%d1, {coordinates};
        mov.b32 %r0, %f4;"
    );
    f32::from_bits(fetch(&body, object, &at)[0])
}

#[test]
fn layers_are_selected_without_interpolation() {
    let _context = primary_context();
    // The value encodes the texel: 100 per layer, 10 per row, 1 per texel.
    let rows = array([4, 0, 3], "f32", 1, LAYERED, &{
        floats((0..12).map(|n| n / 4 * 100 + n % 4))
    });
    let planes = array([4, 3, 5], "f32", 1, LAYERED, &{
        floats((0..60).map(|n| n / 12 * 100 + n / 4 % 3 * 10 + n % 4))
    });
    for linear in [false, true] {
        let [rows, planes] = [rows, planes].map(|array| texture(array, CLAMP, linear, 0));
        // Layer numbers are clamped to the last layer.
        for (layer, expected) in [(0, 0.0), (1, 100.0), (2, 200.0), (3, 200.0), (!0, 200.0)] {
            let a1d =
                |at| first_channel("a1d.v4.f32.f32", "{%r4, %f0}]", rows, layer, [at, 0.0, 0.0]);
            let between = if linear { 1.5 } else { 2.0 };
            assert_eq!([a1d(1.5), a1d(2.0)], [expected + 1.0, expected + between]);
            assert_eq!([a1d(-9.0), a1d(9.0)], [expected, expected + 3.0]);
            let fetch_1d =
                |at| first_channel("a1d.v4.f32.s32", "{%r4, %r5}]", rows, layer, [at, 0.0, 0.0]);
            assert_eq!([fetch_1d(3.0), fetch_1d(4.0)], [expected + 3.0, 0.0]);
        }
        for (layer, expected) in [(0, 0.0), (3, 300.0), (4, 400.0), (77, 400.0)] {
            let a2d = |x, y| {
                let coordinates = "{%r4, %f0, %f1, %f1}]";
                first_channel("a2d.v4.f32.f32", coordinates, planes, layer, [x, y, 0.0])
            };
            let between = if linear { 15.0 } else { 20.0 };
            assert_eq!(a2d(2.5, 1.5), expected + 12.0);
            assert_eq!(a2d(0.5, 2.0), expected + between);
            let coordinates = "{%r4, %r5, %r6, %r6}]";
            let at = [3.0, 2.0, 0.0];
            assert_eq!(
                first_channel("a2d.v4.f32.s32", coordinates, planes, layer, at),
                expected + 23.0
            );
            // There is one level of detail.
            let coordinates = "{%r4, %f0, %f1, %f1}], %f1";
            let at = [2.5, 1.5, 0.0];
            assert_eq!(
                first_channel("level.a2d.v4.f32.f32", coordinates, planes, layer, at),
                expected + 12.0
            );
        }
    }
}

/// Returns the direction to a point on each face, with coordinates from 0 to 1.
fn directions(s: f32, t: f32) -> [[f32; 3]; 6] {
    let (s, t) = (2.0 * s - 1.0, 2.0 * t - 1.0);
    [
        [1.0, -t, -s],
        [-1.0, -t, s],
        [s, 1.0, t],
        [s, -1.0, -t],
        [s, -t, 1.0],
        [-s, -t, -1.0],
    ]
    // The length of a direction does not matter.
    .map(|direction| direction.map(|along| along * 3.0))
}

#[test]
fn directions_select_cube_faces() {
    let _context = primary_context();
    // 10 per face, 1 per texel of two by two; 100 per cube.
    let bytes = floats((0..72).map(|n| n / 24 * 100 + n / 4 % 6 * 10 + n % 4));
    let cube_array = array([2, 2, 6], "f32", 1, CUBE, &bytes[..96]);
    let cubes_array = array([2, 2, 18], "f32", 1, CUBE | LAYERED, &bytes);
    for (linear, flags) in [(false, NORMALIZED), (true, NORMALIZED), (false, SEAMLESS)] {
        let [one_cube, many_cubes] =
            [cube_array, cubes_array].map(|array| texture(array, CLAMP, linear, flags));
        for (texel, (s, t)) in [(0, (0.25, 0.25)), (1, (0.75, 0.25)), (2, (0.25, 0.75))] {
            for (face, at) in directions(s, t).into_iter().enumerate() {
                let expected = (10 * face + texel) as f32;
                let coordinates = "{%f0, %f1, %f2, %f2}]";
                assert_eq!(
                    first_channel("cube.v4.f32.f32", coordinates, one_cube, 0, at),
                    expected
                );
                for (layer, base) in [(0, 0.0), (2, 200.0), (3, 200.0), (!0, 200.0)] {
                    let actual = first_channel(
                        "acube.v4.f32.f32",
                        "{%r4, %f0, %f1, %f2}]",
                        many_cubes,
                        layer,
                        at,
                    );
                    assert_eq!(actual, base + expected);
                }
            }
        }
    }
}

#[test]
fn seamless_cube_maps_filter_across_edges() {
    let _context = primary_context();
    // Each face has one value.
    let numbers = [1, 2, 4, 8, 16, 32];
    let bytes = floats((0..24).map(|n| numbers[n / 4]));
    let cube = array([2, 2, 6], "f32", 1, CUBE, &bytes);
    let [seamless, single] = [SEAMLESS | NORMALIZED, NORMALIZED].map(|flags| {
        // With seamless filtering the address mode has no effect; without it, it wraps around one face.
        texture(cube, WRAP, true, flags)
    });
    let at = |object, at| first_channel("cube.v4.f32.f32", "{%f0, %f1, %f2, %f2}]", object, 0, at);
    for (direction, mixed, alone) in [
        // The centre of a face, an edge between two faces, and a quarter of a texel from it.
        ([0.0, 0.0, 5.0], 16.0, 16.0),
        ([0.0, 5.0, 5.0], 10.0, 16.0),
        ([5.0, 0.0, -5.0], 16.5, 32.0),
        ([4.0, 0.0, 3.0], 0.75 * 1.0 + 0.25 * 16.0, 1.0),
    ] {
        assert_eq!(at(seamless, direction), mixed, "{direction:?}");
        assert_eq!(at(single, direction), alone, "{direction:?}");
    }
    // A corner has a third of each of its faces, within 1/256.
    let corner = at(seamless, [1.0, 1.0, 1.0]);
    assert!((corner - 7.0).abs() < 0.1, "{corner}");
    // An array that is not a cube has no edges to filter across.
    let plain = array([2, 2, 6], "f32", 1, LAYERED, &bytes);
    let mut params: CUDA_TEXTURE_DESC = zeroed();
    params.flags = SEAMLESS;
    assert_eq!(create_texture(&resource(plain), &params), Err(1));
}

#[test]
fn layered_surfaces_can_be_written_and_read() {
    let _context = primary_context();
    for (size, geometry, coordinates) in [
        ([4, 0, 3], "a1d", "{%r5, %r4}"),
        ([4, 2, 3], "a2d", "{%r5, %r4, %r6, %r6}"),
    ] {
        let height = size[1].max(1);
        let layer = 4 * height as u32;
        let bytes: Vec<u8> = (0..3 * layer).flat_map(u32::to_ne_bytes).collect();
        let array = array(size, "u32", 1, LAYERED | WRITABLE, &bytes);
        let object = super::objects::surface(array);
        let at = |layer: i32| {
            let y = height - 1;
            format!("mov.u32 %r4, 8; mov.s32 %r5, {layer}; mov.u32 %r6, {y}; mov.u32 %r7, 1000;")
        };
        let read = |beyond: &str, layer: i32| {
            let set = at(layer);
            let body = format!("{set} suld.b.{geometry}.b32.{beyond} %r0, [%d1, {coordinates}];");
            fetch(&body, object, &[0.0; 3])[0]
        };
        let inside = layer - 2;
        assert_eq!(read("trap", 0), inside);
        assert_eq!(read("trap", 2), 2 * layer + inside);
        // Layer numbers are clamped as unsigned numbers: -1 selects the last layer.
        assert_eq!(read("clamp", 3), 2 * layer + inside);
        assert_eq!(read("clamp", -1), 2 * layer + inside);
        assert_eq!([read("zero", 3), read("zero", -1)], [0, 0]);
        for (beyond, which) in [("trap", 1), ("zero", 3)] {
            let set = at(which);
            let body = format!("{set} sust.b.{geometry}.b32.{beyond} [%d1, {coordinates}], %r7;");
            fetch(&body, object, &[0.0; 3]);
        }
        assert_eq!(
            [0, 1, 2].map(|n| read("trap", n)),
            [inside, 1000, 2 * layer + inside]
        );
    }
}

#[test]
fn image_queries_report_layer_counts() {
    let _context = primary_context();
    for (size, flags, expected) in [
        ([4, 0, 3], LAYERED, [4, 0, 0, 3]),
        ([4, 2, 3], LAYERED, [4, 2, 0, 3]),
        ([2, 2, 6], CUBE, [2, 2, 0, 0]),
        ([2, 2, 12], CUBE | LAYERED, [2, 2, 0, 2]),
        ([4, 3, 2], 0, [4, 3, 2, 0]),
    ] {
        let count: usize = size.map(|size| size.max(1)).iter().product();
        let array = array(size, "f32", 1, flags, &vec![0; 4 * count]);
        let object = texture(array, CLAMP, false, 0);
        let body = "txq.width.b32 %r0, [%d1]; txq.height.b32 %r1, [%d1];
            txq.depth.b32 %r2, [%d1]; txq.array_size.b32 %r3, [%d1];";
        assert_eq!(fetch(body, object, &[0.0; 3]), expected, "{size:?} {flags}");
    }
}
