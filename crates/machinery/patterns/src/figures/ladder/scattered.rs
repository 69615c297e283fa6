//! add-constant's scattered values: the same 32 of them from three memories.

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;

use crate::draw::svg::{Class, Svg};
use crate::draw::{banks, colour, lines, requests, warp};
use crate::language::Language;
use crate::machine::{Job, Machine, Param, params};

const CONSTANT: &str = include_str!(env!("ADD_CONSTANT_LADDER_1_INT4_PTX"));
const GLOBAL: &str = include_str!(env!("ADD_CONSTANT_LADDER_3_GLOBAL_INT4_PTX"));
const SHARED: &str = include_str!(env!("ADD_CONSTANT_LADDER_5_SHARED_PTX"));

/// Threads of a block, sums, and the pattern's number.
const THREADS: u64 = 64;
const SUMS: u64 = 4 * THREADS;
const PSEUDO_RANDOM: u32 = 3;
const BYTES: u64 = 64 << 10;

pub fn scattered(language: Language) -> Result<String> {
    let title = language.of(
        "32 scattered values of a warp, read from constant, global and shared memory",
        "线程束的 32 个分散的值：从常量内存、全局内存和共享内存读取",
    );
    let mut svg = Svg::new("ladder-scattered", title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
    let mut said = Vec::new();
    for (ptx, kernel, memory) in [
        (CONSTANT, "add_constant_int4_constant", Memory::Constant),
        (GLOBAL, "add_constant_int4_global", Memory::Global),
        (SHARED, "add_constant_shared", Memory::Shared),
    ] {
        let mut machine = Machine::load(ptx)?;
        let values = machine.buffer(BYTES)?;
        let (sums, inputs) = (machine.buffer(4 * SUMS)?, machine.buffer(4 * SUMS)?);
        let trace = machine.run(&Job {
            kernel,
            grid: [1, 1],
            block: [THREADS as u32, 1],
            shared: if memory == Memory::Shared {
                BYTES as u32
            } else {
                0
            },
            params: &params(&[
                Param::Long(sums),
                Param::Long(inputs),
                Param::Long(values),
                Param::Word(SUMS as u32),
                Param::Word(PSEUDO_RANDOM),
            ]),
        })?;
        // The second warp's first value: of its loads the first that takes 4 bytes a lane.
        let one = |load: &&Traced| load.warp == 1 && load.bytes == 4;
        let load = trace
            .loads(memory)
            .find(one)
            .context("the warp reads a value")?;
        let text = match memory {
            Memory::Constant => language.of(
                format!(
                    "Constant memory: {} requests, one after the other",
                    load.units
                ),
                format!("常量内存：{} 次请求，一次接一次", load.units),
            ),
            Memory::Global => language.of(
                format!("Global memory: 1 request, {} sectors", load.units),
                format!("全局内存：1 次请求，{} 个扇区", load.units),
            ),
            _ => language.of(
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
                    most: 4,
                };
                lines::draw(&mut svg, y, &drawn, language)
            }
            _ => banks::draw(&mut svg, y, load, language),
        };
        y += 8.0;
        said.push(text);
    }
    svg.reach(y);
    Ok(svg.finish(&said.join(language.of("; ", "；"))))
}
