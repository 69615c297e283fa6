//! Figure of matmul-pitched's `uncoalesced` rung: a warp's loads from A and B, with x along a row and with x
//! and y swapped.

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::lines::{self, Lines};
use crate::draw::svg::{Class, Svg};
use crate::draw::{Colours, colour, warp};
use crate::language::Language;
use crate::trace::{load, run};

const PITCHED: &str = include_str!(env!("MATMUL_PITCHED_PTX"));
const UNCOALESCED: &str = include_str!(env!("MATMUL_PITCHED_LADDER_1_UNCOALESCED_PTX"));

/// Rows and columns of each matrix.
const SIDE: u64 = 16;
/// Floats from one row to the next: 512 bytes, the pitch on an H200.
const STRIDE: u64 = 128;
const BYTES: u64 = 4 * SIDE * STRIDE;

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
        let [a, b, c] = [
            machine.allocate(BYTES)?,
            machine.allocate(BYTES)?,
            machine.allocate(BYTES)?,
        ];
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
            y = lines::draw(&mut svg, y, &drawn, language) + 6.0;
            descriptions.push(text);
        }
    }
    svg.extend_to(y);
    Ok(svg.finish(&descriptions.join(language.pick("; ", "；"))))
}
