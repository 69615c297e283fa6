//! Figure of a tensor core instruction: the small matrices that it multiplies, and the elements of one lane.

use anyhow::Result;

use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::Language;

/// The shape of `mma.m16n8k8`: rows of A and C, columns of B and C, columns of A and rows of B.
const M: usize = 16;
const N: usize = 8;
const K: usize = 8;
/// The lane whose elements are shown.
const LANE: usize = 9;
/// Side length of an element.
const CELL: f64 = 11.0;

/// Returns true if lane [`LANE`] holds this element of A, by the PTX ISA's section on `mma.m16n8k8` with
/// TF32.
fn in_a(row: usize, column: usize) -> bool {
    row % 8 == LANE / 4 && column % 4 == LANE % 4
}
/// Returns true if lane [`LANE`] holds this element of B.
fn in_b(row: usize, column: usize) -> bool {
    row % 4 == LANE % 4 && column == LANE / 4
}
/// Returns true if lane [`LANE`] holds this element of C.
fn in_c(row: usize, column: usize) -> bool {
    row % 8 == LANE / 4 && column / 2 == LANE % 4
}

pub fn mma(language: Language) -> Result<String> {
    let title = language.pick(
        "A tensor core instruction: 16×8 elements of A times 8×8 elements of B, added to 16×8 elements of C",
        "张量核心的一条指令：A 的 16×8 个元素乘以 B 的 8×8 个，加到 C 的 16×8 个上",
    );
    let mut svg = Svg::new("ladder-mma", title);
    let top = LINE_SPACING + 2.0;
    let mut lane_elements = 0;
    let mut draw =
        |svg: &mut Svg, x: f64, name: &str, size: [usize; 2], in_lane: fn(usize, usize) -> bool| {
            svg.text(x, 13.0, Class::Bold, name);
            for row in 0..size[0] {
                for column in 0..size[1] {
                    let class = if in_lane(row, column) {
                        Class::D
                    } else {
                        Class::B
                    };
                    lane_elements += usize::from(in_lane(row, column));
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
    let result = language.pick(
        format!(
            "{products} multiply-adds in one instruction; an FMA instruction of a warp performs 32"
        ),
        format!("一条指令完成 {products} 次乘加；线程束的一条普通 FMA 指令只完成 32 次"),
    );
    let y = svg.paragraph(top + M as f64 * CELL + 4.0, Class::Bold, &result);
    let note = language.pick(
        format!("Dark: the {lane_elements} elements that lane {LANE} holds in its registers. Every other lane holds {lane_elements} different elements."),
        format!("深色：通道 {LANE} 的寄存器中的 {lane_elements} 个元素。其他每条通道各持有另外 {lane_elements} 个元素。"),
    );
    svg.paragraph(y, Class::Faint, &note);
    Ok(svg.finish(&result))
}
