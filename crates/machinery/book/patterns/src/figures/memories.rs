//! Figure that compares the memories: scope, size, and latency of a load.

use anyhow::{Context as _, Result};
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::Language;

/// The properties of a memory.
struct Row {
    name: &'static str,
    size: String,
    scope: &'static str,
    /// Latency of a load in cycles.
    cycles: Option<f64>,
    /// Further text about its speed, such as the bandwidth.
    speed: String,
}

pub fn memories(language: Language) -> Result<String> {
    let title = language.pick(
        "The memories of an NVIDIA H200: scope, size, and latency of a load",
        "NVIDIA H200 的各种内存：访问范围、容量、加载延迟",
    );
    let rows = rows(&DeviceSpec::h200(), language)?;
    let max_cycles = rows.iter().filter_map(|row| row.cycles).fold(1.0, f64::max);
    let mut svg = Svg::new("memories", title);
    let mut y = 0.0;
    for row in &rows {
        svg.text(0.0, y + 14.0, Class::Bold, row.name);
        svg.text_right(WIDTH, y + 14.0, Class::Ink, &row.size);
        svg.text(0.0, y + 14.0 + LINE_SPACING, Class::Faint, row.scope);
        svg.text_right(WIDTH, y + 14.0 + LINE_SPACING, Class::Faint, &row.speed);
        y += 2.0 * LINE_SPACING + 5.0;
        if let Some(cycles) = row.cycles {
            svg.rect(0.0, y, WIDTH - 1.0, 8.0, Class::Empty);
            svg.rect(0.0, y, (WIDTH - 1.0) * cycles / max_cycles, 8.0, Class::A);
            y += 8.0;
        }
        y += 10.0;
    }
    let note = language.pick(
        "Bars: latency of a load in cycles on an idle GPU. Times, rates and the size of \
         the constant cache were measured on an NVIDIA H200, driver 580.159.04, 2026-11-21 \
         (docs/results/rates-h200.txt, for copies h200.md); the other sizes are those that the driver \
         and NVIDIA’s documentation state.",
        "条形：GPU 空闲时一次加载的延迟（周期数）。时间、速率和常量缓存的大小是在 NVIDIA H200 上测得\
         的，驱动 580.159.04，2026-11-21（docs/results/rates-h200.txt，复制见 h200.md）；其他大小来自驱动\
         和 NVIDIA 的文档。",
    );
    y = svg.paragraph(y, Class::Faint, note);
    svg.extend_to(y);
    let descriptions: Vec<String> = rows
        .iter()
        .map(|row| format!("{}: {}, {}, {}", row.name, row.scope, row.size, row.speed))
        .collect();
    Ok(svg.finish(&descriptions.join("; ")))
}

/// Rates measured on an H200.
const MEASURED: &str = include_str!("../../../../../../docs/results/rates-h200.txt");

/// Size of the H200's device memory according to NVIDIA's data sheet.
const MEMORY: &str = "141 GB";

/// Returns the measured value of that name. Fails if the file has no such value.
fn measured(name: &str) -> Result<f64> {
    let line = MEASURED
        .lines()
        .find_map(|line| line.trim().strip_prefix(name));
    let figure = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    figure.with_context(|| format!("docs/results/rates-h200.txt has no `{name}`"))
}

fn rows(device: &DeviceSpec, language: Language) -> Result<Vec<Row>> {
    let kib = |bytes: u64| format!("{} KB", bytes >> 10);
    let per_sm = |size: String| language.pick(format!("{size} per SM"), format!("每个 SM {size}"));
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
            name: language.pick("Registers", "寄存器"),
            size: per_sm(kib(4 * u64::from(device.registers_per_multiprocessor))),
            scope: language.pick("one thread", "一个线程"),
            cycles: None,
            speed: language
                .pick("operands of instructions", "指令的操作数")
                .into(),
        },
        Row {
            name: language.pick("Shared memory", "共享内存"),
            size: language.pick(
                format!("up to {shared} of the L1 cache"),
                format!("L1 缓存中的最多 {shared}"),
            ),
            scope: language.pick("the threads of a block", "同一个线程块的线程"),
            cycles: Some(measured("shared")?),
            speed: String::new(),
        },
        Row {
            name: language.pick("Constant cache", "常量缓存"),
            size: per_sm(kib(device.rates.constant_cache_bytes.into())),
            scope: language.pick("all threads, read only", "所有线程，只读"),
            cycles: Some(measured("constant, hit")?),
            speed: String::new(),
        },
        Row {
            name: language.pick("L1 cache", "L1 缓存"),
            size: per_sm(kib(device.rates.l1_bytes.into())),
            scope: language.pick("in front of global memory", "位于全局内存之前"),
            cycles: Some(measured("L1 cache")?),
            speed: String::new(),
        },
        Row {
            name: language.pick("L2 cache", "L2 缓存"),
            size: format!("{} MB", device.l2_bytes >> 20),
            scope: language.pick("all SMs", "所有 SM"),
            cycles: Some(measured("L2 cache")?),
            speed: format!("{:.1} TB/s", measured("read,   48 MB over again")?),
        },
        Row {
            name: language.pick("Global memory", "全局内存"),
            size: MEMORY.into(),
            scope: language.pick("all threads, and the host", "所有线程和主机"),
            cycles: Some(measured("device memory")?),
            speed: format!("{:.1} TB/s", measured("read, 1024 MB over again")?),
        },
        Row {
            name: language.pick("Host memory", "主机内存"),
            size: language.pick("depends on the host", "由主机决定").into(),
            scope: language.pick("the host; copied over PCIe", "主机；经 PCIe 复制"),
            cycles: None,
            speed: format!("{host:.1} GB/s"),
        },
    ];
    for row in &mut rows {
        let parts = [cycles(row), Some(std::mem::take(&mut row.speed))];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        row.speed = parts.collect::<Vec<_>>().join(language.pick(", ", "，"));
    }
    Ok(rows)
}
