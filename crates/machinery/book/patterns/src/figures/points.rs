//! Figure of the stencil's rungs: the sectors that a warp's loads and stores touch.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use cuda_sim::profile::traffic::SECTOR;
use sim_machine::{Launch, params};

use crate::draw::WIDTH;
use crate::draw::svg::{Class, Svg};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const CACHED: &str = include_str!(env!("STENCIL_READONLY_LADDER_1_CACHED_PTX"));
const VECTORS: &str = include_str!(env!("STENCIL_READONLY_LADDER_2_VECTORS_PTX"));
const ALIGNED: &str = include_str!(env!("STENCIL_READONLY_LADDER_3_ALIGNED_PTX"));

/// Points of the grid.
const POINTS: u64 = 1024;
/// Points of the halo on each side.
const RADIUS: u64 = 4;
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
        let bytes = 4 * (POINTS + 2 * RADIUS);
        let (input, output) = (machine.allocate(bytes)?, machine.allocate(bytes)?);
        let params = params![input + 4 * RADIUS, output + 4 * RADIUS, POINTS as u32,];
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
