//! Figure of matrix multiplication without shared memory: the row and the column that a thread loads.

use std::collections::BTreeSet;

use anyhow::Result;
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::WIDTH;
use crate::draw::svg::{Class, Svg};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const PTX: &str = include_str!(env!("MATMUL_PITCHED_PTX"));

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
const CELL: f64 = 30.0;
/// Distance between matrices.
const GAP: f64 = 24.0;

pub fn row_column(language: Language) -> Result<String> {
    let title = language.pick(
        "Matrix multiplication without shared memory: a row of A times a column of B",
        "不用共享内存的矩阵乘法：A 的一行乘以 B 的一列",
    );
    let mut machine = load(PTX)?;
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
    let size = SIDE as f64 * CELL;
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
                let [x, y] = [x + column as f64 * CELL, y + row as f64 * CELL];
                svg.rect(x, y, CELL - 2.0, CELL - 2.0, Class::Empty);
                svg.text_centered(x + CELL / 2.0 - 1.0, y + 14.0, Class::Ink, &number);
                for (index, (_, _, class)) in THREADS
                    .into_iter()
                    .enumerate()
                    .filter(|&(index, _)| threads[index])
                {
                    svg.rect(x, y + 17.0 + 5.5 * index as f64, CELL - 2.0, 5.0, class);
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
