//! Texture and surface objects: creation, queries and rejected descriptors.

use std::ptr::null;

use cuda_runtime::types::{
    ChannelFormat, LinearResource, PitchedResource, ResourceDesc, ResourceUnion, TextureDesc,
};

use super::program::*;

const FLOATS: ChannelFormat = channels([32, 0, 0, 0], 2);
const ARRAY: i32 = 0;
const MIPMAPPED: i32 = 1;
const LINEAR: i32 = 2;
const PITCHED: i32 = 3;

fn linear(memory: &Memory, format: ChannelFormat) -> ResourceDesc {
    ResourceDesc {
        kind: LINEAR,
        res: ResourceUnion {
            linear: LinearResource {
                pointer: memory.0,
                format,
                bytes: 256,
            },
        },
    }
}

#[test]
fn a_texture_returns_its_descriptors() {
    let memory = Memory::new(4096);
    let desc = TextureDesc {
        address_mode: [1, 1, 1],
        read_mode: 0,
        border_color: [1.0, 2.0, 3.0, 4.0],
        ..TextureDesc::default()
    };
    let pitched = ResourceDesc {
        kind: PITCHED,
        res: ResourceUnion {
            pitched: PitchedResource {
                pointer: memory.0,
                format: FLOATS,
                width: 8,
                height: 4,
                pitch: 512,
            },
        },
    };
    for resource in [linear(&memory, FLOATS), pitched] {
        let mut texture = 0;
        let mut actual = linear(&memory, FLOATS);
        let mut actual_desc = TextureDesc::default();
        calls! {
            cudaCreateTextureObject(&mut texture, &resource, &desc, null());
            cudaGetTextureObjectResourceDesc(&mut actual, texture);
        }
        assert_eq!(actual.kind, resource.kind);
        // SAFETY: both members begin with the address and the format, and `kind` selects the member.
        unsafe {
            assert_eq!(actual.res.linear.pointer, memory.0);
            assert_eq!(actual.res.linear.format, FLOATS);
            if actual.kind == PITCHED {
                let pitched = actual.res.pitched;
                assert_eq!((pitched.width, pitched.height, pitched.pitch), (8, 4, 512));
            } else {
                assert_eq!(actual.res.linear.bytes, 256);
            }
        }
        calls! { cudaGetTextureObjectTextureDesc(&mut actual_desc, texture); }
        assert_eq!(actual_desc, desc);
        calls! {
            cudaDestroyTextureObject(texture);
            cudaDestroyTextureObject(0);
            cudaGetTextureObjectResourceDesc(&mut actual, texture) => "cudaErrorInvalidValue";
        }
    }
}

#[test]
fn invalid_textures_are_rejected() {
    let memory = Memory::new(4096);
    let mut texture = 0;
    let point_sampled = TextureDesc::default();
    let linear_filtered = TextureDesc {
        filter_mode: 1,
        ..point_sampled
    };
    let integers = ChannelFormat { f: 1, ..FLOATS };
    let seven_bits = ChannelFormat { x: 7, ..FLOATS };
    let unknown = ResourceDesc {
        kind: 9,
        ..linear(&memory, FLOATS)
    };
    let mipmapped = ResourceDesc {
        kind: MIPMAPPED,
        ..unknown
    };
    for (resource, desc, error) in [
        (
            linear(&memory, integers),
            linear_filtered,
            "cudaErrorInvalidFilterSetting",
        ),
        (
            linear(&memory, seven_bits),
            point_sampled,
            "cudaErrorInvalidChannelDescriptor",
        ),
        (unknown, point_sampled, "cudaErrorInvalidValue"),
        (mipmapped, point_sampled, "cudaErrorNotSupported"),
    ] {
        calls! { cudaCreateTextureObject(&mut texture, &resource, &desc, null()) => error; }
    }
}

#[test]
fn a_surface_requires_an_array() {
    start();
    let mut array = std::ptr::null_mut();
    let (mut surface, mut texture) = (0, 0);
    let memory = Memory::new(4096);
    let linear = linear(&memory, FLOATS);
    calls! { cudaMallocArray(&mut array, &FLOATS, 8, 8, 2); }
    let resource = ResourceDesc {
        kind: ARRAY,
        res: ResourceUnion { array },
    };
    calls! { cudaCreateSurfaceObject(&mut surface, &resource); }
    let mut actual = linear;
    calls! { cudaGetSurfaceObjectResourceDesc(&mut actual, surface); }
    assert_eq!(actual.kind, ARRAY);
    // SAFETY: `ARRAY` selects the member.
    assert_eq!(unsafe { actual.res.array }, array);
    calls! {
        cudaDestroySurfaceObject(surface);
        cudaCreateSurfaceObject(&mut surface, &linear) => "cudaErrorInvalidValue";
    }
    let desc = TextureDesc::default();
    calls! {
        cudaCreateTextureObject(&mut texture, &resource, &desc, null());
        cudaDestroyTextureObject(texture);
        cudaFreeArray(array);
    }
}
