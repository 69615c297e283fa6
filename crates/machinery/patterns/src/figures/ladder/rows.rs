//! matmul-pitched's step down: what a warp loads of A and of B, and the same with x and y swapped.

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;

use crate::draw::lines::{self, Lines};
use crate::draw::svg::{Class, Svg};
use crate::draw::{Colours, colour, warp};
use crate::language::Language;
use crate::machine::{Job, Machine, Param, params};

const PITCHED: &str = include_str!(env!("MATMUL_PITCHED_PTX"));
const UNCOALESCED: &str = include_str!(env!("MATMUL_PITCHED_LADDER_1_UNCOALESCED_PTX"));

/// Rows and columns of each matrix, and floats from one row to the next: 512 bytes, an H200's pitch.
const SIDE: u64 = 16;
const STRIDE: u64 = 128;
const BYTES: u64 = 4 * SIDE * STRIDE;

pub fn swapped(language: Language) -> Result<String> {
    let title = language.of(
        "What a warp loads of A and of B for one step: with x along a row, and with x and y swapped",
        "线程束每一步从 A 和 B 读取什么：x 沿着行，以及交换 x 和 y 之后",
    );
    let mut svg = Svg::new("ladder-swapped", title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
    let mut said = Vec::new();
    for (name, ptx, kernel) in [
        ("pitched", PITCHED, "mat_mul_pitched"),
        ("uncoalesced", UNCOALESCED, "mat_mul_uncoalesced"),
    ] {
        let mut machine = Machine::load(ptx)?;
        let [a, b, c] = [
            machine.buffer(BYTES)?,
            machine.buffer(BYTES)?,
            machine.buffer(BYTES)?,
        ];
        let matrix = |at: u64| [SIDE, SIDE, at, STRIDE].map(Param::Long);
        let trace = machine.run(&Job {
            kernel,
            grid: [1, 1],
            block: [SIDE as u32, SIDE as u32],
            shared: 0,
            params: &params(&[matrix(a), matrix(b), matrix(c)].concat()),
        })?;
        for (factor, base) in [("A", a), ("B", b)] {
            // The first warp's first load of this matrix.
            let here = |load: &&Traced| {
                let first = load.lanes().next();
                load.warp == 0 && first.is_some_and(|(_, at)| (base..base + BYTES).contains(&at))
            };
            let load = trace
                .loads(Memory::Global)
                .find(here)
                .context("the warp loads from each matrix")?;
            let text = match load.units {
                1 => language.of(
                    format!("{name}, {factor}: 1 request, 1 sector"),
                    format!("{name}，{factor}：1 次请求，1 个扇区"),
                ),
                many => language.of(
                    format!("{name}, {factor}: 1 request, {many} sectors"),
                    format!("{name}，{factor}：1 次请求，{many} 个扇区"),
                ),
            };
            y = svg.paragraph(y, Class::Bold, &text) + 3.0;
            let drawn = Lines {
                reads: &[(load, colour as Colours)],
                base,
                most: 3,
            };
            y = lines::draw(&mut svg, y, &drawn, language) + 6.0;
            said.push(text);
        }
    }
    svg.reach(y);
    Ok(svg.finish(&said.join(language.of("; ", "；"))))
}
