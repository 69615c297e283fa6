//! The memories at a glance: who sees each, how large it is, and how long a load takes.

use anyhow::Result;
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
    class: Class,
}

pub fn memories(language: Language) -> Result<String> {
    let title = language.of(
        "The memories of an NVIDIA H200: who sees each, its size, and how long a load from it takes",
        "NVIDIA H200 的各种内存：谁能访问、多大、加载一次要多久",
    );
    let rows = rows(&DeviceSpec::h200(), language);
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
            svg.rect(0.0, y, (WIDTH - 1.0) * cycles / most, 8.0, row.class);
            y += 8.0;
        }
        y += 10.0;
    }
    let note = language.of(
        "Bars: cycles from a load to its result, nothing else going on. Latencies, rates \
         and the size of the constant cache were measured on an NVIDIA H200, driver \
         580.159.04, 2026-11-21 (scripts/rates.cu); the other sizes are what the driver and NVIDIA’s \
         documentation say.",
        "条形：没有其他负载时，从加载到得到结果的周期数。延迟、速度和常量缓存的大小是在 \
         NVIDIA H200 上测得的，驱动 580.159.04，2026-11-21（scripts/rates.cu）；其他大小来自驱动和 NVIDIA \
         的文档。",
    );
    y = svg.paragraph(y, Class::Faint, note);
    svg.reach(y);
    let said: Vec<String> = rows
        .iter()
        .map(|row| format!("{}: {}, {}, {}", row.name, row.who, row.size, row.speed))
        .collect();
    Ok(svg.finish(&said.join("; ")))
}

fn rows(device: &DeviceSpec, language: Language) -> Vec<Row> {
    let (rates, latency) = (&device.rates, &device.rates.latency);
    let kib = |bytes: u64| format!("{} KB", bytes >> 10);
    let cycles =
        |cycles: f64| language.of(format!("{cycles:.0} cycles"), format!("{cycles:.0} 周期"));
    let of_multiprocessor = |size: String| {
        language.of(
            format!("{size} a multiprocessor"),
            format!("每个 SM {size}"),
        )
    };
    let clock = f64::from(device.clock_khz) * 1e3;
    let per_second = |bytes: f64| format!("{:.1} TB/s", bytes / 1e12);
    let within = |cycles: String, speed: String| {
        language.of(format!("{cycles}, {speed}"), format!("{cycles}，{speed}"))
    };
    vec![
        Row {
            name: language.of("Registers", "寄存器"),
            size: of_multiprocessor(kib(4 * u64::from(device.registers_per_multiprocessor))),
            who: language.of("one thread", "一个线程"),
            cycles: None,
            speed: language
                .of("operands of instructions", "指令的操作数")
                .into(),
            class: Class::A,
        },
        Row {
            name: language.of("Shared memory", "共享内存"),
            size: {
                let most = kib(device.shared_per_multiprocessor.into());
                language.of(format!("up to {most} of L1"), format!("L1 中的最多 {most}"))
            },
            who: language.of("the threads of a block", "同一个线程块的线程"),
            cycles: Some(latency.shared),
            speed: cycles(latency.shared),
            class: Class::A,
        },
        Row {
            name: language.of("Constant cache", "常量缓存"),
            size: of_multiprocessor(kib(rates.constant_cache_bytes.into())),
            who: language.of("all threads, read only", "所有线程，只读"),
            cycles: Some(latency.constant),
            speed: cycles(latency.constant),
            class: Class::C,
        },
        Row {
            name: language.of("L1 cache", "L1 缓存"),
            size: of_multiprocessor(kib(rates.l1_bytes.into())),
            who: language.of("in front of global memory", "位于全局内存之前"),
            cycles: Some(latency.l1),
            speed: cycles(latency.l1),
            class: Class::A,
        },
        Row {
            name: language.of("L2 cache", "L2 缓存"),
            size: format!("{} MB", device.l2_bytes >> 20),
            who: language.of("all multiprocessors", "所有 SM"),
            cycles: Some(latency.l2),
            speed: within(
                cycles(latency.l2),
                per_second(rates.l2_bytes_per_cycle * clock),
            ),
            class: Class::A,
        },
        Row {
            name: language.of("Global memory", "全局内存"),
            size: format!("{:.0} GB", device.memory_bytes as f64 / f64::from(1 << 30)),
            who: language.of("all threads, and the host", "所有线程和主机"),
            cycles: Some(latency.memory),
            speed: within(
                cycles(latency.memory),
                per_second(rates.memory_bandwidth_reached),
            ),
            class: Class::A,
        },
        Row {
            name: language.of("Host memory", "主机内存"),
            size: language.of("the machine’s", "由主机而定").into(),
            who: language.of("the host; copied over PCIe", "主机，经 PCIe 拷贝"),
            cycles: None,
            speed: format!("{:.1} GB/s", device.page_locked_copy.bandwidth / 1e9),
            class: Class::A,
        },
    ]
}
