//! The product of small matrices that a warp makes in one instruction, and a lane's part of it.

use anyhow::Result;

use crate::draw::svg::{Class, LEADING, Svg};
use crate::language::Language;

/// `mma.m16n8k8`: rows of A and C, columns of B and C, and what is summed over.
const M: usize = 16;
const N: usize = 8;
const K: usize = 8;
/// The lane whose numbers are shown.
const LANE: usize = 9;
/// An element's side.
const CELL: f64 = 11.0;

/// Whether lane [`LANE`] holds an element of A, of B, or of C: by the PTX ISA's page on
/// `mma.m16n8k8` with TF32.
fn in_a(row: usize, column: usize) -> bool {
    row % 8 == LANE / 4 && column % 4 == LANE % 4
}
fn in_b(row: usize, column: usize) -> bool {
    row % 4 == LANE % 4 && column == LANE / 4
}
fn in_c(row: usize, column: usize) -> bool {
    row % 8 == LANE / 4 && column / 2 == LANE % 4
}

pub fn mma(language: Language) -> Result<String> {
    let title = language.of(
        "One instruction of a tensor core: 16×8 elements of A times 8×8 of B, added to 16×8 of C",
        "张量核心的一条指令：A 的 16×8 个元素乘以 B 的 8×8 个，加到 C 的 16×8 个上",
    );
    let mut svg = Svg::new("ladder-mma", title);
    let top = LEADING + 2.0;
    let mut held = 0;
    let mut draw =
        |svg: &mut Svg, x: f64, name: &str, size: [usize; 2], mine: fn(usize, usize) -> bool| {
            svg.text(x, 13.0, Class::Bold, name);
            for row in 0..size[0] {
                for column in 0..size[1] {
                    let class = if mine(row, column) {
                        Class::D
                    } else {
                        Class::B
                    };
                    held += usize::from(mine(row, column));
                    let [x, y] = [x + column as f64 * CELL, top + row as f64 * CELL];
                    svg.rect(x, y, CELL - 1.0, CELL - 1.0, class);
                }
            }
        };
    draw(&mut svg, 0.0, "A, 16×8", [M, K], in_a);
    draw(&mut svg, 140.0, "B, 8×8", [K, N], in_b);
    draw(&mut svg, 280.0, "C, 16×8", [M, N], in_c);
    for (x, sign) in [(112.0, "×"), (254.0, "+=")] {
        svg.text(x, top + 4.0 * CELL + 4.0, Class::Bold, sign);
    }
    let products = M * N * K;
    let result = language.of(
        format!(
            "{products} multiply-adds in one instruction, where a warp’s multiply-add makes 32"
        ),
        format!("一条指令完成 {products} 次乘加，线程束的一条普通乘加指令是 32 次"),
    );
    let y = svg.paragraph(top + M as f64 * CELL + 4.0, Class::Bold, &result);
    let note = language.of(
        format!("Dark: the {held} numbers that lane {LANE} has in its registers. Each lane has as many others."),
        format!("深色：通道 {LANE} 的寄存器里的 {held} 个数。其他通道各有同样多的另一些数。"),
    );
    svg.paragraph(y, Class::Faint, &note);
    Ok(svg.finish(&result))
}
