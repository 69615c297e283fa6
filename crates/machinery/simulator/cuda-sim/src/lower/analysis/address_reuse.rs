//! Address reuse: accesses whose address register was used by an earlier access of the same kind.
//!
//! A kernel that reads `a[i]`, `a[i + 1]` and `a[i + 2]` keeps one address in a register and adds constant
//! offsets. The access pattern of a gang's warps is classified at the first such access, and later ones reuse
//! the result (see [`crate::exec::profiler::access_pattern`]).

use crate::isa::{Access, AccessKind, Class};
use crate::lower::ir::IrInst;
use crate::lower::register::Register;
use std::collections::HashMap;

/// Returns, for each instruction of a basic block, the distance back to the first access of the same kind
/// with the same address register, or 0 if there is none. All warps of a gang have executed that access with
/// the same addresses up to constant offsets, and no other warps have run in between.
pub fn reuse_distances(insts: &[IrInst]) -> Vec<u16> {
    // The first access of each kind, by address register.
    let mut first_accesses: HashMap<Register, Vec<(Access, usize)>> = HashMap::new();
    let mut reuse_distances = Vec::with_capacity(insts.len());
    for (index, inst) in insts.iter().enumerate() {
        if inst.class == Class::Control || inst.handlers.gang.is_none() || inst.predicated {
            // Warps may diverge or block here.
            first_accesses = HashMap::new();
        }
        let mut distance = 0;
        if let Some(access) = inst
            .access
            .filter(|access| has_access_pattern(inst, access))
        {
            let register = inst.operands[access.address];
            let accesses = first_accesses.entry(register).or_default();
            match accesses.iter().find(|(other, _)| *other == access) {
                Some((_, first)) => distance = u16::try_from(index - first).unwrap_or(0),
                None => accesses.push((access, index)),
            }
        }
        for def in &inst.defs {
            first_accesses.remove(def);
        }
        reuse_distances.push(distance);
    }
    reuse_distances
}

/// Returns true if a gang classifies the access pattern of this access.
fn has_access_pattern(inst: &IrInst, access: &Access) -> bool {
    use AccessKind::{Load, ReadOnlyLoad, Store};
    let is_load_or_store = matches!(access.kind, Load | ReadOnlyLoad | Store);
    is_load_or_store && inst.handlers.gang.is_some() && !inst.predicated
}

#[cfg(test)]
mod tests {
    use crate::device::DeviceSpec;
    use crate::exec::cpu::Cpu;
    use crate::memory::global::Global;

    /// Returns the nonzero reuse distances of the code of `body`, in order.
    fn reuse_distances(body: &str) -> Vec<u16> {
        let text = format!(
            ".version 6.4\n.target sm_52\n.address_size 64\n.global .align 16 .b8 data[4096];\n\
             .entry kernel() {{ .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n\
             mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 8; mov.u64 %d2, data;\n\
             add.s64 %d1, %d1, %d2; add.s64 %d3, %d1, 4; setp.eq.u32 %p1, %r1, 3;\n{body} ret; }}"
        );
        let mut global = Global::new(1 << 20);
        let program =
            crate::lower::load(&text, &DeviceSpec::h200(), &mut global).expect("the module loads");
        let back = program.code.plain.iter().map(|inst| inst.reuse_distance);
        back.filter(|&back| back > 0).collect()
    }

    #[test]
    fn accesses_through_one_register_reuse_its_pattern() {
        if !Cpu::detect().is_wide() {
            return;
        }
        let load = "ld.global.u32 %r2, [%d1];";
        let next = "ld.global.u32 %r3, [%d1+4];";
        for (body, expected) in [
            (format!("{load} {next} {load}"), vec![1, 2]),
            (
                format!("{load} st.global.u32 [%d1], %r2; {next} st.global.u32 [%d1+4], %r3;"),
                vec![2, 2],
            ),
            // A different register, a different width, or a different state space.
            (format!("{load} ld.global.u32 %r3, [%d3];"), vec![]),
            (format!("{load} ld.global.u64 %d4, [%d1];"), vec![]),
            (
                format!("{load} ld.global.v2.u32 {{%r3, %r4}}, [%d1];"),
                vec![],
            ),
            (format!("{load} ld.u32 %r3, [%d1];"), vec![]),
            // The register is redefined in between.
            (format!("{load} add.s64 %d1, %d1, 4; {next}"), vec![]),
            (
                "ld.global.u64 %d1, [%d1]; ld.global.u64 %d4, [%d1];".into(),
                vec![],
            ),
            // Other warps may run in between, or not all lanes take part.
            (format!("{load} bar.sync 0; {next}"), vec![]),
            (format!("{load} @%p1 {next} {load}"), vec![]),
            (format!("{load} @%p1 bra L; {next} L: {load}"), vec![]),
            (
                format!("{load} atom.global.add.u32 %r4, [%d1], 1; {next}"),
                vec![],
            ),
        ] {
            assert_eq!(reuse_distances(&body), expected, "{body}");
        }
    }
}
