//! Load and store vectorization: predicts which neighbouring accesses NVIDIA's assembler merges into one wide
//! access.
//!
//! Four loads of neighbouring words are four instructions in PTX, but one 16-byte load in machine code if the
//! assembler can prove that the first is 16-byte aligned. Its conditions are modelled here: the loads access
//! the same memory through the same address register, within straight-line code, with nothing in between that
//! orders memory or may write the memory; together they cover an aligned window, and the alignment follows
//! from the arithmetic that computed the address. Stores to shared memory are merged under the same
//! conditions if nothing in between reads or writes that memory.
//!
//! The rules were derived from the code that NVIDIA's assembler (CUDA 13.0) generates for this repository's
//! kernels.

use crate::isa::{AccessClass, AccessKind, Class, Direction};
use crate::lower::cfg::Cfg;
use crate::lower::ir::{Arithmetic, Flow, IrInst, Register, RegisterClass, RegisterInfo};
use crate::ptx::ast::Type;
use std::collections::{BTreeMap, HashMap};

/// The part of a load or a store in a merged access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeRole {
    /// The access is not merged.
    Single,
    /// The access performs the whole group's access: the first of a group of loads, the last of a group of
    /// stores.
    Leader {
        /// The offset of the group's lowest byte from the address register.
        offset: u64,
        /// Bytes of the whole group per lane: 8 or 16.
        bytes: u32,
    },
    /// The access is performed by an earlier load or a later store of its group.
    Merged,
}

impl Arithmetic {
    /// Returns the rule if the instruction computes in integers of register width and keeps the low bits of a
    /// product; otherwise `None`.
    pub fn for_integers(self, modifiers: &[&str]) -> Option<Arithmetic> {
        let is_type = |modifier: &&&str| Type::from_modifier(modifier).is_some();
        let is_integer_type = |ty: &&str| {
            let (kind, bits) = ty.split_at_checked(1).unwrap_or_default();
            matches!(kind, "u" | "s" | "b") && matches!(bits, "16" | "32" | "64")
        };
        let keeps_low = modifiers
            .iter()
            .any(|modifier| matches!(*modifier, "lo" | "wide"));
        let applies = modifiers.last().is_some_and(is_integer_type)
            && modifiers.iter().filter(is_type).all(is_integer_type)
            && !modifiers.contains(&"sat")
            && (self != Arithmetic::Product || keeps_low);
        applies.then_some(self)
    }
}

/// The width of the widest access in bytes.
pub const MAX_ACCESS_BYTES: u32 = 16;
/// The number of trailing zero bits of an address that is aligned for the widest access.
const MAX_TRAILING_ZEROS: u32 = MAX_ACCESS_BYTES.trailing_zeros();

/// Returns the role of each instruction. Instructions that do not load or store are [`MergeRole::Single`].
pub fn merge_roles(insts: &[IrInst], cfg: &Cfg, registers: &[RegisterInfo]) -> Vec<MergeRole> {
    let trailing_zeros = trailing_zeros(insts, registers);
    let mut merger = Merger {
        trailing_zeros: &trailing_zeros,
        pending: mergeable_classes()
            .map(|class| (class, HashMap::new()))
            .collect(),
        merge_roles: vec![MergeRole::Single; insts.len()],
    };
    for trace in traces(cfg) {
        for (nth, &index) in trace.iter().enumerate() {
            let next = trace.get(nth + 1).map(|&next| &insts[next]);
            merger.visit(index, &insts[index], next);
        }
        merger.flush(|_| true);
    }
    merger.merge_roles
}

/// Returns the straight-line traces of the function as lists of instruction indices: a block is appended to its
/// predecessor if each is the only neighbour of the other.
fn traces(cfg: &Cfg) -> Vec<Vec<usize>> {
    let in_degrees = cfg.in_degrees();
    let continues_to = |block: usize| match cfg.successors[block][..] {
        [next] if in_degrees[block] > 0 && in_degrees[next] == 1 => Some(next),
        _ => None,
    };
    let mut is_trace_start = vec![true; cfg.ranges.len()];
    for next in (0..cfg.ranges.len()).filter_map(continues_to) {
        is_trace_start[next] = false;
    }
    (0..cfg.ranges.len())
        .filter(|&block| is_trace_start[block])
        .map(|block| {
            std::iter::successors(Some(block), |&block| continues_to(block))
                .flat_map(|block| cfg.ranges[block].clone())
                .collect()
        })
        .collect()
}

/// The state of the walk along a trace.
struct Merger<'a> {
    /// For each register, the number of low bits that are always zero.
    trailing_zeros: &'a [u32],
    /// Accesses that may still be merged with later ones, by class and address register.
    pending: Vec<(AccessClass, HashMap<Register, Vec<Candidate>>)>,
    /// The roles assigned so far.
    merge_roles: Vec<MergeRole>,
}

/// Returns the access classes whose accesses are merged. Merging never mixes classes.
fn mergeable_classes() -> impl Iterator<Item = AccessClass> {
    let all = AccessClass::ALL.iter().copied();
    all.filter(|class| class.row().merged_bytes > 0)
}

/// A load or a store that may become part of a wide access.
#[derive(Clone, Copy)]
struct Candidate {
    /// The index of the instruction in the function.
    index: usize,
    /// The offset from the address register.
    offset: i64,
    /// Bytes per lane.
    bytes: u32,
}

impl Merger<'_> {
    /// Processes one instruction. `next` is the one after it.
    fn visit(&mut self, index: usize, inst: &IrInst, next: Option<&IrInst>) {
        let guards = next.is_some_and(|next| next.predicated);
        if inst.class == Class::Control && inst.flow == Flow::Next && !guards {
            // Barriers, fences and calls order memory.
            self.flush(|_| true);
        }
        match inst.access {
            Some(access) if access.kind.is_load() || access.kind == AccessKind::Store => {
                let class = AccessClass::of(access.kind, access.memory);
                let max_bytes = class.map_or(0, |class| class.row().merged_bytes);
                let is_word_sized = matches!(access.bytes, 4 | 8);
                let is_mergeable = is_word_sized
                    && access.bytes < max_bytes
                    && !inst.predicated
                    && access.ordered.is_none_or(|ordered| ordered.at_l2);
                let base = inst.operands[access.address];
                let mut candidates = if is_mergeable {
                    self.take_pending(class, base)
                } else {
                    Vec::new()
                };
                self.flush(|pending| {
                    let overlaps = access.memories().contains(&pending.row().memory);
                    let conflicts =
                        !access.kind.is_load() || pending.row().direction != Direction::Reads;
                    overlaps && conflicts && !pending.is_read_only()
                });
                if is_mergeable {
                    candidates.push(Candidate {
                        index,
                        offset: inst.imm as i64,
                        bytes: access.bytes,
                    });
                    self.put_pending(class, base, candidates);
                }
            }
            Some(access) => self.flush(|class| {
                let memory = class.row().memory;
                let overlaps = access.kind.is_atomic() || access.memories().contains(&memory);
                overlaps && !class.is_read_only()
            }),
            None => {}
        }
        for def in &inst.defs {
            for (class, loads) in &mut self.pending {
                if let Some(loads) = loads.remove(def) {
                    merge(
                        &loads,
                        self.trailing_zeros[def.0 as usize],
                        *class,
                        &mut self.merge_roles,
                    );
                }
            }
        }
    }

    /// Takes the mergeable accesses of a class from one address register out of `pending`.
    fn take_pending(&mut self, class: Option<AccessClass>, base: Register) -> Vec<Candidate> {
        let mut pending = self.pending.iter_mut();
        let source_zeros = pending.find(|(pending, _)| Some(*pending) == class);
        source_zeros
            .and_then(|(_, candidates)| candidates.remove(&base))
            .unwrap_or_default()
    }

    fn put_pending(
        &mut self,
        class: Option<AccessClass>,
        base: Register,
        candidates: Vec<Candidate>,
    ) {
        let mut pending = self.pending.iter_mut();
        if let Some((_, all)) = pending.find(|(pending, _)| Some(*pending) == class) {
            all.insert(base, candidates);
        }
    }

    /// Merges the pending accesses of the classes that satisfy `is_closed`; later accesses cannot join them.
    fn flush(&mut self, is_closed: impl Fn(AccessClass) -> bool) {
        for (class, loads) in self
            .pending
            .iter_mut()
            .filter(|(class, _)| is_closed(*class))
        {
            for (base, loads) in std::mem::take(loads) {
                merge(
                    &loads,
                    self.trailing_zeros[base.0 as usize],
                    *class,
                    &mut self.merge_roles,
                );
            }
        }
    }
}

/// Assigns roles to the accesses of a class from one address register.
fn merge(
    loads: &[Candidate],
    trailing_zeros: u32,
    class: AccessClass,
    merge_roles: &mut [MergeRole],
) {
    for width in [16, 8] {
        if width > class.row().merged_bytes || width > 1 << trailing_zeros {
            continue;
        }
        let mut windows: BTreeMap<i64, Vec<Candidate>> = BTreeMap::new();
        for load in loads {
            if merge_roles[load.index] == MergeRole::Single && load.bytes < width {
                let window = load.offset.div_euclid(width.into());
                windows.entry(window).or_default().push(*load);
            }
        }
        for (window, mut group) in windows {
            let bytes = group[0].bytes;
            let leader = match class.row().direction {
                Direction::Reads => group[0].index,
                Direction::Writes | Direction::Updates => group[group.len() - 1].index,
            };
            group.sort_by_key(|load| load.offset);
            let start = window * i64::from(width);
            let side_by_side = (0..).zip(&group).all(|(nth, load)| {
                load.bytes == bytes && load.offset == start + nth * i64::from(bytes)
            });
            if side_by_side && group.len() as u32 * bytes == width {
                for load in group {
                    merge_roles[load.index] = MergeRole::Merged;
                }
                merge_roles[leader] = MergeRole::Leader {
                    offset: start as u64,
                    bytes: width,
                };
            }
        }
    }
}

/// Returns, for each register, the number of low bits that are zero in all executions, up to
/// [`MAX_TRAILING_ZEROS`].
///
/// The analysis is optimistic: every register starts as fully aligned until one of its definitions lowers the
/// alignment, so that a loop variable with a step of 16 bytes stays aligned.
fn trailing_zeros(insts: &[IrInst], registers: &[RegisterInfo]) -> Vec<u32> {
    let mut trailing_zeros: Vec<u32> = registers
        .iter()
        .map(|info| info.literal.map_or(MAX_TRAILING_ZEROS, trailing_zeros_of))
        .collect();
    let mut uses_of: Vec<Vec<usize>> = vec![Vec::new(); registers.len()];
    for (index, inst) in insts.iter().enumerate() {
        for used in &inst.uses {
            uses_of[used.0 as usize].push(index);
        }
    }
    let mut worklist: Vec<usize> = (0..insts.len()).collect();
    while let Some(index) = worklist.pop() {
        let inst = &insts[index];
        let trailing = result_trailing_zeros(inst, &trailing_zeros, registers);
        for def in &inst.defs {
            let current = &mut trailing_zeros[def.0 as usize];
            if trailing < *current {
                *current = trailing;
                worklist.extend(&uses_of[def.0 as usize]);
            }
        }
    }
    trailing_zeros
}

/// Returns the number of trailing zero bits of a value, up to [`MAX_TRAILING_ZEROS`].
fn trailing_zeros_of(value: u64) -> u32 {
    value.trailing_zeros().min(MAX_TRAILING_ZEROS)
}

/// Returns the number of low bits of an instruction's result that are zero in all executions.
fn result_trailing_zeros(inst: &IrInst, trailing_zeros: &[u32], registers: &[RegisterInfo]) -> u32 {
    let (Some(arithmetic), [_]) = (inst.arithmetic, &inst.defs[..]) else {
        return 0;
    };
    let info = |register: &Register| registers[register.0 as usize];
    let sources: Vec<&Register> = inst
        .uses
        .iter()
        .filter(|used| info(used).row != RegisterClass::Predicate)
        .collect();
    let mut source_zeros = sources.iter().map(|used| trailing_zeros[used.0 as usize]);
    let minimum = match arithmetic {
        Arithmetic::Sum => source_zeros.min(),
        Arithmetic::Offset => source_zeros.chain([trailing_zeros_of(inst.imm)]).min(),
        Arithmetic::Mask => source_zeros.max(),
        Arithmetic::Product => {
            let product = source_zeros.next().unwrap_or(0) + source_zeros.next().unwrap_or(0);
            source_zeros.chain([product]).min()
        }
        Arithmetic::Shift => {
            let by = sources.get(1).and_then(|by| info(by).literal).unwrap_or(0);
            source_zeros
                .next()
                .map(|trailing_zeros| trailing_zeros + by.min(MAX_TRAILING_ZEROS.into()) as u32)
        }
    };
    minimum.unwrap_or(0).min(MAX_TRAILING_ZEROS)
}

#[cfg(test)]
mod tests;
