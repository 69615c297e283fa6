//! Textures of mipmapped arrays: the choice of levels, compared with values computed from the level of detail, and an
//! H200's (driver-answers, `mipmaps`).

use cuda_driver::types::{
    CU_AD_FORMAT_FLOAT, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, CUDA_RESOURCE_VIEW_DESC, CUmipmappedArray,
};

use super::objects::surface;
use super::*;

/// `CU_TR_ADDRESS_MODE_CLAMP`, `CU_TRSF_NORMALIZED_COORDINATES`, `CUDA_ARRAY3D_LAYERED`, `CUDA_ARRAY3D_SURFACE_LDST`.
const CLAMP: i32 = 1;
const NORMALIZED: u32 = 2;
const LAYERED: u32 = 1;
const WRITABLE: u32 = 2;
const LEVELS: u32 = 4;

/// Returns the value of a texel: 100 per level, 10 per row, 1 per texel, 1000 per slice.
fn value(level: u32, x: usize, y: usize, z: usize) -> f32 {
    (100 * level as usize + 10 * y + x + 1000 * z) as f32
}

/// Creates a mipmapped array of four levels, and fills them with [`value`].
fn mipmap(size: [usize; 3], flags: u32) -> CUmipmappedArray {
    let shape = CUDA_ARRAY3D_DESCRIPTOR {
        Width: size[0],
        Height: size[1],
        Depth: size[2],
        Format: CU_AD_FORMAT_FLOAT,
        NumChannels: 1,
        Flags: flags,
    };
    let mut mipmap = null_mut();
    calls! { cuMipmappedArrayCreate(&mut mipmap, &shape, LEVELS); }
    for number in 0..LEVELS {
        let [width, height, depth] = level_size(size, flags, number);
        let texels = (0..depth).flat_map(|z| {
            (0..height).flat_map(move |y| (0..width).map(move |x| value(number, x, y, z)))
        });
        let bytes: Vec<u8> = texels.flat_map(f32::to_ne_bytes).collect();
        let mut level = null_mut();
        calls! { cuMipmappedArrayGetLevel(&mut level, mipmap, number); }
        let copy = CUDA_MEMCPY3D {
            srcHost: bytes.as_ptr().cast(),
            srcPitch: 4 * width,
            srcHeight: height,
            dstArray: level,
            WidthInBytes: 4 * width,
            Height: height,
            Depth: depth,
            ..copy_3d(HOST, ARRAY)
        };
        calls! { cuMemcpy3D_v2(&copy); }
    }
    mipmap
}

/// Returns the texels of a level in each dimension, at least one.
fn level_size(size: [usize; 3], flags: u32, level: u32) -> [usize; 3] {
    let halved = size.map(|size| (size >> level).max(1));
    match flags & LAYERED {
        0 => halved,
        _ => [halved[0], halved[1], size[2]],
    }
}

fn mipmap_resource(mipmap: CUmipmappedArray) -> CUDA_RESOURCE_DESC {
    let mut resource: CUDA_RESOURCE_DESC = zeroed();
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = mipmap;
    resource
}

/// Returns the parameters of a texture with normalized coordinates and the filter `between` levels.
fn parameters(between: bool) -> CUDA_TEXTURE_DESC {
    CUDA_TEXTURE_DESC {
        flags: NORMALIZED,
        mipmapFilterMode: between.into(),
        maxMipmapLevelClamp: 9.0,
        ..sampling(CLAMP, false)
    }
}

/// Fetches the first channel with `tex.` and the rest of an instruction after its destinations. `%f3` is `detail`.
fn first(form: &str, rest: &str, object: u64, at: [f32; 3], detail: f32) -> f32 {
    let bits = detail.to_bits();
    let body = format!(
        "mov.b32 %f3, 0f{bits:08X}; cvt.rzi.s32.f32 %r4, %f0; cvt.rzi.s32.f32 %r5, %f1; cvt.rni.s32.f32 %r6, %f3;
        tex.{form}.v4.f32.{} {{%f4, %f5, %f6, %f7}}, {rest};
        mov.b32 %r0, %f4;",
        if rest.contains("%r4") { "s32" } else { "f32" }
    );
    f32::from_bits(fetch(&body, object, &at)[0])
}

/// Fetches from a two-dimensional texture at a level of detail.
fn at_level(object: u64, x: f32, y: f32, detail: f32) -> f32 {
    first(
        "level.2d",
        "[%d1, {%f0, %f1}], %f3",
        object,
        [x, y, 0.0],
        detail,
    )
}

#[test]
fn nearest_level_is_read_without_a_filter_between_levels() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let object = create_texture(&resource, &parameters(false)).unwrap();
    for (detail, level) in [
        (-1.0, 0),
        (0.25, 0),
        (0.75, 1),
        (2.0, 2),
        (2.75, 3),
        (9.0, 3),
    ] {
        let size = 16 >> level;
        let (x, y) = (size * 3 / 4, size / 4);
        assert_eq!(
            at_level(object, 0.75, 0.25, detail),
            value(level, x, y, 0),
            "{detail}"
        );
    }
    // Without a level, the first one is read.
    for form in ["2d", "base.2d"] {
        let read = first(form, "[%d1, {%f0, %f1}]", object, [0.75, 0.25, 0.0], 3.0);
        assert_eq!(read, value(0, 12, 4, 0));
    }
    // Integer coordinates and levels select a texel.
    let texel = first(
        "level.2d",
        "[%d1, {%r4, %r5}], %r6",
        object,
        [3.0, 1.0, 0.0],
        2.0,
    );
    assert_eq!(texel, value(2, 3, 1, 0));
}

#[test]
fn two_levels_are_interpolated_with_a_filter_between_levels() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let object = create_texture(&resource, &parameters(true)).unwrap();
    let at_corner = |detail| at_level(object, 0.0, 0.0, detail);
    for detail in [0.0, 0.25, 1.5, 2.75, 3.0] {
        assert_eq!(at_corner(detail), 100.0 * detail);
    }
    assert_eq!([at_corner(-2.0), at_corner(5.0)], [0.0, 300.0]);
}

#[test]
fn bias_and_clamp_apply_to_the_level_of_detail() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let params = CUDA_TEXTURE_DESC {
        mipmapLevelBias: 0.5,
        minMipmapLevelClamp: 1.0,
        maxMipmapLevelClamp: 2.25,
        ..parameters(true)
    };
    let object = create_texture(&resource, &params).unwrap();
    for (detail, expected) in [(0.0, 100.0), (0.75, 125.0), (1.5, 200.0), (3.0, 225.0)] {
        assert_eq!(at_level(object, 0.0, 0.0, detail), expected, "{detail}");
    }
}

/// The lower end of the range takes precedence, and applies without a level too, but not to integer levels.
#[test]
fn clamp_applies_without_a_level() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let object = |low, high| {
        let params = CUDA_TEXTURE_DESC {
            mipmapLevelBias: 0.5,
            minMipmapLevelClamp: low,
            maxMipmapLevelClamp: high,
            ..parameters(true)
        };
        create_texture(&resource, &params).unwrap()
    };
    assert_eq!(at_level(object(2.0, 1.0), 0.0, 0.0, 1.0), 200.0);
    let base = |object| first("2d", "[%d1, {%f0, %f1}]", object, [0.0; 3], 0.0);
    assert_eq!(
        [base(object(1.25, 3.0)), base(object(0.0, 3.0))],
        [125.0, 0.0]
    );
    let integer = |x, level| {
        let rest = "[%d1, {%r4, %r5}], %r6";
        first("level.2d", rest, object(1.25, 1.5), [x, 1.0, 0.0], level)
    };
    // The address mode applies to integer coordinates. A level that does not exist is zero.
    assert_eq!(
        [integer(5.0, 2.0), integer(0.0, 9.0)],
        [value(2, 3, 1, 0), 0.0]
    );
}

/// The coordinates of a mipmapped array are normalized, whether its texture has the flag or not.
#[test]
fn coordinates_are_always_normalized() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let params = CUDA_TEXTURE_DESC {
        flags: 0,
        ..parameters(false)
    };
    let object = create_texture(&resource, &params).unwrap();
    assert_eq!(at_level(object, 0.75, 9.0, 0.0), value(0, 12, 15, 0));
}

/// An H200 distributes weights in 256ths between the levels, and then between the texels of each.
#[test]
fn weights_of_two_levels_add_up_to_one_sum() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let mut params = parameters(true);
    params.filterMode = 1;
    let object = create_texture(&resource, &params).unwrap();
    // The texels are another function of the position than those of the recorded program, whose weights these are.
    let read = |detail| at_level(object, 0.3, 0.7, detail);
    assert_eq!(read(0.502), read(0.5));
    assert_ne!(read(0.504), read(0.5));
    assert_eq!((read(0.25) * 256.0).fract(), 0.0);
}

#[test]
fn anisotropic_fetches_take_samples_along_the_longer_gradient() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let params = CUDA_TEXTURE_DESC {
        maxAnisotropy: 16,
        ..parameters(true)
    };
    let object = create_texture(&resource, &params).unwrap();
    // The length of the gradient along x in texels, and an H200's value of texels that are numbered along x.
    for (along_x, expected) in [(2.0, 0.0), (3.0, 85.0 / 512.0), (8.0, 0.75)] {
        let rest = format!(
            "[%d1, {{%f0, %f1}}], {{0f{:08X}, 0f00000000}}, {{0f00000000, 0f3D800000}}",
            (along_x / 16.0f32).to_bits()
        );
        let read = first("grad.2d", &rest, object, [0.03, 0.03, 0.0], 0.0);
        assert_eq!(read, expected, "{along_x}");
    }
}

#[test]
fn gradients_select_the_level_with_texels_of_their_length() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let object = create_texture(&resource, &parameters(true)).unwrap();
    // The length of the gradients in texels of the first level, and the level of detail.
    for ([along_x, along_y], detail) in [([0.0, 0.0], 0.0), ([1.0, 0.5], 0.0), ([2.0, 4.0], 2.0)] {
        let [along_x, along_y] = [along_x, along_y].map(|texels: f32| (texels / 16.0).to_bits());
        let rest = format!(
            "[%d1, {{%f0, %f1}}], {{0f{along_x:08X}, 0f00000000}}, {{0f00000000, 0f{along_y:08X}}}"
        );
        assert_eq!(
            first("grad.2d", &rest, object, [0.0; 3], 0.0),
            100.0 * detail
        );
    }
    let line = mipmap_resource(mipmap([16, 0, 0], 0));
    let object = create_texture(&line, &parameters(true)).unwrap();
    let rest = format!("[%d1, {{%f0}}], {{0f{:08X}}}, {{%f0}}", 0.25f32.to_bits());
    assert_eq!(first("grad.1d", &rest, object, [0.0; 3], 0.0), 200.0);
}

#[test]
fn levels_of_layers_and_volumes_are_read() {
    let _context = primary_context();
    let layers = mipmap_resource(mipmap([16, 8, 3], LAYERED));
    let object = create_texture(&layers, &parameters(false)).unwrap();
    let rest = "[%d1, {2, %f0, %f1, %f1}], %f3";
    let read = first("level.a2d", rest, object, [0.5, 0.5, 0.0], 1.0);
    assert_eq!(read, value(1, 4, 2, 2));
    let volume = mipmap_resource(mipmap([16, 8, 8], 0));
    let object = create_texture(&volume, &parameters(false)).unwrap();
    let rest = "[%d1, {%f0, %f1, %f2, %f2}], %f3";
    let read = first("level.3d", rest, object, [0.5, 0.5, 0.75], 1.0);
    assert_eq!(read, value(1, 4, 2, 3));
}

#[test]
fn views_select_levels() {
    let _context = primary_context();
    let resource = mipmap_resource(mipmap([16, 16, 0], 0));
    let mut view: CUDA_RESOURCE_VIEW_DESC = zeroed();
    // `CU_RES_VIEW_FORMAT_FLOAT_1X32`
    view.format = 22;
    (view.width, view.height) = (16, 16);
    (view.firstMipmapLevel, view.lastMipmapLevel) = (1, 2);
    let params = parameters(false);
    let mut object = 0;
    calls! { cuTexObjectCreate(&mut object, &resource, &params, &view); }
    assert_eq!(at_level(object, 0.0, 0.0, 0.0), 100.0);
    assert_eq!(at_level(object, 0.0, 0.0, 3.0), 200.0);
    for unknown in [i32::MIN, 0, 25] {
        view.format = unknown;
        calls! { cuTexObjectCreate(&mut object, &resource, &params, &view) => INVALID_VALUE; }
    }
    view.lastMipmapLevel = LEVELS;
    calls! { cuTexObjectCreate(&mut object, &resource, &params, &view) => INVALID_VALUE; }
}

#[test]
fn surfaces_of_levels_change_what_textures_read() {
    let _context = primary_context();
    let levels = mipmap([16, 16, 0], WRITABLE);
    let object = create_texture(&mipmap_resource(levels), &parameters(false)).unwrap();
    let mut level = null_mut();
    calls! { cuMipmappedArrayGetLevel(&mut level, levels, 2); }
    let store =
        "mov.u32 %r4, 0; mov.b32 %r5, 0f3F000000; sust.b.2d.b32.trap [%d1, {%r4, %r4}], {%r5};";
    fetch(store, surface(level), &[0.0; 3]);
    assert_eq!(at_level(object, 0.0, 0.0, 2.0), 0.5);
    // A surface has one level.
    let mut of_all = 0;
    calls! { cuSurfObjectCreate(&mut of_all, &mipmap_resource(levels)) => INVALID_VALUE; }
}

#[test]
fn fetch_from_a_destroyed_mipmapped_array_faults() {
    let _context = own_context();
    let levels = mipmap([16, 16, 0], 0);
    let object = create_texture(&mipmap_resource(levels), &parameters(false)).unwrap();
    calls! {
        cuMipmappedArrayDestroy(levels);
        cuTexObjectCreate(&mut 0, &mipmap_resource(levels), &parameters(false), null()) => INVALID_VALUE;
    }
    let body = "tex.level.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f0, %f1}], %f2;";
    assert_eq!(try_fetch(body, object, &[0.0; 3]).0, 719);
}
