//! The stencil's rungs: the sectors that a warp's loads and its store touch.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use cuda_sim::profile::traffic::SECTOR;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LEADING, Svg};
use crate::language::Language;
use crate::machine::{Job, Machine, Param, params};

const CACHED: &str = include_str!(env!("STENCIL_READONLY_LADDER_1_CACHED_PTX"));
const VECTORS: &str = include_str!(env!("STENCIL_READONLY_LADDER_2_VECTORS_PTX"));
const ALIGNED: &str = include_str!(env!("STENCIL_READONLY_LADDER_3_ALIGNED_PTX"));

/// Points, and the halo on either side; threads of a block.
const POINTS: u64 = 1024;
const RADIUS: u64 = 4;
const THREADS: u32 = 64;
/// Sectors that a row of the drawing has, and its height.
const ROW: f64 = 19.0;
const HIGH: f64 = 11.0;
const _: () = assert!(WIDTH > 20.0 * ROW, "a warp's vectors touch 18 sectors");

pub fn points(language: Language) -> Result<String> {
    let title = language.of(
        "The sectors that a warp of the stencil touches, on three rungs",
        "三级阶梯上，模板计算的一个线程束所触及的扇区",
    );
    let mut svg = Svg::new("ladder-points", title);
    let (mut y, mut said) = (0.0, Vec::new());
    for (name, ptx, kernel, each) in [
        ("cached", CACHED, "stencil_cached", 1),
        ("vectors", VECTORS, "stencil_vectors", 4),
        ("aligned", ALIGNED, "stencil_aligned", 4),
    ] {
        let mut machine = Machine::load(ptx)?;
        let bytes = 4 * (POINTS + 2 * RADIUS);
        let (from, to) = (machine.buffer(bytes)?, machine.buffer(bytes)?);
        let trace = machine.run(&Job {
            kernel,
            grid: [(POINTS as u32 / each).div_ceil(THREADS) + 1, 1],
            block: [THREADS, 1],
            shared: 0,
            params: &params(&[
                Param::Long(from + 4 * RADIUS),
                Param::Long(to + 4 * RADIUS),
                Param::Word(POINTS as u32),
            ]),
        })?;
        // The second warp: in the first of `aligned` a thread has nothing to do.
        let of_warp = |access: &&Traced| {
            access.memory == Memory::Global && access.block == 0 && access.warp == 1
        };
        let (loads, stores): (Vec<&Traced>, Vec<&Traced>) = trace
            .accesses
            .iter()
            .filter(of_warp)
            .partition(|access| access.kind.is_load());
        let store = stores.first().context("the warp stores its points")?;
        let first = store
            .lanes()
            .map(|(_, address)| address - to)
            .min()
            .unwrap_or(0)
            / SECTOR;
        let summed: u32 = loads.iter().map(|load| load.units).sum();
        let text = language.of(
            format!(
                "{name}: {} loads, {summed} sectors; 1 store, {} sectors; {} points",
                loads.len(),
                store.units,
                32 * each
            ),
            format!(
                "{name}：{} 次读取，{summed} 个扇区；1 次写入，{} 个扇区；{} 个点",
                loads.len(),
                store.units,
                32 * each
            ),
        );
        y = svg.paragraph(y, Class::Bold, &text) + 3.0;
        for (access, base) in loads.iter().map(|load| (*load, from)).chain([(*store, to)]) {
            let sectors: BTreeSet<u64> = access
                .lanes()
                .map(|(_, address)| (address - base) / SECTOR)
                .collect();
            let last = access
                .lanes()
                .map(|(_, address)| (address - base + access.bytes - 1) / SECTOR)
                .max();
            let sectors = sectors.into_iter().chain(last).collect::<BTreeSet<u64>>();
            let class = if access.kind.is_load() {
                Class::A
            } else {
                Class::C
            };
            // The bytes of the sectors that are used are coloured, the others grey.
            let used = access
                .lanes()
                .map(|(_, address)| address - base)
                .fold((u64::MAX, 0), |(low, high), at| {
                    (low.min(at), high.max(at + access.bytes))
                });
            let x = |byte: u64| (byte as f64 / SECTOR as f64 - first as f64 + 1.5) * ROW;
            for sector in sectors {
                svg.rect(x(sector * SECTOR), y, ROW - 1.5, HIGH, Class::Waste);
            }
            svg.rect(
                x(used.0),
                y + 3.0,
                x(used.1) - x(used.0) - 1.5,
                HIGH - 6.0,
                class,
            );
            y += HIGH + 2.0;
        }
        y += 8.0;
        said.push(text);
    }
    let note = language.of(
        "Grey: sectors, 32 bytes each. Blue: the bytes that a load takes. Orange: those that the store writes.",
        "灰色：扇区，每个 32 字节。蓝色：一次读取所用的字节。橙色：写入的字节。",
    );
    y = svg.paragraph(y, Class::Faint, note);
    svg.reach(y.max(LEADING));
    Ok(svg.finish(&said.join("; ")))
}
