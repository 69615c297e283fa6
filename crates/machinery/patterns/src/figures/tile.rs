//! The tiled product: what a block reads of both matrices, phase by phase.

use std::collections::BTreeMap;

use anyhow::Result;
use cuda_sim::isa::Memory;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LEADING, Svg};
use crate::language::Language;
use crate::machine::{Job, Machine, Param, params};

const PTX: &str = include_str!(env!("MATMUL_TILED_PTX"));

/// C, of as many rows and columns, is A times B; A has as many columns as B has rows.
const ROWS: usize = 16;
const COLUMNS: usize = 16;
const INNER: usize = 24;
const TILE: usize = 8;
/// The block that is looked at: the last one.
const BLOCK: u64 = (ROWS / TILE * (COLUMNS / TILE) - 1) as u64;

/// An element's side.
const SIDE: f64 = 9.0;

pub fn tile(language: Language) -> Result<String> {
    let title = language.of(
        "The elements of A and B that a block of the tiled product reads in each phase",
        "分块矩阵乘法中，一个线程块在每个阶段读取的 A 和 B 的元素",
    );
    let mut machine = Machine::load(PTX)?;
    let buffer = |machine: &mut Machine, elements: usize| machine.buffer(4 * elements as u64);
    let a = buffer(&mut machine, ROWS * INNER)?;
    let b = buffer(&mut machine, INNER * COLUMNS)?;
    let c = buffer(&mut machine, ROWS * COLUMNS)?;
    let matrix = |rows: usize, columns: usize, at: u64| {
        let [rows, columns] = [rows, columns].map(|n| Param::Long(n as u64));
        [rows, columns, Param::Long(at), columns]
    };
    let matrices = [
        matrix(ROWS, INNER, a),
        matrix(INNER, COLUMNS, b),
        matrix(ROWS, COLUMNS, c),
    ];
    let trace = machine.run(&Job {
        kernel: "mat_mul_tiled_8",
        grid: [(COLUMNS / TILE) as u32, (ROWS / TILE) as u32],
        block: [TILE as u32; 2],
        shared: 0,
        params: &params(&matrices.concat()),
    })?;

    // Which phase reads an element: a warp's first load of a matrix is of the first phase, its
    // second of the second.
    let within = |address: u64, base: u64, elements: usize| {
        let element = address.wrapping_sub(base) / 4;
        (element < elements as u64).then_some(element as usize)
    };
    let mut phases = [vec![None; ROWS * INNER], vec![None; INNER * COLUMNS]];
    let mut loads: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut reads = 0;
    for load in trace
        .loads(Memory::Global)
        .filter(|load| load.block == BLOCK)
    {
        let elements = load.lanes().map(|(_, address)| {
            within(address, a, ROWS * INNER)
                .map(|element| (0, element))
                .or_else(|| within(address, b, INNER * COLUMNS).map(|element| (1, element)))
        });
        let elements: Vec<(usize, usize)> = elements.flatten().collect();
        let Some(&(which, _)) = elements.first() else {
            continue;
        };
        let phase = loads.entry((load.warp, which)).or_default();
        for &(which, element) in &elements {
            phases[which][element] = Some(*phase);
        }
        reads += elements.len();
        *phase += 1;
    }
    let shared = trace.loads(Memory::Shared);
    let shared = shared.filter(|load| load.block == BLOCK);
    let shared: u64 = shared
        .map(|load| u64::from(load.mask.count_ones()) * load.bytes / 4)
        .sum();

    let mut svg = Svg::new("tile", title);
    for (phase, name) in language
        .of(
            ["phase 1", "phase 2", "phase 3"],
            ["阶段 1", "阶段 2", "阶段 3"],
        )
        .into_iter()
        .enumerate()
    {
        let x = phase as f64 * 92.0;
        svg.rect(x, 1.0, 14.0, 14.0, colour(phase));
        svg.text(x + 20.0, 13.0, Class::Faint, name);
    }
    svg.rect(276.0, 1.0, 14.0, 14.0, colour(3));
    svg.text(
        296.0,
        13.0,
        Class::Faint,
        language.of("its results", "它的结果"),
    );
    let top = LEADING + 10.0;
    let left = (WIDTH - (INNER + COLUMNS) as f64 * SIDE - 16.0) / 2.0;
    let (across, down) = (
        left + INNER as f64 * SIDE + 16.0,
        top + INNER as f64 * SIDE + 16.0,
    );
    grid(&mut svg, [left, down], INNER, &phases[0]);
    grid(&mut svg, [across, top], COLUMNS, &phases[1]);
    let block: Vec<Option<usize>> = (0..ROWS * COLUMNS)
        .map(|element| {
            let tile = (element / COLUMNS / TILE, element % COLUMNS / TILE);
            let number = tile.0 * (COLUMNS / TILE) + tile.1;
            (number as u64 == BLOCK).then_some(3)
        })
        .collect();
    grid(&mut svg, [across, down], COLUMNS, &block);
    svg.text_right(left - 6.0, down + 12.0, Class::Bold, "A");
    svg.text_right(across - 6.0, top + 12.0, Class::Bold, "B");
    svg.text(
        across + COLUMNS as f64 * SIDE + 4.0,
        down + 12.0,
        Class::Bold,
        "C",
    );
    let y = down + ROWS as f64 * SIDE + 10.0;
    let result = language.of(
        format!(
            "The block reads {reads} elements of global memory, each once, and its threads read \
             {shared} elements of shared memory"
        ),
        format!(
            "线程块从全局内存读 {reads} 个元素，每个只读一次；它的线程从共享内存读 {shared} 个元素"
        ),
    );
    svg.paragraph(y, Class::Bold, &result);
    Ok(svg.finish(&result))
}

fn colour(phase: usize) -> Class {
    Class::COLOURS[phase % 4]
}

/// Elements in rows of so many; those of a phase in its colour.
fn grid(svg: &mut Svg, [x, y]: [f64; 2], columns: usize, phases: &[Option<usize>]) {
    for wanted in [None, Some(0), Some(1), Some(2), Some(3)] {
        let class = wanted.map_or(Class::Empty, colour);
        for (element, _) in phases
            .iter()
            .enumerate()
            .filter(|(_, phase)| **phase == wanted)
        {
            let (row, column) = (element / columns, element % columns);
            let (x, y) = (x + column as f64 * SIDE, y + row as f64 * SIDE);
            svg.rect(x, y, SIDE - 1.0, SIDE - 1.0, class);
        }
    }
}
