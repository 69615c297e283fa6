//! Figures of a GPU: the execution hierarchy, which is a grid's blocks on streaming multiprocessors (SMs), a block's warps
//! and a warp's lanes; and the memories, with their place in the GPU, their sizes and rates.

use anyhow::{Context as _, Result};
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::{Language, localize};

/// Number of blocks of the grid.
const BLOCKS: usize = 12;
/// Number of SMs drawn.
const SMS: usize = 4;
/// Warps per block of 256 threads.
const WARPS: usize = 8;
/// The block and the warp that are enlarged.
const BLOCK: usize = 1;
const WARP: usize = 2;

/// Distance from one row of the drawing to the next.
const ROW_GAP: f64 = 20.0;
const UNIT_HEIGHT: f64 = 22.0;

pub fn machine(language: Language) -> Result<String> {
    let device = DeviceSpec::h200();
    let title = language.pick(
        "The execution hierarchy: a grid’s blocks on SMs, a block’s warps, a warp’s threads",
        "执行层次：网格的线程块在 SM 上运行，线程块由线程束组成，线程束由线程组成",
    );
    let mut svg = Svg::new("machine", title);

    let text = localize!(
        language,
        "Grid: all blocks of a launch",
        "网格：一次启动的所有线程块"
    );
    let y = svg.paragraph(0.0, Class::Bold, &text) + 4.0;
    let width = WIDTH / BLOCKS as f64;
    svg.boxes([0.0, y], BLOCKS, [width, 4.0, UNIT_HEIGHT], block_colour);

    let text = localize!(
        language,
        "GPU: each block runs on one streaming multiprocessor (SM); an H200 has {} SMs",
        "GPU：每个线程块在一个流式多处理器（SM）上运行；H200 有 {} 个 SM";
        device.multiprocessors
    );
    let mut y = svg.paragraph(y + UNIT_HEIGHT + ROW_GAP, Class::Bold, &text) + 4.0;
    let (sm_width, sm_height) = (WIDTH / SMS as f64, UNIT_HEIGHT + 12.0);
    let slot_width = (sm_width - 16.0) / (BLOCKS / SMS) as f64;
    let mut enlarged = [0.0; 2];
    svg.boxes([0.0, y], SMS, [sm_width, 6.0, sm_height], |_| Class::Empty);
    for block in 0..BLOCKS {
        let (sm, slot) = (block % SMS, block / SMS);
        let x = sm_width * sm as f64 + 6.0 + slot_width * slot as f64;
        let width = slot_width - 4.0;
        svg.rect(x, y + 6.0, width, UNIT_HEIGHT, block_colour(block));
        if block == BLOCK {
            enlarged = [x, x + width];
        }
    }
    y += sm_height;

    let text = localize!(
        language,
        "Block: its warps run on the same SM, which holds up to {} blocks and {} warps at a time",
        "线程块：它的线程束都在同一个 SM 上运行；一个 SM 最多同时驻留 {} 个线程块、{} 个线程束";
        device.blocks_per_multiprocessor, device.threads_per_multiprocessor / device.warp_size
    );
    y = draw_zoom_lines(&mut svg, y - 6.0, enlarged);
    y = svg.paragraph(y, Class::Bold, &text) + 4.0;
    let width = WIDTH / WARPS as f64;
    svg.boxes([0.0, y], WARPS, [width, 4.0, UNIT_HEIGHT], |_| {
        block_colour(BLOCK)
    });
    let left = width * WARP as f64;
    y += UNIT_HEIGHT;

    let text = localize!(
        language,
        "Warp: {} threads that execute each instruction together",
        "线程束：{} 个线程，一起执行每条指令";
        device.warp_size
    );
    y = draw_zoom_lines(&mut svg, y, [left, left + width - 4.0]);
    y = svg.paragraph(y, Class::Bold, &text) + 4.0;
    let lanes = device.warp_size as usize;
    let width = WIDTH / lanes as f64;
    svg.boxes([0.0, y], lanes, [width, 2.0, UNIT_HEIGHT], |_| {
        block_colour(BLOCK)
    });
    svg.extend_to(y + UNIT_HEIGHT + LINE_SPACING / 2.0);
    Ok(svg.finish(title))
}

/// Returns the colour of a block: the colour of its SM.
fn block_colour(block: usize) -> Class {
    Class::COLOURS[block % SMS]
}

/// Draws two lines from the enlarged item to its enlargement, which is as wide as the page. Returns the y
/// coordinate of the enlargement.
fn draw_zoom_lines(svg: &mut Svg, y: f64, [left, right]: [f64; 2]) -> f64 {
    let enlargement_y = y + 1.6 * ROW_GAP;
    svg.line([left, y + 2.0], [0.0, enlargement_y]);
    svg.line([right, y + 2.0], [WIDTH - 4.0, enlargement_y]);
    enlargement_y + 2.0
}

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

/// Draws the memory hierarchy: inside a streaming multiprocessor (SM), on the GPU, and in the host.
pub fn hierarchy(language: Language) -> Result<String> {
    let device = DeviceSpec::h200();
    let title = language.pick(
        "The memory hierarchy: in a streaming multiprocessor (SM), on the GPU, in the host",
        "内存层次结构：流式多处理器（SM）内部、GPU 上、主机中",
    );
    let mut svg = Svg::new("hierarchy", title);
    let sm_gap = 30.0;
    let sm_width = (WIDTH - 2.0 * PADDING - sm_gap) / 2.0;
    svg.text(PADDING, 16.0, Class::Bold, "GPU");
    let top = LINE_SPACING + 4.0;
    let mut y = top;
    for (index, sm) in [(0, 0), (1, device.multiprocessors - 1)] {
        let name = format!("SM {sm}");
        let x = PADDING + f64::from(index) * (sm_width + sm_gap);
        let width = sm_width - 2.0 * PADDING;
        svg.text(x + PADDING, top + 16.0, Class::Bold, &name);
        y = top + LINE_SPACING + 4.0;
        let name = language.pick("registers", "寄存器");
        named_box(&mut svg, [x + PADDING, y, width], Class::C, name);
        y += BOX_HEIGHT + 5.0;
        let half = (width - 5.0) / 2.0;
        svg.rect(x + PADDING, y, half, 2.0 * BOX_HEIGHT + 5.0, Class::Empty);
        svg.rect(x + PADDING, y, BAR_WIDTH, 2.0 * BOX_HEIGHT + 5.0, Class::B);
        let words = language.pick(["constant", "cache"], ["常量", "缓存"]);
        for (line, word) in (0..).zip(words) {
            let y = y + 24.0 + f64::from(line) * LINE_SPACING;
            svg.text_centered(x + PADDING + half / 2.0, y, Class::Ink, word);
        }
        let right = x + PADDING + half + 5.0;
        let name = language.pick("shared", "共享内存");
        named_box(&mut svg, [right, y, half], Class::C, name);
        y += BOX_HEIGHT + 5.0;
        let name = language.pick("L1 cache", "L1 缓存");
        named_box(&mut svg, [right, y, half], Class::B, name);
        y += BOX_HEIGHT;
        svg.rect(x, top, sm_width, y + PADDING - top, Class::Empty);
        let middle = x + sm_width / 2.0;
        let bottom = y + 2.0 * PADDING + 4.0;
        svg.line([middle, y + PADDING], [middle, bottom]);
    }
    svg.text_centered(WIDTH / 2.0, (top + y) / 2.0, Class::Bold, "…");
    y += 2.0 * PADDING + 5.0;
    let inner_width = WIDTH - 2.0 * PADDING;
    let name = language.pick("L2 cache, shared by all SMs", "L2 缓存，所有 SM 共用");
    named_box(&mut svg, [PADDING, y, inner_width], Class::B, name);
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
    let name = language.pick("host memory", "主机内存");
    named_box(&mut svg, [PADDING, y, inner_width], Class::C, name);
    let [memory, cache] = language.pick(
        [
            "memory, managed by the program",
            "cache, managed by the hardware",
        ],
        ["内存，由程序管理", "缓存，由硬件管理"],
    );
    let y = svg.legend(
        y + BOX_HEIGHT + 6.0,
        &[(Class::C, memory), (Class::B, cache)],
    );
    let note = language.pick(
        "The farther down, the larger the memory and the longer the latency of a load.",
        "越往下，容量越大，加载的延迟也越长。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(note))
}

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
    let device = DeviceSpec::h200();
    let rows = rows(&device, language)?;
    // A logarithmic axis from 10 to 1000 cycles.
    let x = |cycles: f64| (cycles.log10() - 1.0) / 2.0 * (WIDTH - 1.0);
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
            svg.rect(0.0, y, x(cycles), 8.0, Class::A);
            y += 8.0;
        }
        y += 10.0;
    }
    svg.line([0.0, y], [WIDTH, y]);
    let labels = [10, 30, 100, 300, 1000];
    for (index, cycles) in labels.into_iter().enumerate() {
        let (x, text) = (x(f64::from(cycles)), cycles.to_string());
        svg.line([x, y], [x, y + 4.0]);
        match index {
            0 => svg.text(x, y + 17.0, Class::Faint, &text),
            4 => svg.text_right(x, y + 17.0, Class::Faint, &text),
            _ => svg.text_centered(x, y + 17.0, Class::Faint, &text),
        }
    }
    let name = language.pick(
        "latency of a load on an idle GPU, cycles, logarithmic scale",
        "GPU 空闲时一次加载的延迟（周期数），对数坐标",
    );
    y = svg.legend(y + 24.0, &[(Class::A, name)]);
    let note = localize!(
        language,
        "An SM’s shared memory is a part of its L1 cache. The hardware reserves {} KB of it per block, which is why a \
         single block cannot use all of it. Times, rates and the size of the constant cache were measured on an NVIDIA \
         H200, driver 580.159.04, 2026-11-21 (docs/results/rates-h200.txt, for copies h200.md); the other sizes are \
         those that the driver and NVIDIA’s documentation state.",
        "SM 的共享内存是其 L1 缓存的一部分。硬件为每个线程块保留其中的 {} KB，因此单个线程块无法用完全部共享内存。\
         时间、速率和常量缓存的大小是在 NVIDIA H200 上测得的，驱动 580.159.04，2026-11-21\
         （docs/results/rates-h200.txt，复制见 h200.md）；其他大小来自驱动和 NVIDIA 的文档。";
        device.shared_reserved_per_block >> 10
    );
    y = svg.paragraph(y, Class::Faint, &note);
    svg.extend_to(y);
    let describe = |row: &Row| format!("{}: {}, {}, {}", row.name, row.scope, row.size, row.speed);
    let descriptions: Vec<String> = rows.iter().map(describe).collect();
    Ok(svg.finish(&descriptions.join("; ")))
}

/// Rates measured on an H200.
const MEASURED: &str = include_str!("../../../../../../docs/results/rates-h200.txt");

/// Size of the H200's device memory according to NVIDIA's data sheet.
const MEMORY: &str = "141 GB";

/// Returns the measured value of that name. Fails if the file has no such value.
fn measured(name: &str) -> Result<f64> {
    let mut lines = MEASURED.lines();
    let line = lines.find_map(|line| line.trim().strip_prefix(name));
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
    let shared = [
        device.shared_per_multiprocessor,
        device.shared_per_block_optin,
    ];
    let [shared_per_sm, shared_per_block] = shared.map(|bytes| kib(bytes.into()));
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
            size: localize!(
                language,
                "{shared_per_sm} per SM, {shared_per_block} per block",
                "每个 SM {shared_per_sm}，每个线程块 {shared_per_block}"
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
