//! Texture and surface objects: creation, queries and rejected descriptors.

use std::ptr::null;

use cuda_runtime as cuda;
use cuda_runtime::types::{
    ChannelFormat, LinearResource, PitchedResource, ResourceDesc, ResourceUnion, TextureDesc,
};

use super::program::{Memory, fails, ok, start};

const FLOATS: ChannelFormat = ChannelFormat {
    x: 32,
    y: 0,
    z: 0,
    w: 0,
    f: 2,
};
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
        // SAFETY: all out-parameters are local variables, and `kind` selects the member read from each union.
        unsafe {
            ok(cuda::cudaCreateTextureObject(
                &mut texture,
                &resource,
                &desc,
                null(),
            ));
            ok(cuda::cudaGetTextureObjectResourceDesc(&mut actual, texture));
            assert_eq!(actual.kind, resource.kind);
            assert_eq!(actual.res.linear.pointer, memory.0);
            assert_eq!(actual.res.linear.format, FLOATS);
            if actual.kind == PITCHED {
                let pitched = actual.res.pitched;
                assert_eq!((pitched.width, pitched.height, pitched.pitch), (8, 4, 512));
            } else {
                assert_eq!(actual.res.linear.bytes, 256);
            }
            ok(cuda::cudaGetTextureObjectTextureDesc(
                &mut actual_desc,
                texture,
            ));
            assert_eq!(actual_desc, desc);
            ok(cuda::cudaDestroyTextureObject(texture));
            ok(cuda::cudaDestroyTextureObject(0));
            let destroyed = cuda::cudaGetTextureObjectResourceDesc(&mut actual, texture);
            fails(destroyed, "cudaErrorInvalidValue");
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
        // SAFETY: every call is rejected.
        let code = unsafe { cuda::cudaCreateTextureObject(&mut texture, &resource, &desc, null()) };
        fails(code, error);
    }
}

#[test]
fn a_surface_requires_an_array() {
    start();
    let mut array = std::ptr::null_mut();
    let (mut surface, mut texture) = (0, 0);
    let memory = Memory::new(4096);
    let linear = linear(&memory, FLOATS);
    // SAFETY: all out-parameters are local variables, and `ARRAY` selects the union's member.
    unsafe {
        ok(cuda::cudaMallocArray(&mut array, &FLOATS, 8, 8, 2));
        let resource = ResourceDesc {
            kind: ARRAY,
            res: ResourceUnion { array },
        };
        ok(cuda::cudaCreateSurfaceObject(&mut surface, &resource));
        let mut actual = linear;
        ok(cuda::cudaGetSurfaceObjectResourceDesc(&mut actual, surface));
        assert_eq!((actual.kind, actual.res.array), (ARRAY, array));
        ok(cuda::cudaDestroySurfaceObject(surface));
        fails(
            cuda::cudaCreateSurfaceObject(&mut surface, &linear),
            "cudaErrorInvalidValue",
        );
        let desc = TextureDesc::default();
        ok(cuda::cudaCreateTextureObject(
            &mut texture,
            &resource,
            &desc,
            null(),
        ));
        ok(cuda::cudaDestroyTextureObject(texture));
        ok(cuda::cudaFreeArray(array));
    }
}
