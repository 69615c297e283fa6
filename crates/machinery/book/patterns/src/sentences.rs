//! Sentences that describe a pattern and its result.

use crate::language::{Language, localize};
use crate::outcome::Sums;
use crate::pattern::{Order, Pattern, Space};

/// Formats a count with its noun: `1 sector`, `8 sectors`.
fn count(number: u64, singular: &str) -> String {
    match number {
        1 => format!("1 {singular}"),
        _ => format!("{number} {singular}s"),
    }
}

/// Summarizes the counters in a sentence.
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
        Space::Global | Space::ReadOnly => language.pick(
            format!(
                "{}, {}: {used} of {moved} bytes used",
                count(requests, "request"),
                count(sectors, "sector")
            ),
            format!("{requests} 次请求，{sectors} 个扇区：加载 {moved} 字节，用到 {used} 字节"),
        ),
        Space::Shared => {
            let conflict_text = match conflicts {
                0 => language.pick("no bank conflicts".into(), "没有存储体冲突".into()),
                _ => language.pick(
                    format!("{conflicts} of them caused by bank conflicts"),
                    format!("其中 {conflicts} 个由存储体冲突造成"),
                ),
            };
            let (load_text, wavefront_text) =
                (count(requests, "load"), count(wavefronts, "wavefront"));
            language.pick(
                format!("{load_text}, {wavefront_text}, {conflict_text}"),
                format!("{requests} 次读取，{wavefronts} 个波前，{conflict_text}"),
            )
        }
        Space::Constant => language.pick(
            format!(
                "{}, {}: one per distinct address of a warp",
                count(requests, "load"),
                count(addresses, "request")
            ),
            format!("{requests} 次读取，{addresses} 次请求：线程束中每个不同的地址各一次"),
        ),
    }
}

/// Describes in a sentence which element each thread reads.
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
        Order::Rows if pattern.block[1] == 1 => language.pick(
            format!("Thread x reads element {} of {element} bytes", index("x")),
            format!("线程 x 读第 {} 个元素，每个 {element} 字节", index("x")),
        ),
        Order::Rows => localize!(
            language,
            "Thread (x, y) reads element {} of row y, of {element} bytes; rows are {pitch} bytes apart",
            "线程 (x, y) 读第 y 行的第 {} 个元素，每个 {element} 字节；相邻两行相距 {pitch} 字节";
            index("x")
        ),
        Order::Columns => localize!(
            language,
            "Thread (x, y) reads element {} of row x, of {element} bytes; rows are {pitch} bytes apart",
            "线程 (x, y) 读第 x 行的第 {} 个元素，每个 {element} 字节；相邻两行相距 {pitch} 字节";
            index("y")
        ),
        Order::One => language.pick(
            format!("All threads read element {offset}, of {element} bytes"),
            format!("所有线程都读第 {offset} 个元素（{element} 字节）"),
        ),
        Order::Random => localize!(
            language,
            "Threads read pseudo-random elements of {element} bytes, out of {} elements",
            "各线程在 {} 个元素中伪随机读取，每个元素 {element} 字节";
            pattern.elements()
        ),
    }
}
