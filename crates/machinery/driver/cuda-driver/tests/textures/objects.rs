//! Arrays, copies, objects of each kind, and an H200's results for coordinates outside an image.

use cuda_driver::types::{
    CU_AD_FORMAT_FLOAT, CU_RESOURCE_TYPE_LINEAR, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
    CU_RESOURCE_TYPE_PITCH2D, CUDA_MEMCPY2D, LinearResource, PitchResource,
};
use cust::memory::DeviceBuffer;

use super::*;

/// Creates an array with 1 to 84 in seven rows of twelve, which kernels may write to.
fn numbers() -> CUarray {
    let bytes: Vec<u8> = (1..=84u32).flat_map(u32::to_ne_bytes).collect();
    array([12, 7, 0], "u32", 1, 2, &bytes)
}

pub fn surface(array: CUarray) -> u64 {
    let mut object = 0;
    calls! { cuSurfObjectCreate(&mut object, &resource(array)); }
    object
}

/// Returns the properties of an array.
pub fn describe(array: CUarray) -> CUDA_ARRAY3D_DESCRIPTOR {
    let mut description = zeroed();
    calls! { cuArray3DGetDescriptor_v2(&mut description, array); }
    description
}

/// Copies the words of [`numbers`] back.
fn read_back(array: CUarray) -> Vec<u32> {
    let mut actual = vec![0u32; 84];
    let copy = CUDA_MEMCPY2D {
        srcArray: array,
        dstHost: actual.as_mut_ptr().cast(),
        WidthInBytes: 48,
        Height: 7,
        ..copy_2d(ARRAY, HOST)
    };
    calls! { cuMemcpy2D_v2(&copy); }
    actual
}

/// Returns code that sets the coordinates `%r4` and `%r5`.
fn at(x: i32, y: i32) -> String {
    format!(
        "mov.s32 %r4, {x}; mov.s32 %r5, {y}; mov.u32 %r0, 7; mov.u32 %r1, 7; mov.u32 %r2, 7; mov.u32 %r3, 7;"
    )
}

#[test]
fn surface_reads_match_an_h200() {
    let _context = primary_context();
    let array = numbers();
    let object = surface(array);
    for (beyond, x, y, expected) in [
        ("clamp", 0, 0, 1),
        ("clamp", 4, 1, 14),
        ("clamp", -4, 0, 1),
        ("clamp", 48, 0, 12),
        ("clamp", 4, -1, 2),
        ("clamp", 4, 7, 74),
        ("clamp", 100, 100, 84),
        ("zero", 4, 1, 14),
        ("zero", -4, 0, 0),
        ("zero", 48, 0, 0),
        ("zero", 4, 7, 0),
        ("trap", 4, 1, 14),
    ] {
        let body = format!(
            "{} suld.b.2d.b32.{beyond} %r0, [%d1, {{%r4, %r5}}];",
            at(x, y)
        );
        assert_eq!(
            fetch(&body, object, &[0.0; 3])[0],
            expected,
            "{beyond} {x} {y}"
        );
    }
    let pair = |x: i32| {
        let body = format!(
            "{} suld.b.2d.v2.b32.clamp {{%r0, %r1}}, [%d1, {{%r4, %r5}}];",
            at(x, 1)
        );
        fetch(&body, object, &[0.0; 3])[..2].to_vec()
    };
    assert_eq!(
        [pair(8), pair(40), pair(-8)],
        [[15, 16], [23, 24], [13, 14]]
    );
    for (size, expected) in [("width", 12), ("height", 7), ("depth", 0)] {
        let body = format!("{} suq.{size}.b32 %r0, [%d1];", at(0, 0));
        assert_eq!(fetch(&body, object, &[0.0; 3])[0], expected, "{size}");
    }
    let texture = texture(array, 1, false, 1);
    let body = format!(
        "{} txq.width.b32 %r0, [%d1]; txq.height.b32 %r1, [%d1];",
        at(0, 0)
    );
    assert_eq!(fetch(&body, texture, &[0.0; 3])[..2], [12, 7]);
}

#[test]
fn surface_writes_and_reductions_match_an_h200() {
    let _context = primary_context();
    for (instruction, x, y, changed) in [
        (
            "sust.b.2d.b32.zero [%d1, {%r4, %r5}], %r6;",
            4,
            2,
            Some((1, 2, 1000)),
        ),
        ("sust.b.2d.b32.zero [%d1, {%r4, %r5}], %r6;", 48, 2, None),
        ("sust.b.2d.b32.zero [%d1, {%r4, %r5}], %r6;", 4, -1, None),
        (
            "sust.b.2d.b32.clamp [%d1, {%r4, %r5}], %r6;",
            60,
            3,
            Some((11, 3, 1000)),
        ),
        (
            "sust.b.2d.b32.clamp [%d1, {%r4, %r5}], %r6;",
            -8,
            4,
            Some((0, 4, 1000)),
        ),
        (
            "sust.b.2d.b32.clamp [%d1, {%r4, %r5}], %r6;",
            4,
            9,
            Some((1, 6, 1000)),
        ),
        (
            "sured.b.add.2d.u32.zero [%d1, {%r4, %r5}], 5;",
            8,
            6,
            Some((2, 6, 80)),
        ),
        (
            "sured.b.min.2d.s32.clamp [%d1, {%r4, %r5}], -5;",
            12,
            6,
            Some((3, 6, -5i32 as u32)),
        ),
        (
            "sured.b.or.2d.b32.zero [%d1, {%r4, %r5}], 256;",
            12,
            6,
            Some((3, 6, 332)),
        ),
        (
            "sured.p.add.2d.b32.zero [%d1, {%r4, %r5}], 7;",
            4,
            6,
            Some((4, 6, 84)),
        ),
        (
            "sured.b.add.2d.u32.clamp [%d1, {%r4, %r5}], 5;",
            100,
            6,
            Some((11, 6, 89)),
        ),
    ] {
        let array = numbers();
        let object = surface(array);
        let body = format!("{} mov.u32 %r6, 1000; {instruction}", at(x, y));
        fetch(&body, object, &[0.0; 3]);
        let mut expected: Vec<u32> = (1..=84).collect();
        if let Some((x, y, value)) = changed {
            expected[y * 12 + x] = value;
        }
        assert_eq!(read_back(array), expected, "{instruction} {x} {y}");
        calls! {
            cuSurfObjectDestroy(object);
            cuArrayDestroy(array);
        }
    }
}

/// The child process of the next test: a launch that faults makes its context unusable.
#[test]
#[ignore = "run by the next test, once for each fault"]
fn faults() {
    let _context = primary_context();
    let instruction = std::env::var("INSTRUCTION").unwrap();
    let object = match instruction.starts_with("tex") {
        true => 12345,
        false => surface(numbers()),
    };
    let (code, _) = try_fetch(&instruction, object, &[0.0; 3]);
    println!("code {code}");
}

#[test]
fn unsupported_object_operations_fault() {
    for (instruction, code) in [
        ("suld.b.2d.b32.clamp %r0, [%d1, {5, 1}];", 716),
        ("suld.b.2d.b32.zero %r0, [%d1, {49, 1}];", 716),
        ("suld.b.2d.v2.b32.zero {%r0, %r1}, [%d1, {4, 1}];", 716),
        ("suld.b.2d.b32.trap %r0, [%d1, {48, 0}];", 700),
        ("sust.b.2d.b32.trap [%d1, {48, 2}], %r0;", 700),
        ("sust.b.2d.b32.zero [%d1, {9, 5}], %r0;", 716),
        ("tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%d1, {0}];", 719),
    ] {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "objects::faults", "--ignored", "--nocapture"])
            .env("INSTRUCTION", instruction)
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&child.stdout);
        assert!(
            stdout.contains(&format!("code {code}")),
            "{instruction}: {stdout}"
        );
    }
}

#[test]
fn integer_coordinates_fetch_texels() {
    let _context = primary_context();
    let bytes: Vec<u8> = (1..=84).flat_map(|n| (n as f32).to_ne_bytes()).collect();
    let array = array([12, 7, 0], "f32", 1, 0, &bytes);
    for (mode, linear) in [(0, false), (1, true), (2, false), (3, true)] {
        let object = texture(array, mode, linear, 0);
        for (x, y, expected) in [
            (0, 0, 1.0),
            (1, 0, 2.0),
            (11, 0, 12.0),
            (7, 3, 44.0),
            (-1, 0, 0.0),
            (12, 1, 0.0),
            (3, 7, 0.0),
        ] {
            let body = format!(
                "{} tex.2d.v4.f32.s32 {{%f4, %f5, %f6, %f7}}, [%d1, {{%r4, %r5}}];
                mov.b32 %r0, %f4; mov.b32 %r1, %f7;",
                at(x, y)
            );
            let actual = fetch(&body, object, &[0.0; 3]);
            assert_eq!(
                (f32::from_bits(actual[0]), actual[1]),
                (expected, 0),
                "{mode} {x} {y}"
            );
        }
    }
}

/// The order of the four gathered texels is that of an H200.
#[test]
fn gather_returns_four_texels() {
    let _context = primary_context();
    let bytes: Vec<u8> = (0..128).flat_map(|n| (n as f32).to_ne_bytes()).collect();
    let array = array([8, 4, 0], "f32", 4, 8, &bytes);
    for (mode, channel, point, expected) in [
        (1, "r", [4.25, 5.5], [108.0, 112.0, 112.0, 108.0]),
        (1, "r", [1.25, 1.5], [64.0, 68.0, 36.0, 32.0]),
        (1, "g", [1.25, 1.5], [65.0, 69.0, 37.0, 33.0]),
        (1, "r", [-1.0, 5.5], [96.0; 4]),
        // The first channel of the border colour.
        (3, "r", [-1.0, 5.5], [0.25; 4]),
        (3, "a", [-1.0, 5.5], [0.75; 4]),
    ] {
        let object = texture(array, mode, true, 0);
        let body = format!(
            "tld4.{channel}.2d.v4.f32.f32 {{%f4, %f5, %f6, %f7}}, [%d1, {{%f0, %f1}}];
            mov.b32 %r0, %f4; mov.b32 %r1, %f5; mov.b32 %r2, %f6; mov.b32 %r3, %f7;"
        );
        let actual = fetch(&body, object, &[point[0], point[1], 0.0]);
        let actual: Vec<f32> = actual.into_iter().map(f32::from_bits).collect();
        assert_eq!(actual, expected, "{mode} {channel} {point:?}");
    }
}

/// Coordinates outside a row return zero or follow the address mode, as on an H200.
#[test]
fn linear_and_pitched_textures_are_fetched() {
    let _context = primary_context();
    let values: Vec<f32> = (1..=256).map(|n| n as f32).collect();
    let buffer = DeviceBuffer::from_slice(&values).unwrap();
    let address = buffer.as_device_ptr().as_raw();
    let mut resource: CUDA_RESOURCE_DESC = zeroed();
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = LinearResource {
        devPtr: address,
        format: CU_AD_FORMAT_FLOAT,
        numChannels: 1,
        sizeInBytes: 64 * 4,
    };
    let object = create_texture(&resource, &zeroed()).unwrap();
    for (x, expected) in [
        (-1_000_000_000, 0.0),
        (-1, 0.0),
        (0, 1.0),
        (63, 64.0),
        (64, 0.0),
        (1 << 30, 0.0),
    ] {
        let body = format!(
            "{} tex.1d.v4.f32.s32 {{%f4, %f5, %f6, %f7}}, [%d1, {{%r4}}]; mov.b32 %r0, %f4;",
            at(x, 0)
        );
        let actual = fetch(&body, object, &[0.0; 3])[0];
        assert_eq!(f32::from_bits(actual), expected, "{x}");
    }
    let mut queried: CUDA_RESOURCE_DESC = zeroed();
    calls! { cuTexObjectGetResourceDesc(&mut queried, object); }
    // SAFETY: the resource is linear memory.
    assert_eq!(unsafe { queried.res.linear.devPtr }, address);

    let mut rows: CUDA_RESOURCE_DESC = zeroed();
    rows.resType = CU_RESOURCE_TYPE_PITCH2D;
    rows.res.pitch2D = PitchResource {
        devPtr: address,
        format: CU_AD_FORMAT_FLOAT,
        numChannels: 1,
        width: 60,
        height: 4,
        pitchInBytes: 256,
    };
    for (mode, linear, expected) in [
        (1, false, [1.0, 66.0, 129.0, 252.0, 252.0]),
        (1, true, [1.0, 81.75, 97.0, 252.0, 220.0]),
        (3, true, [1.0, 81.75, 9.0, 252.0, 114.5]),
    ] {
        let mut params = sampling(mode, linear);
        params.borderColor = [9.0, 8.0, 7.0, 6.0];
        let object = create_texture(&rows, &params).unwrap();
        let mut queried: CUDA_TEXTURE_DESC = zeroed();
        calls! { cuTexObjectGetTextureDesc(&mut queried, object); }
        assert_eq!(queried.borderColor, params.borderColor);
        for ((x, y), expected) in [
            (0.5, 0.5),
            (1.25, 1.75),
            (-3.0, 2.0),
            (59.5, 3.5),
            (60.0, 3.0),
        ]
        .into_iter()
        .zip(expected)
        {
            let body =
                "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f0, %f1}]; mov.b32 %r0, %f4;";
            let actual = fetch(body, object, &[x, y, 0.0])[0];
            assert_eq!(f32::from_bits(actual), expected, "{mode} {linear} {x} {y}");
        }
    }
}

#[test]
fn arrays_are_copied_by_rows_and_report_descriptors() {
    let _context = primary_context();
    let first = numbers();
    let buffer = DeviceBuffer::from_slice(&[0u32; 12]).unwrap();
    let description = describe(first);
    let actual = (description.Width, description.Height, description.Depth);
    assert_eq!(
        (actual, description.NumChannels, description.Flags),
        ((12, 7, 0), 1, 2)
    );
    let words = [91u32, 92, 93];
    calls! { cuMemcpyHtoA_v2(first, 8, words.as_ptr().cast(), 12); }
    let mut back = [0u32; 4];
    calls! { cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), first, 4, 16); }
    assert_eq!(back, [2, 91, 92, 93]);
    calls! { cuMemcpyAtoD_v2(buffer.as_device_ptr().as_raw(), first, 0, 48); }
    let second = array([12, 0, 0], "u32", 1, 0, &[0; 48]);
    calls! {
        cuMemcpyDtoA_v2(second, 0, buffer.as_device_ptr().as_raw(), 48);
        cuMemcpyAtoA_v2(first, 4, second, 8, 12);
        cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), first, 0, 16);
    }
    assert_eq!(back, [1, 91, 92, 93]);
    // Past the end of a row, part of a texel, and no array.
    for (array, at, bytes, code) in [
        (second, 40, 12, 1),
        (second, 2, 3, 0),
        (null_mut(), 0, 4, 400),
    ] {
        let failed = code!(cuMemcpyHtoA_v2(array, at, words.as_ptr().cast(), bytes));
        assert_eq!(failed, code, "{at}, {bytes}");
    }
    calls! {
        cuArrayDestroy(second);
        cuArrayDestroy(second) => 400;
    }
}

#[test]
fn invalid_arrays_and_objects_are_rejected() {
    let _context = primary_context();
    create_array([4, 4, 0], 32, 1, 0).unwrap();
    for (size, format, channels, flags) in [
        ([0, 0, 0], 32, 1, 0),
        ([4, 0, 4], 32, 1, 0),
        ([4, 4, 0], 32, 3, 0),
        ([4, 4, 0], 5, 1, 0),
        ([4, 4, 0], 32, 1, 1 << 20),
        ([200_000, 0, 0], 32, 1, 0),
        ([4, 4, 4], 32, 1, 8),
    ] {
        let created = create_array(size, format, channels, flags);
        assert_eq!(created, Err(1), "{size:?} {format} {channels} {flags}");
    }
    let writable = numbers();
    let read_only = array([4, 0, 0], "f32", 1, 0, &[0; 16]);
    let (mut resource, mut object) = (resource(read_only), 0);
    // An array created without the flag for writes.
    calls! { cuSurfObjectCreate(&mut object, &resource); }
    let actual = create_texture(&resource, &sampling(7, false));
    assert_eq!(actual, Err(1), "an address mode that is none");
    let mut params = sampling(0, true);
    resource.flags = 1;
    assert_eq!(create_texture(&resource, &params), Err(1), "flags");
    resource.flags = 0;
    resource.res.array.hArray = null_mut();
    assert_eq!(create_texture(&resource, &params), Err(1), "no array");
    resource.res.array.hArray = writable;
    create_texture(&resource, &params).expect("integers are interpolated");
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    let actual = create_texture(&resource, &params);
    assert_eq!(actual, Err(1), "an array without levels as a mipmapped one");
    calls! {
        cuTexObjectDestroy(77) => 1;
        cuSurfObjectDestroy(77) => 1;
        cuTexObjectGetTextureDesc(&mut params, 77) => 1;
    }
}
