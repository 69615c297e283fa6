//! Tests of the instruction table. Each invalid form is refused with an error that names the invalid part, and
//! the PTX version and compute capability that an instruction requires are those of its page in the PTX ISA.

use super::harness::{TestForm, op, refusal};
use crate::exec::cpu::Cpu;
use crate::exec::ops::FormError::*;
use crate::lower::function::instructions::{
    Lowering, Requirements, TABLE, find, ptx, required_capability,
};
use crate::ptx::tests::cases;

#[test]
fn other_mnemonics_are_not_register_instructions() {
    for mnemonic in ["ld", "bra", "frobnicate"] {
        let lowering = find(mnemonic, &["u32"]).map(|entry| entry.lowering);
        let has_registers = matches!(lowering, Some(Lowering::Registers(_)));
        assert!(!has_registers, "{mnemonic}");
    }
}

#[test]
fn unknown_modifiers_are_rejected() {
    for (form, modifier) in [
        ("add.ftz.u32", "ftz"),
        ("add.ftz.f64", "ftz"),
        ("add.sat.f64", "sat"),
        ("add.rn.s32", "rn"),
        ("mul.lo.sat.s32", "sat"),
        ("mad.lo.sat.s32", "sat"),
        ("mul24.hi.sat.s32", "sat"),
        ("dp4a.lo.u32.u32", "lo"),
        ("min.relu.f32", "relu"),
        ("min.ftz.f64", "ftz"),
        ("div.rn.sat.f32", "sat"),
        ("rcp.rn.ftz.f64", "ftz"),
        ("copysign.ftz.f32", "ftz"),
        ("add.ftz.bf16", "ftz"),
        ("add.relu.f16", "relu"),
        ("tanh.approx.ftz.f32", "ftz"),
        ("popc.shiftamt.b32", "shiftamt"),
        ("and.lo.b32", "lo"),
        ("shl.wrap.b32", "wrap"),
        ("prmt.b32.f5e", "f5e"),
        ("setp.eq.ftz.s32", "ftz"),
        ("setp.eq.lt.s32", "lt"),
        ("setp.lt.equ.s32", "equ"),
        ("selp.ftz.f32", "ftz"),
        ("slct.ftz.f32.s32", "ftz"),
        ("mov.rn.b32", "rn"),
        ("addc.sat.u32", "sat"),
        ("cvt.ftz.u32.u16", "ftz"),
        ("cvt.relu.u32.u16", "relu"),
    ] {
        assert_eq!(refusal(form), Modifier(modifier.into()), "{form}");
    }
}

#[test]
fn unsupported_types_are_rejected() {
    for (form, ty) in [
        ("add.b32", "b32"),
        ("add.u8", "u8"),
        ("add.sat.u32", "u32"),
        ("mul.wide.u64", "u64"),
        ("mad.wide.s64", "s64"),
        ("mad.hi.sat.u32", "u32"),
        ("mul24.lo.u64", "u64"),
        ("dp4a.u32.s16", "s16"),
        ("abs.u32", "u32"),
        ("popc.u32", "u32"),
        ("brev.s64", "s64"),
        ("bfind.b32", "b32"),
        ("fns.b64", "b64"),
        ("bfi.u32", "u32"),
        ("bmsk.clamp.b64", "b64"),
        ("add.cc.u16", "u16"),
        ("and.u32", "u32"),
        ("cnot.pred", "pred"),
        ("shl.u32", "u32"),
        ("shr.f32", "f32"),
        ("shf.l.wrap.b64", "b64"),
        ("lop3.b64", "b64"),
        ("prmt.b64", "b64"),
        ("fma.rn.s32", "s32"),
        ("div.full.f64", "f64"),
        ("sqrt.approx.f64", "f64"),
        ("rcp.rn.f16", "f16"),
        ("sin.approx.f64", "f64"),
        ("testp.finite.f16", "f16"),
        ("div.rn.f16", "f16"),
        ("setp.eq.u8", "u8"),
        ("set.eq.f64.f64", "f64"),
        ("selp.pred", "pred"),
        ("slct.f32.f64", "f64"),
        ("mov.b128", "b128"),
        ("cvt.u32.b32", "b32"),
        ("cvt.rn.f16x2.f64", "f64"),
        ("set.eq.f16x2.bf16x2", "bf16x2"),
        ("set.eq.u16.u16", "u16"),
        ("set.eq.bf16.f16", "f16"),
        ("mov.u16x2", "u16x2"),
        ("min.relu.f32x2", "f32x2"),
        ("sub.s16x2", "s16x2"),
    ] {
        assert_eq!(refusal(form), Type(ty.into()), "{form}");
    }
    for form in [
        "setp.eq.f16x2",
        "cvt.pack.s16.s32",
        "cvt.pack.sat.s8.s32",
        "cvt.pack.sat.s32.s32.b32",
        "cvt.pack.sat.s32.s16",
        "fma.f32x2",
    ] {
        assert!(matches!(refusal(form), Missing(_)), "{form}");
    }
    for form in ["cvt.rn.satfinite.e4m3x2.f32", "add.e5m2x2"] {
        assert!(matches!(refusal(form), NotSimulated(_)), "{form}");
    }
}

#[test]
fn missing_modifiers_are_reported() {
    for form in "
        mul.s32 mad.u32 mul24.s32 dp2a.u32.u32 mad.cc.u32 fma.f32 div.f32 sqrt.f64 rsqrt.rn.f32
        rcp.approx.f64 sin.f32 ex2.f16 ex2.approx.bf16 fma.f16 min.xorsign.f32 max.xorsign.f16
        testp.f32 shf.b32 shf.l.b32 bmsk.b32 szext.s32 setp.u32 setp.lt.b32 setp.lo.s32
        setp.lo.f32 set.u32.f32 cvt.f32.s32 cvt.s32.f32 cvt.f32.f64 cvt.f16.bf16 cvt.f16x2.f32
        cvt.rm.bf16x2.f32
    "
    .split_whitespace()
    {
        let error = refusal(form);
        assert!(matches!(error, Missing(_)), "{form}: {error}");
    }
    for form in [
        "add",
        "cvt.u32",
        "selp",
        "mov",
        "lop3",
        "sqrt.rn",
        "ex2.approx",
    ] {
        assert_eq!(refusal(form), NoType, "{form}");
    }
}

#[test]
fn superfluous_roundings_are_rejected() {
    for form in [
        "cvt.rn.u32.u16",
        "cvt.rni.f32.s32",
        "cvt.rn.s32.f32",
        "cvt.rn.f64.f32",
        "cvt.rni.f32.f64",
        "cvt.rn.f32.f32",
        "cvt.rni.u32.u32",
        "cvt.rn.rni.f32.f32",
    ] {
        let error = refusal(form);
        assert!(matches!(error, Modifier(_)), "{form}: {error}");
    }
}

#[test]
fn too_narrow_registers_are_rejected() {
    for (form, def_bytes, use_bytes, register, ty) in [
        ("cvt.u32.u16", Some(2), None, 2, "u32"),
        ("cvt.u32.u64", None, Some(4), 4, "u64"),
    ] {
        let written = TestForm::from(form).widths(def_bytes, use_bytes);
        let error = op(&written, Cpu::Baseline).err();
        assert_eq!(error, Some(Narrow { register, ty }), "{form}");
    }
}

#[test]
fn messages_name_the_invalid_part() {
    for (form, message) in cases(
        r"
        add.ftz.u32 => `.ftz` is not a modifier of this instruction
        add.b32 => `.b32` is not a type of this instruction
        mul.s32 => a modifier is missing: one of .hi, .lo, .wide
        add => a type modifier is missing
    ",
    ) {
        assert_eq!(refusal(form).to_string(), message);
    }
}

/// Splits an instruction as written into mnemonic and modifiers.
fn parts(instruction: &str) -> (&str, Vec<&str>) {
    let mut parts = instruction.split('.');
    (parts.next().unwrap_or_default(), parts.collect())
}

fn requirements(instruction: &str) -> Requirements {
    let (mnemonic, modifiers) = parts(instruction);
    let entry = find(mnemonic, &modifiers).expect("an instruction of the table");
    entry.requirements_of(&modifiers)
}

#[test]
fn required_capabilities_match_the_ptx_isa() {
    for (instruction, required) in [
        ("cp.async.mbarrier.arrive.shared.b64", Some(80)),
        ("cp.async.bulk.shared::cluster.global", Some(90)),
        ("cp.reduce.async.bulk.global.shared::cta", Some(90)),
        ("mbarrier.arrive.shared.b64", Some(80)),
        ("mbarrier.try_wait.shared.b64", Some(90)),
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", Some(70)),
        ("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", Some(75)),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", Some(80)),
        (
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
            Some(89),
        ),
        (
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            Some(80),
        ),
        ("wgmma.fence.sync.aligned", Some(90)),
        ("barrier.cluster.arrive", Some(90)),
        ("istypep.texref", Some(30)),
        ("vadd.s32.s32.s32", None),
        ("vadd4.s32.s32.s32", None),
        ("tcgen05.alloc", Some(100)),
        ("frobnicate.u32", None),
        ("cpu.f32", None),
    ] {
        let (mnemonic, modifiers) = parts(instruction);
        let actual = required_capability(mnemonic, &modifiers);
        assert_eq!(actual, required, "{instruction}");
    }
}

#[test]
fn versions_and_capabilities_match_the_ptx_isa() {
    for (instruction, required) in [
        ("add.s32", ptx(1, 0)),
        ("addc.cc.u32", ptx(1, 2)),
        ("madc.lo.u32", ptx(3, 0).sm(20)),
        ("popc.b32", ptx(2, 0).sm(20)),
        ("fns.b32", ptx(6, 0).sm(30)),
        ("szext.clamp.s32", ptx(7, 6).sm(70)),
        ("dp4a.u32.u32", ptx(5, 0).sm(61)),
        ("fma.rn.f64", ptx(1, 4).sm(13)),
        ("tanh.approx.f32", ptx(7, 0).sm(75)),
        ("lop3.b32", ptx(4, 3).sm(50)),
        ("shf.l.wrap.b32", ptx(3, 1).sm(32)),
        ("activemask.b32", ptx(6, 2).sm(30)),
        ("match.any.sync.b32", ptx(6, 0).sm(70)),
        ("redux.sync.add.u32", ptx(7, 0).sm(80)),
        ("elect.sync", ptx(8, 0).sm(90)),
        ("brx.idx", ptx(6, 0).sm(30)),
        ("nanosleep.u32", ptx(6, 3).sm(70)),
        ("griddepcontrol.wait", ptx(7, 8).sm(90)),
        ("discard.global.L2", ptx(7, 4).sm(80)),
        ("cp.async.wait_all", ptx(7, 0).sm(80)),
        ("cp.async.ca.shared.global.L2::128B", ptx(7, 4).sm(80)),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", ptx(6, 5).sm(75)),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
            ptx(6, 5).sm(75),
        ),
        (
            "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
            ptx(7, 0).sm(80),
        ),
        (
            "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
            ptx(7, 0).sm(80),
        ),
        ("mbarrier.try_wait.parity.shared.b64", ptx(7, 8).sm(90)),
        ("fence.proxy.async.shared::cta", ptx(8, 0).sm(90)),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global",
            ptx(8, 0).sm(90),
        ),
        ("cp.reduce.async.bulk.global.shared::cta", ptx(8, 0).sm(90)),
        ("st.async.weak.shared::cluster", ptx(8, 1).sm(90)),
        ("red.async.relaxed.cluster", ptx(8, 1).sm(90)),
        ("tensormap.replace.tile.rank", ptx(8, 3).sm(90)),
        (
            "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32",
            ptx(8, 0).sm(90),
        ),
        ("wgmma.wait_group.sync.aligned", ptx(8, 0).sm(90)),
    ] {
        assert_eq!(requirements(instruction), required, "{instruction}");
    }
}

#[test]
fn only_these_instructions_refuse_older_targets() {
    let refusing = TABLE.iter().filter(|entry| entry.refuses_older);
    let names: Vec<&str> = refusing.map(|entry| entry.name).collect();
    let expected = "
        barrier.cluster cp.async cp.async.bulk cp.async.mbarrier cp.reduce.async.bulk fence.proxy.async getctarank
        griddepcontrol ldmatrix mapa mbarrier mbarrier.complete_tx mbarrier.expect_tx mbarrier.try_wait mma red.async
        st.async stmatrix tensormap.cp_fenceproxy tensormap.replace
        wgmma.commit_group wgmma.fence wgmma.mma_async wgmma.wait_group
    "
    .split_whitespace();
    assert_eq!(names, expected.collect::<Vec<_>>());
}

#[test]
fn the_longest_matching_name_is_found() {
    for (instruction, name) in [
        ("cp.async.ca.shared.global", Some("cp.async")),
        ("cp.async.bulk.commit_group", Some("cp.async.bulk")),
        ("cp.async", Some("cp.async")),
        ("cp.reduce.async.bulk", Some("cp.reduce.async.bulk")),
        ("cp", None),
        ("cp.asynchronous", None),
        ("mma.sp.sync", Some("mma.sp")),
        ("mma.sync.sp", Some("mma")),
        ("wgmma.mma_async.sp.sync", Some("wgmma.mma_async.sp")),
        ("wgmma.mma_async.sync", Some("wgmma.mma_async")),
        ("barrier.sync", Some("barrier")),
        ("vadd2.s32", Some("vadd2")),
        ("ad.s32", None),
    ] {
        let (mnemonic, modifiers) = parts(instruction);
        let entry_name = find(mnemonic, &modifiers).map(|entry| entry.name);
        assert_eq!(entry_name, name, "{instruction}");
    }
    for entry in &TABLE {
        let (mnemonic, modifiers) = parts(entry.name);
        let entry_name = find(mnemonic, &modifiers).map(|entry| entry.name);
        assert_eq!(entry_name, Some(entry.name));
        // An entry that refuses older targets must be simulated.
        assert!(!(entry.refuses_older && matches!(entry.lowering, Lowering::NotSimulated)));
    }
}
