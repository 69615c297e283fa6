//! The ray tracer's rungs: how spheres lie in memory, and which of them a block has to look at.

use anyhow::Result;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, Svg};
use crate::language::Language;

/// A float's side, and that of a sphere's 16 bytes.
const CELL: f64 = 24.0;

/// What a test reads is coloured, the rest grey.
fn floats(svg: &mut Svg, [x, y]: [f64; 2], fields: &[(&str, bool)]) {
    for (number, &(field, tested)) in fields.iter().enumerate() {
        let x = x + number as f64 * CELL;
        let class = if tested { Class::B } else { Class::Waste };
        svg.text_middle(x + CELL / 2.0 - 1.0, y + 10.0, Class::Ink, field);
        svg.rect(x, y + 14.0, CELL - 1.5, 8.0, class);
    }
}

pub fn outlines(language: Language) -> Result<String> {
    let title = language.of(
        "A sphere as the book has it, 28 bytes, and in two parts of 16 bytes",
        "书中的球：28 字节；拆成两部分：各 16 字节",
    );
    let mut svg = Svg::new("ladder-outlines", title);
    let book = [
        ("r", false),
        ("b", false),
        ("g", false),
        ("R", true),
        ("x", true),
        ("y", true),
        ("z", false),
    ];
    let outline = [("x", true), ("y", true), ("R²", true), ("R", false)];
    let surface = [("z", false), ("r", false), ("g", false), ("b", false)];
    let tested = book.iter().filter(|(_, tested)| *tested).count();
    let bytes = 4 * book.len();
    let text = language.of(
        format!(
            "The book’s sphere: {bytes} bytes, of which a test needs {}",
            4 * tested
        ),
        format!(
            "书中的球：{bytes} 字节，一次测试只需要其中 {} 字节",
            4 * tested
        ),
    );
    let y = svg.paragraph(0.0, Class::Bold, &text) + 3.0;
    floats(&mut svg, [0.0, y], &book);
    let more = language.of("next sphere …", "下一个球……");
    svg.text(7.0 * CELL + 6.0, y + 13.5, Class::Faint, more);
    let text = language.of(
        "In two arrays: a test reads one vector of 16 bytes, on a boundary of 16",
        "放进两个数组：一次测试读一个 16 字节的向量，地址对齐到 16 字节",
    );
    let y = svg.paragraph(y + 28.0, Class::Bold, text) + 3.0;
    floats(&mut svg, [0.0, y], &outline);
    svg.text(4.0 * CELL + 6.0, y + 13.5, Class::Faint, "outline");
    floats(&mut svg, [WIDTH / 2.0, y], &surface);
    svg.text(
        WIDTH / 2.0 + 4.0 * CELL + 6.0,
        y + 13.5,
        Class::Faint,
        "surface",
    );
    let note = language.of(
        "Coloured: what says whether a ray meets the sphere. The other part is read for the few that are met.",
        "有颜色的：判断光线是否碰到球所需要的。另一部分只在碰到时才读，而碰到的很少。",
    );
    svg.paragraph(y + 28.0, Class::Faint, note);
    Ok(svg.finish(text))
}

/// A block's rectangle of pixels, and spheres as centre and radius: all in the drawing's units.
const BLOCK: [f64; 4] = [150.0, 60.0, 96.0, 48.0];
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

/// Whether a sphere touches the rectangle, as the kernel finds it out: by the point of the rectangle
/// that is nearest to the centre.
fn touches([x, y, radius]: [f64; 3]) -> bool {
    let [left, top, wide, high] = BLOCK;
    let dx = x.clamp(left, left + wide) - x;
    let dy = y.clamp(top, top + high) - y;
    dx * dx + dy * dy < radius * radius
}

pub fn culled(language: Language) -> Result<String> {
    let title = language.of(
        "The spheres that touch a block’s rectangle of pixels, and those that do not",
        "触及线程块的像素矩形的球，以及没有触及的球",
    );
    let mut svg = Svg::new("ladder-culled", title);
    for [x, y, radius] in SPHERES {
        let class = if touches([x, y, radius]) {
            Class::B
        } else {
            Class::Waste
        };
        // A circle out of bars, 2 high each.
        let mut down = -radius;
        while down < radius {
            let half = (radius * radius - (down + 1.0) * (down + 1.0))
                .max(0.0)
                .sqrt();
            svg.rect(x - half, y + down, 2.0 * half, 2.0, class);
            down += 2.0;
        }
    }
    let [x, y, wide, high] = BLOCK;
    for (from, to) in [
        ([x, y], [x + wide, y]),
        ([x, y + high], [x + wide, y + high]),
        ([x, y], [x, y + high]),
        ([x + wide, y], [x + wide, y + high]),
    ] {
        svg.line(from, to);
    }
    let left = SPHERES.iter().filter(|sphere| touches(**sphere)).count();
    let text = language.of(
        format!(
            "Of {} spheres the block’s pixels test {left}",
            SPHERES.len()
        ),
        format!("{} 个球中，这个线程块的像素只测试 {left} 个", SPHERES.len()),
    );
    let y = svg.paragraph(162.0, Class::Bold, &text);
    let note = language.of(
        "The rectangle: a block’s pixels. Blue: the spheres that touch it.",
        "矩形：一个线程块的像素。蓝色：触及它的球。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&text))
}
