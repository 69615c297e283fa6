//! What happens at the same time, on three ladders: copies and kernels, loads and products, blocks.

use anyhow::Result;
use cuda_sim::device::DeviceSpec;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, Svg};
use crate::language::Language;

/// A bar's height.
const HIGH: f64 = 14.0;
/// Where bars begin, right of their names.
const FROM: f64 = 84.0;

/// A bar: where it begins and how long it is, in units of the drawing's, and what it is.
type Bar = (f64, f64, Class);

/// Draws named rows of bars, a unit so wide.
fn rows(svg: &mut Svg, y: f64, unit: f64, rows: &[(&str, Vec<Bar>)]) -> f64 {
    let mut y = y;
    for (name, bars) in rows {
        svg.text_right(FROM - 8.0, y + 11.5, Class::Faint, name);
        for &(from, long, class) in bars {
            svg.rect(FROM + from * unit, y, long * unit - 1.5, HIGH, class);
        }
        y += HIGH + 3.0;
    }
    y
}

/// A whole sum of vectors: two go there, one comes back.
pub fn link(language: Language) -> Result<String> {
    let title = language.of(
        "When a whole sum copies and computes: by way of the driver’s own memory, straight, and in chunks that overlap",
        "一次完整的求和何时复制、何时计算：经过驱动自己的内存，直接复制，或分块重叠",
    );
    let mut svg = Svg::new("ladder-link", title);
    // A vector's copy takes as long as 8 chunks'; the kernel hardly anything beside it.
    let (copy, kernel, chunks) = (8.0, 0.6, 8);
    // The processor takes longer to copy a piece than the link takes to carry it.
    let (pieces, by_hand) = (4, 3.0);
    let piece = copy / f64::from(pieces);
    let end = f64::from(3 * pieces) * by_hand + 2.0 * piece + kernel;
    let unit = (WIDTH - FROM) / (end + 0.5);
    let names = language.of(
        ["there", "kernel", "back", "processor"],
        ["传到设备", "核函数", "传回主机", "处理器"],
    );
    let y = svg.paragraph(0.0, Class::Bold, "pageable") + 2.0;
    let mut bars = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..2 * pieces {
        let from = by_hand * f64::from(number);
        bars[0].push((from, by_hand, Class::B));
        bars[1].push((from + by_hand, piece, Class::A));
    }
    let added = f64::from(2 * pieces) * by_hand + piece + kernel;
    for number in 0..pieces {
        let from = added + by_hand * f64::from(number);
        bars[2].push((from, piece, Class::C));
        bars[0].push((from + piece, by_hand, Class::B));
    }
    let [processor, there, back] = bars;
    let shown = [
        (names[3], processor),
        (names[0], there),
        (names[1], vec![(added - kernel, kernel, Class::D)]),
        (names[2], back),
    ];
    let y = rows(&mut svg, y, unit, &shown);
    let y = svg.paragraph(y + 8.0, Class::Bold, "pinned") + 2.0;
    let y = rows(
        &mut svg,
        y,
        unit,
        &[
            (
                names[0],
                vec![(0.0, copy, Class::A), (copy, copy, Class::A)],
            ),
            (names[1], vec![(2.0 * copy, kernel, Class::D)]),
            (names[2], vec![(2.0 * copy + kernel, copy, Class::C)]),
        ],
    );
    let y = svg.paragraph(y + 8.0, Class::Bold, "overlapped") + 2.0;
    let chunk = copy / f64::from(chunks);
    let mut bars = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..chunks {
        let there = 2.0 * chunk * f64::from(number);
        bars[0].push((there, 2.0 * chunk, Class::A));
        let ready = there + 2.0 * chunk;
        bars[1].push((ready, kernel / 2.0, Class::D));
        bars[2].push((ready + kernel / 2.0, chunk, Class::C));
    }
    let [there, kernels, back] = bars;
    let shown = [(names[0], there), (names[1], kernels), (names[2], back)];
    let y = rows(&mut svg, y, unit, &shown);
    let note = language.of(
        "Time runs to the right. Pageable: the processor copies each piece between the program’s memory and the \
         driver’s, and the link waits for it. Overlapped: while a chunk’s inputs go there, the sums of the chunk \
         before come back. Lengths are drawn, not measured.",
        "时间向右。pageable：每一段都要由处理器在程序的内存与驱动的内存之间复制，总线在等它。\
         overlapped：一块的输入传过去时，前一块的和正在传回来。长度只是示意，不是测量值。",
    );
    svg.paragraph(y + 6.0, Class::Faint, note);
    Ok(svg.finish(note))
}

/// A block that fetches tiles and multiplies them, with one buffer, two, and three.
pub fn buffers(language: Language) -> Result<String> {
    let title = language.of(
        "When a block fetches tiles and when it multiplies: with one buffer, with two, and two tiles ahead",
        "线程块何时取分块、何时相乘：一个缓冲区、两个缓冲区、提前两个分块",
    );
    let mut svg = Svg::new("ladder-buffers", title);
    let (fetch, multiply, tiles) = (5.0, 3.0, 4);
    let unit = (WIDTH - FROM) / (f64::from(tiles) * (fetch + multiply) + 0.5);
    let names = language.of(["in flight", "multiply"], ["正在取", "相乘"]);
    let mut y = 0.0;
    let mut ends = Vec::new();
    for (name, ahead) in [("warp tiles", 0), ("double buffer", 1), ("async", 2)] {
        y = svg.paragraph(y, Class::Bold, name) + 2.0;
        // When each tile is asked for, has arrived, and has been used.
        let mut lanes = vec![Vec::new(); usize::max(1, ahead)];
        let (mut products, mut done): (Vec<Bar>, Vec<f64>) = (Vec::new(), Vec::new());
        for tile in 0..tiles as usize {
            // A tile is asked for when the one `ahead` before it begins to be multiplied.
            let asked = match ahead {
                0 => done.last().copied().unwrap_or(0.0),
                _ if tile < ahead => 0.0,
                _ => products[tile - ahead].0,
            };
            let arrived = asked + fetch;
            let begins = done.last().map_or(arrived, |done| done.max(arrived));
            lanes[tile % usize::max(1, ahead)].push((asked, fetch, Class::COLOURS[tile]));
            products.push((begins, multiply, Class::COLOURS[tile]));
            done.push(begins + multiply);
        }
        let mut shown: Vec<(&str, Vec<Bar>)> =
            lanes.into_iter().map(|bars| (names[0], bars)).collect();
        shown.push((names[1], products));
        y = rows(&mut svg, y, unit, &shown) + 8.0;
        ends.push(done.last().copied().unwrap_or(0.0));
    }
    debug_assert!(
        ends.windows(2).all(|pair| pair[1] < pair[0]),
        "each is faster"
    );
    let note = language.of(
        "Time runs to the right; a colour is a pair of tiles, from when they are asked for to when they are used. \
         With one buffer nobody multiplies while a tile is in flight. Lengths are drawn, not measured.",
        "时间向右；一种颜色是一对分块，从发出请求到用完。只有一个缓冲区时，分块还在路上就没有人做乘法。\
         长度只是示意，不是测量值。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(note))
}

/// Tiles of C of 4800×3200 elements, and the places for blocks on an H200: two a multiprocessor.
pub fn shares(language: Language) -> Result<String> {
    let title = language.of(
        "950 tiles in 264 places: a tile a block, and the same work in equal shares",
        "950 个分块分给 264 个位置：一块一个分块，或均分全部工作",
    );
    const TILES: u32 = 4800_u32.div_ceil(128) * 3200_u32.div_ceil(128);
    let places = 2 * DeviceSpec::h200().multiprocessors;
    let mut svg = Svg::new("ladder-shares", title);
    let (rounds, full) = (TILES.div_ceil(places), f64::from(TILES) / f64::from(places));
    let unit = (WIDTH - 2.0) / f64::from(rounds);
    let high = 66.0;
    let text = language.of(
        format!("A tile a block: {TILES} blocks in {places} places, {rounds} rounds"),
        format!("一块一个分块：{TILES} 个线程块，{places} 个位置，{rounds} 轮"),
    );
    let mut y = svg.paragraph(0.0, Class::Bold, &text) + 2.0;
    for round in 0..rounds {
        let x = f64::from(round) * unit;
        let there = f64::from(TILES - round * places).min(f64::from(places)) / f64::from(places);
        svg.rect(x, y, unit - 2.0, high, Class::Waste);
        svg.rect(
            x,
            y,
            unit - 2.0,
            high * there,
            Class::COLOURS[round as usize % 4],
        );
    }
    let shares = language.of(
        format!("Equal shares: {places} blocks, {full:.1} tiles each"),
        format!("均分：{places} 个线程块，每块 {full:.1} 个分块"),
    );
    y = svg.paragraph(y + high + 8.0, Class::Bold, &shares) + 2.0;
    svg.rect(0.0, y, full * unit - 2.0, high, Class::A);
    let note = language.of(
        "Time runs to the right, places downwards. Grey: places that wait for the last round to end.",
        "时间向右，位置向下。灰色：等待最后一轮结束的位置。",
    );
    svg.paragraph(y + high + 6.0, Class::Faint, note);
    Ok(svg.finish(&format!("{text}; {shares}")))
}
