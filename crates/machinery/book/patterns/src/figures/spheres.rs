//! Figures of the ray tracer's rungs: the memory layout of spheres, and the spheres that a block tests.

use anyhow::Result;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, Svg};
use crate::language::{Language, localize};

/// Width of a float.
const CELL: f64 = 24.0;

/// Draws the fields of a sphere. Those that an intersection test reads are coloured, the others grey.
fn floats(svg: &mut Svg, [x, y]: [f64; 2], fields: &[(&str, bool)]) {
    for (number, &(field, tested)) in fields.iter().enumerate() {
        let x = x + number as f64 * CELL;
        let class = if tested { Class::B } else { Class::Waste };
        svg.text_centered(x + CELL / 2.0 - 1.0, y + 10.0, Class::Ink, field);
        svg.rect(x, y + 14.0, CELL - 1.5, 8.0, class);
    }
}

pub fn outlines(language: Language) -> Result<String> {
    let title = language.pick(
        "The layout of a sphere: 28 bytes in the book’s program, and two parts of 16 bytes",
        "球体的内存布局：书中的程序为 28 字节；拆成两部分后各 16 字节",
    );
    let mut svg = Svg::new("ladder-outlines", title);
    let book = ["r", "b", "g", "R", "x", "y", "z"].map(|name| (name, "Rxy".contains(name)));
    let outline = [("x", true), ("y", true), ("R²", true), ("R", false)];
    let surface = [("z", false), ("r", false), ("g", false), ("b", false)];
    let tested = book.iter().filter(|(_, tested)| *tested).count();
    let bytes = 4 * book.len();
    let text = localize!(
        language,
        "The book’s sphere: {bytes} bytes; an intersection test uses {} of them",
        "书中的球体：{bytes} 字节，一次相交测试只用到其中 {} 字节";
        4 * tested
    );
    let y = svg.paragraph(0.0, Class::Bold, &text) + 3.0;
    floats(&mut svg, [0.0, y], &book);
    let next = language.pick("next sphere …", "下一个球体……");
    svg.text(7.0 * CELL + 6.0, y + 13.5, Class::Faint, next);
    let text = language.pick(
        "In two arrays: an intersection test loads one vector of 16 bytes, aligned to 16 bytes",
        "放进两个数组：一次相交测试加载一个 16 字节的向量，地址按 16 字节对齐",
    );
    let y = svg.paragraph(y + 28.0, Class::Bold, text) + 3.0;
    floats(&mut svg, [0.0, y], &outline);
    svg.text(4.0 * CELL + 6.0, y + 13.5, Class::Faint, "outline");
    floats(&mut svg, [WIDTH / 2.0, y], &surface);
    let x = WIDTH / 2.0 + 4.0 * CELL + 6.0;
    svg.text(x, y + 13.5, Class::Faint, "surface");
    let note = language.pick(
        "Coloured: the fields that an intersection test reads. The other part is read only for the few spheres that a ray hits.",
        "彩色：相交测试读取的字段。另一部分只对少数被光线击中的球体才读取。",
    );
    svg.paragraph(y + 28.0, Class::Faint, note);
    Ok(svg.finish(text))
}

/// Left, top, width and height of a block's rectangle of pixels.
const BLOCK: [f64; 4] = [150.0, 60.0, 96.0, 48.0];
/// Centre and radius of the spheres.
const SPHERES: [[f64; 3]; 8] = [
    [40.0, 40.0, 26.0],
    [120.0, 130.0, 20.0],
    [172.0, 52.0, 22.0],
    [258.0, 96.0, 30.0],
    [330.0, 44.0, 34.0],
    [205.0, 140.0, 18.0],
    [70.0, 118.0, 18.0],
    [300.0, 142.0, 14.0],
];

/// Returns true if a sphere overlaps the rectangle. Like the kernel, tests the point of the rectangle that is
/// nearest to the centre.
fn overlaps_block([x, y, radius]: [f64; 3]) -> bool {
    let [left, top, width, height] = BLOCK;
    let dx = x.clamp(left, left + width) - x;
    let dy = y.clamp(top, top + height) - y;
    dx * dx + dy * dy < radius * radius
}

pub fn culled(language: Language) -> Result<String> {
    let title = language.pick(
        "The spheres that overlap a block’s rectangle of pixels, and those that do not",
        "与线程块的像素矩形相交的球体，以及不相交的球体",
    );
    let mut svg = Svg::new("ladder-culled", title);
    for [x, y, radius] in SPHERES {
        let class = match overlaps_block([x, y, radius]) {
            true => Class::B,
            false => Class::Waste,
        };
        // A circle, drawn as bars of height 2.
        let mut offset = -radius;
        while offset < radius {
            let squared = radius * radius - (offset + 1.0) * (offset + 1.0);
            let half = squared.max(0.0).sqrt();
            svg.rect(x - half, y + offset, 2.0 * half, 2.0, class);
            offset += 2.0;
        }
    }
    let [x, y, width, height] = BLOCK;
    for (from, to) in [
        ([x, y], [x + width, y]),
        ([x, y + height], [x + width, y + height]),
        ([x, y], [x, y + height]),
        ([x + width, y], [x + width, y + height]),
    ] {
        svg.line(from, to);
    }
    let tested = SPHERES.iter().filter(|sphere| overlaps_block(**sphere));
    let tested_count = tested.count();
    let text = localize!(
        language,
        "Of {} spheres, the block’s pixels test only {tested_count}",
        "{} 个球体中，该线程块的像素只测试 {tested_count} 个";
        SPHERES.len()
    );
    let y = svg.paragraph(162.0, Class::Bold, &text);
    let note = language.pick(
        "Rectangle: a block’s pixels. Blue: the spheres that overlap it.",
        "矩形：一个线程块的像素。蓝色：与其相交的球体。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&text))
}
