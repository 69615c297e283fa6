//! Figure of the memory hierarchy: inside a streaming multiprocessor (SM), on the GPU, and in the host.

use anyhow::Result;
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::Language;

/// Padding inside a box, and distance between boxes.
const PADDING: f64 = 8.0;
/// Height of a box with one line of text.
const BOX_HEIGHT: f64 = LINE_SPACING + 8.0;
/// Width of the coloured bar at the left of a box.
const BAR_WIDTH: f64 = 6.0;

/// Draws a box with a name, and with a bar of its colour at the left because text on a coloured background
/// is hard to read.
fn named_box(svg: &mut Svg, [x, y, width]: [f64; 3], class: Class, name: &str) {
    svg.rect(x, y, width, BOX_HEIGHT, Class::Empty);
    svg.rect(x, y, BAR_WIDTH, BOX_HEIGHT, class);
    svg.text_centered(x + (width + BAR_WIDTH) / 2.0, y + 17.0, Class::Ink, name);
}

pub fn hierarchy(language: Language) -> Result<String> {
    let device = DeviceSpec::h200();
    let title = language.pick(
        "The memory hierarchy: in a streaming multiprocessor (SM), on the GPU, and in the host",
        "内存层次结构：流式多处理器（SM）内部、GPU 上、主机中",
    );
    let mut svg = Svg::new("hierarchy", title);
    let sm_gap = 30.0;
    let sm_width = (WIDTH - 2.0 * PADDING - sm_gap) / 2.0;
    svg.text(PADDING, 16.0, Class::Bold, "GPU");
    let top = LINE_SPACING + 4.0;
    let mut y = top;
    for (index, name) in [
        (0, language.pick("SM 0".to_owned(), "SM 0".to_owned())),
        (
            1,
            language.pick(
                format!("SM {}", device.multiprocessors - 1),
                format!("SM {}", device.multiprocessors - 1),
            ),
        ),
    ] {
        let x = PADDING + f64::from(index) * (sm_width + sm_gap);
        let width = sm_width - 2.0 * PADDING;
        svg.text(x + PADDING, top + 16.0, Class::Bold, &name);
        y = top + LINE_SPACING + 4.0;
        named_box(
            &mut svg,
            [x + PADDING, y, width],
            Class::C,
            language.pick("registers", "寄存器"),
        );
        y += BOX_HEIGHT + 5.0;
        let half = (width - 5.0) / 2.0;
        svg.rect(x + PADDING, y, half, 2.0 * BOX_HEIGHT + 5.0, Class::Empty);
        svg.rect(x + PADDING, y, BAR_WIDTH, 2.0 * BOX_HEIGHT + 5.0, Class::B);
        let words = language.pick(["constant", "cache"], ["常量", "缓存"]);
        for (line, word) in (0..).zip(words) {
            svg.text_centered(
                x + PADDING + half / 2.0,
                y + 24.0 + f64::from(line) * LINE_SPACING,
                Class::Ink,
                word,
            );
        }
        let right = x + PADDING + half + 5.0;
        named_box(
            &mut svg,
            [right, y, half],
            Class::C,
            language.pick("shared", "共享内存"),
        );
        y += BOX_HEIGHT + 5.0;
        named_box(
            &mut svg,
            [right, y, half],
            Class::B,
            language.pick("L1 cache", "L1 缓存"),
        );
        y += BOX_HEIGHT;
        svg.rect(x, top, sm_width, y + PADDING - top, Class::Empty);
        svg.line(
            [x + sm_width / 2.0, y + PADDING],
            [x + sm_width / 2.0, y + 2.0 * PADDING + 4.0],
        );
    }
    svg.text_centered(WIDTH / 2.0, (top + y) / 2.0, Class::Bold, "…");
    y += 2.0 * PADDING + 5.0;
    let inner_width = WIDTH - 2.0 * PADDING;
    named_box(
        &mut svg,
        [PADDING, y, inner_width],
        Class::B,
        language.pick("L2 cache, shared by all SMs", "L2 缓存，所有 SM 共用"),
    );
    y += BOX_HEIGHT;
    svg.line([WIDTH / 2.0, y], [WIDTH / 2.0, y + PADDING]);
    y += PADDING + 1.0;
    let text = language.pick(
        "device memory: global, constant, local",
        "设备内存：全局内存、常量内存、局部内存",
    );
    named_box(&mut svg, [PADDING, y, inner_width], Class::C, text);
    y += BOX_HEIGHT;
    svg.rect(0.5, 0.5, WIDTH - 1.0, y + PADDING, Class::Empty);
    y += PADDING + 1.0;
    svg.line([WIDTH / 2.0, y], [WIDTH / 2.0, y + 2.0 * PADDING]);
    svg.text(WIDTH / 2.0 + 8.0, y + 13.0, Class::Faint, "PCIe");
    y += 2.0 * PADDING + 1.0;
    named_box(
        &mut svg,
        [PADDING, y, inner_width],
        Class::C,
        language.pick("host memory", "主机内存"),
    );
    let note = language.pick(
        "Orange: memories, managed by the program. Blue: caches, managed by the hardware. The \
         farther down, the larger the memory and the longer the latency of a load.",
        "橙色：内存，由程序管理。蓝色：缓存，由硬件管理。越往下，容量越大，加载的延迟也越长。",
    );
    svg.paragraph(y + BOX_HEIGHT + 6.0, Class::Faint, note);
    Ok(svg.finish(note))
}
