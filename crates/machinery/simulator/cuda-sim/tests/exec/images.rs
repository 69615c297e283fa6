//! Texture and surface instructions that are rejected or fault. Supported forms need CUDA arrays and texture
//! objects, so the tests of `cuda-driver` cover them.

use crate::harness::*;
use cuda_sim::exec::FaultKind;

#[test]
fn invalid_and_unsupported_forms_are_rejected() {
    for (instruction, expected) in cases(
        r"
        tex.2d.v4.u32.f32 FOUR, [%d1, {%f1}]; => coordinates, found 1
        tex.3d.v4.u32.f32 FOUR, [%d1, {%f1, %f1, %f1}]; => expected 4 coordinates
        tex.a2dms.v4.u32.s32 FOUR, [%d1, {%r1, %r1, %r1, %r1}]; => is not simulated
        tex.grad.2d.v4.u32.s32 FOUR, [%d1, {%r1, %r1}], {%f1, %f1}, {%f1, %f1}; => is not simulated
        tex.grad.2d.v4.u32.f32 FOUR, [%d1, {%f1, %f1}], {%f1, %f1}; => takes registers, and a handle
        tex.grad.3d.v4.u32.f32 FOUR, [%d1, {%f1, %f1, %f1, %f1}], {%f1, %f1}, {%f1, %f1}; => expected a vector of 4
        tex.1d.v4.u32.f32 FOUR, [canvas, {%f1}]; => `canvas` is a .surfref, but the instruction requires a .texref
        suld.b.1d.b32.zero %r1, [image, {%r1}]; => `image` is a .texref, but the instruction requires a .surfref
        tex.level.2d.v4.u32.f32 FOUR, [%d1, {%f1, %f1}]; => takes registers, and a handle
        tex.1d.v4.u32.f32 {%r1, %r2}, [%d1, {%f1}]; => expected a vector of 4 registers, found 2
        tex.1d.v4.u32.f32 FOUR, [picture, {%f1}]; => 64-bit handle
        tex.1d.v4.u32.f32 FOUR, [%r1, {%f1}]; => 64-bit handle
        tld4.r.3d.v4.u32.f32 FOUR, [%d1, {%f1, %f1}]; => is not simulated
        suld.b.2d.b32 %r1, [%d1, {%r1, %r1}]; => is not simulated
        suld.p.2d.b32.zero %r1, [%d1, {%r1, %r1}]; => is not simulated
        suld.b.2d.v4.b64.zero {%d2, %d2, %d2, %d2}, [%d1, {%r1, %r1}]; => is not simulated
        sust.b.2d.b32.zero [%d1], %r1; => takes registers, and a handle
        sured.b.xor.2d.b32.zero [%d1, {%r1, %r1}], %r2; => is not simulated
        sured.b.add.2d.b32.zero [%d1, {%r1, %r1}], %r2; => is not simulated
        sured.b.add.a2d.u32.zero [%d1, {%r1, %r1, %r1, %r1}], %r2; => is not simulated
        tex.cube.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r1, %r1, %r1, %r1}]; => is not simulated
        tex.a1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1}]; => expected 2 coordinates, found 1
        txq.channel_order.b32 %r1, [%d1]; => is not simulated
    ",
    ) {
        let instruction = instruction.replace("FOUR", "{%r1, %r2, %r3, %r4}");
        let references = ".global .texref image; .global .surfref canvas;";
        let ptx = module_of(references, &format!(".reg .f32 %f<4>;\n{instruction}"));
        assert_load_error(&ptx, expected);
    }
}

#[test]
fn invalid_handle_faults() {
    for instruction in [
        "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r5}];",
        "suld.b.1d.b32.zero %r1, [%d1, {%r5}];",
        "suq.width.b32 %r1, [%d1];",
        ".reg .b8 %b; cvt.rni.sat.u8.f32 %b, 0f3F800000; sust.b.2d.b8.zero [%d1, {%r5, %r5}], %b;",
    ] {
        let body = format!("mov.u64 %d1, 77; mov.u32 %r5, 0; {instruction}");
        let fault = words(&module_of("", &body), 32).expect_err(instruction);
        assert_eq!(fault.kind, FaultKind::NoImage { handle: 77 });
        assert!(fault.to_string().contains("the handle 0x4d"), "{fault}");
    }
}

#[test]
fn fetch_from_an_unbound_reference_faults_with_its_name() {
    for instruction in [
        "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [image, {%r5}];",
        "suld.b.1d.b32.zero %r1, [canvas, {%r5}];",
        "mov.u64 %d1, canvas; suq.width.b32 %r1, [%d1];",
    ] {
        let name = if instruction.contains("canvas") {
            "canvas"
        } else {
            "image"
        };
        let references = ".global .texref image; .global .surfref canvas;";
        let ptx = module_of(references, &format!("mov.u32 %r5, 0; {instruction}"));
        let fault = words(&ptx, 32).expect_err(instruction);
        assert!(
            fault
                .to_string()
                .contains(&format!("reference `{name}` is not bound")),
            "{fault}"
        );
    }
}
