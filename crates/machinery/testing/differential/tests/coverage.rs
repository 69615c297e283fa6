//! Tests that the generator covers every form that the simulator supports.

use std::collections::BTreeSet;
use std::path::Path;

use cuda_sim::device::DeviceSpec;
use cuda_sim::lower::{InstructionForm, catalogue};
use cuda_sim::memory::global::Global;
use differential::forms::{self, Forms};
use differential::generate;
use rayon::prelude::*;

/// The number of kernels, the same as in the runs on a GPU.
const KERNELS: u64 = 10_000;
/// The number of kernels generated between two checks for missing forms.
const BATCH: u64 = 1_000;

/// The reason that most forms are left out.
const REJECTED: &str = "NVIDIA's assembler rejects it";

/// Returns the forms of `expected` that no kernel of the series has.
fn missing(mut expected: BTreeSet<String>) -> BTreeSet<String> {
    let forms = Forms::new();
    let add_forms = |mut all: BTreeSet<String>, number| {
        let kernel = generate::kernel(&forms, 1, number);
        all.extend(forms::forms_in(&kernel.ptx(&BTreeSet::new())));
        all
    };
    for first in (0..KERNELS).step_by(BATCH as usize) {
        if expected.is_empty() {
            break;
        }
        let numbers = (first..first + BATCH).into_par_iter();
        for part in numbers.fold(BTreeSet::new, add_forms).collect::<Vec<_>>() {
            expected.retain(|form| !part.contains(form));
        }
    }
    expected
}

fn form_label(form: &InstructionForm) -> String {
    let name = forms::form_name(form);
    match (form.mnemonic, &form.operand_lengths[..]) {
        ("mov", [a, b]) if a + b > 2 => format!("{name} {a}:{b}"),
        ("setp", [2, ..]) => format!("{name} p|q"),
        _ => name,
    }
}

/// Returns true if the simulator supports an instruction at one of the targets.
fn is_supported(instruction: &str) -> bool {
    [("6.4", 52), ("8.0", 90)].iter().any(|(version, sm)| {
        let text = format!(
            ".version {version}\n.target sm_{sm}\n.address_size 64\n
            .shared .align 16 .b8 tile[64];
            .visible .entry k(.param .align 16 .b8 values[32]) {{
            .reg .b16 %h<5>; .reg .b32 %r<5>; .reg .b64 %l<5>; .reg .pred %p<3>;
            .local .align 16 .b8 stack[64];
            {instruction}
            ret; }}"
        );
        let mut global = Global::new(1 << 20);
        cuda_sim::lower::load(&text, &DeviceSpec::h200(), &mut global).is_ok()
    })
}

/// Returns candidates for all instructions other than register instructions. Every one that the simulator
/// supports must be generated.
fn other_instructions() -> Vec<String> {
    let spaces = [
        "",
        ".global",
        ".shared",
        ".shared::cta",
        ".local",
        ".const",
        ".param",
    ];
    let types = [
        "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64",
        "f64",
    ];
    let register = |ty: &str| match &ty[1..] {
        "8" | "16" => "%h",
        "32" => "%r",
        _ => "%l",
    };
    let mut all = Vec::new();
    for space in spaces {
        let address = match space {
            ".param" => "[values]",
            _ => "[%l0]",
        };
        for ty in types {
            for vector in ["", ".v2", ".v4"] {
                let prefix = register(ty);
                let values = match vector {
                    "" => format!("{prefix}1"),
                    ".v2" => format!("{{{prefix}1, {prefix}2}}"),
                    _ => format!("{{{prefix}1, {prefix}2, {prefix}3, {prefix}4}}"),
                };
                all.push(format!("ld{space}{vector}.{ty} {values}, {address};"));
                if space != ".param" {
                    all.push(format!("st{space}{vector}.{ty} {address}, {values};"));
                }
            }
            for operation in [
                "add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max",
            ] {
                let value = format!("{}1", register(ty));
                let second = if operation == "cas" {
                    format!(", {value}")
                } else {
                    String::new()
                };
                all.push(format!(
                    "atom{space}.{operation}.{ty} {value}, {address}, {value}{second};"
                ));
                all.push(format!(
                    "red{space}.{operation}.{ty} {address}, {value}{second};"
                ));
            }
        }
    }
    for space in ["", ".global", ".shared"] {
        for (ty, value) in [
            ("f16", "%h1"),
            ("f16x2", "%r1"),
            ("bf16", "%h1"),
            ("bf16x2", "%r1"),
        ] {
            let rest = format!("{space}.add.noftz.{ty}");
            all.push(format!("atom{rest} {value}, [%l0], {value};"));
            all.push(format!("red{rest} [%l0], {value};"));
        }
    }
    for space in ["global", "shared", "shared::cta", "local", "const", "param"] {
        all.push(format!("isspacep.{space} %p1, %l1;"));
        all.push(format!("cvta.{space}.u64 %l1, %l2;"));
        all.push(format!("cvta.to.{space}.u64 %l1, %l2;"));
    }
    for bar in ["bar", "barrier", "bar.cta", "barrier.cta"] {
        for aligned in ["", ".aligned"] {
            all.push(format!("{bar}.sync{aligned} 1;"));
            all.push(format!("{bar}.arrive{aligned} 1, 64;"));
            all.push(format!("{bar}.red.popc{aligned}.u32 %r1, 1, %p1;"));
            all.push(format!("{bar}.red.and{aligned}.pred %p1, 1, %p1;"));
            all.push(format!("{bar}.red.or{aligned}.pred %p1, 1, %p1;"));
        }
    }
    all.push("bar.warp.sync %r1;".to_owned());
    all.push("activemask.b32 %r1;".to_owned());
    all.push("elect.sync %r1|%p1, %r2;".to_owned());
    for kind in ["up", "down", "bfly", "idx"] {
        all.push(format!("shfl.sync.{kind}.b32 %r1, %r2, 1, 31, %r3;"));
        all.push(format!("shfl.{kind}.b32 %r1, %r2, 1, 31;"));
    }
    for kind in ["all", "any", "uni"] {
        all.push(format!("vote.sync.{kind}.pred %p1, %p2, %r1;"));
        all.push(format!("vote.{kind}.pred %p1, %p2;"));
    }
    all.push("vote.sync.ballot.b32 %r1, %p1, %r2;".to_owned());
    all.push("vote.ballot.b32 %r1, %p1;".to_owned());
    for (bits, value) in [(32, "%r1"), (64, "%l1")] {
        all.push(format!("match.any.sync.b{bits} %r1, {value}, %r2;"));
        all.push(format!("match.all.sync.b{bits} %r1|%p1, {value}, %r2;"));
    }
    for kind in [
        "add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32",
        "xor.b32",
    ] {
        all.push(format!("redux.sync.{kind} %r1, %r2, %r3;"));
    }
    for count in ["1", "2", "4"] {
        for trans in ["", ".trans"] {
            for space in ["", ".shared", ".shared::cta"] {
                let to: Vec<String> = (0..count.parse().expect("not a number"))
                    .map(|n: u32| format!("%r{n}"))
                    .collect();
                all.push(format!(
                    "ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {{{}}}, [%l1];",
                    to.join(", ")
                ));
            }
        }
    }
    for (shape, types, to, a, b) in [
        ("m16n8k4", "f32.tf32.tf32.f32", 4, 2, 1),
        ("m16n8k8", "f32.tf32.tf32.f32", 4, 4, 2),
        ("m16n8k8", "f32.f16.f16.f32", 4, 2, 1),
        ("m16n8k16", "f32.f16.f16.f32", 4, 4, 2),
        ("m16n8k8", "f16.f16.f16.f16", 2, 2, 1),
        ("m16n8k16", "f16.f16.f16.f16", 2, 4, 2),
        ("m16n8k8", "f32.bf16.bf16.f32", 4, 2, 1),
        ("m16n8k16", "f32.bf16.bf16.f32", 4, 4, 2),
    ] {
        let list = |count: usize| {
            let all: Vec<String> = (0..count).map(|n| format!("%r{n}")).collect();
            format!("{{{}}}", all.join(", "))
        };
        all.push(format!(
            "mma.sync.aligned.{shape}.row.col.{types} {}, {}, {}, {};",
            list(to),
            list(a),
            list(b),
            list(to)
        ));
    }
    for (cache, bytes) in [("ca", 4), ("cg", 16)] {
        for space in ["shared", "shared::cta"] {
            for fetch in ["", ".L2::64B", ".L2::128B", ".L2::256B"] {
                all.push(format!(
                    "cp.async.{cache}.{space}.global{fetch} [%l1], [%l2], {bytes};"
                ));
            }
        }
    }
    for rest in [
        "cp.async.commit_group;",
        "cp.async.wait_group 0;",
        "cp.async.wait_all;",
        "ldu.global.u32 %r1, [%l1];",
        "exit;",
        "ret;",
        "membar.cta;",
        "membar.gl;",
        "membar.sys;",
        "fence.sc.gpu;",
        "fence.acq_rel.cta;",
        "prefetch.global.L1 [%l1];",
        "prefetchu.L1 [%l1];",
        "nanosleep.u32 20;",
        "pmevent 3;",
        "applypriority.global.L2::evict_normal [%l1], 128;",
        "createpolicy.fractional.L2::evict_last.b64 %l1, 0.5;",
        "ld.global.L2::cache_hint.u32 %r1, [%l1], %l2;",
    ] {
        all.push(rest.to_owned());
    }
    all
}

/// Returns the reason that the generator leaves out a supported form, or `None` if it does not.
fn exclusion_reason(form: &str) -> Option<&'static str> {
    let parts: Vec<&str> = form.split('.').collect();
    let has = |name| parts.contains(&name);
    let spelled = "this spelling is generated, but not with every type";
    match parts[0] {
        "ld" | "st" | "atom" | "red" if has("shared::cta") => Some(spelled),
        "st" if has("param") => Some("generated only for the arguments of a call"),
        "atom" | "red" if has("local") || has("const") || has("param") => Some(REJECTED),
        "atom" | "red" if has("s64") && has("add") => Some(REJECTED),
        "red" if has("exch") || has("cas") => Some(REJECTED),
        "atom" if has("cas") && has("b16") => None,
        "atom" if (has("exch") || has("cas")) && !has("b32") && !has("b64") => Some(REJECTED),
        "bar" if has("aligned") => Some(REJECTED),
        _ => None,
    }
}

#[test]
fn every_form_is_generated_or_excluded_for_a_reason() {
    let mut expected = BTreeSet::new();
    let mut rejected = 0;
    for form in catalogue() {
        match forms::exclusion_reason(&form) {
            Some(_) => rejected += 1,
            None => _ = expected.insert(form_label(&form)),
        }
    }
    for instruction in other_instructions() {
        let form = instruction
            .split_once(' ')
            .map_or(&instruction[..], |(form, _)| form);
        let form = form.trim_end_matches(';');
        if !is_supported(&instruction) {
            continue;
        }
        match exclusion_reason(form) {
            Some(_) => rejected += 1,
            None => _ = expected.insert(form.to_owned()),
        }
    }
    let count = expected.len();
    assert!(count > 3_900 && rejected > 500, "{count}, {rejected}");
    let missing = missing(expected);
    assert!(missing.is_empty(), "not generated: {missing:?}");
}

#[test]
fn book_gives_the_number_of_forms_the_assembler_rejects() {
    let all = catalogue();
    let is_rejected = |form: &&InstructionForm| forms::exclusion_reason(form) == Some(REJECTED);
    let rejected = all.iter().filter(is_rejected).count();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..");
    for language in ["en", "zh"] {
        let path = root.join("docs").join(language).join("differences.md");
        let page = std::fs::read_to_string(&path).expect("cannot read the page on differences");
        for count in [all.len(), rejected] {
            assert!(page.contains(&format!(" {count} ")), "{language}: {count}");
        }
    }
}
