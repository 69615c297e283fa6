//! Figure of the stencil: the points that a block computes, and the halo that it loads as well.

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::lines::ranges;
use crate::draw::svg::{Class, Svg};
use crate::draw::{LEFT, ROW};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const PTX: &str = include_str!(env!("STENCIL_READONLY_PTX"));

const RADIUS: usize = 4;
const THREADS: usize = 32;
const BLOCKS: usize = 3;
const POINTS: usize = BLOCKS * THREADS;

pub fn halo(language: Language) -> Result<String> {
    let title = language.pick(
        "The points that the blocks of the stencil load: the points they compute, and their halo",
        "模板计算中各线程块加载的点：所计算的点和光环",
    );
    let mut machine = load(PTX)?;
    let buffer = machine.allocate(4 * (POINTS + 2 * RADIUS) as u64)?;
    let output = machine.allocate(4 * POINTS as u64)?;
    let params = params![buffer + 4 * RADIUS as u64, output, POINTS as u32,];
    let shared = 4 * (THREADS + 2 * RADIUS) as u32;
    let launch = Launch::new(
        "stencil_constant",
        [BLOCKS as u32, 1],
        [THREADS as u32, 1],
        params,
    )
    .shared(shared);
    let trace = run(&machine, &launch)?;
    let loads: Vec<&Traced> = trace.loads(Memory::Global).collect();
    // Positions in the buffer: point 0 is at position RADIUS.
    let position = |address: u64| ((address - buffer) / 4) as usize;
    let class = |load: &Traced| match load.mask.count_ones() as usize {
        THREADS => Class::A,
        _ => Class::C,
    };

    let mut svg = Svg::new("halo", title);
    let names = language.pick(["one point per thread", "halo"], ["每个线程一个点", "光环"]);
    svg.legend(0.0, &[(Class::A, names[0]), (Class::C, names[1])]);

    // All blocks, from top to bottom.
    let width = ROW / (POINTS + 2 * RADIUS) as f64;
    let mut y = 34.0;
    for block in 0..BLOCKS {
        let name = language.pick(format!("block {block}"), format!("块 {block}"));
        svg.text_right(LEFT - 6.0, y + 12.0, Class::Faint, &name);
        let count = POINTS + 2 * RADIUS;
        svg.boxes([LEFT, y], count, [width, 0.5, 14.0], |_| Class::Empty);
        for load in loads.iter().filter(|load| load.block == block as u64) {
            for (_, address) in load.lanes() {
                let x = LEFT + position(address) as f64 * width;
                svg.rect(x, y, width - 0.5, 14.0, class(load));
            }
        }
        y += 20.0;
    }
    for point in (0..=POINTS).step_by(THREADS) {
        let x = LEFT + (point + RADIUS) as f64 * width;
        svg.text_centered(x, y + 10.0, Class::Faint, &point.to_string());
    }
    y += 30.0;

    // The middle block, enlarged, with the lanes of each load.
    let middle: Vec<&&Traced> = loads.iter().filter(|load| load.block == 1).collect();
    let heading = language.pick("The loads of block 1:", "块 1 的各次加载：");
    y = svg.paragraph(y, Class::Ink, heading) + 4.0;
    let loaded = THREADS + 2 * RADIUS;
    let width = ROW / loaded as f64;
    let mut sectors = 0;
    for load in &middle {
        svg.boxes([LEFT, y], loaded, [width, 1.0, 14.0], |_| Class::Empty);
        let mut loading_lanes = Vec::new();
        for (lane, address) in load.lanes() {
            let x = LEFT + (position(address) - THREADS) as f64 * width;
            svg.rect(x, y, width - 1.0, 14.0, class(load));
            loading_lanes.push(lane);
        }
        svg.text_right(LEFT - 6.0, y + 12.0, Class::Faint, &ranges(&loading_lanes));
        sectors += load.units;
        y += 20.0;
    }
    let first = middle.first().context("the block loads its points")?;
    let note = language.pick(
        "On the left: the lanes that take part.",
        "左侧是参与读取的通道。",
    );
    y = svg.paragraph(y, Class::Faint, note);
    let result = localize!(
        language,
        "{} requests, {sectors} sectors ({} without the halo); {loaded} points \
         loaded for {THREADS} results",
        "{} 次请求，{sectors} 个扇区（不含光环为 {} 个）；为 {THREADS} 个结果加载 {loaded} 个点";
        middle.len(), first.units
    );
    svg.paragraph(y, Class::Bold, &result);
    Ok(svg.finish(&result))
}
