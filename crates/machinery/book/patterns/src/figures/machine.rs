//! Figure of the execution hierarchy: a grid's blocks on streaming multiprocessors (SMs), a block's warps,
//! and a warp's lanes.

use anyhow::Result;
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::{Language, localize};

/// Number of blocks of the grid.
const BLOCKS: usize = 12;
/// Number of SMs drawn.
const SMS: usize = 4;
/// Warps per block of 256 threads.
const WARPS: usize = 8;
/// The block and the warp that are enlarged.
const BLOCK: usize = 1;
const WARP: usize = 2;

/// Distance from one row of the drawing to the next.
const ROW_GAP: f64 = 20.0;
const BOX_HEIGHT: f64 = 22.0;

pub fn machine(language: Language) -> Result<String> {
    let device = DeviceSpec::h200();
    let title = language.pick(
        "The execution hierarchy: a grid’s blocks on SMs, a block’s warps, a warp’s threads",
        "执行层次：网格的线程块在 SM 上运行，线程块由线程束组成，线程束由线程组成",
    );
    let mut svg = Svg::new("machine", title);

    let text = localize!(
        language,
        "Grid: all blocks of a launch",
        "网格：一次启动的所有线程块"
    );
    let y = svg.paragraph(0.0, Class::Bold, &text) + 4.0;
    let width = WIDTH / BLOCKS as f64;
    svg.boxes([0.0, y], BLOCKS, [width, 4.0, BOX_HEIGHT], block_colour);

    let text = localize!(
        language,
        "GPU: each block runs on one streaming multiprocessor (SM); an H200 has {} SMs",
        "GPU：每个线程块在一个流式多处理器（SM）上运行；H200 有 {} 个 SM";
        device.multiprocessors
    );
    let mut y = svg.paragraph(y + BOX_HEIGHT + ROW_GAP, Class::Bold, &text) + 4.0;
    let (sm_width, sm_height) = (WIDTH / SMS as f64, BOX_HEIGHT + 12.0);
    let slot_width = (sm_width - 16.0) / (BLOCKS / SMS) as f64;
    let mut enlarged = [0.0; 2];
    svg.boxes([0.0, y], SMS, [sm_width, 6.0, sm_height], |_| Class::Empty);
    for block in 0..BLOCKS {
        let (sm, slot) = (block % SMS, block / SMS);
        let x = sm_width * sm as f64 + 6.0 + slot_width * slot as f64;
        let width = slot_width - 4.0;
        svg.rect(x, y + 6.0, width, BOX_HEIGHT, block_colour(block));
        if block == BLOCK {
            enlarged = [x, x + width];
        }
    }
    y += sm_height;

    let text = localize!(
        language,
        "Block: its warps run on the same SM, which holds up to {} blocks and {} warps at a time",
        "线程块：它的线程束都在同一个 SM 上运行；一个 SM 最多同时驻留 {} 个线程块、{} 个线程束";
        device.blocks_per_multiprocessor, device.threads_per_multiprocessor / device.warp_size
    );
    y = draw_zoom_lines(&mut svg, y - 6.0, enlarged);
    y = svg.paragraph(y, Class::Bold, &text) + 4.0;
    let width = WIDTH / WARPS as f64;
    svg.boxes([0.0, y], WARPS, [width, 4.0, BOX_HEIGHT], |_| {
        block_colour(BLOCK)
    });
    let left = width * WARP as f64;
    y += BOX_HEIGHT;

    let text = localize!(
        language,
        "Warp: {} threads that execute each instruction together",
        "线程束：{} 个线程，一起执行每条指令";
        device.warp_size
    );
    y = draw_zoom_lines(&mut svg, y, [left, left + width - 4.0]);
    y = svg.paragraph(y, Class::Bold, &text) + 4.0;
    let lanes = device.warp_size as usize;
    let width = WIDTH / lanes as f64;
    svg.boxes([0.0, y], lanes, [width, 2.0, BOX_HEIGHT], |_| {
        block_colour(BLOCK)
    });
    svg.extend_to(y + BOX_HEIGHT + LINE_SPACING / 2.0);
    Ok(svg.finish(title))
}

/// Returns the colour of a block: the colour of its SM.
fn block_colour(block: usize) -> Class {
    Class::COLOURS[block % SMS]
}

/// Draws two lines from the enlarged item to its enlargement, which is as wide as the page. Returns the y
/// coordinate of the enlargement.
fn draw_zoom_lines(svg: &mut Svg, y: f64, [left, right]: [f64; 2]) -> f64 {
    let enlargement_y = y + 1.6 * ROW_GAP;
    svg.line([left, y + 2.0], [0.0, enlargement_y]);
    svg.line([right, y + 2.0], [WIDTH - 4.0, enlargement_y]);
    enlargement_y + 2.0
}
