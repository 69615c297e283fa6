//! Figure of add-constant's first rungs: the sums that a thread computes, and its number of loads of inputs
//! and values.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::Language;
use crate::trace::{load, run};

const NOTE_KERNEL: &str = include_str!(env!("ADD_CONSTANT_PTX"));
const INT4: &str = include_str!(env!("ADD_CONSTANT_LADDER_1_INT4_PTX"));
const KEPT: &str = include_str!(env!("ADD_CONSTANT_LADDER_2_KEPT_PTX"));

/// Sums per block of the note's kernel; few, so that the figure stays legible.
const SUMS: u64 = 32;
/// Blocks of the grid of the note's kernel.
const BLOCKS: u64 = 8;
/// The number of the pattern in which each thread reads a different value.
const ONE_ACCESS_PER_THREAD: u32 = 2;

/// The work of thread 0: the indices of the sums it stores, and its numbers of loads of inputs and values.
struct Thread {
    sums: BTreeSet<u64>,
    inputs: usize,
    values: usize,
}

fn thread(ptx: &str, kernel: &str, grid: u64, block: u64) -> Result<Thread> {
    let mut machine = load(ptx)?;
    let bytes = 4 * SUMS * BLOCKS;
    let (sums, inputs) = (machine.allocate(bytes)?, machine.allocate(bytes)?);
    let mut parameters = params![sums, inputs];
    if ptx != NOTE_KERNEL {
        // The rungs that read values from constant memory take an address of values as well, but ignore it.
        parameters.extend(params![0u64]);
    }
    parameters.extend(params![(SUMS * BLOCKS) as u32, ONE_ACCESS_PER_THREAD]);
    let launch = Launch::new(kernel, [grid as u32, 1], [block as u32, 1], parameters);
    let trace = run(&machine, &launch)?;
    let is_first_warp = |access: &&Traced| access.block == 0 && access.warp == 0;
    let first_lane = |access: &Traced| access.lanes().find(|&(lane, _)| lane == 0);
    let loads = |memory| {
        let loads = trace.loads(memory).filter(is_first_warp);
        loads.filter(|load| first_lane(load).is_some()).count()
    };
    let mut stored = BTreeSet::new();
    let stores = trace.accesses.iter().filter(is_first_warp);
    for store in stores.filter(|access| !access.kind.is_load() && access.memory == Memory::Global) {
        if let Some((_, address)) = first_lane(store) {
            stored.extend((0..store.bytes / 4).map(|word| (address - sums) / 4 + word));
        }
    }
    stored.first().context("the thread stores a sum")?;
    Ok(Thread {
        sums: stored,
        inputs: loads(Memory::Global),
        values: loads(Memory::Constant),
    })
}

pub fn register_reuse(language: Language) -> Result<String> {
    let title = language.pick(
        "The sums that a thread computes, and its loads, on the first two rungs",
        "前两级优化中，一个线程计算的和及其加载次数",
    );
    let mut svg = Svg::new("ladder-kept", title);
    let kernels = [
        (
            "constant",
            NOTE_KERNEL,
            "add_constant_constant_memory",
            BLOCKS,
            SUMS,
        ),
        (
            "constant int4",
            INT4,
            "add_constant_int4_constant",
            BLOCKS,
            SUMS / 4,
        ),
        (
            "constant kept",
            KEPT,
            "add_constant_kept_constant",
            1,
            SUMS / 4,
        ),
    ];
    let step = WIDTH / kernels.len() as f64;
    let [cell_width, cell_height] = [(step - 10.0) / SUMS as f64, 9.0];
    let top = LINE_SPACING + 2.0;
    let bottom = top + cell_height * BLOCKS as f64 + 4.0;
    let mut descriptions = Vec::new();
    for (number, (name, ptx, kernel, grid, block)) in kernels.into_iter().enumerate() {
        let thread = thread(ptx, kernel, grid, block)?;
        let x = number as f64 * step;
        svg.text(x, 13.0, Class::Bold, name);
        for row in 0..BLOCKS {
            let y = top + row as f64 * cell_height;
            svg.rect(
                x,
                y,
                cell_width * SUMS as f64,
                cell_height - 1.0,
                Class::Waste,
            );
            let row_sums = thread.sums.iter().filter(|&sum| sum / SUMS == row);
            for sum in row_sums {
                let left = x + (sum % SUMS) as f64 * cell_width;
                svg.rect(left, y, cell_width, cell_height - 1.0, Class::D);
            }
        }
        let (sums, inputs, values) = (thread.sums.len(), thread.inputs, thread.values);
        let lines = [
            language.pick(format!("sums: {sums}"), format!("和：{sums} 个")),
            language.pick(
                format!("loads of inputs: {inputs}"),
                format!("加载输入：{inputs} 次"),
            ),
            language.pick(
                format!("loads of values: {values}"),
                format!("加载值：{values} 次"),
            ),
        ];
        for (line, text) in lines.iter().enumerate() {
            let y = bottom + 13.0 + line as f64 * LINE_SPACING;
            svg.text(x, y, Class::Ink, text);
        }
        let all = lines.join(language.pick(", ", "，"));
        descriptions.push(format!("{name}{}{all}", language.pick(": ", "：")));
    }
    let note = language.pick(
        "A row is the work of one block of the note’s kernel, here 32 sums, each with a different value. Dark: the \
         sums of one thread, whose numbers of loads are given below.",
        "一行是笔记的核函数中一个线程块计算的和，这里是 32 个，各用不同的值。深色：一个线程计算的和；\
         下方是其加载次数。",
    );
    svg.paragraph(bottom + 3.0 * LINE_SPACING + 6.0, Class::Faint, note);
    Ok(svg.finish(&descriptions.join(language.pick("; ", "；"))))
}
