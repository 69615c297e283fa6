//! Texture and surface objects: made, asked what they are of, and refused.

use std::ptr::null;

use cuda_runtime as cuda;
use cuda_runtime::types::{
    ChannelFormat, LinearResource, PitchedResource, ResourceDesc, ResourceOf, TextureDesc,
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
        of: ResourceOf {
            linear: LinearResource {
                pointer: memory.0,
                format,
                bytes: 256,
            },
        },
    }
}

#[test]
fn a_texture_says_what_it_is_of_and_how_it_is_read() {
    let memory = Memory::new(4096);
    let how = TextureDesc {
        address_mode: [1, 1, 1],
        read_mode: 0,
        border_color: [1.0, 2.0, 3.0, 4.0],
        ..TextureDesc::default()
    };
    let pitched = ResourceDesc {
        kind: PITCHED,
        of: ResourceOf {
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
        let mut again = linear(&memory, FLOATS);
        let mut how_again = TextureDesc::default();
        // SAFETY: descriptions and a handle are written; the kind says which part of a union counts.
        unsafe {
            ok(cuda::cudaCreateTextureObject(
                &mut texture,
                &resource,
                &how,
                null(),
            ));
            ok(cuda::cudaGetTextureObjectResourceDesc(&mut again, texture));
            assert_eq!(again.kind, resource.kind);
            assert_eq!(again.of.linear.pointer, memory.0);
            assert_eq!(again.of.linear.format, FLOATS);
            if again.kind == PITCHED {
                let of = again.of.pitched;
                assert_eq!((of.width, of.height, of.pitch), (8, 4, 512));
            } else {
                assert_eq!(again.of.linear.bytes, 256);
            }
            ok(cuda::cudaGetTextureObjectTextureDesc(
                &mut how_again,
                texture,
            ));
            assert_eq!(how_again, how);
            ok(cuda::cudaDestroyTextureObject(texture));
            ok(cuda::cudaDestroyTextureObject(0));
            let gone = cuda::cudaGetTextureObjectResourceDesc(&mut again, texture);
            fails(gone, "cudaErrorInvalidValue");
        }
    }
}

#[test]
fn textures_that_cannot_be_are_refused() {
    let memory = Memory::new(4096);
    let mut texture = 0;
    let plain = TextureDesc::default();
    let mixed = TextureDesc {
        filter_mode: 1,
        ..plain
    };
    let whole = ChannelFormat { f: 1, ..FLOATS };
    let odd = ChannelFormat { x: 7, ..FLOATS };
    let unknown = ResourceDesc {
        kind: 9,
        ..linear(&memory, FLOATS)
    };
    let mipmapped = ResourceDesc {
        kind: MIPMAPPED,
        ..unknown
    };
    for (resource, how, error) in [
        (
            linear(&memory, whole),
            mixed,
            "cudaErrorInvalidFilterSetting",
        ),
        (
            linear(&memory, odd),
            plain,
            "cudaErrorInvalidChannelDescriptor",
        ),
        (unknown, plain, "cudaErrorInvalidValue"),
        (mipmapped, plain, "cudaErrorNotSupported"),
    ] {
        // SAFETY: refused.
        let made = unsafe { cuda::cudaCreateTextureObject(&mut texture, &resource, &how, null()) };
        fails(made, error);
    }
}

#[test]
fn a_surface_is_of_an_array() {
    start();
    let mut array = std::ptr::null_mut();
    let (mut surface, mut texture) = (0, 0);
    let memory = Memory::new(4096);
    let linear = linear(&memory, FLOATS);
    // SAFETY: handles are written.
    unsafe {
        ok(cuda::cudaMallocArray(&mut array, &FLOATS, 8, 8, 2));
        let resource = ResourceDesc {
            kind: ARRAY,
            of: ResourceOf { array },
        };
        ok(cuda::cudaCreateSurfaceObject(&mut surface, &resource));
        let mut again = linear;
        ok(cuda::cudaGetSurfaceObjectResourceDesc(&mut again, surface));
        assert_eq!((again.kind, again.of.array), (ARRAY, array));
        ok(cuda::cudaDestroySurfaceObject(surface));
        fails(
            cuda::cudaCreateSurfaceObject(&mut surface, &linear),
            "cudaErrorInvalidValue",
        );
        let how = TextureDesc::default();
        ok(cuda::cudaCreateTextureObject(
            &mut texture,
            &resource,
            &how,
            null(),
        ));
        ok(cuda::cudaDestroyTextureObject(texture));
        ok(cuda::cudaFreeArray(array));
    }
}
