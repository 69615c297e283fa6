//! Figures of the loads of a warp or a thread that a rung of a ladder changes.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::draw::{Colours, Lines, WIDTH, colour, draw_banks, draw_lines, requests, warp};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const PITCHED: &str = include_str!(env!("MATMUL_PITCHED_PTX"));
const UNCOALESCED: &str = include_str!(env!("MATMUL_PITCHED_LADDER_1_UNCOALESCED_PTX"));

/// Rows and columns of each matrix.
const SIDE: u64 = 16;
/// Floats from one row to the next: 512 bytes, the pitch on an H200.
const STRIDE: u64 = 128;
const BYTES: u64 = 4 * SIDE * STRIDE;

/// Draws matmul-pitched's `uncoalesced` rung: a warp's loads from A and B, with x along a row and with x and y
/// swapped.
pub fn swapped(language: Language) -> Result<String> {
    let title = language.pick(
        "A warp’s loads from A and B for one step: with x along a row, and with x and y swapped",
        "线程束每一步对 A 和 B 的加载：x 沿行方向，以及交换 x 和 y 之后",
    );
    let mut svg = Svg::new("ladder-swapped", title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
    let mut descriptions = Vec::new();
    for (name, ptx, kernel) in [
        ("pitched", PITCHED, "mat_mul_pitched"),
        ("uncoalesced", UNCOALESCED, "mat_mul_uncoalesced"),
    ] {
        let mut machine = load(ptx)?;
        let mut buffer = || machine.allocate(BYTES);
        let [a, b, c] = [buffer()?, buffer()?, buffer()?];
        let matrix = |address: u64| [SIDE, SIDE, address, STRIDE];
        let params = params![matrix(a), matrix(b), matrix(c)];
        let launch = Launch::new(kernel, [1, 1], [SIDE as u32, SIDE as u32], params);
        let trace = run(&machine, &launch)?;
        for (factor, base) in [("A", a), ("B", b)] {
            // The first warp's first load of this matrix.
            let is_first = |load: &&Traced| {
                let first = load.lanes().next();
                load.warp == 0
                    && first.is_some_and(|(_, address)| (base..base + BYTES).contains(&address))
            };
            let load = trace
                .loads(Memory::Global)
                .find(is_first)
                .context("the warp loads from each matrix")?;
            let text = match load.units {
                1 => language.pick(
                    format!("{name}, {factor}: 1 request, 1 sector"),
                    format!("{name}，{factor}：1 次请求，1 个扇区"),
                ),
                sectors => language.pick(
                    format!("{name}, {factor}: 1 request, {sectors} sectors"),
                    format!("{name}，{factor}：1 次请求，{sectors} 个扇区"),
                ),
            };
            y = svg.paragraph(y, Class::Bold, &text) + 3.0;
            let drawn = Lines {
                reads: &[(load, colour as Colours)],
                base,
                max_lines: 3,
            };
            y = draw_lines(&mut svg, y, &drawn, language) + 6.0;
            descriptions.push(text);
        }
    }
    svg.extend_to(y);
    Ok(svg.finish(&descriptions.join(language.pick("; ", "；"))))
}

const CONSTANT: &str = include_str!(env!("ADD_CONSTANT_LADDER_1_INT4_PTX"));
const GLOBAL: &str = include_str!(env!("ADD_CONSTANT_LADDER_3_GLOBAL_INT4_PTX"));
const SHARED: &str = include_str!(env!("ADD_CONSTANT_LADDER_5_SHARED_PTX"));

/// Threads per block.
const THREADS: u64 = 64;
const SCATTERED_SUMS: u64 = 4 * THREADS;
/// The number of the pseudo-random pattern.
const PSEUDO_RANDOM: u32 = 3;
const TABLE_BYTES: u64 = 64 << 10;

/// Draws scattered loads in add-constant: the same 32 values from constant, global and shared memory.
pub fn scattered(language: Language) -> Result<String> {
    let title = language.pick(
        "A warp’s load of 32 scattered values from constant, global and shared memory",
        "线程束加载 32 个分散的值：从常量内存、全局内存和共享内存",
    );
    let mut svg = Svg::new("ladder-scattered", title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
    let mut descriptions = Vec::new();
    for (ptx, kernel, memory) in [
        (CONSTANT, "add_constant_int4_constant", Memory::Constant),
        (GLOBAL, "add_constant_int4_global", Memory::Global),
        (SHARED, "add_constant_shared", Memory::Shared),
    ] {
        let mut machine = load(ptx)?;
        let values = machine.allocate(TABLE_BYTES)?;
        let mut buffer = || machine.allocate(4 * SCATTERED_SUMS);
        let (sums, inputs) = (buffer()?, buffer()?);
        let params = params![sums, inputs, values, SCATTERED_SUMS as u32, PSEUDO_RANDOM];
        let shared = u32::from(memory == Memory::Shared) * TABLE_BYTES as u32;
        let launch = Launch::new(kernel, [1, 1], [THREADS as u32, 1], params).shared(shared);
        let trace = run(&machine, &launch)?;
        // The first load of a value by the second warp; values are loaded with 4 bytes per lane.
        let is_value = |load: &&Traced| load.warp == 1 && load.bytes == 4;
        let load = trace
            .loads(memory)
            .find(is_value)
            .context("the warp reads a value")?;
        let text = match memory {
            Memory::Constant => language.pick(
                format!("Constant memory: {} requests, serialized", load.units),
                format!("常量内存：{} 次请求，串行执行", load.units),
            ),
            Memory::Global => language.pick(
                format!("Global memory: 1 request, {} sectors", load.units),
                format!("全局内存：1 次请求，{} 个扇区", load.units),
            ),
            _ => language.pick(
                format!("Shared memory: 1 request, {} wavefronts", load.wavefronts),
                format!("共享内存：1 次请求，{} 个波前", load.wavefronts),
            ),
        };
        y = svg.paragraph(y, Class::Bold, &text) + 3.0;
        y = match memory {
            Memory::Constant => {
                let base = machine.variable("const_values").context("const_values")?;
                requests(&mut svg, y, load, base, language)
            }
            Memory::Global => {
                let reads = [(load, colour as _)];
                let drawn = Lines {
                    reads: &reads,
                    base: values,
                    max_lines: 3,
                };
                draw_lines(&mut svg, y, &drawn, language)
            }
            _ => draw_banks(&mut svg, y, load, language),
        };
        y += 8.0;
        descriptions.push(text);
    }
    svg.extend_to(y);
    Ok(svg.finish(&descriptions.join(language.pick("; ", "；"))))
}

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

/// Draws add-constant's first rungs: the sums that a thread computes, and its number of loads of inputs and values.
pub fn register_reuse(language: Language) -> Result<String> {
    let title = language.pick(
        "The sums that a thread computes, and its loads, on the first two rungs",
        "前两级优化中，一个线程计算的和及其加载次数",
    );
    let mut svg = Svg::new("ladder-kept", title);
    let kernels = [
        ("constant", NOTE_KERNEL, "constant_memory", BLOCKS, SUMS),
        ("constant int4", INT4, "int4_constant", BLOCKS, SUMS / 4),
        ("constant kept", KEPT, "kept_constant", 1, SUMS / 4),
    ];
    let step = WIDTH / kernels.len() as f64;
    let [cell_width, cell_height] = [(step - 10.0) / SUMS as f64, 9.0];
    let top = LINE_SPACING + 2.0;
    let bottom = top + cell_height * BLOCKS as f64 + 4.0;
    let mut descriptions = Vec::new();
    for (number, (name, ptx, kernel, grid, block)) in kernels.into_iter().enumerate() {
        let thread = thread(ptx, &format!("add_constant_{kernel}"), grid, block)?;
        let x = number as f64 * step;
        svg.text(x, 13.0, Class::Bold, name);
        for row in 0..BLOCKS {
            let y = top + row as f64 * cell_height;
            let width = cell_width * SUMS as f64;
            svg.rect(x, y, width, cell_height - 1.0, Class::Waste);
            let row_sums = thread.sums.iter().filter(|&sum| sum / SUMS == row);
            for sum in row_sums {
                let left = x + (sum % SUMS) as f64 * cell_width;
                svg.rect(left, y, cell_width, cell_height - 1.0, Class::D);
            }
        }
        let (sums, inputs, values) = (thread.sums.len(), thread.inputs, thread.values);
        let lines = [
            language.pick(format!("sums: {sums}"), format!("和：{sums} 个")),
            localize!(
                language,
                "loads of inputs: {inputs}",
                "加载输入：{inputs} 次"
            ),
            localize!(language, "loads of values: {values}", "加载值：{values} 次"),
        ];
        for (line, text) in lines.iter().enumerate() {
            let y = bottom + 13.0 + line as f64 * LINE_SPACING;
            svg.text(x, y, Class::Ink, text);
        }
        let all = lines.join(language.pick(", ", "，"));
        descriptions.push(format!("{name}{}{all}", language.pick(": ", "：")));
    }
    let [one, other] = language.pick(
        ["the sums of one thread", "the other sums"],
        ["一个线程计算的和", "其他的和"],
    );
    let y = bottom + 3.0 * LINE_SPACING + 6.0;
    let y = svg.legend(y, &[(Class::D, one), (Class::Waste, other)]);
    let note = language.pick(
        "A row is the work of one block of the note’s kernel, here 32 sums, each with a different value. The numbers \
         are counts per thread.",
        "一行是笔记的核函数中一个线程块计算的和，这里是 32 个，各用不同的值。数字是每个线程的数目。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&descriptions.join(language.pick("; ", "；"))))
}
