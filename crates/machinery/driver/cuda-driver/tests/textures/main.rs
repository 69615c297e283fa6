//! Textures and surfaces through the driver's functions: fetches are compared bit for bit with an H200's
//! results; arrays, objects and their copies are tested too.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod layers;
mod mipmaps;
mod objects;
mod references;

use std::ptr::{null, null_mut};

use cuda_driver::types::{
    CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUarray,
    CUtexObject,
};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use support::*;

/// The output of `scripts/textures.py` on an H200.
const H200: &str = include_str!("h200.txt");

const SAMPLES: usize = 4096;

/// Returns a format's `CUarray_format` and the number of bits per channel.
fn format(name: &str) -> (i32, u32) {
    match name {
        "u8" => (1, 8),
        "u16" => (2, 16),
        "u32" => (3, 32),
        "s8" => (8, 8),
        "s16" => (9, 16),
        "f16" => (16, 16),
        "f32" => (32, 32),
        other => panic!("{other}"),
    }
}

fn random_bits(n: u64) -> u32 {
    let n = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (n ^ n >> 32) as u32
}

/// Converts a float with at most 11 significant bits to a 16-bit float.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    if value == 0.0 {
        return sign;
    }
    let exponent = (bits >> 23 & 0xff) as u16 - 112;
    sign | exponent << 10 | (bits >> 13) as u16 & 0x3ff
}

/// Returns the channels of `count` texels in memory layout.
fn texels(kind: &str, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for n in 0..count as u64 {
        let bits = random_bits((1 << 20) + n);
        match kind {
            "f32" => bytes.extend(((bits >> 8) as f32 / (1 << 23) as f32 - 1.0).to_ne_bytes()),
            "f16" => bytes.extend(half((bits >> 21) as f32 / 1024.0 - 1.0).to_ne_bytes()),
            _ => match format(kind).1 {
                8 => bytes.push((bits >> 24) as u8),
                16 => bytes.extend(((bits >> 16) as u16).to_ne_bytes()),
                _ => bytes.extend(bits.to_ne_bytes()),
            },
        }
    }
    bytes
}

/// Returns coordinates inside and around a texture.
fn coordinates(size: [usize; 3], normalised: bool) -> Vec<f32> {
    let fine = if normalised { 64.0f32 } else { 8.0 };
    (0..3 * SAMPLES)
        .map(|n| {
            let (sample, axis) = (n / 3, n % 3);
            let part = (random_bits((1 << 24) + n as u64) >> 8) as f32 / (1 << 24) as f32;
            let extent = match normalised {
                true => 1.0f32,
                false => size[axis].max(1).next_power_of_two() as f32,
            };
            let reach = if sample % 4 == 1 { 8.0f32 } else { 2.0 };
            let at = (part - 0.5) * reach * extent + extent * 0.5;
            match sample % 4 {
                3 => (at * fine).floor() / fine,
                _ => at,
            }
        })
        .collect()
}

/// Creates an array, or returns the error code.
fn create_array(
    [width, height, depth]: [usize; 3],
    format: i32,
    channels: u32,
    flags: u32,
) -> Result<CUarray, i32> {
    let description = CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: format,
        NumChannels: channels,
        Flags: flags,
    };
    let mut array = null_mut();
    result(code!(cuArray3DCreate_v2(&mut array, &description)), ()).map(|()| array)
}

/// Creates an array with these contents.
fn array(size: [usize; 3], kind: &str, channels: u32, flags: u32, bytes: &[u8]) -> CUarray {
    let (number, bits) = format(kind);
    let array = create_array(size, number, channels, flags).unwrap();
    let row = size[0] * (bits * channels) as usize / 8;
    let copy = CUDA_MEMCPY3D {
        srcHost: bytes.as_ptr().cast(),
        srcPitch: row,
        srcHeight: size[1].max(1),
        dstArray: array,
        WidthInBytes: row,
        Height: size[1].max(1),
        Depth: size[2].max(1),
        ..copy_3d(HOST, ARRAY)
    };
    assert_eq!(bytes.len(), row * copy.Height * copy.Depth);
    calls! { cuMemcpy3D_v2(&copy); }
    array
}

/// Returns a texture's parameters: the address mode of all axes, and the filter.
fn sampling(mode: i32, linear: bool) -> CUDA_TEXTURE_DESC {
    CUDA_TEXTURE_DESC {
        addressMode: [mode; 3],
        filterMode: linear.into(),
        ..zeroed()
    }
}

/// Creates a texture object, or returns the error code.
fn create_texture(
    resource: &CUDA_RESOURCE_DESC,
    params: &CUDA_TEXTURE_DESC,
) -> Result<CUtexObject, i32> {
    let mut object = 0;
    result(
        code!(cuTexObjectCreate(&mut object, resource, params, null())),
        (),
    )
    .map(|()| object)
}

/// Returns an array as the resource of a texture or surface.
fn resource(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource: CUDA_RESOURCE_DESC = zeroed();
    resource.res.array.hArray = array;
    resource
}

/// Creates a texture object of an array.
fn texture(array: CUarray, mode: i32, linear: bool, flags: u32) -> CUtexObject {
    let params = CUDA_TEXTURE_DESC {
        flags,
        borderColor: [0.25, -2.0, 3.0, 0.75],
        ..sampling(mode, linear)
    };
    create_texture(&resource(array), &params).unwrap()
}

/// Returns a kernel with a handle, an input and an output as parameters: `body` runs with the handle in `%d1`
/// and the coordinates in `%f0` to `%f2`, and leaves four words in `%r0` to `%r3`.
fn kernel(body: &str) -> String {
    format!(
        ".version 7.0
        .target sm_80
        .address_size 64
        .visible .entry fetch(.param .u64 image, .param .u64 at, .param .u64 to)
        {{
            .reg .b32 %r<12>;
            .reg .f32 %f<8>;
            .reg .b64 %d<6>;
            ld.param.u64 %d1, [image];
            ld.param.u64 %d2, [at];
            ld.param.u64 %d3, [to];
            mov.u32 %r8, %ctaid.x;
            mov.u32 %r9, %ntid.x;
            mov.u32 %r10, %tid.x;
            mad.lo.u32 %r8, %r8, %r9, %r10;
            mad.wide.u32 %d2, %r8, 12, %d2;
            mad.wide.u32 %d3, %r8, 16, %d3;
            ld.global.f32 %f0, [%d2];
            ld.global.f32 %f1, [%d2+4];
            ld.global.f32 %f2, [%d2+8];
            {body}
            st.global.v4.b32 [%d3], {{%r0, %r1, %r2, %r3}};
            ret;
        }}"
    )
}

/// Returns the kernel's results for all coordinates.
fn fetch(body: &str, object: u64, at: &[f32]) -> Vec<u32> {
    let (code, actual) = try_fetch(body, object, at);
    assert_eq!(code, 0, "{body}");
    actual
}

/// Same as [`fetch`], with the result of the synchronization.
fn try_fetch(body: &str, object: u64, at: &[f32]) -> (i32, Vec<u32>) {
    let module = Module::from_ptx(kernel(body), &[]).unwrap();
    let function = module.get_function("fetch").unwrap().to_raw().cast();
    let samples = at.len() / 3;
    let input = DeviceBuffer::from_slice(at).unwrap();
    let output = DeviceBuffer::from_slice(&vec![0xa5a5_a5a5u32; 4 * samples]).unwrap();
    let threads = samples.min(128) as u32;
    let size = [samples as u32 / threads, threads];
    ok(launch(
        function,
        size,
        null_mut(),
        &[
            object,
            input.as_device_ptr().as_raw(),
            output.as_device_ptr().as_raw(),
        ],
    ));
    let code = code!(cuCtxSynchronize());
    let mut actual = vec![0; 4 * samples];
    if code == 0 {
        output.copy_to(&mut actual).unwrap();
    }
    (code, actual)
}

/// Returns a hash of the fetches of one case in the record.
fn hash(case: &str) -> u64 {
    let [
        _,
        shape,
        kind,
        channels,
        params,
        filter,
        mode,
        coordinate_kind,
    ] = case.split(' ').collect::<Vec<_>>()[..]
    else {
        panic!("a case: {case}");
    };
    let mut size = [0; 3];
    for (size, text) in size.iter_mut().zip(shape.split('x')) {
        *size = text.parse().unwrap();
    }
    let dimensions = shape.split('x').count();
    let channels: u32 = channels.parse().unwrap();
    let count = size.iter().map(|&size| size.max(1)).product::<usize>() * channels as usize;
    let array = array(size, kind, channels, 0, &texels(kind, count));
    let modes = ["wrap", "clamp", "mirror", "border"];
    let mode = modes.iter().position(|name| *name == mode).unwrap();
    let normalised = coordinate_kind == "normalised";
    let as_integers = params == "whole";
    // `CU_TRSF_READ_AS_INTEGER` and `CU_TRSF_NORMALIZED_COORDINATES`
    let flags = u32::from(as_integers) | u32::from(normalised) << 1;
    let object = texture(array, mode as i32, filter == "linear", flags);
    let ty = match (as_integers, kind.starts_with('s')) {
        (false, _) => "f32",
        (true, true) => "s32",
        (true, false) => "u32",
    };
    let coordinate_list = ["{%f0}", "{%f0, %f1}", "{%f0, %f1, %f2, %f2}"][dimensions - 1];
    let body = match as_integers {
        true => format!(
            "tex.{dimensions}d.v4.{ty}.f32 {{%r0, %r1, %r2, %r3}}, [%d1, {coordinate_list}];"
        ),
        false => format!(
            "tex.{dimensions}d.v4.f32.f32 {{%f4, %f5, %f6, %f7}}, [%d1, {coordinate_list}];
            mov.b32 %r0, %f4; mov.b32 %r1, %f5; mov.b32 %r2, %f6; mov.b32 %r3, %f7;"
        ),
    };
    let actual = fetch(&body, object, &coordinates(size, normalised));
    calls! {
        cuTexObjectDestroy(object);
        cuArrayDestroy(array);
    }
    actual.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &word| {
        (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01b3)
    })
}

#[test]
fn texture_fetches_match_an_h200() {
    let _context = primary_context();
    let cases = H200.lines().filter(|line| !line.starts_with('#'));
    let wrong: Vec<&str> = cases
        .filter(|line| {
            let (case, expected) = line.split_once(" = ").unwrap();
            format!("{:016x}", hash(case)) != expected
        })
        .collect();
    assert!(H200.lines().count() > 100);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
