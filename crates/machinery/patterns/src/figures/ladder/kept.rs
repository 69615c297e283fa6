//! add-constant's first rungs: which sums a thread adds, and how often it asks for inputs and values.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LEADING, Svg};
use crate::language::Language;
use crate::machine::{Job, Machine, Param, params};

const NOTE: &str = include_str!(env!("ADD_CONSTANT_PTX"));
const INT4: &str = include_str!(env!("ADD_CONSTANT_LADDER_1_INT4_PTX"));
const KEPT: &str = include_str!(env!("ADD_CONSTANT_LADDER_2_KEPT_PTX"));

/// Sums of a block of the notes', as small as shows something, and how many blocks.
const SUMS: u64 = 32;
const BLOCKS: u64 = 8;
/// The pattern's number: each thread another value.
const ONE_ACCESS_PER_THREAD: u32 = 2;

/// What thread 0 does: the sums it stores, its loads of inputs, and its loads of values.
struct Thread {
    sums: BTreeSet<u64>,
    inputs: usize,
    values: usize,
}

fn thread(ptx: &str, kernel: &str, grid: u64, block: u64) -> Result<Thread> {
    let mut machine = Machine::load(ptx)?;
    let bytes = 4 * SUMS * BLOCKS;
    let (sums, inputs) = (machine.buffer(bytes)?, machine.buffer(bytes)?);
    let mut given = vec![Param::Long(sums), Param::Long(inputs)];
    if ptx != NOTE {
        // The rungs in constant memory take the address of values, too, and leave it alone.
        given.push(Param::Long(0));
    }
    given.push(Param::Word((SUMS * BLOCKS) as u32));
    given.push(Param::Word(ONE_ACCESS_PER_THREAD));
    let trace = machine.run(&Job {
        kernel,
        grid: [grid as u32, 1],
        block: [block as u32, 1],
        shared: 0,
        params: &params(&given),
    })?;
    let mine = |access: &&Traced| access.block == 0 && access.warp == 0;
    let first = |access: &Traced| access.lanes().find(|&(lane, _)| lane == 0);
    let loads = |memory| {
        let of = trace.loads(memory).filter(mine);
        of.filter(|load| first(load).is_some()).count()
    };
    let mut stored = BTreeSet::new();
    let stores = trace.accesses.iter().filter(mine);
    for store in stores.filter(|access| !access.kind.is_load() && access.memory == Memory::Global) {
        if let Some((_, address)) = first(store) {
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

pub fn kept(language: Language) -> Result<String> {
    let title = language.of(
        "The sums of one thread, and what it loads for them, on the first two rungs",
        "前两级阶梯上，一个线程求哪些和、为此读取几次",
    );
    let mut svg = Svg::new("ladder-kept", title);
    let kernels = [
        (
            "constant",
            NOTE,
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
    let [wide, high] = [(step - 10.0) / SUMS as f64, 9.0];
    let top = LEADING + 2.0;
    let bottom = top + high * BLOCKS as f64 + 4.0;
    let mut said = Vec::new();
    for (number, (name, ptx, kernel, grid, block)) in kernels.into_iter().enumerate() {
        let thread = thread(ptx, kernel, grid, block)?;
        let x = number as f64 * step;
        svg.text(x, 13.0, Class::Bold, name);
        for row in 0..BLOCKS {
            let y = top + row as f64 * high;
            svg.rect(x, y, wide * SUMS as f64, high - 1.0, Class::Waste);
            let of_row = thread.sums.iter().filter(|&sum| sum / SUMS == row);
            for sum in of_row {
                let left = x + (sum % SUMS) as f64 * wide;
                svg.rect(left, y, wide, high - 1.0, Class::D);
            }
        }
        let (sums, inputs, values) = (thread.sums.len(), thread.inputs, thread.values);
        let lines = [
            language.of(format!("sums: {sums}"), format!("和：{sums} 个")),
            language.of(
                format!("loads of inputs: {inputs}"),
                format!("读取输入：{inputs} 次"),
            ),
            language.of(
                format!("loads of values: {values}"),
                format!("读取值：{values} 次"),
            ),
        ];
        for (line, text) in lines.iter().enumerate() {
            let y = bottom + 13.0 + line as f64 * LEADING;
            svg.text(x, y, Class::Ink, text);
        }
        let all = lines.join(language.of(", ", "，"));
        said.push(format!("{name}{}{all}", language.of(": ", "：")));
    }
    let note = language.of(
        "A row is what one block of the notes’ adds, here 32 sums, where each thread has another value. Dark: the \
         sums of one thread; below, how often it loads for them.",
        "一行是笔记的一个线程块所求的和，这里是 32 个，每个线程的值都不同。深色：一个线程求的和；\
         下面是它为此读取的次数。",
    );
    svg.paragraph(bottom + 3.0 * LEADING + 6.0, Class::Faint, note);
    Ok(svg.finish(&said.join(language.of("; ", "；"))))
}
