//! Heuristics: decide whether a kernel is worth compiling, and choose the largest chunk whose values fit into the
//! vector registers.

use crate::classes::Class;
use cuda_sim::exec::compiled::{Function, Region};
use cuda_sim::isa::RegisterClass;
use cuda_sim::isa::operation::Operation;
use std::collections::{BTreeMap, BTreeSet};

/// The number of vectors that may be live at once. CPUs with 128-bit vectors have 16 to 32, and operands in memory cost
/// little on x86-64.
const MAX_VECTORS: usize = 20;

/// Returns the largest of the chunks whose live values fit into the vector registers and in which as many registers as
/// possible are uniform or linear; the smallest chunk if there is no such chunk.
pub fn best_chunk<'c>(
    function: &Function,
    region: &Region,
    chunks: &'c [(usize, Vec<Class>); 3],
) -> &'c (usize, Vec<Class>) {
    let scalars = |classes: &[Class]| {
        let registers = registers(function, region);
        let is_scalar = |&register: &u32| classes[register as usize] != Class::Varying;
        registers
            .iter()
            .filter(|register| is_scalar(register))
            .count()
    };
    let most = chunks.iter().map(|(_, classes)| scalars(classes)).max();
    let fits = |(lanes, classes): &&(usize, Vec<Class>)| {
        Some(scalars(classes)) == most
            && live_words(function, region, classes) * lanes / 4 <= MAX_VECTORS
    };
    chunks
        .iter()
        .find(fits)
        .unwrap_or(&chunks[chunks.len() - 1])
}

/// Returns the registers that a region names.
fn registers(function: &Function, region: &Region) -> BTreeSet<u32> {
    let insts = region.instructions(function);
    insts
        .flat_map(|inst| inst.defs.iter().chain(&inst.uses))
        .copied()
        .collect()
}

/// Returns the maximum number of 32-bit values per lane that are live at once in vectors. Registers that several blocks
/// use or define, or that are read after the region, count as live throughout.
fn live_words(function: &Function, region: &Region, classes: &[Class]) -> usize {
    let words = |register: u32| match (
        classes[register as usize],
        function.registers[register as usize].class,
    ) {
        (Class::Uniform | Class::Linear(_), _) => 0,
        (Class::Varying, RegisterClass::Wide) => 2,
        (Class::Varying, _) => 1,
    };
    let ranges: Vec<_> = region.ranges(function).map(|(_, range)| range).collect();
    let mut places: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for (n, range) in ranges.iter().enumerate() {
        for inst in &function.instructions[range.clone()] {
            for &register in inst.defs.iter().chain(&inst.uses) {
                places.entry(register).or_default().insert(n);
            }
        }
    }
    let everywhere: BTreeSet<u32> = places
        .into_iter()
        .filter(|(register, places)| places.len() > 1 || region.live_out.contains(register))
        .map(|(register, _)| register)
        .collect();
    let base: usize = everywhere.iter().map(|&register| words(register)).sum();
    let mut most = base;
    for range in ranges {
        let mut live = BTreeSet::new();
        for inst in function.instructions[range].iter().rev() {
            if let Some(Operation::Guard { .. }) = inst.operation {
                continue;
            }
            for def in &inst.defs {
                live.remove(def);
            }
            live.extend(inst.uses.iter().filter(|used| !everywhere.contains(used)));
            let local: usize = live.iter().map(|&register| words(register)).sum();
            most = most.max(base + local);
        }
    }
    most
}

/// The assumed number of iterations of a loop.
const ASSUMED_ITERATIONS: f64 = 8.0;

/// The cost of calling a region's function, in instructions of the interpreter.
const CALL_COST: f64 = 6.0;

/// The fraction of an instruction's cost that compiled code saves in a loop.
const SAVED_IN_LOOPS: f64 = 0.6;

/// The fraction that it saves outside loops, where it is entered for a few instructions. A 3x3 stencil without loops took
/// 1.1 times as long compiled as in gangs.
const SAVED_OUTSIDE_LOOPS: f64 = 0.3;

/// The additional cost of an interpreted instruction in a kernel with compiled code, as a fraction of the
/// instruction's cost: the kernel's warps do not form gangs.
const UNGANGED_COST: f64 = 0.3;

/// The minimum number of threads per block for which a partial last warp hardly matters.
const MIN_THREADS: u32 = 128;

/// The minimum fraction of a kernel's cost that compilation must save.
const MIN_SAVED_FRACTION: f64 = 0.1;

/// Returns true if compiled code would make a kernel faster, by an estimate from the nesting of its loops.
pub fn is_worthwhile(function: &Function, block: [u32; 3]) -> bool {
    // Accesses of a warp with absent lanes take the general path.
    let threads: u32 = block.iter().product();
    if threads < MIN_THREADS && !threads.is_multiple_of(32) {
        return false;
    }
    let mut depths = vec![0; function.blocks.len()];
    for (block, part) in function.blocks.iter().enumerate() {
        for &header in part.successors.iter().filter(|&&header| header <= block) {
            depths[header..=block]
                .iter_mut()
                .for_each(|depth| *depth += 1);
        }
    }
    let weight = |depth: i32| ASSUMED_ITERATIONS.powi(depth.clamp(0, 4));
    let cost = |block: usize, count: usize| weight(depths[block]) * count as f64;
    let blocks = function.blocks.iter().enumerate();
    let total: f64 = blocks
        .map(|(n, block)| cost(n, block.end - block.first))
        .sum();
    let (mut compiled, mut saved, mut calls) = (0.0, 0.0, 0.0);
    for region in &function.regions {
        for (&block, (_, range)) in region.blocks.iter().zip(region.ranges(function)) {
            let cost = cost(block, range.len());
            compiled += cost;
            saved += cost
                * match depths[block] {
                    0 => SAVED_OUTSIDE_LOOPS,
                    _ => SAVED_IN_LOOPS,
                };
        }
        let outside = region
            .blocks
            .iter()
            .map(|&block| depths[block])
            .min()
            .unwrap_or(0);
        let first = region.blocks[0];
        let is_header = region.end.is_none()
            && region
                .blocks
                .iter()
                .any(|&block| function.blocks[block].successors.contains(&first));
        calls += CALL_COST * weight(outside - i32::from(is_header));
    }
    saved - calls - UNGANGED_COST * (total - compiled) > MIN_SAVED_FRACTION * total
}
