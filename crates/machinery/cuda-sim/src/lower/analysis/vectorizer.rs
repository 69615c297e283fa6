//! Load and store vectorization: predicts which neighbouring accesses NVIDIA's assembler merges into one wide
//! access.
//!
//! Four loads of neighbouring words are four instructions in PTX, but one 16-byte load in machine code if the
//! assembler can prove that the first is 16-byte aligned. Its conditions are modelled here: the loads access
//! the same
//! memory through the same address register, within straight-line code, with nothing in between that orders
//! memory or
//! may write the memory; together they cover an aligned window, and the alignment follows from the arithmetic
//! that
//! computed the address. Stores to shared memory are merged under the same conditions if nothing in between
//! reads or
//! writes that memory.
//!
//! The rules were derived from the code that NVIDIA's assembler (CUDA 13.0) generates for this repository's
//! kernels.

use crate::isa::{AccessClass, AccessKind, Class, Direction};
use crate::lower::ir::{Arithmetic, Draft, Flow};
use crate::lower::cfg::Graph;
use crate::lower::register::{Register, RegisterClass, RegisterInfo};
use crate::ptx::ast::Type;
use std::collections::{BTreeMap, HashMap};

/// The part of a load or a store in a merged access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The access is not merged.
    WarpView,
    /// The access performs the whole group's access: the first of a group of loads, the last of a group of
    /// stores.
    Leads {
        /// The offset of the group's lowest byte from the address register.
        offset: u64,
        /// Bytes of the whole group per lane: 8 or 16.
        bytes: u32,
    },
    /// The access is performed by an earlier load or a later store of its group.
    Rides,
}

impl Arithmetic {
    /// Returns the rule if the instruction computes in integers of register width and keeps the low bits of a
    /// product;
    /// otherwise `None`.
    pub fn of_whole_numbers(self, modifiers: &[&str]) -> Option<Arithmetic> {
        let is_type = |part: &&&str| Type::from_modifier(part).is_some();
        let whole = |ty: &&str| {
            let (kind, bits) = ty.split_at_checked(1).unwrap_or_default();
            matches!(kind, "u" | "s" | "b") && matches!(bits, "16" | "32" | "64")
        };
        let keeps_low = modifiers.iter().any(|part| matches!(*part, "lo" | "wide"));
        let follows = modifiers.last().is_some_and(whole)
            && modifiers.iter().filter(is_type).all(whole)
            && !modifiers.contains(&"sat")
            && (self != Arithmetic::Product || keeps_low);
        follows.then_some(self)
    }
}

/// The width of the widest access in bytes.
pub const WIDEST: u32 = 16;
/// The number of trailing zero bits of an address that is aligned for the widest access.
const ENOUGH_ZEROS: u32 = WIDEST.trailing_zeros();

/// Returns the role of each instruction. Instructions that do not load or store are [`Role::WarpView`].
pub fn roles(drafts: &[Draft], graph: &Graph, registers: &[RegisterInfo]) -> Vec<Role> {
    let zeros = zeros(drafts, registers);
    let mut merging = Merging {
        zeros: &zeros,
        open: merged().map(|class| (class, HashMap::new())).collect(),
        roles: vec![Role::WarpView; drafts.len()],
    };
    for stretch in stretches(graph) {
        for (nth, &place) in stretch.iter().enumerate() {
            let next = stretch.get(nth + 1).map(|&next| &drafts[next]);
            merging.see(place, &drafts[place], next);
        }
        merging.close(|_| true);
    }
    merging.roles
}

/// Returns the straight-line traces of the function as lists of instruction indices: a block is appended to its
/// predecessor if each is the only neighbour of the other.
fn stretches(graph: &Graph) -> Vec<Vec<usize>> {
    let entered = graph.entries();
    let goes_on = |block: usize| match graph.successors[block][..] {
        [next] if entered[block] > 0 && entered[next] == 1 => Some(next),
        _ => None,
    };
    let mut begins = vec![true; graph.ranges.len()];
    for next in (0..graph.ranges.len()).filter_map(goes_on) {
        begins[next] = false;
    }
    (0..graph.ranges.len())
        .filter(|&block| begins[block])
        .map(|block| {
            std::iter::successors(Some(block), |&block| goes_on(block))
                .flat_map(|block| graph.ranges[block].clone())
                .collect()
        })
        .collect()
}

/// The state of the walk along a trace.
struct Merging<'a> {
    /// For each register, the number of low bits that are always zero.
    zeros: &'a [u32],
    /// Accesses that may still be merged with later ones, by class and address register.
    open: Vec<(AccessClass, HashMap<Register, Vec<Part>>)>,
    /// The roles assigned so far.
    roles: Vec<Role>,
}

/// Returns the access classes whose accesses are merged. Merging never mixes classes.
fn merged() -> impl Iterator<Item = AccessClass> {
    let all = AccessClass::ALL.iter().copied();
    all.filter(|class| class.row().merged_bytes > 0)
}

/// A load or a store that may become part of a wide access.
#[derive(Clone, Copy)]
struct Part {
    /// The index of the instruction in the function.
    place: usize,
    /// The offset from the address register.
    offset: i64,
    /// Bytes per lane.
    bytes: u32,
}

impl Merging<'_> {
    /// Processes one instruction. `next` is the one after it.
    fn see(&mut self, place: usize, draft: &Draft, next: Option<&Draft>) {
        let guards = next.is_some_and(|next| next.partial);
        if draft.class == Class::Control && draft.flow == Flow::Next && !guards {
            // Barriers, fences and calls order memory.
            self.close(|_| true);
        }
        match draft.access {
            Some(access) if access.kind.is_load() || access.kind == AccessKind::Store => {
                let class = AccessClass::of(access.kind, access.memory);
                let widest = class.map_or(0, |class| class.row().merged_bytes);
                let whole_words = matches!(access.bytes, 4 | 8);
                let merges = whole_words
                    && access.bytes < widest
                    && !draft.partial
                    && access.ordered.is_none();
                let base = draft.operands[access.address];
                let mut parts = match merges {
                    true => self.take(class, base),
                    false => Vec::new(),
                };
                self.close(|open| {
                    let reaches = access.memories().contains(&open.row().memory);
                    let orders = !access.kind.is_load() || open.row().direction != Direction::Reads;
                    reaches && orders && !open.is_read_only()
                });
                if merges {
                    parts.push(Part {
                        place,
                        offset: draft.imm as i64,
                        bytes: access.bytes,
                    });
                    self.put_back(class, base, parts);
                }
            }
            Some(access) => self.close(|class| {
                let memory = class.row().memory;
                let reaches = access.kind.is_update() || access.memories().contains(&memory);
                reaches && !class.is_read_only()
            }),
            None => {}
        }
        for def in &draft.defs {
            for (class, loads) in &mut self.open {
                if let Some(loads) = loads.remove(def) {
                    merge(&loads, self.zeros[def.0 as usize], *class, &mut self.roles);
                }
            }
        }
    }

    /// Takes the mergeable accesses of a class from one address register out of `open`.
    fn take(&mut self, class: Option<AccessClass>, base: Register) -> Vec<Part> {
        let mut open = self.open.iter_mut();
        let of = open.find(|(open, _)| Some(*open) == class);
        of.and_then(|(_, parts)| parts.remove(&base))
            .unwrap_or_default()
    }

    fn put_back(&mut self, class: Option<AccessClass>, base: Register, parts: Vec<Part>) {
        let mut open = self.open.iter_mut();
        if let Some((_, all)) = open.find(|(open, _)| Some(*open) == class) {
            all.insert(base, parts);
        }
    }

    /// Merges the pending accesses of the classes that satisfy `over`; later accesses cannot join them.
    fn close(&mut self, over: impl Fn(AccessClass) -> bool) {
        for (class, loads) in self.open.iter_mut().filter(|(class, _)| over(*class)) {
            for (base, loads) in std::mem::take(loads) {
                merge(&loads, self.zeros[base.0 as usize], *class, &mut self.roles);
            }
        }
    }
}

/// Assigns roles to the accesses of a class from one address register.
fn merge(loads: &[Part], zeros: u32, class: AccessClass, roles: &mut [Role]) {
    for width in [16, 8] {
        if width > class.row().merged_bytes || width > 1 << zeros {
            continue;
        }
        let mut windows: BTreeMap<i64, Vec<Part>> = BTreeMap::new();
        for load in loads {
            if roles[load.place] == Role::WarpView && load.bytes < width {
                let window = load.offset.div_euclid(width.into());
                windows.entry(window).or_default().push(*load);
            }
        }
        for (window, mut group) in windows {
            let bytes = group[0].bytes;
            let leader = match class.row().direction {
                Direction::Reads => group[0].place,
                Direction::Writes | Direction::Updates => group[group.len() - 1].place,
            };
            group.sort_by_key(|load| load.offset);
            let start = window * i64::from(width);
            let side_by_side = (0..).zip(&group).all(|(nth, load)| {
                load.bytes == bytes && load.offset == start + nth * i64::from(bytes)
            });
            if side_by_side && group.len() as u32 * bytes == width {
                for load in group {
                    roles[load.place] = Role::Rides;
                }
                roles[leader] = Role::Leads {
                    offset: start as u64,
                    bytes: width,
                };
            }
        }
    }
}

/// Returns, for each register, the number of low bits that are zero in all executions, up to [`ENOUGH_ZEROS`].
///
/// The analysis is optimistic: every register starts as fully aligned until one of its definitions lowers the
/// alignment, so that a loop variable with a step of 16 bytes stays aligned.
fn zeros(drafts: &[Draft], registers: &[RegisterInfo]) -> Vec<u32> {
    let mut zeros: Vec<u32> = registers
        .iter()
        .map(|info| info.literal.map_or(ENOUGH_ZEROS, zeros_of))
        .collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); registers.len()];
    for (place, draft) in drafts.iter().enumerate() {
        for used in &draft.uses {
            users[used.0 as usize].push(place);
        }
    }
    let mut waiting: Vec<usize> = (0..drafts.len()).collect();
    while let Some(place) = waiting.pop() {
        let draft = &drafts[place];
        let left = zeros_after(draft, &zeros, registers);
        for def in &draft.defs {
            let known = &mut zeros[def.0 as usize];
            if left < *known {
                *known = left;
                waiting.extend(&users[def.0 as usize]);
            }
        }
    }
    zeros
}

/// Returns the number of trailing zero bits of a value, up to [`ENOUGH_ZEROS`].
fn zeros_of(value: u64) -> u32 {
    value.trailing_zeros().min(ENOUGH_ZEROS)
}

/// Returns the number of low bits of an instruction's result that are zero in all executions.
fn zeros_after(draft: &Draft, zeros: &[u32], registers: &[RegisterInfo]) -> u32 {
    let (Some(arithmetic), [_]) = (draft.arithmetic, &draft.defs[..]) else {
        return 0;
    };
    let info = |register: &Register| registers[register.0 as usize];
    let numbers: Vec<&Register> = draft
        .uses
        .iter()
        .filter(|used| info(used).row != RegisterClass::Predicate)
        .collect();
    let mut of = numbers.iter().map(|used| zeros[used.0 as usize]);
    let least = match arithmetic {
        Arithmetic::Sum => of.min(),
        Arithmetic::Offset => of.chain([zeros_of(draft.imm)]).min(),
        Arithmetic::Mask => of.max(),
        Arithmetic::Product => {
            let product = of.next().unwrap_or(0) + of.next().unwrap_or(0);
            of.chain([product]).min()
        }
        Arithmetic::Shift => {
            let by = numbers.get(1).and_then(|by| info(by).literal).unwrap_or(0);
            of.next()
                .map(|zeros| zeros + by.min(ENOUGH_ZEROS.into()) as u32)
        }
    };
    least.unwrap_or(0).min(ENOUGH_ZEROS)
}

#[cfg(test)]
mod tests;
