//! Figures of matrix multiplication: the row and the column that a thread loads without shared memory, and the elements of
//! both matrices that a block reads in each phase with tiles.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use cuda_sim::exec::Traced;
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const PITCHED: &str = include_str!(env!("MATMUL_PITCHED_PTX"));

/// Rows and columns of each matrix.
const SIDE: usize = 4;
type Matrix = [[u32; SIDE]; SIDE];
/// The factors of the example in the chapter matmul-tiled.
const A: Matrix = [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [9, 10, 11, 12],
    [13, 14, 15, 16],
];
const B: Matrix = [[1, 0, 2, 1], [0, 1, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]];

/// The threads that are drawn: their x and y, and their colours.
const THREADS: [(usize, usize, Class); 2] = [(1, 0, Class::A), (1, 1, Class::D)];

/// Side length of an element.
const ELEMENT: f64 = 30.0;
/// Distance between matrices.
const GAP: f64 = 24.0;

pub fn row_column(language: Language) -> Result<String> {
    let title = language.pick(
        "Matrix multiplication without shared memory: a row of A times a column of B",
        "不用共享内存的矩阵乘法：A 的一行乘以 B 的一列",
    );
    let mut machine = load(PITCHED)?;
    let bytes = 4 * (SIDE * SIDE) as u64;
    let mut buffer = || machine.allocate(bytes);
    let [a, b, c] = [buffer()?, buffer()?, buffer()?];
    let matrix = |address: u64| [SIDE as u64, SIDE as u64, address, SIDE as u64];
    let params = params![matrix(a), matrix(b), matrix(c)];
    let launch = Launch::new("mat_mul_pitched", [1, 1], [SIDE as u32; 2], params);
    let trace = run(&machine, &launch)?;
    let loads = || trace.loads(Memory::Global).flat_map(|load| load.lanes());
    let total = loads().count();
    let distinct = loads().map(|(_, address)| address).collect::<BTreeSet<_>>();
    let reads = |(x, y, _): (usize, usize, Class), address: u64| {
        loads().any(|read| read == (y * SIDE + x, address))
    };

    let mut svg = Svg::new("row-column", title);
    let names = THREADS
        .map(|(x, y, _)| language.pick(format!("thread ({x}, {y})"), format!("线程 ({x}, {y})")));
    let entries: [_; 2] = std::array::from_fn(|thread| (THREADS[thread].2, names[thread].as_str()));
    let top = svg.legend(0.0, &entries) + 10.0;
    let size = SIDE as f64 * ELEMENT;
    let left = (WIDTH - 2.0 * size - GAP) / 2.0;
    let (right, bottom) = (left + size + GAP, top + size + GAP);
    let product =
        |row: usize, column: usize| -> u32 { (0..SIDE).map(|k| A[row][k] * B[k][column]).sum() };
    for row in 0..SIDE {
        for column in 0..SIDE {
            let address = |base: u64| base + 4 * (row * SIDE + column) as u64;
            let is_element = |(x, y, _): (usize, usize, Class)| (x, y) == (column, row);
            let elements = [
                (
                    [left, bottom],
                    A[row][column].to_string(),
                    THREADS.map(|thread| reads(thread, address(a))),
                ),
                (
                    [right, top],
                    B[row][column].to_string(),
                    THREADS.map(|thread| reads(thread, address(b))),
                ),
                (
                    [right, bottom],
                    match THREADS.into_iter().any(is_element) {
                        true => product(row, column).to_string(),
                        false => String::new(),
                    },
                    THREADS.map(is_element),
                ),
            ];
            for ([x, y], number, threads) in elements {
                let [x, y] = [x + column as f64 * ELEMENT, y + row as f64 * ELEMENT];
                svg.rect(x, y, ELEMENT - 2.0, ELEMENT - 2.0, Class::Empty);
                svg.text_centered(x + ELEMENT / 2.0 - 1.0, y + 14.0, Class::Ink, &number);
                for (index, (_, _, class)) in THREADS
                    .into_iter()
                    .enumerate()
                    .filter(|&(index, _)| threads[index])
                {
                    svg.rect(x, y + 17.0 + 5.5 * index as f64, ELEMENT - 2.0, 5.0, class);
                }
            }
        }
    }
    for ([x, y], name) in [([left, bottom], "A"), ([right, top], "B")] {
        svg.text_right(x - 8.0, y + 18.0, Class::Bold, name);
    }
    svg.text(right + size + 6.0, bottom + 18.0, Class::Bold, "C");

    let mut y = bottom + size + 8.0;
    for (column, row, _) in THREADS {
        let terms: Vec<String> = (0..SIDE)
            .map(|k| format!("{}·{}", A[row][k], B[k][column]))
            .collect();
        let sum = format!(
            "C[{row}][{column}] = {} = {}",
            terms.join(" + "),
            product(row, column)
        );
        y = svg.paragraph(y, Class::Ink, &sum);
    }
    let result = localize!(
        language,
        "All {} threads together: {total} loads of {} different numbers from global memory",
        "全部 {} 个线程共从全局内存加载 {total} 次，只有 {} 个不同的数";
        SIDE * SIDE, distinct.len()
    );
    svg.paragraph(y + 4.0, Class::Bold, &result);
    Ok(svg.finish(&result))
}

const TILED: &str = include_str!(env!("MATMUL_TILED_PTX"));

/// C = A × B; C has `ROWS` rows and `COLUMNS` columns, and A has `INNER` columns.
const ROWS: usize = 16;
const COLUMNS: usize = 16;
const INNER: usize = 24;
const TILE: usize = 8;
/// The block that is drawn: the last one.
const BLOCK: u64 = (ROWS / TILE * (COLUMNS / TILE) - 1) as u64;

/// Side length of an element.
const CELL: f64 = 6.5;
/// Side length of an element of a tile in shared memory.
const TILE_CELL: f64 = 12.0;
/// The column and row of the thread that is drawn.
const THREAD: [usize; 2] = [5, 2];

pub fn tile(language: Language) -> Result<String> {
    let title = language.pick(
        "The elements of A and B that a block reads in each phase of tiled matrix multiplication",
        "分块矩阵乘法中，一个线程块在每个阶段读取的 A 和 B 的元素",
    );
    let mut machine = load(TILED)?;
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
    let names = [0, 1, 2].map(|number| format!("{phase} {number}"));
    let mut entries: Vec<(Class, &str)> = (0..)
        .zip(&names)
        .map(|(phase, name)| (colour(phase), name.as_str()))
        .collect();
    entries.push((colour(3), language.pick("results", "结果")));
    let top = svg.legend(0.0, &entries) + 8.0;
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
    let y = a_y + ROWS as f64 * CELL + 8.0;
    let text = language.pick(
        "Phase 1: two tiles in shared memory, 64 threads",
        "阶段 1：共享内存中的两个分块，64 个线程",
    );
    let y = svg.paragraph(y, Class::Bold, text) + 2.0;
    let y = shared_tiles(&mut svg, y, language);

    let (phases, elements) = (INNER / TILE, TILE * TILE);
    ensure!(
        reads == phases * 2 * elements,
        "{reads} reads of global memory"
    );
    ensure!(
        shared == (phases * elements * 2 * TILE) as u64,
        "{shared} reads of shared memory"
    );
    let global_text = localize!(
        language,
        "Global memory: {phases} phases × 2 tiles × {elements} elements = {reads} reads, one per element",
        "全局内存：{phases} 个阶段 × 2 个分块 × {elements} 个元素 = {reads} 次读取，每个元素一次"
    );
    let shared_text = localize!(
        language,
        "Shared memory: {phases} phases × {elements} threads × ({TILE} + {TILE}) elements = {shared} reads",
        "共享内存：{phases} 个阶段 × {elements} 个线程 × ({TILE} + {TILE}) 个元素 = {shared} 次读取"
    );
    let y = svg.paragraph(y, Class::Bold, &global_text);
    svg.paragraph(y, Class::Bold, &shared_text);
    Ok(svg.finish(&format!("{global_text}; {shared_text}")))
}

/// Draws the tiles of phase 1 in shared memory and the block's threads, with the elements that one thread reads
/// outlined. Returns the y coordinate below them.
fn shared_tiles(svg: &mut Svg, y: f64, language: Language) -> f64 {
    let [column, row] = THREAD;
    let top = y + LINE_SPACING + 2.0;
    let size = TILE as f64 * TILE_CELL;
    let step = (WIDTH - size) / 2.0;
    let threads = language.pick("threads", "线程");
    for (number, (name, class)) in [
        ("As", colour(1)),
        ("Bs", colour(1)),
        (threads, Class::Waste),
    ]
    .into_iter()
    .enumerate()
    {
        let x = number as f64 * step;
        svg.text(x, y + 13.0, Class::Ink, name);
        for row in 0..TILE {
            let y = top + row as f64 * TILE_CELL;
            svg.boxes([x, y], TILE, [TILE_CELL, 1.0, TILE_CELL - 1.0], |_| class);
        }
    }
    let [thread_x, thread_y] = [column, row].map(|n| n as f64 * TILE_CELL);
    let cell = TILE_CELL - 1.0;
    svg.rect(2.0 * step + thread_x, top + thread_y, cell, cell, colour(3));
    svg.rect(
        -1.0,
        top + thread_y - 1.0,
        size + 1.0,
        TILE_CELL + 1.0,
        Class::Line,
    );
    svg.rect(
        step + thread_x - 1.0,
        top - 1.0,
        TILE_CELL + 1.0,
        size + 1.0,
        Class::Line,
    );
    for (index, sign) in ["×", "→"].into_iter().enumerate() {
        let x = index as f64 * step + (step + size) / 2.0;
        svg.text_centered(x, top + size / 2.0 + 4.0, Class::Bold, sign);
    }
    let note = localize!(
        language,
        "Outlined: the row of As and the column of Bs that thread ({column}, {row}) reads. It also loaded one element of \
         each tile.",
        "框出的是线程 ({column}, {row}) 读取的 As 的一行和 Bs 的一列。每个分块它还加载了一个元素。"
    );
    svg.paragraph(top + size + 4.0, Class::Faint, &note) + 4.0
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
