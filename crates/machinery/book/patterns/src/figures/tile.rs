//! Figure of tiled matrix multiplication: the elements of both matrices that a block reads in each phase.

use std::collections::BTreeMap;

use anyhow::Result;
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const PTX: &str = include_str!(env!("MATMUL_TILED_PTX"));

/// C = A × B; C has `ROWS` rows and `COLUMNS` columns, and A has `INNER` columns.
const ROWS: usize = 16;
const COLUMNS: usize = 16;
const INNER: usize = 24;
const TILE: usize = 8;
/// The block that is drawn: the last one.
const BLOCK: u64 = (ROWS / TILE * (COLUMNS / TILE) - 1) as u64;

/// Side length of an element.
const CELL: f64 = 9.0;

pub fn tile(language: Language) -> Result<String> {
    let title = language.pick(
        "The elements of A and B that a block reads in each phase of tiled matrix multiplication",
        "分块矩阵乘法中，一个线程块在每个阶段读取的 A 和 B 的元素",
    );
    let mut machine = load(PTX)?;
    let mut buffer = |elements: usize| machine.allocate(4 * elements as u64);
    let (a, b) = (buffer(ROWS * INNER)?, buffer(INNER * COLUMNS)?);
    let c = buffer(ROWS * COLUMNS)?;
    let matrix = |rows: usize, columns: usize, address: u64| {
        let [rows, columns] = [rows, columns].map(|n| n as u64);
        [rows, columns, address, columns]
    };
    let matrices = params![
        matrix(ROWS, INNER, a),
        matrix(INNER, COLUMNS, b),
        matrix(ROWS, COLUMNS, c),
    ];
    let blocks = [(COLUMNS / TILE) as u32, (ROWS / TILE) as u32];
    let launch = Launch::new("mat_mul_tiled_8", blocks, [TILE as u32; 2], matrices);
    let trace = run(&machine, &launch)?;

    // The phase that reads each element: the n-th load of a matrix by a warp belongs to phase n.
    let element_index = |address: u64, base: u64, elements: usize| {
        let element = address.wrapping_sub(base) / 4;
        (element < elements as u64).then_some(element as usize)
    };
    let mut phases = [vec![None; ROWS * INNER], vec![None; INNER * COLUMNS]];
    let mut loads: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut reads = 0;
    let of_block = |load: &&Traced| load.block == BLOCK;
    for load in trace.loads(Memory::Global).filter(of_block) {
        let elements = load.lanes().map(|(_, address)| {
            element_index(address, a, ROWS * INNER)
                .map(|element| (0, element))
                .or_else(|| element_index(address, b, INNER * COLUMNS).map(|element| (1, element)))
        });
        let elements: Vec<(usize, usize)> = elements.flatten().collect();
        let Some(&(matrix_index, _)) = elements.first() else {
            continue;
        };
        let phase = loads.entry((load.warp, matrix_index)).or_default();
        for &(matrix_index, element) in &elements {
            phases[matrix_index][element] = Some(*phase);
        }
        reads += elements.len();
        *phase += 1;
    }
    let shared = trace.loads(Memory::Shared).filter(of_block);
    let words = |load: &Traced| u64::from(load.mask.count_ones()) * load.bytes / 4;
    let shared: u64 = shared.map(words).sum();

    let mut svg = Svg::new("tile", title);
    let phase = language.pick("phase", "阶段");
    let names = [1, 2, 3].map(|number| format!("{phase} {number}"));
    for (phase, name) in names.iter().enumerate() {
        let x = phase as f64 * 92.0;
        svg.rect(x, 1.0, 14.0, 14.0, colour(phase));
        svg.text(x + 20.0, 13.0, Class::Faint, name);
    }
    svg.rect(276.0, 1.0, 14.0, 14.0, colour(3));
    svg.text(296.0, 13.0, Class::Faint, language.pick("results", "结果"));
    let top = LINE_SPACING + 10.0;
    let left = (WIDTH - (INNER + COLUMNS) as f64 * CELL - 16.0) / 2.0;
    let (b_x, a_y) = (
        left + INNER as f64 * CELL + 16.0,
        top + INNER as f64 * CELL + 16.0,
    );
    grid(&mut svg, [left, a_y], INNER, &phases[0]);
    grid(&mut svg, [b_x, top], COLUMNS, &phases[1]);
    let block: Vec<Option<usize>> = (0..ROWS * COLUMNS)
        .map(|element| {
            let tile = (element / COLUMNS / TILE, element % COLUMNS / TILE);
            let number = tile.0 * (COLUMNS / TILE) + tile.1;
            (number as u64 == BLOCK).then_some(3)
        })
        .collect();
    grid(&mut svg, [b_x, a_y], COLUMNS, &block);
    svg.text_right(left - 6.0, a_y + 12.0, Class::Bold, "A");
    svg.text_right(b_x - 6.0, top + 12.0, Class::Bold, "B");
    let c_x = b_x + COLUMNS as f64 * CELL + 4.0;
    svg.text(c_x, a_y + 12.0, Class::Bold, "C");
    let y = a_y + ROWS as f64 * CELL + 10.0;
    let result = localize!(
        language,
        "The block reads {reads} elements from global memory, each once, and its threads read \
         {shared} elements from shared memory",
        "线程块从全局内存读取 {reads} 个元素，每个只读一次；其线程从共享内存读取 {shared} 个元素"
    );
    svg.paragraph(y, Class::Bold, &result);
    Ok(svg.finish(&result))
}

fn colour(phase: usize) -> Class {
    Class::COLOURS[phase % 4]
}

/// Draws a matrix with `columns` columns; elements that are read have the colour of their phase.
fn grid(svg: &mut Svg, [x, y]: [f64; 2], columns: usize, phases: &[Option<usize>]) {
    for drawn_phase in [None, Some(0), Some(1), Some(2), Some(3)] {
        let class = drawn_phase.map_or(Class::Empty, colour);
        for element in (0..phases.len()).filter(|&element| phases[element] == drawn_phase) {
            let (row, column) = (element / columns, element % columns);
            let (x, y) = (x + column as f64 * CELL, y + row as f64 * CELL);
            svg.rect(x, y, CELL - 1.0, CELL - 1.0, class);
        }
    }
}
