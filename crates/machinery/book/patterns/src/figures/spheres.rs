//! Figures of the ray tracer: its rays, the memory layout of spheres, and the spheres that a block tests.

use anyhow::Result;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, Svg};
use crate::language::{Language, localize};

/// Height of a pixel, and the x coordinate of the column of pixels.
const PIXEL: f64 = 17.0;
const IMAGE: f64 = 70.0;
/// Centre, radius and colour of the spheres that rays may hit.
const SCENE: [([f64; 2], f64, Class); 3] = [
    ([200.0, 84.0], 42.0, Class::A),
    ([302.0, 110.0], 52.0, Class::C),
    ([156.0, 182.0], 26.0, Class::B),
];

/// Draws a column of pixels from the side, with their rays and the spheres that these hit first.
pub fn rays(language: Language) -> Result<String> {
    let title = language.pick(
        "Rays leaving the pixels of an image, and the spheres that they hit",
        "从图像的像素射出的光线，以及光线击中的球体",
    );
    let mut svg = Svg::new("rays", title);
    let (top, pixels) = (26.0, 12);
    for ([x, y], radius, class) in SCENE {
        svg.circle([x, y], radius, class);
    }
    let mut hits = 0;
    for pixel in 0..pixels {
        let y = top + f64::from(pixel) * PIXEL;
        let middle = y + PIXEL / 2.0 - 0.5;
        let intersections = SCENE
            .into_iter()
            .filter_map(|([x, centre], radius, class)| {
                let squared = radius * radius - (middle - centre) * (middle - centre);
                (squared > 0.0).then(|| (x - squared.sqrt(), class))
            });
        let hit = intersections.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let (end, class) = hit.unwrap_or((WIDTH, Class::Empty));
        svg.rect(IMAGE, y, PIXEL - 1.0, PIXEL - 1.0, class);
        svg.line([IMAGE + PIXEL, middle], [end, middle]);
        if hit.is_some() {
            svg.circle([end, middle], 3.0, Class::D);
            hits += 1;
        }
    }
    let [eye, image, scene] =
        language.pick(["← eye", "image", "spheres"], ["← 眼睛", "图像", "球体"]);
    let middle = top + f64::from(pixels) * PIXEL / 2.0;
    svg.text(0.0, middle + 4.0, Class::Faint, eye);
    svg.text_centered(IMAGE + PIXEL / 2.0, 14.0, Class::Ink, image);
    svg.text_centered(SCENE[1].0[0], 14.0, Class::Ink, scene);
    let names = language.pick(
        ["the first hit of a ray", "a pixel whose ray hits nothing"],
        ["光线的第一个交点", "光线没有击中球体的像素"],
    );
    let y = top + f64::from(pixels) * PIXEL + 6.0;
    let y = svg.legend(y, &[(Class::D, names[0]), (Class::Empty, names[1])]);
    let note = language.pick(
        "A column of pixels, seen from the side. The eye is far away on the z axis, so that all rays are parallel. One \
         thread tests the ray of one pixel against all spheres, and the pixel shows the sphere that is hit first.",
        "从侧面看的一列像素。眼睛在 z 轴上很远的地方，因此所有光线互相平行。一个线程用一个像素的光线测试所有球体，\
         像素显示最先被击中的球体。",
    );
    svg.paragraph(y, Class::Faint, note);
    let description = localize!(
        language,
        "Of {pixels} parallel rays, {hits} hit a sphere",
        "{pixels} 条平行光线中，{hits} 条击中球体"
    );
    Ok(svg.finish(&description))
}

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
    let [tested, other] = language.pick(
        [
            "a field that an intersection test reads",
            "a field read only for the few spheres that a ray hits",
        ],
        ["相交测试读取的字段", "只对少数被光线击中的球体才读取的字段"],
    );
    svg.legend(y + 28.0, &[(Class::B, tested), (Class::Waste, other)]);
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
        svg.circle([x, y], radius, class);
    }
    let [x, y, width, height] = BLOCK;
    svg.rect(x, y, width, height, Class::Line);
    let tested = SPHERES.iter().filter(|sphere| overlaps_block(**sphere));
    let tested_count = tested.count();
    let text = localize!(
        language,
        "Of {} spheres, the block’s pixels test only {tested_count}",
        "{} 个球体中，该线程块的像素只测试 {tested_count} 个";
        SPHERES.len()
    );
    let y = svg.paragraph(162.0, Class::Bold, &text);
    let [block, tested, other] = language.pick(
        [
            "a block’s pixels",
            "a sphere that overlaps them",
            "other spheres",
        ],
        ["一个线程块的像素", "与其相交的球体", "其他球体"],
    );
    let entries = [
        (Class::Line, block),
        (Class::B, tested),
        (Class::Waste, other),
    ];
    svg.legend(y, &entries);
    Ok(svg.finish(&text))
}
