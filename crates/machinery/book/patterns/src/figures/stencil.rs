//! Figures of the stencil: the points that a block computes, with the halo that it loads as well, and the sectors that a
//! warp's loads and stores touch on each rung.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use cuda_sim::profile::traffic::SECTOR;
use sim_machine::{Launch, params};

use crate::draw::svg::{Class, Svg};
use crate::draw::{LEFT, ROW, WIDTH, ranges};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const NOTE: &str = include_str!(env!("STENCIL_READONLY_PTX"));

/// Points of the halo on each side.
const RADIUS: usize = 4;
const HALO_THREADS: usize = 32;
const HALO_BLOCKS: usize = 3;
const HALO_POINTS: usize = HALO_BLOCKS * HALO_THREADS;

pub fn halo(language: Language) -> Result<String> {
    let title = language.pick(
        "The points that the blocks of the stencil load: the points they compute, and their halo",
        "模板计算中各线程块加载的点：所计算的点和光环",
    );
    let mut machine = load(NOTE)?;
    let buffer = machine.allocate(4 * (HALO_POINTS + 2 * RADIUS) as u64)?;
    let output = machine.allocate(4 * HALO_POINTS as u64)?;
    let params = params![buffer + 4 * RADIUS as u64, output, HALO_POINTS as u32,];
    let shared = 4 * (HALO_THREADS + 2 * RADIUS) as u32;
    let launch = Launch::new(
        "stencil_constant",
        [HALO_BLOCKS as u32, 1],
        [HALO_THREADS as u32, 1],
        params,
    )
    .shared(shared);
    let trace = run(&machine, &launch)?;
    let loads: Vec<&Traced> = trace.loads(Memory::Global).collect();
    // Positions in the buffer: point 0 is at position RADIUS.
    let position = |address: u64| ((address - buffer) / 4) as usize;
    let class = |load: &Traced| match load.mask.count_ones() as usize {
        HALO_THREADS => Class::A,
        _ => Class::C,
    };

    let mut svg = Svg::new("halo", title);
    let names = language.pick(["one point per thread", "halo"], ["每个线程一个点", "光环"]);
    svg.legend(0.0, &[(Class::A, names[0]), (Class::C, names[1])]);

    // All blocks, from top to bottom.
    let width = ROW / (HALO_POINTS + 2 * RADIUS) as f64;
    let mut y = 34.0;
    for block in 0..HALO_BLOCKS {
        let name = language.pick(format!("block {block}"), format!("块 {block}"));
        svg.text_right(LEFT - 6.0, y + 12.0, Class::Faint, &name);
        let count = HALO_POINTS + 2 * RADIUS;
        svg.boxes([LEFT, y], count, [width, 0.5, 14.0], |_| Class::Empty);
        for load in loads.iter().filter(|load| load.block == block as u64) {
            for (_, address) in load.lanes() {
                let x = LEFT + position(address) as f64 * width;
                svg.rect(x, y, width - 0.5, 14.0, class(load));
            }
        }
        y += 20.0;
    }
    for point in (0..=HALO_POINTS).step_by(HALO_THREADS) {
        let x = LEFT + (point + RADIUS) as f64 * width;
        svg.text_centered(x, y + 10.0, Class::Faint, &point.to_string());
    }
    y += 30.0;

    // The middle block, enlarged, with the lanes of each load.
    let middle: Vec<&&Traced> = loads.iter().filter(|load| load.block == 1).collect();
    let heading = language.pick("The loads of block 1:", "块 1 的各次加载：");
    y = svg.paragraph(y, Class::Ink, heading) + 4.0;
    let loaded = HALO_THREADS + 2 * RADIUS;
    let width = ROW / loaded as f64;
    let mut sectors = 0;
    for load in &middle {
        svg.boxes([LEFT, y], loaded, [width, 1.0, 14.0], |_| Class::Empty);
        let mut loading_lanes = Vec::new();
        for (lane, address) in load.lanes() {
            let x = LEFT + (position(address) - HALO_THREADS) as f64 * width;
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
         loaded for {HALO_THREADS} results",
        "{} 次请求，{sectors} 个扇区（不含光环为 {} 个）；为 {HALO_THREADS} 个结果加载 {loaded} 个点";
        middle.len(), first.units
    );
    svg.paragraph(y, Class::Bold, &result);
    Ok(svg.finish(&result))
}

const CACHED: &str = include_str!(env!("STENCIL_READONLY_LADDER_1_CACHED_PTX"));
const VECTORS: &str = include_str!(env!("STENCIL_READONLY_LADDER_2_VECTORS_PTX"));
const ALIGNED: &str = include_str!(env!("STENCIL_READONLY_LADDER_3_ALIGNED_PTX"));

/// Points of the grid.
const POINTS: u64 = 1024;
/// Threads per block.
const THREADS: u32 = 64;
/// Width of a sector.
const SECTOR_WIDTH: f64 = 19.0;
const BAR_HEIGHT: f64 = 11.0;
const _: () = assert!(
    WIDTH > 20.0 * SECTOR_WIDTH,
    "a warp's vectors touch 18 sectors"
);

pub fn points(language: Language) -> Result<String> {
    let title = language.pick(
        "The sectors that a warp of the stencil accesses, on three rungs",
        "三级优化中，模板计算的一个线程束访问的扇区",
    );
    let mut svg = Svg::new("ladder-points", title);
    let (mut y, mut descriptions) = (0.0, Vec::new());
    for (name, ptx, kernel, points_per_thread) in [
        ("cached", CACHED, "stencil_cached", 1),
        ("vectors", VECTORS, "stencil_vectors", 4),
        ("aligned", ALIGNED, "stencil_aligned", 4),
    ] {
        let mut machine = load(ptx)?;
        let bytes = 4 * (POINTS + 2 * RADIUS as u64);
        let (input, output) = (machine.allocate(bytes)?, machine.allocate(bytes)?);
        let params = params![
            input + 4 * RADIUS as u64,
            output + 4 * RADIUS as u64,
            POINTS as u32,
        ];
        let blocks = (POINTS as u32 / points_per_thread).div_ceil(THREADS) + 1;
        let launch = Launch::new(kernel, [blocks, 1], [THREADS, 1], params);
        let trace = run(&machine, &launch)?;
        // The second warp, because one thread of the first warp of `aligned` is idle.
        let in_warp = |access: &&Traced| {
            access.memory == Memory::Global && access.block == 0 && access.warp == 1
        };
        let (loads, stores): (Vec<&Traced>, Vec<&Traced>) = trace
            .accesses
            .iter()
            .filter(in_warp)
            .partition(|access| access.kind.is_load());
        let store = stores.first().context("the warp stores its points")?;
        let first_byte = store.lanes().map(|(_, address)| address - output).min();
        let first_sector = first_byte.unwrap_or(0) / SECTOR;
        let loaded_sectors: u32 = loads.iter().map(|load| load.units).sum();
        let text = localize!(
            language,
            "{name}: {} loads, {loaded_sectors} sectors; 1 store, {} sectors; {} points",
            "{name}：{} 次加载，{loaded_sectors} 个扇区；1 次存储，{} 个扇区；{} 个点";
            loads.len(), store.units, 32 * points_per_thread
        );
        y = svg.paragraph(y, Class::Bold, &text) + 3.0;
        let loads = loads.iter().map(|load| (*load, input, Class::A));
        for (access, base, class) in loads.chain([(*store, output, Class::C)]) {
            let bytes = || access.lanes().map(|(_, address)| address - base);
            let used = bytes().fold((u64::MAX, 0), |(low, high), offset| {
                (low.min(offset), high.max(offset + access.bytes))
            });
            let sectors = bytes().chain([used.1 - 1]).map(|byte| byte / SECTOR);
            let sectors: BTreeSet<u64> = sectors.collect();
            let x = |byte: u64| {
                (byte as f64 / SECTOR as f64 - first_sector as f64 + 1.5) * SECTOR_WIDTH
            };
            for sector in sectors {
                let (x, width) = (x(sector * SECTOR), SECTOR_WIDTH - 1.5);
                svg.rect(x, y, width, BAR_HEIGHT, Class::Waste);
            }
            let (x, width) = (x(used.0), x(used.1) - x(used.0) - 1.5);
            svg.rect(x, y + 3.0, width, BAR_HEIGHT - 6.0, class);
            y += BAR_HEIGHT + 2.0;
        }
        y += 8.0;
        descriptions.push(text);
    }
    let [sector, loaded, stored] = language.pick(
        [
            "a sector of 32 bytes",
            "the bytes that a load uses",
            "the bytes that the store writes",
        ],
        ["扇区，32 字节", "加载所用的字节", "存储所写的字节"],
    );
    let entries = [
        (Class::Waste, sector),
        (Class::A, loaded),
        (Class::C, stored),
    ];
    svg.legend(y, &entries);
    Ok(svg.finish(&descriptions.join("; ")))
}
