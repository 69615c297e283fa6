//! Loads that a GPU's assembler makes one wide load.
//!
//! Four loads of neighbouring words are four instructions in PTX, but one of 16 bytes in machine
//! code where the assembler sees that the first lies on a 16-byte boundary. What it can see is
//! modelled here: loads of one memory, from the same address register, in a stretch of code that
//! nothing enters or leaves, with nothing in between that may write there or that orders memory,
//! side by side, from a place whose alignment follows from the arithmetic that made the address.
//!
//! Found in what NVIDIA's assembler (CUDA 13.0) makes of this repository's kernels.

use crate::isa::{AccessKind, Class, Memory};
use crate::lower::draft::{Arithmetic, Draft, Flow};
use crate::lower::graph::Graph;
use crate::lower::register::{Register, RegisterClass, RegisterInfo};
use std::collections::{BTreeMap, HashMap};

/// What becomes of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is not merged with others.
    Alone,
    /// It is the first of a group and stands for all of it.
    Leads {
        /// The group's lowest byte, added to the address in the load's register.
        offset: u64,
        /// Bytes of the whole group a lane: 8 or 16.
        bytes: u32,
    },
    /// An earlier load of its group brings its value along.
    Rides,
}

impl Arithmetic {
    /// That of a PTX instruction on whole numbers; none where nothing follows.
    pub fn of(mnemonic: &str, modifiers: &[&str]) -> Option<Arithmetic> {
        let whole = |ty: &&str| {
            let (kind, bits) = ty.split_at_checked(1).unwrap_or_default();
            matches!(kind, "u" | "s" | "b") && matches!(bits, "16" | "32" | "64")
        };
        let keeps_low = modifiers.iter().any(|part| matches!(*part, "lo" | "wide"));
        if !modifiers.last().is_some_and(whole) || modifiers.contains(&"sat") {
            return None;
        }
        match mnemonic {
            "mov" | "add" | "sub" | "neg" | "or" | "xor" | "selp" | "min" | "max" => {
                Some(Arithmetic::Sum)
            }
            "cvt" if modifiers.iter().filter(|part| whole(part)).count() == 2 => {
                Some(Arithmetic::Sum)
            }
            "mul" | "mad" if keeps_low => Some(Arithmetic::Product),
            "shl" => Some(Arithmetic::Shift),
            "and" => Some(Arithmetic::Mask),
            _ => None,
        }
    }
}

/// The widest load there is: bytes, and the zero bits at the end of an address it may have.
pub const WIDEST: u32 = 16;
const ENOUGH_ZEROS: u32 = WIDEST.trailing_zeros();

/// The widest load of a memory, bytes.
fn widest(memory: Memory) -> u32 {
    match memory {
        Memory::Constant => 8,
        Memory::Global | Memory::Shared | Memory::Local => WIDEST,
        Memory::Generic => 0,
    }
}

/// What becomes of each draft that is a load; the others are alone.
pub fn roles(drafts: &[Draft], graph: &Graph, registers: &[RegisterInfo]) -> Vec<Role> {
    let zeros = zeros(drafts, registers);
    let mut merging = Merging {
        zeros: &zeros,
        open: SOURCES.map(|source| (source, HashMap::new())),
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
    /// Loads that may still be merged with others, by where they read and by address register.
    open: [(LoadSource, HashMap<Register, Vec<Load>>); SOURCES.len()],
    /// What becomes of each draft, as far as it is known.
    roles: Vec<Role>,
}

/// What loads have to have in common, besides the register: the memory, and whether nothing writes
/// to it while the kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LoadSource {
    memory: Memory,
    read_only: bool,
}

const SOURCES: [LoadSource; 5] = {
    const fn written(memory: Memory) -> LoadSource {
        LoadSource {
            memory,
            read_only: false,
        }
    }
    const fn read_only(memory: Memory) -> LoadSource {
        LoadSource {
            memory,
            read_only: true,
        }
    }
    [
        written(Memory::Global),
        read_only(Memory::Global),
        read_only(Memory::Constant),
        written(Memory::Shared),
        written(Memory::Local),
    ]
};

/// A load that may be merged with others.
#[derive(Clone, Copy)]
struct Load {
    /// The draft's place in the function.
    place: usize,
    /// What is added to the address register.
    offset: i64,
    /// How many bytes a lane loads.
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
            Some(access) if access.kind.is_load() => {
                let whole_words = matches!(access.bytes, 4 | 8);
                if whole_words
                    && access.kind != AccessKind::MatrixLoad
                    && access.bytes < widest(access.memory)
                    && !draft.partial
                    && !access.ordered
                {
                    let source = LoadSource {
                        memory: access.memory,
                        read_only: access.kind == AccessKind::ReadOnlyLoad
                            || access.memory == Memory::Constant,
                    };
                    let base = draft.operands[access.address];
                    let load = Load {
                        place,
                        offset: draft.imm as i64,
                        bytes: access.bytes,
                    };
                    for (_, loads) in self.open.iter_mut().filter(|(open, _)| *open == source) {
                        loads.entry(base).or_default().push(load);
                    }
                }
            }
            Some(access) => self.close(|source| {
                let reaches = access.kind == AccessKind::Atomic
                    || access.memory == Memory::Generic
                    || access.memory == source.memory
                    || access.kind.is_copy() && source.memory == Memory::Shared;
                reaches && !source.read_only
            }),
            None => {}
        }
        for def in &draft.defs {
            for (source, loads) in &mut self.open {
                if let Some(loads) = loads.remove(def) {
                    merge(
                        &loads,
                        self.zeros[def.0 as usize],
                        source.memory,
                        &mut self.roles,
                    );
                }
            }
        }
    }

    /// Merges what can be merged of the loads from where `over` says: no more will come.
    fn close(&mut self, over: impl Fn(LoadSource) -> bool) {
        for (source, loads) in self.open.iter_mut().filter(|(source, _)| over(*source)) {
            for (base, loads) in std::mem::take(loads) {
                merge(
                    &loads,
                    self.zeros[base.0 as usize],
                    source.memory,
                    &mut self.roles,
                );
            }
        }
    }
}

/// Gives the loads from one register their roles.
fn merge(loads: &[Load], zeros: u32, memory: Memory, roles: &mut [Role]) {
    for width in [16, 8] {
        if width > widest(memory) || width > 1 << zeros {
            continue;
        }
        let mut windows: BTreeMap<i64, Vec<Load>> = BTreeMap::new();
        for load in loads {
            if roles[load.place] == Role::Alone && load.bytes < width {
                let window = load.offset.div_euclid(width.into());
                windows.entry(window).or_default().push(*load);
            }
        }
        for (window, mut group) in windows {
            let (first, bytes) = (group[0].place, group[0].bytes);
            group.sort_by_key(|load| load.offset);
            let start = window * i64::from(width);
            let side_by_side = (0..).zip(&group).all(|(nth, load)| {
                load.bytes == bytes && load.offset == start + nth * i64::from(bytes)
            });
            if side_by_side && group.len() as u32 * bytes == width {
                for load in group {
                    roles[load.place] = Role::Rides;
                }
                roles[first] = Role::Leads {
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
