//! Arrays of layers and cube maps: which there are, and what is read and written of them.

use std::mem::{MaybeUninit, zeroed};
use std::ptr;

use cust::sys::{self, CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC};

use super::{array, fetched, ok, simulator, texture};

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
const NORMALISED: u32 = 2;
const SEAMLESS: u32 = 0x40;

/// What making an array of floats answers, and what it is said to be.
fn created(size: [usize; 3], flags: u32) -> (i32, [usize; 3], u32) {
    // SAFETY: structures that may be zero, and pointers to write to.
    unsafe {
        let mut blank = MaybeUninit::<CUDA_ARRAY3D_DESCRIPTOR>::zeroed();
        let description = blank.as_mut_ptr();
        [
            (*description).Width,
            (*description).Height,
            (*description).Depth,
        ] = size;
        (&raw mut (*description).Format).cast::<i32>().write(32);
        (*description).NumChannels = 1;
        (*description).Flags = flags;
        let mut array = ptr::null_mut();
        let code = sys::cuArray3DCreate_v2(&mut array, description) as i32;
        if code != 0 {
            return (code, [0; 3], 0);
        }
        let mut blank = MaybeUninit::<CUDA_ARRAY3D_DESCRIPTOR>::zeroed();
        ok(sys::cuArray3DGetDescriptor_v2(blank.as_mut_ptr(), array));
        let found = blank.assume_init();
        ok(sys::cuArrayDestroy(array));
        let size = [found.Width, found.Height, found.Depth];
        (code, size, found.Flags)
    }
}

#[test]
fn arrays_of_layers_and_cubes_are_made_as_the_driver_says() {
    let _context = simulator();
    for (size, flags) in [
        ([5, 0, 10], LAYERED),
        ([7, 8, 10], LAYERED | WRITABLE),
        ([32768, 0, 2048], LAYERED),
        ([8, 8, 6], CUBE),
        ([8, 8, 30], CUBE | LAYERED),
        ([1, 1, 2046], CUBE | LAYERED),
    ] {
        assert_eq!(created(size, flags), (0, size, flags));
    }
    for (size, flags) in [
        // Layers without a number of them, and more than there are.
        ([5, 0, 0], LAYERED),
        ([5, 5, 0], LAYERED),
        ([5, 0, 2049], LAYERED),
        ([32769, 0, 2], LAYERED),
        // Without the flag a row has no depth.
        ([5, 0, 10], 0),
        // A cube is as high as wide, and has six faces.
        ([8, 7, 6], CUBE),
        ([8, 8, 0], CUBE),
        ([8, 8, 5], CUBE),
        ([8, 8, 12], CUBE),
        ([8, 0, 6], CUBE),
        // So has each of many.
        ([8, 8, 7], CUBE | LAYERED),
        ([8, 8, 2052], CUBE | LAYERED),
        // Four texels are gathered of two dimensions.
        ([8, 8, 6], LAYERED | GATHERED),
    ] {
        assert_eq!(created(size, flags).0, 1, "{size:?} {flags}");
    }
}

/// Floats as bytes.
fn floats(values: impl Iterator<Item = usize>) -> Vec<u8> {
    values.flat_map(|n| (n as f32).to_ne_bytes()).collect()
}

/// The first channel of what is read at a place, in a layer; `with` is how the coordinates are written, and
/// what follows.
fn first(geometry: &str, with: &str, object: u64, layer: u32, at: [f32; 3]) -> f32 {
    let body = format!(
        "mov.u32 %r4, {layer};
        cvt.rzi.s32.f32 %r5, %f0; cvt.rzi.s32.f32 %r6, %f1;
        tex.{geometry} {{%f4, %f5, %f6, %f7}}, [%d1, {with};
        mov.b32 %r0, %f4;"
    );
    f32::from_bits(fetched(&body, object, &at)[0])
}

#[test]
fn layers_are_chosen_and_never_mixed() {
    let _context = simulator();
    // 100 a layer, 10 a row, 1 a texel.
    let rows = array([4, 0, 3], "f32", 1, LAYERED, &{
        floats((0..12).map(|n| n / 4 * 100 + n % 4))
    });
    let planes = array([4, 3, 5], "f32", 1, LAYERED, &{
        floats((0..60).map(|n| n / 12 * 100 + n / 4 % 3 * 10 + n % 4))
    });
    for linear in [false, true] {
        let [rows, planes] = [rows, planes].map(|array| texture(array, CLAMP, linear, 0));
        // What lies beyond the last layer is the last one.
        for (layer, meant) in [(0, 0.0), (1, 100.0), (2, 200.0), (3, 200.0), (!0, 200.0)] {
            let a1d = |at| first("a1d.v4.f32.f32", "{%r4, %f0}]", rows, layer, [at, 0.0, 0.0]);
            let between = if linear { 1.5 } else { 2.0 };
            assert_eq!([a1d(1.5), a1d(2.0)], [meant + 1.0, meant + between]);
            assert_eq!([a1d(-9.0), a1d(9.0)], [meant, meant + 3.0]);
            let whole = |at| first("a1d.v4.f32.s32", "{%r4, %r5}]", rows, layer, [at, 0.0, 0.0]);
            assert_eq!([whole(3.0), whole(4.0)], [meant + 3.0, 0.0]);
        }
        for (layer, meant) in [(0, 0.0), (3, 300.0), (4, 400.0), (77, 400.0)] {
            let a2d = |x, y| {
                let with = "{%r4, %f0, %f1, %f1}]";
                first("a2d.v4.f32.f32", with, planes, layer, [x, y, 0.0])
            };
            let between = if linear { 15.0 } else { 20.0 };
            assert_eq!(a2d(2.5, 1.5), meant + 12.0);
            assert_eq!(a2d(0.5, 2.0), meant + between);
            let with = "{%r4, %r5, %r6, %r6}]";
            let at = [3.0, 2.0, 0.0];
            assert_eq!(
                first("a2d.v4.f32.s32", with, planes, layer, at),
                meant + 23.0
            );
            // There is one level of detail.
            let with = "{%r4, %f0, %f1, %f1}], %f1";
            let at = [2.5, 1.5, 0.0];
            assert_eq!(
                first("level.a2d.v4.f32.f32", with, planes, layer, at),
                meant + 12.0
            );
        }
    }
}

/// The direction to a place on each face, from 0 to 1.
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
    // A direction has no length.
    .map(|direction| direction.map(|along| along * 3.0))
}

#[test]
fn a_direction_meets_a_face_of_a_cube() {
    let _context = simulator();
    // 10 a face, and 1 a texel of two by two; 100 a cube.
    let bytes = floats((0..72).map(|n| n / 24 * 100 + n / 4 % 6 * 10 + n % 4));
    let one = array([2, 2, 6], "f32", 1, CUBE, &bytes[..96]);
    let many = array([2, 2, 18], "f32", 1, CUBE | LAYERED, &bytes);
    for (linear, flags) in [(false, NORMALISED), (true, NORMALISED), (false, SEAMLESS)] {
        let [one, many] = [one, many].map(|array| texture(array, CLAMP, linear, flags));
        for (texel, (s, t)) in [(0, (0.25, 0.25)), (1, (0.75, 0.25)), (2, (0.25, 0.75))] {
            for (face, at) in directions(s, t).into_iter().enumerate() {
                let wanted = (10 * face + texel) as f32;
                let cube = "{%f0, %f1, %f2, %f2}]";
                assert_eq!(first("cube.v4.f32.f32", cube, one, 0, at), wanted);
                for (layer, meant) in [(0, 0.0), (2, 200.0), (3, 200.0), (!0, 200.0)] {
                    let found = first("acube.v4.f32.f32", "{%r4, %f0, %f1, %f2}]", many, layer, at);
                    assert_eq!(found, meant + wanted);
                }
            }
        }
    }
}

#[test]
fn a_seamless_cube_is_mixed_across_its_edges() {
    let _context = simulator();
    // Each face is of one number.
    let numbers = [1, 2, 4, 8, 16, 32];
    let bytes = floats((0..24).map(|n| numbers[n / 4]));
    let cube = array([2, 2, 6], "f32", 1, CUBE, &bytes);
    let [seamless, single] = [SEAMLESS | NORMALISED, NORMALISED].map(|flags| {
        // The address mode says nothing of the one, and wraps round a face of the other.
        texture(cube, WRAP, true, flags)
    });
    let at = |object, at| first("cube.v4.f32.f32", "{%f0, %f1, %f2, %f2}]", object, 0, at);
    for (direction, mixed, alone) in [
        // The middle of a face, an edge of two, and a quarter of a texel from it.
        ([0.0, 0.0, 5.0], 16.0, 16.0),
        ([0.0, 5.0, 5.0], 10.0, 16.0),
        ([5.0, 0.0, -5.0], 16.5, 32.0),
        ([4.0, 0.0, 3.0], 0.75 * 1.0 + 0.25 * 16.0, 1.0),
    ] {
        assert_eq!(at(seamless, direction), mixed, "{direction:?}");
        assert_eq!(at(single, direction), alone, "{direction:?}");
    }
    // A corner is a third of each of its faces, as near as parts of 256 come.
    let corner = at(seamless, [1.0, 1.0, 1.0]);
    assert!((corner - 7.0).abs() < 0.1, "{corner}");
    // What is no cube has no edges to mix across.
    let plain = array([2, 2, 6], "f32", 1, LAYERED, &bytes);
    // SAFETY: structures that may be zero, and a handle to write to.
    unsafe {
        let (mut resource, mut how): (CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC) = zeroed();
        resource.res.array.hArray = plain;
        how.flags = SEAMLESS;
        let mut object = 0;
        let made = sys::cuTexObjectCreate(&mut object, &resource, &how, ptr::null());
        assert_eq!(made as i32, 1);
    }
}

#[test]
fn layers_of_surfaces_are_written_and_read() {
    let _context = simulator();
    for (size, geometry, with) in [
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
            let body = format!("{set} suld.b.{geometry}.b32.{beyond} %r0, [%d1, {with}];");
            fetched(&body, object, &[0.0; 3])[0]
        };
        let inside = layer - 2;
        assert_eq!(read("trap", 0), inside);
        assert_eq!(read("trap", 2), 2 * layer + inside);
        // There is a nearest layer, but a number has no sign.
        assert_eq!(read("clamp", 3), 2 * layer + inside);
        assert_eq!(read("clamp", -1), 2 * layer + inside);
        assert_eq!([read("zero", 3), read("zero", -1)], [0, 0]);
        for (beyond, which) in [("trap", 1), ("zero", 3)] {
            let set = at(which);
            let body = format!("{set} sust.b.{geometry}.b32.{beyond} [%d1, {with}], %r7;");
            fetched(&body, object, &[0.0; 3]);
        }
        assert_eq!(
            [0, 1, 2].map(|n| read("trap", n)),
            [inside, 1000, 2 * layer + inside]
        );
    }
}

#[test]
fn images_say_how_many_layers_they_have() {
    let _context = simulator();
    for (size, flags, wanted) in [
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
        assert_eq!(fetched(body, object, &[0.0; 3]), wanted, "{size:?} {flags}");
    }
}
