//! Analyses for the sanitizer and the detection of spin loops.
//!
//! **Address provenance** is the shared-memory array from whose address each access's address was computed.
//! An index that is too large reaches into the next array. Hardware cannot detect this, because an address
//! does not carry its provenance. The sanitizer can, as long as the address is a sum that involves one
//! array's address.
//!
//! **Shuffle results**: every lane may use the value it receives, whatever its source lane, or only some. A
//! lane that reads from a lane outside the member mask receives an undefined value. That is an error only if
//! the lane uses the value, not if the program selects by lane index whether to use it.
//!
//! **Moved bytes**: loaded bytes whose values the function does not use, because it only stores them elsewhere, as when it
//! copies a structure. Padding may be uninitialized in them.
//!
//! **Polling**: volatile loads and atomics that may poll for another thread's store, and the exchanges whose
//! result is unused, which are plain stores.
//!
//! **Loaded values**: a plain load races with other threads' stores and atomics, but that is intended if its value only
//! decides whether to try an atomic, or if a compare-and-swap verifies it.

use crate::exec::memory::atomic::Atomic;
use crate::isa::check_event::{CheckEvent, LoadedBytes, MovedRegisters, SharedArray};
use crate::isa::{Access, AccessKind, Class, LoadedValue, Memory, NextAtomic};
use crate::lower::cfg::Cfg;
use crate::lower::ir::{Arithmetic, ByteFlow, Flow, IrInst, Register, RegisterClass, RegisterInfo};
use crate::lower::limits;
use std::collections::{HashMap, HashSet};

/// The provenance of the values that a register may hold: a lattice with `Undefined` at the bottom and
/// `Ambiguous` at the top.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Provenance {
    /// No definition has been evaluated yet.
    Undefined,
    /// A number or another value that is not derived from an array's address.
    Number,
    Array(SharedArray),
    /// Derived from different arrays, or unknown.
    Ambiguous,
}

/// Returns, for each instruction, the array that its access belongs to; `None` if it does not access shared
/// memory or the provenance is unknown. `bases` maps the registers that receive an array's address to the
/// array.
pub fn target_arrays(
    insts: &[IrInst],
    registers: &[RegisterInfo],
    bases: &HashMap<Register, SharedArray>,
) -> Vec<Option<SharedArray>> {
    let mut target_arrays = vec![None; insts.len()];
    if bases.is_empty() {
        return target_arrays;
    }
    let literal = |info: &RegisterInfo| match info.literal {
        Some(_) => Provenance::Number,
        None => Provenance::Undefined,
    };
    let mut provenance: Vec<Provenance> = registers.iter().map(literal).collect();
    let (mut changed, mut steps) = (true, 0);
    while std::mem::take(&mut changed) {
        steps += insts.len();
        if steps > limits::STEPS {
            return target_arrays;
        }
        for inst in insts {
            for def in &inst.defs {
                let new = match bases.get(def) {
                    Some(&array) => Provenance::Array(array),
                    None => provenance_of_result(inst, registers, &provenance),
                };
                let current = &mut provenance[def.0 as usize];
                let joined = join(*current, new);
                changed |= *current != joined;
                *current = joined;
            }
        }
    }
    for (target_array, inst) in target_arrays.iter_mut().zip(insts) {
        let Some(access) = inst.access else {
            continue;
        };
        if access.memory == Memory::Shared
            && access.kind != AccessKind::MatrixLoad
            && let Provenance::Array(array) = provenance[inst.operands[access.address].0 as usize]
        {
            *target_array = Some(array);
        }
    }
    target_arrays
}

/// Joins the provenances of two definitions of a register.
fn join(a: Provenance, b: Provenance) -> Provenance {
    match (a, b) {
        (Provenance::Undefined, current) | (current, Provenance::Undefined) => current,
        _ if a == b => a,
        _ => Provenance::Ambiguous,
    }
}

/// Returns the provenance of an instruction's result.
fn provenance_of_result(
    inst: &IrInst,
    registers: &[RegisterInfo],
    provenance: &[Provenance],
) -> Provenance {
    if inst.access.is_some() {
        return Provenance::Number;
    }
    let is_predicate =
        |used: &&Register| registers[used.0 as usize].row == RegisterClass::Predicate;
    let provenance_of = |used: &Register| provenance[used.0 as usize];
    let sources: Vec<Provenance> = inst
        .uses
        .iter()
        .filter(|used| !is_predicate(used))
        .map(provenance_of)
        .collect();
    // The other operand may be a loop variable whose definitions have not all been evaluated: wait for it.
    if sources.contains(&Provenance::Undefined)
        && !sources
            .iter()
            .any(|source| matches!(source, Provenance::Array(_)))
    {
        return Provenance::Undefined;
    }
    if sources.iter().all(|&source| source == Provenance::Number) {
        return Provenance::Number;
    }
    let is_selection = inst.uses.iter().any(|used| is_predicate(&used));
    let addends = match inst.arithmetic {
        Some(Arithmetic::Sum | Arithmetic::Offset) if is_selection => {
            return sources
                .into_iter()
                .reduce(join)
                .unwrap_or(Provenance::Number);
        }
        Some(Arithmetic::Sum | Arithmetic::Offset) => &sources[..],
        // A multiply-add that adds a product of numbers to an address.
        Some(Arithmetic::Product)
            if sources[..2]
                .iter()
                .all(|&source| source == Provenance::Number) =>
        {
            &sources[2..]
        }
        _ => return Provenance::Ambiguous,
    };
    let mut addresses = addends
        .iter()
        .filter(|&&source| source != Provenance::Number && source != Provenance::Undefined);
    match (addresses.next(), addresses.next()) {
        (Some(&address), None) => address,
        _ => Provenance::Ambiguous,
    }
}

/// Bytes that an instruction moves between memory and registers.
#[derive(Clone, Copy)]
pub enum MovedBytes {
    Loaded(LoadedBytes),
    Stored(MovedRegisters),
}

/// Returns the bytes that each load and store moves, except for loads all of whose bytes are used as values, and stores of
/// other registers than such loads write.
pub fn moved_bytes(insts: &[IrInst], registers: &[RegisterInfo]) -> Vec<Option<MovedBytes>> {
    let is_load = |inst: &IrInst| {
        inst.access
            .filter(|access| matches!(access.kind, AccessKind::Load | AccessKind::ReadOnlyLoad))
            .filter(|access| access.memory != Memory::Constant)
    };
    let mut moved = vec![None; insts.len()];
    let Some(used) = used_bytes(insts, registers) else {
        return moved;
    };
    // The definition of each register that has only one, and the registers that only loads write.
    let mut definitions: Vec<Option<usize>> = vec![None; registers.len()];
    let mut counts = vec![0u32; registers.len()];
    let mut is_loaded = vec![true; registers.len()];
    let mut records: HashMap<Register, Vec<(i64, i64)>> = HashMap::new();
    for (index, inst) in insts.iter().enumerate() {
        let load = is_load(inst);
        for def in &inst.defs {
            let def = def.0 as usize;
            counts[def] += 1;
            definitions[def] = (counts[def] == 1).then_some(index);
            is_loaded[def] &= load.is_some();
        }
        if let Some(access) = load {
            let start = inst.imm as i64;
            let range = (start, start.saturating_add(access.bytes.into()));
            let address = inst.operands[access.address];
            records.entry(address).or_default().push(range);
        }
    }
    records.values_mut().for_each(join_adjacent);
    // The loaded register whose low bytes a register holds.
    let origin = |mut register: Register| {
        for _ in 0..MAX_MOVES {
            let index = register.0 as usize;
            if is_loaded[index] && counts[index] > 0 {
                return register.0;
            }
            let Some(inst) = definitions[index].map(|index| &insts[index]) else {
                break;
            };
            match (inst.byte_flow, &inst.uses[..]) {
                (Some(ByteFlow::Moved | ByteFlow::Converted(_)), &[from])
                    if inst.defs.len() == 1 =>
                {
                    register = from;
                }
                _ => break,
            }
        }
        MovedRegisters::UNTRACKED
    };
    for (moved, inst) in moved.iter_mut().zip(insts) {
        *moved = match (is_load(inst), inst.access) {
            (Some(access), _) => {
                let all = u16::MAX >> (16 - access.bytes);
                let bytes = access.element.bytes;
                let element = |(nth, def): (usize, &Register)| {
                    // Narrow elements are extended when they are loaded.
                    let used = match u16::from(used[def.0 as usize]) {
                        0 => 0,
                        _ if bytes < 4 => u16::MAX,
                        used => used,
                    };
                    (used & u16::MAX >> (16 - bytes)) << (nth as u32 * bytes)
                };
                let used = inst.defs.iter().enumerate().map(element);
                let used = used.fold(0, |all, used| all | used);
                let start = inst.imm as i64;
                let end = start.saturating_add(access.bytes.into());
                let ranges = &records[&inst.operands[access.address]];
                // The ranges are sorted, and one of them contains these bytes.
                let after = ranges.partition_point(|range| range.0 <= start);
                let (from, to) = ranges[after - 1];
                // A loop that copies byte by byte uses another address for each byte of a structure.
                let margin = if bytes == 1 && used == 0 { 15 } else { 0 };
                let limited = |bytes: i64| bytes.clamp(margin, MAX_STRUCTURE) as u32;
                (used != all).then(|| {
                    MovedBytes::Loaded(LoadedBytes {
                        used,
                        before: limited(start - from),
                        after: limited(to - end),
                        registers: MovedRegisters::new(bytes, inst.defs.iter().map(|def| def.0)),
                    })
                })
            }
            (None, Some(access)) if access.kind == AccessKind::Store => {
                let stored = inst.operands.iter().enumerate();
                let stored = stored.filter(|&(n, _)| n != access.address);
                let stored = stored.map(|(_, &register)| origin(register));
                let origins = MovedRegisters::new(access.element.bytes, stored);
                let any = origins
                    .iter()
                    .any(|register| register != MovedRegisters::UNTRACKED);
                any.then_some(MovedBytes::Stored(origins))
            }
            (None, Some(access)) if access.kind.is_async_copy() => {
                Some(MovedBytes::Loaded(LoadedBytes::of_copy()))
            }
            _ => None,
        };
    }
    moved
}

/// The maximum number of bytes before and after those of a load that count as the same structure.
const MAX_STRUCTURE: i64 = 128;

/// The maximum number of moves between a load and a store of the same bytes.
const MAX_MOVES: usize = 4;

/// Sorts ranges and joins those that are adjacent or overlap.
fn join_adjacent(ranges: &mut Vec<(i64, i64)>) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, range| {
        let is_adjacent = next.0 <= range.1;
        if is_adjacent {
            range.1 = range.1.max(next.1);
        }
        is_adjacent
    });
}

/// Returns masks of the bytes of each register whose values the function uses; `None` if it is too large.
fn used_bytes(insts: &[IrInst], registers: &[RegisterInfo]) -> Option<Vec<u8>> {
    let mut used = vec![0u8; registers.len()];
    let (mut changed, mut steps) = (true, 0);
    while std::mem::take(&mut changed) {
        steps += insts.len();
        if steps > limits::STEPS {
            return None;
        }
        for inst in insts.iter().rev() {
            for (nth, from) in inst.uses.iter().enumerate() {
                let new = used_by(inst, nth, &used, registers);
                let current = &mut used[from.0 as usize];
                changed |= *current | new != *current;
                *current |= new;
            }
        }
    }
    Some(used)
}

/// Returns a mask of the bytes of source `nth` whose values an instruction, or one that uses its results, uses.
fn used_by(inst: &IrInst, nth: usize, used: &[u8], registers: &[RegisterInfo]) -> u8 {
    let bytes_of = |register: &Register| registers[register.0 as usize].bytes;
    let is_stored = inst.access.is_some_and(|access| {
        access.kind == AccessKind::Store && nth != access.address && inst.defs.is_empty()
    });
    let (Some(byte_flow), false) = (inst.byte_flow, is_stored) else {
        return if is_stored { 0 } else { u8::MAX };
    };
    let used_of = |def: &Register| {
        used[def.0 as usize] & u8::MAX >> 8u32.saturating_sub(bytes_of(def)).min(7)
    };
    let result = inst
        .defs
        .iter()
        .map(used_of)
        .fold(0, |all, used| all | used);
    let literal = |nth: usize| {
        let register = inst.uses.get(nth)?;
        registers[register.0 as usize].literal
    };
    // The bytes that a shift by a literal moves by, and those that it moves partly.
    let shift = || literal(1).map(|bits| (bits.min(63) / 8, bits % 8 != 0));
    match byte_flow {
        ByteFlow::Passed if nth == 0 => u8::MAX,
        ByteFlow::Passed => 0,
        ByteFlow::Moved => {
            let mut place = 0;
            let parts = inst.defs.iter().map(|def| {
                let bytes = bytes_of(def);
                let part = u64::from(used_of(def)) << place;
                place += bytes;
                part
            });
            let all = parts.fold(0, |all, part| all | part);
            let before: u32 = inst.uses[..nth].iter().map(bytes_of).sum();
            (all >> before.min(63)) as u8
        }
        ByteFlow::Converted(bytes) => result & (u8::MAX >> 8u32.saturating_sub(bytes)),
        ByteFlow::InPlace => result,
        ByteFlow::Masked => match literal(1 - nth.min(1)) {
            Some(mask) => {
                (0..8).fold(0, |bytes, byte| {
                    bytes | u8::from(mask >> (8 * byte) & 0xff != 0) << byte
                }) & result
            }
            None => result,
        },
        ByteFlow::ShiftedLeft | ByteFlow::ShiftedRight if nth > 0 => {
            u8::from(result != 0) * u8::MAX
        }
        ByteFlow::ShiftedLeft => match shift() {
            Some((bytes, partly)) => {
                let moved = result >> bytes;
                if partly { moved | moved >> 1 } else { moved }
            }
            None => u8::from(result != 0) * u8::MAX,
        },
        ByteFlow::ShiftedRight => match shift() {
            Some((bytes, partly)) => {
                let moved = result << bytes;
                if partly { moved | moved << 1 } else { moved }
            }
            None => u8::from(result != 0) * u8::MAX,
        },
    }
}

/// Records the result in each shuffle.
pub fn annotate_shuffles(insts: &mut [IrInst], cfg: &Cfg, registers: &[RegisterInfo]) {
    for range in &cfg.ranges {
        for index in range.clone() {
            let CheckEvent::WarpSync(warp_sync) = insts[index].sync_event else {
                continue;
            };
            if warp_sync.shuffle.is_none() {
                continue;
            }
            let used = uses_result(insts, range.clone(), index, registers);
            if let CheckEvent::WarpSync(warp_sync) = &mut insts[index].sync_event
                && let Some(shuffle) = &mut warp_sync.shuffle
            {
                shuffle.result_used = used;
            }
        }
    }
}

/// Returns true if the rest of the block uses the result of instruction `index` in all lanes, without a
/// selection.
fn uses_result(
    insts: &[IrInst],
    block: std::ops::Range<usize>,
    index: usize,
    registers: &[RegisterInfo],
) -> bool {
    let is_predicate = |used: &Register| registers[used.0 as usize].row == RegisterClass::Predicate;
    // The shuffled value (and copies of it), and values computed from it.
    let mut received: HashSet<Register> = insts[index].defs.first().copied().into_iter().collect();
    let mut computed: HashSet<Register> = HashSet::new();
    let mut guarded = false;
    for inst in &insts[index + 1..block.end] {
        let is_guard = inst.class == Class::Control && inst.flow == Flow::Next && inst.predicated;
        let is_conditional = std::mem::replace(&mut guarded, is_guard) || inst.predicated;
        let reads_from = |set: &HashSet<Register>| inst.uses.iter().any(|used| set.contains(used));
        let (reads_received, reads_computed) = (reads_from(&received), reads_from(&computed));
        if (reads_received || reads_computed) && !is_conditional {
            let mut conditions = inst.uses.iter().filter(|used| is_predicate(used));
            let mut computed_conditions = conditions.clone().filter(|used| computed.contains(used));
            if computed_conditions.next().is_some() || inst.defs.is_empty() || inst.access.is_some()
            {
                return true;
            }
            if conditions.next().is_none() {
                let is_copy = inst.class == Class::Move && !reads_computed;
                let set = if is_copy {
                    &mut received
                } else {
                    &mut computed
                };
                set.extend(&inst.defs);
                continue;
            }
        }
        for def in inst.defs.iter().filter(|_| !is_conditional) {
            received.remove(def);
            computed.remove(def);
        }
    }
    let other_blocks = insts[..index].iter().chain(&insts[block.end..]);
    other_blocks
        .flat_map(|inst| &inst.uses)
        .any(|used| computed.contains(used))
}

/// Records the results in each access. The loops around calls of a device function are unknown, so every such
/// load in one may poll.
pub fn annotate_spin_loops(insts: &mut [IrInst], cfg: &Cfg, is_kernel: bool) {
    let ordered = |inst: &IrInst| inst.access.is_some_and(|access| access.ordered.is_some());
    if !insts.iter().any(ordered) {
        return;
    }
    let used: HashSet<Register> = insts.iter().flat_map(|inst| &inst.uses).copied().collect();
    for inst in insts.iter_mut() {
        let result_unused = !inst.defs.iter().any(|def| used.contains(def));
        let is_plain_store = inst.arg0 == Atomic::Exchange as u32 && result_unused;
        if let Some(access) = &mut inst.access
            && access.kind.is_atomic()
            && let Some(ordered) = &mut access.ordered
        {
            ordered.only_stores = is_plain_store;
        }
    }
    let is_observable_read = |inst: &IrInst| ordered(inst) && !is_observable_store(inst);
    let polling: Vec<usize> = (0..insts.len())
        .filter(|&index| is_observable_read(&insts[index]))
        .filter(|&index| !is_kernel || can_poll(insts, cfg, index))
        .collect();
    for index in polling {
        if let Some(access) = &mut insts[index].access
            && let Some(ordered) = &mut access.ordered
        {
            ordered.polls = true;
        }
    }
}

/// Returns true if the instruction is a store that other threads can observe.
fn is_observable_store(inst: &IrInst) -> bool {
    inst.access.is_some_and(|access| match access.ordered {
        Some(ordered) => access.kind == AccessKind::Store || ordered.only_stores,
        None => false,
    })
}

/// Returns true if a path leads from instruction `index` back to it without such a store and without a
/// redefinition of its address. (Unoptimized code reloads the address from local memory each time, which does
/// not count.)
fn can_poll(insts: &[IrInst], cfg: &Cfg, index: usize) -> bool {
    let inst = &insts[index];
    let address = inst
        .access
        .and_then(|access| inst.operands.get(access.address));
    let redefines_address = |inst: &IrInst| {
        let sets = address.is_some_and(|address| inst.defs.contains(address));
        sets && inst.access.is_none()
    };
    let blocks = |inst: &IrInst| is_observable_store(inst) || redefines_address(inst);
    has_path(
        cfg,
        index + 1,
        |other| other == index,
        |other| blocks(&insts[other]),
    )
}

/// Returns true if a path leads from instruction `from`, included, to one that is a `target`, without one before it that
/// `blocks` the path.
fn has_path(
    cfg: &Cfg,
    from: usize,
    target: impl Fn(usize) -> bool,
    blocks: impl Fn(usize) -> bool,
) -> bool {
    let ranges = &cfg.ranges;
    let Some(first) = ranges.iter().position(|range| range.contains(&from)) else {
        return false;
    };
    let mut visited = vec![false; ranges.len()];
    let mut worklist = vec![(first, from)];
    while let Some((block, start)) = worklist.pop() {
        let end = (start..ranges[block].end).find(|&index| target(index) || blocks(index));
        match end {
            Some(index) if target(index) => return true,
            Some(_) => {}
            None => {
                for &next in &cfg.successors[block] {
                    if !std::mem::replace(&mut visited[next], true) {
                        worklist.push((next, ranges[next].start));
                    }
                }
            }
        }
    }
    false
}

/// Marks of registers whose values reach a store, an address or a call, and those whose values reach an operand of an
/// atomic other than its address.
const CARRIED: u8 = 1;
const UPDATES: u8 = 2;

/// Records in each weak load how its value is used. `arrays` are the arrays in shared memory that accesses belong to.
pub fn annotate_loads(
    insts: &mut [IrInst],
    cfg: &Cfg,
    registers: &[RegisterInfo],
    arrays: &[Option<SharedArray>],
) {
    if !insts.iter().any(is_weak_load) {
        return;
    }
    let uses = uses_of_values(insts, registers);
    let atomics = Atomics::new(insts, registers, arrays);
    for index in 0..insts.len() {
        if !is_weak_load(&insts[index]) {
            continue;
        }
        let marks = insts[index]
            .defs
            .iter()
            .fold(0, |marks, def| marks | uses[def.0 as usize]);
        let next_atomic = match &atomics {
            Some(atomics) => atomics.after_load(insts, cfg, index, marks),
            None => NextAtomic::None,
        };
        if let Some(access) = &mut insts[index].access {
            access.loaded = LoadedValue {
                only_decides: marks == 0,
                next_atomic,
            };
        }
    }
}

/// Returns true for a load that other threads' stores may race with and that is not a synchronization operation.
fn is_weak_load(inst: &IrInst) -> bool {
    inst.access.is_some_and(|access| {
        access.kind == AccessKind::Load
            && access.ordered.is_none()
            && !matches!(access.memory, Memory::Local | Memory::Constant)
    })
}

/// Returns the marks of each register.
fn uses_of_values(insts: &[IrInst], registers: &[RegisterInfo]) -> Vec<u8> {
    let mut marks = vec![0u8; registers.len()];
    let is_predicate = |used: Register| registers[used.0 as usize].row == RegisterClass::Predicate;
    for inst in insts {
        let address = inst.access.map(|access| inst.operands[access.address]);
        let is_atomic = inst.access.is_some_and(|access| access.kind.is_atomic());
        for &used in inst.uses.iter().filter(|&&used| !is_predicate(used)) {
            if Some(used) == address || inst.defs.is_empty() && !is_atomic {
                marks[used.0 as usize] |= CARRIED;
            } else if is_atomic {
                marks[used.0 as usize] |= UPDATES;
            }
        }
    }
    // Backwards, so that few rounds are needed.
    let (mut changed, mut steps) = (true, 0);
    while std::mem::take(&mut changed) {
        steps += insts.len();
        if steps > limits::STEPS {
            marks.fill(CARRIED);
            return marks;
        }
        for inst in insts.iter().rev().filter(|inst| inst.access.is_none()) {
            let result = inst
                .defs
                .iter()
                .fold(0, |result, def| result | marks[def.0 as usize]);
            for used in &inst.uses {
                let mark = &mut marks[used.0 as usize];
                changed |= *mark | result != *mark;
                *mark |= result;
            }
        }
    }
    marks
}

/// The atomics of a function.
struct Atomics<'a> {
    /// The indices of the instructions.
    list: Vec<usize>,
    /// The only definition of each register; `None` if there are several, or none.
    definitions: Vec<Option<usize>>,
    registers: &'a [RegisterInfo],
    arrays: &'a [Option<SharedArray>],
}

impl<'a> Atomics<'a> {
    /// Returns `None` if there are none.
    fn new(
        insts: &[IrInst],
        registers: &'a [RegisterInfo],
        arrays: &'a [Option<SharedArray>],
    ) -> Option<Atomics<'a>> {
        let is_atomic = |access: Access| access.kind.is_atomic();
        let list: Vec<usize> = (0..insts.len())
            .filter(|&index| insts[index].access.is_some_and(is_atomic))
            .collect();
        if list.is_empty() {
            return None;
        }
        let mut definitions = vec![None; registers.len()];
        let mut is_defined = vec![false; registers.len()];
        for (index, inst) in insts.iter().enumerate() {
            for def in &inst.defs {
                let def = def.0 as usize;
                let again = std::mem::replace(&mut is_defined[def], true);
                definitions[def] = (!again).then_some(index);
            }
        }
        Some(Atomics {
            list,
            definitions,
            registers,
            arrays,
        })
    }

    /// Returns the atomic that follows a load whose value has these marks.
    fn after_load(&self, insts: &[IrInst], cfg: &Cfg, load: usize, marks: u8) -> NextAtomic {
        let same: Vec<usize> = (self.list.iter().copied())
            .filter(|&atomic| self.is_same_location(insts, load, atomic))
            .collect();
        let verifies = |&atomic: &usize| verifies(insts, atomic, load);
        if same.iter().any(verifies) {
            return NextAtomic::Verifies;
        }
        let is_same = |index: usize| same.binary_search(&index).is_ok();
        let carried = marks & CARRIED != 0;
        if !same.is_empty()
            && has_path(cfg, 0, |index| index == load, is_same)
            && has_path(cfg, load + 1, is_same, |_| false)
        {
            return match carried {
                true => NextAtomic::AfterUse,
                false => NextAtomic::Verifies,
            };
        }
        let relaxes = |&atomic: &usize| {
            let operation = Atomic::from_code(insts[atomic].arg0);
            operation.is_extremum() && self.is_same_array(insts, load, atomic)
        };
        if !carried && marks & UPDATES != 0 && self.list.iter().any(relaxes) {
            return NextAtomic::AfterUse;
        }
        NextAtomic::None
    }

    /// Returns true if a load and an atomic access one location, as far as their addresses show. In shared memory one
    /// array is enough.
    fn is_same_location(&self, insts: &[IrInst], load: usize, atomic: usize) -> bool {
        let is_same_array = self.arrays[load].is_some() && self.arrays[load] == self.arrays[atomic];
        is_same_array || self.address(insts, load) == self.address(insts, atomic)
    }

    /// Returns true if the addresses of a load and an atomic are computed from a common one.
    fn is_same_array(&self, insts: &[IrInst], load: usize, atomic: usize) -> bool {
        let (load, atomic) = (self.bases_of(insts, load), self.bases_of(insts, atomic));
        load.iter().any(|base| atomic.contains(base))
    }

    /// Returns the register from which the address of an access is computed by copies and constant offsets, and the
    /// sum of these.
    fn address(&self, insts: &[IrInst], access: usize) -> Option<(Register, u64)> {
        let inst = &insts[access];
        let mut register = inst.operands[inst.access?.address];
        let mut offset = inst.imm;
        for _ in 0..MAX_COPIES {
            let Some(definition) = self.definitions[register.0 as usize] else {
                break;
            };
            let inst = &insts[definition];
            let is_offset = matches!(inst.arithmetic, Some(Arithmetic::Sum | Arithmetic::Offset));
            let &[source] = &inst.uses[..] else {
                break;
            };
            if !is_offset || inst.predicated || inst.access.is_some() {
                break;
            }
            offset = offset.wrapping_add(inst.imm);
            register = source;
        }
        Some((register, offset))
    }

    /// Returns the registers that may hold the address of the array that an access belongs to.
    fn bases_of(&self, insts: &[IrInst], access: usize) -> Vec<Register> {
        let Some((register, _)) = self.address(insts, access) else {
            return Vec::new();
        };
        let definition = self.definitions[register.0 as usize];
        let sources = definition.map_or(&[][..], |definition| &insts[definition].uses);
        // Small literals are sizes of elements.
        let is_address = |register: &Register| {
            let literal = self.registers[register.0 as usize].literal;
            literal.is_none_or(|literal| literal > u32::MAX.into())
        };
        let all = sources.iter().copied().chain([register]);
        all.filter(is_address).collect()
    }
}

/// The maximum number of copies and offsets that are followed back from an address.
const MAX_COPIES: usize = 8;

/// Returns true if an atomic is a compare-and-swap that compares with the value of a load, or with copies of it.
fn verifies(insts: &[IrInst], atomic: usize, load: usize) -> bool {
    let inst = &insts[atomic];
    if Atomic::from_code(inst.arg0) != Atomic::CompareAndSwap {
        return false;
    }
    let Some(&compared) = inst.operands.get(2) else {
        return false;
    };
    let mut copies = vec![compared];
    let mut next = 0;
    while let Some(&register) = copies.get(next) {
        next += 1;
        for (index, inst) in insts.iter().enumerate() {
            if !inst.defs.contains(&register) {
                continue;
            }
            if index == load {
                return true;
            }
            if let (&[source], None) = (&inst.uses[..], inst.access)
                && !copies.contains(&source)
                && copies.len() < MAX_COPIES
            {
                copies.push(source);
            }
        }
    }
    false
}
