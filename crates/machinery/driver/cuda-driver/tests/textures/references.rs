//! Texture and surface references of modules, bound through `cuTexRef…` and `cuSurfRef…`.

use std::ffi::CStr;

use cuda_driver::types::{
    CU_AD_FORMAT_FLOAT, CUDA_ARRAY_DESCRIPTOR, CUfunction, CUmodule, CUsurfref, CUtexref,
};

use super::*;

const INVALID_HANDLE: i32 = 400;
const LAUNCH_FAILED: i32 = 719;
/// `CU_TR_ADDRESS_MODE_CLAMP`, `CU_TRSF_READ_AS_INTEGER`, `CU_TRSF_NORMALIZED_COORDINATES`, `CU_TRSA_OVERRIDE_FORMAT`.
const CLAMP: i32 = 1;
const READ_AS_INTEGER: u32 = 1;
const NORMALIZED: u32 = 2;
const OVERRIDE_FORMAT: u32 = 1;
/// `CUDA_ARRAY3D_SURFACE_LDST`
const WRITABLE: u32 = 2;

/// The form of the PTX of nvcc 11 for `texture<float, 2> plane`, `texture<int> line` and `surface<void, 2> canvas`.
const PTX: &CStr = c"
.version 7.4
.target sm_52
.address_size 64
.global .texref plane;
.global .texref line;
.global .surfref canvas;
.visible .entry sample(.param .u64 sample_param_0, .param .f32 sample_param_1, .param .f32 sample_param_2)
{
    .reg .f32 %f<7>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [sample_param_0];
    ld.param.f32 %f1, [sample_param_1];
    ld.param.f32 %f2, [sample_param_2];
    cvta.to.global.u64 %rd2, %rd1;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [plane, {%f1, %f2}];
    st.global.f32 [%rd2], %f3;
    ret;
}
.visible .entry fetch(.param .u64 fetch_param_0, .param .u32 fetch_param_1)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [fetch_param_0];
    ld.param.u32 %r1, [fetch_param_1];
    cvta.to.global.u64 %rd2, %rd1;
    tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}];
    st.global.u32 [%rd2], %r2;
    ret;
}
.visible .entry draw(.param .u32 draw_param_0)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [draw_param_0];
    mov.u32 %r2, 4;
    mov.u32 %r3, 1;
    sust.b.2d.b32.trap [canvas, {%r2, %r3}], {%r1};
    ret;
}
.visible .entry size(.param .u64 size_param_0)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [size_param_0];
    mov.u64 %rd2, plane;
    txq.width.b32 %r1, [plane];
    txq.height.b32 %r2, [%rd2];
    st.global.v2.u32 [%rd1], {%r1, %r2};
    ret;
}";

/// PTX 1.x declares texture references in a state space of their own, and pads coordinates to four.
const OLD_PTX: &CStr = c"
.version 1.4
.target sm_13
.tex .u64 line;
.entry fetch(.param .u64 to, .param .u32 index)
{
    .reg .u32 %r<6>;
    .reg .u64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [index];
    tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1, %r1, %r1, %r1}];
    st.global.u32 [%rd1], %r2;
    exit;
}";

fn texture_reference(module: CUmodule, name: &CStr) -> CUtexref {
    let mut reference = null_mut();
    calls! { cuModuleGetTexRef(&mut reference, module, name.as_ptr()); }
    reference
}

/// Launches a kernel that stores one word, and returns the word.
fn word(function: CUfunction, arguments: &[u64]) -> u32 {
    let to = allocate(8);
    let arguments: Vec<u64> = [to].iter().chain(arguments).copied().collect();
    ok(launch(function, [1, 1], null_mut(), &arguments));
    let word = read(to);
    calls! { cuMemFree_v2(to); }
    word
}

/// Samples the texture `plane`.
fn sample(function: CUfunction, x: f32, y: f32) -> f32 {
    let coordinates = [x, y].map(|at| u64::from(at.to_bits()));
    f32::from_bits(word(function, &coordinates))
}

/// Returns the bytes of floats from 0 on.
fn ramp(count: usize) -> Vec<u8> {
    (0..count).flat_map(|n| (n as f32).to_ne_bytes()).collect()
}

#[test]
fn kernels_sample_the_array_of_a_reference_with_its_settings() {
    let _context = primary_context();
    let module = module(PTX);
    let (plane, sampler) = (
        texture_reference(module, c"plane"),
        function(module, c"sample"),
    );
    let first = array([4, 2, 0], "f32", 1, 0, &ramp(8));
    calls! { cuTexRefSetArray(plane, first, OVERRIDE_FORMAT); }
    assert_eq!(sample(sampler, 1.5, 1.5), 5.0);
    calls! {
        cuTexRefSetFilterMode(plane, 1);
        cuTexRefSetAddressMode(plane, 0, CLAMP);
    }
    assert_eq!(sample(sampler, 2.0, 0.5), 1.5);
    calls! { cuTexRefSetFlags(plane, NORMALIZED); }
    assert_eq!(sample(sampler, 0.5, 0.75), 5.5);
    assert_eq!(word(function(module, c"size"), &[]), 4);
    // Another array keeps the settings.
    let second = array([2, 2, 0], "f32", 1, 0, &ramp(4));
    calls! { cuTexRefSetArray(plane, second, OVERRIDE_FORMAT); }
    assert_eq!(sample(sampler, 0.5, 0.5), 1.5);
    assert_eq!(texture_reference(module, c"plane"), plane);
}

#[test]
fn pending_launches_use_the_binding_at_their_submission() {
    let _context = primary_context();
    let module = module(PTX);
    let (plane, sampler) = (
        texture_reference(module, c"plane"),
        function(module, c"sample"),
    );
    let arrays = [0, 4].map(|first| array([4, 1, 0], "f32", 1, 0, &ramp(8)[4 * first..][..16]));
    let results = arrays.map(|array| {
        let to = allocate(4);
        calls! { cuTexRefSetArray(plane, array, OVERRIDE_FORMAT); }
        let at = u64::from(2.5f32.to_bits());
        ok(launch(sampler, [1, 1], null_mut(), &[to, at, at]));
        to
    });
    assert_eq!(results.map(read::<f32>), [2.0, 6.0]);
}

#[test]
fn linear_and_pitched_memory_can_be_bound() {
    let _context = primary_context();
    let module = module(PTX);
    let (line, fetcher) = (
        texture_reference(module, c"line"),
        function(module, c"fetch"),
    );
    let memory = allocate(4096);
    let values: Vec<u8> = (0..1024i32).flat_map(|n| (7 - n).to_ne_bytes()).collect();
    calls! { cuMemcpyHtoD_v2(memory, values.as_ptr().cast(), values.len()); }
    let mut offset = 77;
    calls! {
        // `CU_AD_FORMAT_SIGNED_INT32`
        cuTexRefSetFormat(line, 10, 1);
        cuTexRefSetFlags(line, READ_AS_INTEGER);
        cuTexRefSetAddress_v2(&mut offset, line, memory, 4096);
    }
    assert_eq!(offset, 0);
    assert_eq!(word(fetcher, &[100]).cast_signed(), -93);
    // An address between alignments is rounded down, and the texture starts there.
    calls! {
        cuTexRefSetAddress_v2(null_mut(), line, memory + 520, 400) => INVALID_VALUE;
        cuTexRefSetAddress_v2(&mut offset, line, memory + 520, 400);
    }
    assert_eq!(offset, 8);
    assert_eq!(word(fetcher, &[2]).cast_signed(), 7 - 130);
    // The texture ends with the bytes that were bound.
    assert_eq!(word(fetcher, &[102]), 0);

    let (plane, sampler) = (
        texture_reference(module, c"plane"),
        function(module, c"sample"),
    );
    let shape = CUDA_ARRAY_DESCRIPTOR {
        Width: 16,
        Height: 2,
        Format: CU_AD_FORMAT_FLOAT,
        NumChannels: 1,
    };
    let rows = ramp(1024);
    calls! {
        cuMemcpyHtoD_v2(memory, rows.as_ptr().cast(), rows.len());
        cuTexRefSetAddress2D_v3(plane, &shape, memory, 512);
    }
    assert_eq!(sample(sampler, 3.5, 1.5), 131.0);
    // An invalid change leaves the reference as it was.
    calls! {
        cuTexRefSetAddress2D_v3(plane, &shape, memory, 100) => INVALID_VALUE;
        cuTexRefSetAddress2D_v3(plane, &shape, 0, 512) => INVALID_VALUE;
    }
    assert_eq!(sample(sampler, 3.5, 1.5), 131.0);
    let mut address = 0;
    calls! { cuTexRefGetAddress_v2(&mut address, plane); }
    assert_eq!(address, memory);
    // The null pointer unbinds a reference, which keeps it as its address. Other addresses are not validated.
    calls! {
        cuTexRefSetAddress_v2(&mut offset, line, 0, 0);
        cuTexRefGetAddress_v2(&mut address, line);
        cuTexRefSetAddress_v2(&mut offset, line, rows.as_ptr() as u64, 400);
    }
    assert_eq!(address, 0);
}

/// The errors and the first settings are those of an H200 (driver-answers, `texture-fetches`).
#[test]
fn arrays_that_do_not_exist_and_unknown_flags_are_rejected() {
    let _context = primary_context();
    let module = module(PTX);
    let plane = texture_reference(module, c"plane");
    let (mut mode, source) = (77, array([4, 2, 0], "f32", 1, 0, &ramp(8)));
    calls! {
        cuTexRefSetArray(plane, null_mut(), OVERRIDE_FORMAT) => INVALID_HANDLE;
        cuTexRefSetMipmappedArray(plane, null_mut(), OVERRIDE_FORMAT) => INVALID_HANDLE;
        cuTexRefSetArray(plane, source, 8) => INVALID_VALUE;
        cuTexRefSetArray(plane, source, OVERRIDE_FORMAT);
        cuTexRefSetArray(plane, null_mut(), OVERRIDE_FORMAT) => INVALID_HANDLE;
        cuTexRefGetAddressMode(&mut mode, plane, 0);
        cuModuleGetGlobal_v2(&mut 0, &mut 0, module, c"plane".as_ptr()) => INVALID_VALUE;
    }
    assert_eq!(mode, CLAMP);
    // The reference keeps its array.
    assert_eq!(sample(function(module, c"sample"), 2.5, 0.5), 2.0);
}

#[test]
fn surfaces_of_modules_are_written() {
    let _context = primary_context();
    let module = module(PTX);
    let mut canvas: CUsurfref = null_mut();
    let target = array([4, 2, 0], "u32", 1, WRITABLE, &ramp(8));
    calls! {
        cuModuleGetSurfRef(&mut canvas, module, c"plane".as_ptr()) => NOT_FOUND;
        cuModuleGetSurfRef(&mut canvas, module, c"canvas".as_ptr());
        cuSurfRefGetArray(&mut null_mut(), canvas) => INVALID_VALUE;
        cuSurfRefSetArray(canvas, null_mut(), 0) => INVALID_HANDLE;
        cuSurfRefSetArray(canvas, target, 0);
    }
    let draw = function(module, c"draw");
    ok(launch(draw, [1, 1], null_mut(), &[1234]));
    let mut row = [0u32; 4];
    let copy = CUDA_MEMCPY3D {
        srcArray: target,
        srcY: 1,
        dstHost: row.as_mut_ptr().cast(),
        WidthInBytes: 16,
        Height: 1,
        Depth: 1,
        ..copy_3d(ARRAY, HOST)
    };
    calls! { cuMemcpy3D_v2(&copy); }
    assert_eq!(reread(&row)[1], 1234);
}

#[test]
fn modules_of_ptx_1_have_texture_references() {
    let _context = primary_context();
    let module = module(OLD_PTX);
    let line = texture_reference(module, c"line");
    let source = array([4, 0, 0], "u32", 1, 0, &[3; 16]);
    calls! { cuTexRefSetArray(line, source, OVERRIDE_FORMAT); }
    assert_eq!(word(function(module, c"fetch"), &[2]), 0x0303_0303);
}

#[test]
fn references_of_an_unloaded_module_are_invalid() {
    let _context = primary_context();
    let loaded = module(PTX);
    let plane = texture_reference(loaded, c"plane");
    let source = array([4, 2, 0], "f32", 1, 0, &ramp(8));
    calls! {
        cuTexRefSetArray(plane, source, OVERRIDE_FORMAT);
        cuModuleUnload(loaded);
        cuTexRefSetArray(plane, source, OVERRIDE_FORMAT) => INVALID_VALUE;
        cuTexRefGetArray(&mut null_mut(), plane) => INVALID_VALUE;
    }
    // A new module does not inherit the binding, even if its reference has the same handle.
    let again = texture_reference(module(PTX), c"plane");
    calls! { cuTexRefGetArray(&mut null_mut(), again) => INVALID_VALUE; }
}

/// Asserts that a launch of `sample`, which fetches from `plane`, fails.
fn assert_sample_faults(module: CUmodule) {
    let sample = function(module, c"sample");
    ok(launch(sample, [1, 1], null_mut(), &[allocate(4), 0, 0]));
    calls! { cuCtxSynchronize() => LAUNCH_FAILED; }
}

#[test]
fn fetch_from_an_unbound_reference_faults() {
    let _context = own_context();
    let module = module(PTX);
    texture_reference(module, c"plane");
    assert_sample_faults(module);
}

#[test]
fn fetch_from_a_destroyed_array_faults() {
    let _context = own_context();
    let module = module(PTX);
    let plane = texture_reference(module, c"plane");
    let source = array([4, 2, 0], "f32", 1, 0, &ramp(8));
    calls! {
        cuTexRefSetArray(plane, source, OVERRIDE_FORMAT);
        cuArrayDestroy(source);
    }
    assert_sample_faults(module);
}

#[test]
fn created_references_have_settings_and_can_be_destroyed() {
    let _context = primary_context();
    let mut created = null_mut();
    let (mut low, mut high, mut border) = (7.0, 7.0, [7.0f32; 4]);
    calls! {
        cuTexRefCreate(&mut created);
        cuTexRefSetMipmapLevelClamp(created, 1.0, 2.5);
        cuTexRefGetMipmapLevelClamp(&mut low, &mut high, created);
        cuTexRefSetBorderColor(created, [1.0f32, 2.0, 3.0, 4.0].as_mut_ptr());
        cuTexRefGetBorderColor(border.as_mut_ptr(), created);
        cuTexRefSetAddressMode(created, 3, 0) => INVALID_VALUE;
        cuTexRefSetFormat(created, 32, 3) => INVALID_VALUE;
        cuTexRefSetFlags(created, 0x1000) => INVALID_VALUE;
        cuParamSetTexRef(null_mut(), -1, created);
        cuParamSetTexRef(null_mut(), 0, created) => INVALID_VALUE;
        cuTexRefDestroy(created);
        cuTexRefDestroy(created) => INVALID_VALUE;
        cuTexRefDestroy(texture_reference(module(PTX), c"plane")) => INVALID_VALUE;
    }
    assert_eq!(
        ([low, high], reread(&border)),
        ([1.0, 2.5], [1.0, 2.0, 3.0, 4.0])
    );
}
