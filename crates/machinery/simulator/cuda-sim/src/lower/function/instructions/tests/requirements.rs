//! Tests of the PTX version and compute capability that each instruction requires, against its page in the PTX
//! ISA.

use crate::lower::function::instructions::entry::{Requirements, ptx};
use crate::lower::function::instructions::{Lowering, TABLE, find, required_capability};

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
        ("vadd.s32.s32.s32", Some(20)),
        ("vadd4.s32.s32.s32", Some(30)),
        ("tcgen05.alloc", Some(100)),
        ("frobnicate.u32", None),
        ("cpu.f32", None),
    ] {
        let (mnemonic, modifiers) = parts(instruction);
        assert_eq!(
            required_capability(mnemonic, &modifiers),
            required,
            "{instruction}"
        );
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
    let expected = [
        "cp.async",
        "cp.async.mbarrier",
        "fence.proxy.async",
        "griddepcontrol",
        "ldmatrix",
        "mbarrier",
        "mbarrier.complete_tx",
        "mbarrier.expect_tx",
        "mbarrier.try_wait",
        "mma",
        "stmatrix",
        "wgmma.commit_group",
        "wgmma.fence",
        "wgmma.mma_async",
        "wgmma.wait_group",
    ];
    assert_eq!(names, expected);
}

#[test]
fn the_longest_matching_name_is_found() {
    for (instruction, name) in [
        ("cp.async.ca.shared.global", Some("cp.async")),
        ("cp.async.bulk.commit_group", Some("cp.async.bulk")),
        ("cp.async", Some("cp.async")),
        ("cp.reduce.async.bulk", Some("cp.reduce")),
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
