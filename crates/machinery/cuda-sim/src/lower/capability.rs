//! Instructions that exist but are not simulated: the compute capability each needs.
//!
//! Source: the "Target ISA Notes" of the PTX ISA's instruction pages.

/// The capability times ten, for the instructions whose users would ask: `instruction` as it is
/// written, `cp.async.bulk.shared::cluster.global`. None where nobody knows it.
pub fn of(instruction: &str) -> Option<u32> {
    let begins = |start: &&str| {
        let rest = instruction.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut known = NEEDS.iter().filter(|(starts, _)| starts.iter().any(begins));
    // The longest start is the one that says most: the table has it further down.
    let (_, needed) = known.next_back()?;
    Some((*needed).max(types(instruction)))
}

/// How instructions start; what starts with more of the same stands further down.
const NEEDS: &[(&[&str], u32)] = &[
    (&["tex", "tld4", "txq", "suld", "sust", "sured", "suq"], 20),
    (
        &[
            "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset",
        ],
        20,
    ),
    (&["istypep"], 30),
    (
        &["vadd2", "vsub2", "vavrg2", "vadd4", "vsub4", "vavrg4"],
        30,
    ),
    (&["alloca", "stacksave", "stackrestore"], 52),
    (&["wmma", "mma"], 70),
    (&["ldmatrix", "movmatrix"], 75),
    (&["cp", "createpolicy", "mbarrier", "mma.sp"], 80),
    (
        &[
            "cp.async.bulk",
            "cp.reduce",
            "mbarrier.complete_tx",
            "mbarrier.expect_tx",
            "mbarrier.try_wait",
        ],
        90,
    ),
    (
        &[
            "barrier.cluster",
            "getctarank",
            "griddepcontrol",
            "mapa",
            "multimem",
            "setmaxnreg",
            "stmatrix",
            "tensormap",
            "wgmma",
        ],
        90,
    ),
    (&["clusterlaunchcontrol", "tcgen05"], 100),
];

/// What the elements of a matrix product need, whatever its shape.
fn types(instruction: &str) -> u32 {
    if !instruction.starts_with("mma.") && !instruction.starts_with("wmma.") {
        return 0;
    }
    let needed = |modifier| match modifier {
        "s4" | "u4" | "s8" | "u8" | "b1" => 75,
        "bf16" | "tf32" | "f64" => 80,
        "e4m3" | "e5m2" => 89,
        _ => 0,
    };
    instruction.split('.').map(needed).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_instruction_needs_is_what_its_page_says() {
        for (instruction, needed) in [
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
            ("tex.2d.v4.f32.s32", Some(20)),
            ("vadd.s32.s32.s32", Some(20)),
            ("vadd4.s32.s32.s32", Some(30)),
            ("tcgen05.alloc", Some(100)),
            ("frobnicate.u32", None),
            ("cpu.f32", None),
        ] {
            assert_eq!(of(instruction), needed, "{instruction}");
        }
    }
}
