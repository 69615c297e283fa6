//! What a pattern came to, in a sentence.

use crate::answer::Sums;
use crate::language::Language;
use crate::pattern::{Order, Pattern, Space};

/// `1 sector`, `8 sectors`.
fn count(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

/// The counters in a sentence.
pub fn result(space: Space, sums: &Sums, language: Language) -> String {
    let Sums {
        requests,
        sectors,
        wavefronts,
        conflicts,
        addresses,
        used,
        moved,
    } = *sums;
    match space {
        Space::Global | Space::ReadOnly => language.of(
            format!(
                "{}, {}: {used} of {moved} bytes used",
                count(requests, "request"),
                count(sectors, "sector")
            ),
            format!("{requests} 次请求，{sectors} 个扇区：取来 {moved} 字节，用到 {used} 字节"),
        ),
        Space::Shared => {
            let through = match conflicts {
                0 => language.of("no bank conflicts".into(), "没有存储体冲突".into()),
                _ => language.of(
                    format!("{conflicts} of them through bank conflicts"),
                    format!("其中 {conflicts} 个由存储体冲突造成"),
                ),
            };
            let (loads, turns) = (count(requests, "load"), count(wavefronts, "wavefront"));
            language.of(
                format!("{loads}, {turns}, {through}"),
                format!("{requests} 次读取，{wavefronts} 个波前，{through}"),
            )
        }
        Space::Constant => language.of(
            format!(
                "{}, {}: one for each distinct address of a warp",
                count(requests, "load"),
                count(addresses, "request")
            ),
            format!("{requests} 次读取，{addresses} 次请求：线程束中每个不同的地址一次"),
        ),
    }
}

/// Which element a thread reads, in a sentence.
pub fn pattern(pattern: &Pattern, language: Language) -> String {
    let Pattern {
        element,
        stride,
        offset,
        pitch,
        ..
    } = pattern;
    let index = |name: &str| {
        let product = match stride {
            1 => name.to_owned(),
            _ => format!("{stride} × {name}"),
        };
        match offset {
            0 => product,
            _ => format!("{offset} + {product}"),
        }
    };
    match pattern.order {
        Order::Rows if pattern.block[1] == 1 => language.of(
            format!("Thread x reads element {} of {element} bytes", index("x")),
            format!("线程 x 读第 {} 个元素，每个 {element} 字节", index("x")),
        ),
        Order::Rows => language.of(
            format!(
                "Thread (x, y) reads element {} of row y, of {element} bytes; rows are {pitch} bytes apart",
                index("x")
            ),
            format!(
                "线程 (x, y) 读第 y 行的第 {} 个元素，每个 {element} 字节；相邻两行相距 {pitch} 字节",
                index("x")
            ),
        ),
        Order::Columns => language.of(
            format!(
                "Thread (x, y) reads element {} of row x, of {element} bytes; rows are {pitch} bytes apart",
                index("y")
            ),
            format!(
                "线程 (x, y) 读第 x 行的第 {} 个元素，每个 {element} 字节；相邻两行相距 {pitch} 字节",
                index("y")
            ),
        ),
        Order::One => language.of(
            format!("All threads read element {offset}, of {element} bytes"),
            format!("所有线程都读第 {offset} 个元素，{element} 字节"),
        ),
        Order::Random => language.of(
            format!(
                "Threads read elements of {element} bytes in pseudo-random places, over {} elements",
                pattern.elements()
            ),
            format!(
                "各线程在 {} 个元素的范围内伪随机地读，每个元素 {element} 字节",
                pattern.elements()
            ),
        ),
    }
}
