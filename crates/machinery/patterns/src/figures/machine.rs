//! Where a launch runs: the grid's blocks on multiprocessors, a block's warps, a warp's lanes.

use anyhow::Result;
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LEADING, Svg};
use crate::language::Language;

/// Blocks of the grid that is drawn, and multiprocessors.
const BLOCKS: usize = 12;
const MULTIPROCESSORS: usize = 4;
/// Warps of a block, 256 threads.
const WARPS: usize = 8;
/// The block and the warp that are looked into.
const BLOCK: usize = 1;
const WARP: usize = 2;

/// From one row of the drawing to the next.
const GAP: f64 = 20.0;
const HIGH: f64 = 22.0;

pub fn machine(language: Language) -> Result<String> {
    let device = DeviceSpec::h200();
    let title = language.of(
        "A grid's blocks are handed out to multiprocessors; a block has warps, and a warp 32 threads",
        "网格的线程块分给各个多处理器；线程块由线程束组成，线程束由 32 个线程组成",
    );
    let mut svg = Svg::new("machine", title);

    let text = language.of(
        "Grid: all blocks of a launch".to_owned(),
        "网格：一次启动的所有线程块".to_owned(),
    );
    let y = svg.paragraph(0.0, Class::Bold, &text) + 4.0;
    let wide = WIDTH / BLOCKS as f64;
    for block in 0..BLOCKS {
        svg.rect(wide * block as f64, y, wide - 4.0, HIGH, of(block));
    }

    let text = language.of(
        format!(
            "GPU: a multiprocessor takes whole blocks (an H200 has {})",
            device.multiprocessors
        ),
        format!(
            "GPU：每个多处理器领取整个线程块（H200 有 {} 个）",
            device.multiprocessors
        ),
    );
    let mut y = svg.paragraph(y + HIGH + GAP, Class::Bold, &text) + 4.0;
    let (room, inside) = (WIDTH / MULTIPROCESSORS as f64, HIGH + 12.0);
    let each = (room - 16.0) / (BLOCKS / MULTIPROCESSORS) as f64;
    let mut looked_into = [0.0; 2];
    for number in 0..MULTIPROCESSORS {
        let left = room * number as f64;
        svg.rect(left, y, room - 6.0, inside, Class::Empty);
    }
    for block in 0..BLOCKS {
        let (number, place) = (block % MULTIPROCESSORS, block / MULTIPROCESSORS);
        let x = room * number as f64 + 6.0 + each * place as f64;
        svg.rect(x, y + 6.0, each - 4.0, HIGH, of(block));
        if block == BLOCK {
            looked_into = [x, x + each - 4.0];
        }
    }
    y += inside;

    let text = language.of(
        format!(
            "Block: its warps, on one multiprocessor, which holds up to {} blocks and {} warps at once",
            device.blocks_per_multiprocessor,
            device.threads_per_multiprocessor / device.warp_size
        ),
        format!(
            "线程块：它的线程束都在同一个多处理器上，那里最多同时容纳 {} 个线程块、{} 个线程束",
            device.blocks_per_multiprocessor,
            device.threads_per_multiprocessor / device.warp_size
        ),
    );
    y = zoom(&mut svg, y - 6.0, looked_into);
    y = svg.paragraph(y, Class::Bold, &text) + 4.0;
    let wide = WIDTH / WARPS as f64;
    for warp in 0..WARPS {
        svg.rect(wide * warp as f64, y, wide - 4.0, HIGH, of(BLOCK));
    }
    let left = wide * WARP as f64;
    y += HIGH;

    let text = language.of(
        format!(
            "Warp: {} threads that execute an instruction together",
            device.warp_size
        ),
        format!("线程束：{} 个线程，一起执行每条指令", device.warp_size),
    );
    y = zoom(&mut svg, y, [left, left + wide - 4.0]);
    y = svg.paragraph(y, Class::Bold, &text) + 4.0;
    let lanes = device.warp_size as usize;
    let wide = WIDTH / lanes as f64;
    for lane in 0..lanes {
        svg.rect(wide * lane as f64, y, wide - 2.0, HIGH, of(BLOCK));
    }
    svg.reach(y + HIGH + LEADING / 2.0);
    Ok(svg.finish(title))
}

/// The colour of a block: that of its multiprocessor.
fn of(block: usize) -> Class {
    Class::COLOURS[block % MULTIPROCESSORS]
}

/// Two lines from what is looked into to what it is, drawn as wide as the page. Returns where that
/// begins.
fn zoom(svg: &mut Svg, y: f64, [left, right]: [f64; 2]) -> f64 {
    let below = y + 1.6 * GAP;
    svg.line([left, y + 2.0], [0.0, below]);
    svg.line([right, y + 2.0], [WIDTH - 4.0, below]);
    below + 2.0
}
