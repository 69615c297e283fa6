//! Figure of scattered loads in add-constant: the same 32 values from constant, global and shared memory.

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::svg::{Class, Svg};
use crate::draw::{banks, colour, lines, requests, warp};
use crate::language::Language;
use crate::trace::{load, run};

const CONSTANT: &str = include_str!(env!("ADD_CONSTANT_LADDER_1_INT4_PTX"));
const GLOBAL: &str = include_str!(env!("ADD_CONSTANT_LADDER_3_GLOBAL_INT4_PTX"));
const SHARED: &str = include_str!(env!("ADD_CONSTANT_LADDER_5_SHARED_PTX"));

/// Threads per block.
const THREADS: u64 = 64;
const SUMS: u64 = 4 * THREADS;
/// The number of the pseudo-random pattern.
const PSEUDO_RANDOM: u32 = 3;
const BYTES: u64 = 64 << 10;

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
        let values = machine.allocate(BYTES)?;
        let (sums, inputs) = (machine.allocate(4 * SUMS)?, machine.allocate(4 * SUMS)?);
        let params = params![sums, inputs, values, SUMS as u32, PSEUDO_RANDOM,];
        let shared = if memory == Memory::Shared {
            BYTES as u32
        } else {
            0
        };
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
                requests::draw(&mut svg, y, load, base, language)
            }
            Memory::Global => {
                let reads = [(load, colour as _)];
                let drawn = lines::Lines {
                    reads: &reads,
                    base: values,
                    max_lines: 4,
                };
                lines::draw(&mut svg, y, &drawn, language)
            }
            _ => banks::draw(&mut svg, y, load, language),
        };
        y += 8.0;
        descriptions.push(text);
    }
    svg.extend_to(y);
    Ok(svg.finish(&descriptions.join(language.pick("; ", "；"))))
}
