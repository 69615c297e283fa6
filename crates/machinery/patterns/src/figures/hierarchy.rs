//! The memories as they are built: what is inside a multiprocessor, what all of them share, and the host.

use anyhow::Result;
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LEADING, Svg};
use crate::language::Language;

/// Room inside a box, and between boxes.
const PAD: f64 = 8.0;
/// A box with one line of text.
const HIGH: f64 = LEADING + 8.0;
/// The coloured bar at a box's left.
const BAR: f64 = 6.0;

/// A box with a name in it, and a bar of its colour at the left: text on a colour is hard to read.
fn named(svg: &mut Svg, [x, y, wide]: [f64; 3], class: Class, name: &str) {
    svg.rect(x, y, wide, HIGH, Class::Empty);
    svg.rect(x, y, BAR, HIGH, class);
    svg.text_middle(x + (wide + BAR) / 2.0, y + 17.0, Class::Ink, name);
}

pub fn hierarchy(language: Language) -> Result<String> {
    let device = DeviceSpec::h200();
    let title = language.of(
        "The hierarchy of memories: in a multiprocessor, on the GPU, and in the host",
        "内存的层次：多处理器内部、GPU 上、主机里",
    );
    let mut svg = Svg::new("hierarchy", title);
    let gap = 30.0;
    let room = (WIDTH - 2.0 * PAD - gap) / 2.0;
    svg.text(PAD, 16.0, Class::Bold, "GPU");
    let top = LEADING + 4.0;
    let mut y = top;
    for (number, name) in [
        (
            0,
            language.of("multiprocessor 0".to_owned(), "多处理器 0".to_owned()),
        ),
        (
            1,
            language.of(
                format!("multiprocessor {}", device.multiprocessors - 1),
                format!("多处理器 {}", device.multiprocessors - 1),
            ),
        ),
    ] {
        let x = PAD + f64::from(number) * (room + gap);
        let wide = room - 2.0 * PAD;
        svg.text(x + PAD, top + 16.0, Class::Bold, &name);
        y = top + LEADING + 4.0;
        named(
            &mut svg,
            [x + PAD, y, wide],
            Class::C,
            language.of("registers of threads", "各线程的寄存器"),
        );
        y += HIGH + 5.0;
        let half = (wide - 5.0) / 2.0;
        svg.rect(x + PAD, y, half, 2.0 * HIGH + 5.0, Class::Empty);
        svg.rect(x + PAD, y, BAR, 2.0 * HIGH + 5.0, Class::B);
        let words = language.of(["constant", "cache"], ["常量", "缓存"]);
        for (line, word) in (0..).zip(words) {
            svg.text_middle(
                x + PAD + half / 2.0,
                y + 24.0 + f64::from(line) * LEADING,
                Class::Ink,
                word,
            );
        }
        let right = x + PAD + half + 5.0;
        named(
            &mut svg,
            [right, y, half],
            Class::C,
            language.of("shared", "共享内存"),
        );
        y += HIGH + 5.0;
        named(
            &mut svg,
            [right, y, half],
            Class::B,
            language.of("L1 cache", "L1 缓存"),
        );
        y += HIGH;
        svg.rect(x, top, room, y + PAD - top, Class::Empty);
        svg.line(
            [x + room / 2.0, y + PAD],
            [x + room / 2.0, y + 2.0 * PAD + 4.0],
        );
    }
    svg.text_middle(WIDTH / 2.0, (top + y) / 2.0, Class::Bold, "…");
    y += 2.0 * PAD + 5.0;
    let inner = WIDTH - 2.0 * PAD;
    named(
        &mut svg,
        [PAD, y, inner],
        Class::B,
        language.of(
            "L2 cache, of all multiprocessors",
            "L2 缓存，所有多处理器共用",
        ),
    );
    y += HIGH;
    svg.line([WIDTH / 2.0, y], [WIDTH / 2.0, y + PAD]);
    y += PAD + 1.0;
    let text = language.of(
        "device memory: global, constant, local",
        "设备内存：全局内存、常量内存、局部内存都在其中",
    );
    named(&mut svg, [PAD, y, inner], Class::C, text);
    y += HIGH;
    svg.rect(0.5, 0.5, WIDTH - 1.0, y + PAD, Class::Empty);
    y += PAD + 1.0;
    svg.line([WIDTH / 2.0, y], [WIDTH / 2.0, y + 2.0 * PAD]);
    svg.text(WIDTH / 2.0 + 8.0, y + 13.0, Class::Faint, "PCIe");
    y += 2.0 * PAD + 1.0;
    named(
        &mut svg,
        [PAD, y, inner],
        Class::C,
        language.of("host memory", "主机内存"),
    );
    let note = language.of(
        "Orange: memories, whose contents a program decides. Blue: caches, which keep copies by themselves. The \
         farther down, the larger, and the longer a load takes.",
        "橙色：内存，内容由程序决定。蓝色：缓存，自行保留副本。越往下容量越大，一次读取也越久。",
    );
    svg.paragraph(y + HIGH + 6.0, Class::Faint, note);
    Ok(svg.finish(note))
}
