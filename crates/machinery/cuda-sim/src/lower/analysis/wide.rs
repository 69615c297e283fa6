//! Loads that a GPU's assembler makes one wide load, and stores that it makes one wide store.
//!
//! Four loads of neighbouring words are four instructions in PTX, but one of 16 bytes in machine
//! code where the assembler sees that the first lies on a 16-byte boundary. What it can see is
//! modelled here: loads of one memory, from the same address register, in a stretch of code that
//! nothing enters or leaves, with nothing in between that may write there or that orders memory,
//! side by side, from a place whose alignment follows from the arithmetic that made the address. Of
//! stores to shared memory it does the same where nothing in between may read or write there either.
//!
//! Found in what NVIDIA's assembler (CUDA 13.0) makes of this repository's kernels.

use crate::isa::{AccessClass, AccessKind, Class, Direction};
use crate::lower::draft::{Arithmetic, Draft, Flow};
use crate::lower::graph::Graph;
use crate::lower::register::{Register, RegisterClass, RegisterInfo};
use crate::ptx::ast::Type;
use std::collections::{BTreeMap, HashMap};

/// What becomes of a load or of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is not merged with others.
    Alone,
    /// It stands for all of a group: of loads the first, of stores the last.
    Leads {
        /// The group's lowest byte, added to the address in the register.
        offset: u64,
        /// Bytes of the whole group a lane: 8 or 16.
        bytes: u32,
    },
    /// An earlier load of its group brings its value along, or a later store takes it along.
    Rides,
}

impl Arithmetic {
    /// The same where the instruction is one of whole numbers as wide as registers, and keeps the low
    /// bits of a product.
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

/// The widest access there is: bytes, and the zero bits at the end of an address it may have.
pub const WIDEST: u32 = 16;
const ENOUGH_ZEROS: u32 = WIDEST.trailing_zeros();

/// What becomes of each draft that is a load or a store; the others are alone.
pub fn roles(drafts: &[Draft], graph: &Graph, registers: &[RegisterInfo]) -> Vec<Role> {
    let zeros = zeros(drafts, registers);
    let mut merging = Merging {
        zeros: &zeros,
        open: merged().map(|class| (class, HashMap::new())).collect(),
        roles: vec![Role::Alone; drafts.len()],
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

/// The drafts of the graph in stretches that are entered at the beginning and left at the end
/// alone: blocks that only one other leads to, and it to no other, are part of its stretch.
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

/// What is known while a stretch of code is gone through.
struct Merging<'a> {
    /// For each register how many bits at its end are always zero.
    zeros: &'a [u32],
    /// Accesses that may still be merged with others, by their class and by address register.
    open: Vec<(AccessClass, HashMap<Register, Vec<Part>>)>,
    /// What becomes of each draft, as far as it is known.
    roles: Vec<Role>,
}

/// The classes of accesses that are merged, each with others of its own.
fn merged() -> impl Iterator<Item = AccessClass> {
    let all = AccessClass::ALL.iter().copied();
    all.filter(|class| class.row().merged_bytes > 0)
}

/// A load or a store that may become part of a wide one.
#[derive(Clone, Copy)]
struct Part {
    /// The draft's place in the function.
    place: usize,
    /// What is added to the address register.
    offset: i64,
    /// How many bytes a lane moves.
    bytes: u32,
}

impl Merging<'_> {
    /// Goes past one draft. `next` is the one after it.
    fn see(&mut self, place: usize, draft: &Draft, next: Option<&Draft>) {
        let guards = next.is_some_and(|next| next.partial);
        if draft.class == Class::Control && draft.flow == Flow::Next && !guards {
            // Barriers, fences and calls.
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

    /// The accesses of a class from one register that may still be merged, which are to be put back.
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

    /// Merges what can be merged of the accesses of classes that `over` says: no more will come.
    fn close(&mut self, over: impl Fn(AccessClass) -> bool) {
        for (class, loads) in self.open.iter_mut().filter(|(class, _)| over(*class)) {
            for (base, loads) in std::mem::take(loads) {
                merge(&loads, self.zeros[base.0 as usize], *class, &mut self.roles);
            }
        }
    }
}

/// Gives the accesses of a class from one register their roles.
fn merge(loads: &[Part], zeros: u32, class: AccessClass, roles: &mut [Role]) {
    for width in [16, 8] {
        if width > class.row().merged_bytes || width > 1 << zeros {
            continue;
        }
        let mut windows: BTreeMap<i64, Vec<Part>> = BTreeMap::new();
        for load in loads {
            if roles[load.place] == Role::Alone && load.bytes < width {
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

/// How many bits at the end of each register are zero whatever the program does, up to
/// [`ENOUGH_ZEROS`].
///
/// Every register is taken to be aligned until one of the instructions that write it says
/// otherwise, so that a loop that goes on in steps of 16 bytes stays aligned.
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

/// How many bits at the end of a number are zero, up to [`ENOUGH_ZEROS`].
fn zeros_of(value: u64) -> u32 {
    value.trailing_zeros().min(ENOUGH_ZEROS)
}

/// How many bits at the end of what an instruction writes are zero whatever the program does.
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
