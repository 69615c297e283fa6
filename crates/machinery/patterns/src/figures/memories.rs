//! The memories at a glance: who sees each, how large it is, and how long a load takes.

use anyhow::{Context as _, Result};
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LEADING, Svg};
use crate::language::Language;

/// A memory.
struct Row {
    name: &'static str,
    size: String,
    who: &'static str,
    /// Cycles from a load to its result.
    cycles: Option<f64>,
    /// What else there is to know of its speed.
    speed: String,
}

pub fn memories(language: Language) -> Result<String> {
    let title = language.of(
        "The memories of an NVIDIA H200: who sees each, its size, and how long a load from it takes",
        "NVIDIA H200 的各种内存：谁能访问、多大、读取一次要多久",
    );
    let rows = rows(&DeviceSpec::h200(), language)?;
    let most = rows.iter().filter_map(|row| row.cycles).fold(1.0, f64::max);
    let mut svg = Svg::new("memories", title);
    let mut y = 0.0;
    for row in &rows {
        svg.text(0.0, y + 14.0, Class::Bold, row.name);
        svg.text_right(WIDTH, y + 14.0, Class::Ink, &row.size);
        svg.text(0.0, y + 14.0 + LEADING, Class::Faint, row.who);
        svg.text_right(WIDTH, y + 14.0 + LEADING, Class::Faint, &row.speed);
        y += 2.0 * LEADING + 5.0;
        if let Some(cycles) = row.cycles {
            svg.rect(0.0, y, WIDTH - 1.0, 8.0, Class::Empty);
            svg.rect(0.0, y, (WIDTH - 1.0) * cycles / most, 8.0, Class::A);
            y += 8.0;
        }
        y += 10.0;
    }
    let note = language.of(
        "Bars: cycles from a load to its result, nothing else going on. Times, rates and the size of \
         the constant cache were measured on an NVIDIA H200, driver 580.159.04, 2026-11-21 \
         (docs/results/rates-h200.txt, and of copies h200.md); the other sizes are what the driver \
         and NVIDIA’s documentation say.",
        "条形：没有其他工作时，从读取到得到结果的周期数。时间、速度和常量缓存的大小是在 NVIDIA H200 上测得\
         的，驱动 580.159.04，2026-11-21（docs/results/rates-h200.txt，复制见 h200.md）；其他大小来自驱动\
         和 NVIDIA 的文档。",
    );
    y = svg.paragraph(y, Class::Faint, note);
    svg.reach(y);
    let said: Vec<String> = rows
        .iter()
        .map(|row| format!("{}: {}, {}, {}", row.name, row.who, row.size, row.speed))
        .collect();
    Ok(svg.finish(&said.join("; ")))
}

/// What was measured on an H200.
const MEASURED: &str = include_str!("../../../../../docs/results/rates-h200.txt");

/// Its memory as NVIDIA's data sheet has it.
const MEMORY: &str = "141 GB";

/// The figure measured under a name.
fn measured(name: &str) -> Result<f64> {
    let line = MEASURED
        .lines()
        .find_map(|line| line.trim().strip_prefix(name));
    let figure = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    figure.with_context(|| format!("docs/results/rates-h200.txt has no `{name}`"))
}

fn rows(device: &DeviceSpec, language: Language) -> Result<Vec<Row>> {
    let kib = |bytes: u64| format!("{} KB", bytes >> 10);
    let each = |size: String| {
        language.of(
            format!("{size} a multiprocessor"),
            format!("每个多处理器 {size}"),
        )
    };
    let cycles = |row: &Row| {
        row.cycles.map(|cycles| match language {
            Language::English => format!("{cycles:.0} cycles"),
            Language::Chinese => format!("{cycles:.0} 个周期"),
        })
    };
    let shared = kib(device.shared_per_multiprocessor.into());
    let host = device.page_locked_copy.bandwidth / 1e9;
    let mut rows = vec![
        Row {
            name: language.of("Registers", "寄存器"),
            size: each(kib(4 * u64::from(device.registers_per_multiprocessor))),
            who: language.of("one thread", "一个线程"),
            cycles: None,
            speed: language
                .of("operands of instructions", "指令的操作数")
                .into(),
        },
        Row {
            name: language.of("Shared memory", "共享内存"),
            size: language.of(
                format!("up to {shared} of the L1 cache"),
                format!("L1 缓存中的最多 {shared}"),
            ),
            who: language.of("the threads of a block", "同一个线程块的线程"),
            cycles: Some(measured("shared")?),
            speed: String::new(),
        },
        Row {
            name: language.of("Constant cache", "常量缓存"),
            size: each(kib(device.rates.constant_cache_bytes.into())),
            who: language.of("all threads, read only", "所有线程，只读"),
            cycles: Some(measured("constant, hit")?),
            speed: String::new(),
        },
        Row {
            name: language.of("L1 cache", "L1 缓存"),
            size: each(kib(device.rates.l1_bytes.into())),
            who: language.of("in front of global memory", "位于全局内存之前"),
            cycles: Some(measured("L1 cache")?),
            speed: String::new(),
        },
        Row {
            name: language.of("L2 cache", "L2 缓存"),
            size: format!("{} MB", device.l2_bytes >> 20),
            who: language.of("all multiprocessors", "所有多处理器"),
            cycles: Some(measured("L2 cache")?),
            speed: format!("{:.1} TB/s", measured("read,   48 MB over again")?),
        },
        Row {
            name: language.of("Global memory", "全局内存"),
            size: MEMORY.into(),
            who: language.of("all threads, and the host", "所有线程和主机"),
            cycles: Some(measured("device memory")?),
            speed: format!("{:.1} TB/s", measured("read, 1024 MB over again")?),
        },
        Row {
            name: language.of("Host memory", "主机内存"),
            size: language.of("the machine’s", "由主机而定").into(),
            who: language.of("the host; copied over PCIe", "主机；经 PCIe 复制"),
            cycles: None,
            speed: format!("{host:.1} GB/s"),
        },
    ];
    for row in &mut rows {
        let parts = [cycles(row), Some(std::mem::take(&mut row.speed))];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        row.speed = parts.collect::<Vec<_>>().join(language.of(", ", "，"));
    }
    Ok(rows)
}
