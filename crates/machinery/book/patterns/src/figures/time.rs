//! Figures of overlap on the ladders: copies with kernels, loads with computation, and blocks on SMs.

use anyhow::Result;
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, Svg};
use crate::language::Language;

/// Height of a bar.
const BAR_HEIGHT: f64 = 14.0;
/// x coordinate at which the bars start, right of their names.
const BARS_LEFT: f64 = 84.0;

/// A bar: start and length in units of time, and colour.
type Bar = (f64, f64, Class);

/// Draws named rows of bars; `unit` is the width of a unit of time. Returns the y coordinate below them.
fn rows(svg: &mut Svg, y: f64, unit: f64, rows: &[(&str, Vec<Bar>)]) -> f64 {
    let mut y = y;
    for (name, bars) in rows {
        svg.text_right(BARS_LEFT - 8.0, y + 11.5, Class::Faint, name);
        for &(start, length, class) in bars {
            let (x, width) = (BARS_LEFT + start * unit, length * unit - 1.5);
            svg.rect(x, y, width, BAR_HEIGHT, class);
        }
        y += BAR_HEIGHT + 3.0;
    }
    y
}

/// Draws the copies and the kernel of a vector addition, which copies two vectors to the device and one back.
pub fn link(language: Language) -> Result<String> {
    let title = language.pick(
        "Timeline of a vector addition: pageable, pinned and overlapped copies",
        "向量加法的时间线：可分页内存、锁页内存、分块重叠的复制",
    );
    let mut svg = Svg::new("ladder-link", title);
    // A copy of a vector takes as long as the copies of 8 chunks; the kernel takes much less.
    let (copy, kernel, chunks) = (8.0, 0.6, 8);
    // The CPU takes longer to copy a piece between host buffers than the link takes to transfer it.
    let (pieces, host_copy) = (4, 3.0);
    let piece = copy / f64::from(pieces);
    let end = f64::from(3 * pieces) * host_copy + 2.0 * piece + kernel;
    let unit = (WIDTH - BARS_LEFT) / (end + 0.5);
    let names = language.pick(
        ["to device", "kernel", "to host", "CPU"],
        ["到设备", "核函数", "到主机", "CPU"],
    );
    let y = svg.paragraph(0.0, Class::Bold, "pageable") + 2.0;
    let mut bars = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..2 * pieces {
        let start = host_copy * f64::from(number);
        bars[0].push((start, host_copy, Class::B));
        bars[1].push((start + host_copy, piece, Class::A));
    }
    let sums_ready = f64::from(2 * pieces) * host_copy + piece + kernel;
    for number in 0..pieces {
        let start = sums_ready + host_copy * f64::from(number);
        bars[2].push((start, piece, Class::C));
        bars[0].push((start + piece, host_copy, Class::B));
    }
    let [cpu, to_device, to_host] = bars;
    let named_rows = [
        (names[3], cpu),
        (names[0], to_device),
        (names[1], vec![(sums_ready - kernel, kernel, Class::D)]),
        (names[2], to_host),
    ];
    let y = rows(&mut svg, y, unit, &named_rows);
    let y = svg.paragraph(y + 8.0, Class::Bold, "pinned") + 2.0;
    let copies = vec![(0.0, copy, Class::A), (copy, copy, Class::A)];
    let named_rows = [
        (names[0], copies),
        (names[1], vec![(2.0 * copy, kernel, Class::D)]),
        (names[2], vec![(2.0 * copy + kernel, copy, Class::C)]),
    ];
    let y = rows(&mut svg, y, unit, &named_rows);
    let y = svg.paragraph(y + 8.0, Class::Bold, "overlapped") + 2.0;
    let chunk = copy / f64::from(chunks);
    let mut bars = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..chunks {
        let to_device = 2.0 * chunk * f64::from(number);
        bars[0].push((to_device, 2.0 * chunk, Class::A));
        let ready = to_device + 2.0 * chunk;
        bars[1].push((ready, kernel / 2.0, Class::D));
        bars[2].push((ready + kernel / 2.0, chunk, Class::C));
    }
    let [to_device, kernels, to_host] = bars;
    let named_rows = [
        (names[0], to_device),
        (names[1], kernels),
        (names[2], to_host),
    ];
    let y = rows(&mut svg, y, unit, &named_rows);
    let note = language.pick(
        "Time runs to the right. Pageable: the CPU copies each piece between the program’s memory and the \
         driver’s staging buffer, and the link is idle in the meantime. Overlapped: while the inputs of a chunk are \
         copied to the device, the sums of the previous chunk are copied to the host. Lengths are schematic, not \
         measured.",
        "时间向右。pageable：CPU 在程序的内存与驱动的暂存缓冲区之间逐段复制，其间总线空闲。\
         overlapped：一块的输入复制到设备的同时，前一块的和复制回主机。长度为示意，并非测量值。",
    );
    svg.paragraph(y + 6.0, Class::Faint, note);
    Ok(svg.finish(note))
}

/// Draws when a block loads tiles and multiplies them, with one, two and three buffers.
pub fn buffers(language: Language) -> Result<String> {
    let title = language.pick(
        "Timeline of a block: single buffering, double buffering, and prefetching two tiles ahead",
        "线程块的时间线：单缓冲、双缓冲、提前预取两个分块",
    );
    let mut svg = Svg::new("ladder-buffers", title);
    let (load_time, multiply_time, tiles) = (5.0, 3.0, 4);
    let unit = (WIDTH - BARS_LEFT) / (f64::from(tiles) * (load_time + multiply_time) + 0.5);
    let names = language.pick(["in flight", "multiply"], ["正在加载", "相乘"]);
    let mut y = 0.0;
    let mut totals = Vec::new();
    for (name, prefetch) in [("warp tiles", 0), ("double buffer", 1), ("async", 2)] {
        y = svg.paragraph(y, Class::Bold, name) + 2.0;
        // The times at which each tile is loaded and multiplied.
        let mut buffer_bars = vec![Vec::new(); usize::max(1, prefetch)];
        let (mut multiplications, mut ends): (Vec<Bar>, Vec<f64>) = (Vec::new(), Vec::new());
        for tile in 0..tiles as usize {
            // The load of a tile is issued when the multiplication of the tile `prefetch` before it starts.
            let issued = match prefetch {
                0 => ends.last().copied().unwrap_or(0.0),
                _ if tile < prefetch => 0.0,
                _ => multiplications[tile - prefetch].0,
            };
            let arrived = issued + load_time;
            let start = ends.last().map_or(arrived, |ends| ends.max(arrived));
            let colour = Class::COLOURS[tile];
            buffer_bars[tile % usize::max(1, prefetch)].push((issued, load_time, colour));
            multiplications.push((start, multiply_time, colour));
            ends.push(start + multiply_time);
        }
        let buffers = buffer_bars.into_iter().map(|bars| (names[0], bars));
        let named_rows = buffers.chain([(names[1], multiplications)]);
        let named_rows: Vec<_> = named_rows.collect();
        y = rows(&mut svg, y, unit, &named_rows) + 8.0;
        totals.push(ends.last().copied().unwrap_or(0.0));
    }
    debug_assert!(
        totals.windows(2).all(|pair| pair[1] < pair[0]),
        "each is faster"
    );
    let note = language.pick(
        "Time runs to the right. Each pair of tiles has a colour, from the issue of its loads to the end of its multiplication. \
         With a single buffer, no thread multiplies while a tile is in flight. Lengths are schematic, not measured.",
        "时间向右。每对分块一种颜色，从发出加载到相乘结束。单缓冲时，分块尚在加载期间没有线程做乘法。\
         长度为示意，并非测量值。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(note))
}

/// Draws the waves of blocks that compute the tiles of a 4800×3200 matrix on an H200, which holds two of these
/// blocks per SM, and the same work with Stream-K.
pub fn stream_k(language: Language) -> Result<String> {
    let title = language.pick(
        "950 tiles on 264 block slots: one tile per block, and Stream-K",
        "264 个线程块槽位上的 950 个分块：每个线程块一个分块，以及 Stream-K",
    );
    const TILES: u32 = 4800_u32.div_ceil(128) * 3200_u32.div_ceil(128);
    let slots = 2 * DeviceSpec::h200().multiprocessors;
    let mut svg = Svg::new("ladder-shares", title);
    let (waves, tiles_per_slot) = (TILES.div_ceil(slots), f64::from(TILES) / f64::from(slots));
    let unit = (WIDTH - 2.0) / f64::from(waves);
    let chart_height = 66.0;
    let text = language.pick(
        format!("One tile per block: {TILES} blocks in {slots} slots, {waves} waves"),
        format!("每个线程块一个分块：{TILES} 个线程块，{slots} 个槽位，{waves} 轮（wave）"),
    );
    let mut y = svg.paragraph(0.0, Class::Bold, &text) + 2.0;
    for wave in 0..waves {
        let x = f64::from(wave) * unit;
        let used_share = f64::from(TILES - wave * slots).min(f64::from(slots)) / f64::from(slots);
        svg.rect(x, y, unit - 2.0, chart_height, Class::Waste);
        let colour = Class::COLOURS[wave as usize % 4];
        svg.rect(x, y, unit - 2.0, chart_height * used_share, colour);
    }
    let stream_k = language.pick(
        format!("Stream-K: {slots} blocks, {tiles_per_slot:.1} tiles each"),
        format!("Stream-K：{slots} 个线程块，每块 {tiles_per_slot:.1} 个分块"),
    );
    y = svg.paragraph(y + chart_height + 8.0, Class::Bold, &stream_k) + 2.0;
    svg.rect(0.0, y, tiles_per_slot * unit - 2.0, chart_height, Class::A);
    let idle = language.pick(
        "slots that are idle in the last wave (tail effect)",
        "最后一轮中空闲的槽位（尾部效应）",
    );
    y = svg.legend(y + chart_height + 6.0, &[(Class::Waste, idle)]);
    let note = language.pick(
        "Time runs to the right, slots downwards.",
        "时间向右，槽位向下。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&format!("{text}; {stream_k}")))
}
