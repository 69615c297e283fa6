//! Figures of constant memory: add-constant's four access patterns, and the ray tracer's spheres.

use anyhow::{Context as _, Result};
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::svg::{Class, Svg};
use crate::draw::{LEFT, ROW, WIDTH, colour};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const ADD_CONSTANT: &str = include_str!(env!("ADD_CONSTANT_PTX"));
const RAYTRACE_CONST: &str = include_str!(env!("RAYTRACE_CONST_PTX"));

/// Bytes of constant memory.
const CONSTANT_BYTES: u64 = 64 << 10;
/// Bytes of the part of constant memory that is enlarged if a load touches no others.
const ZOOM_BYTES: u64 = 128;
/// Height of a strip of memory.
const STRIP: f64 = 14.0;

/// Draws a load by the second warp of the second block of add-constant's kernel, for each access pattern.
pub fn patterns(language: Language) -> Result<String> {
    let title = language.pick(
        "The constant memory requests of a warp’s load, for four access patterns",
        "四种访问模式下，线程束的一次加载向常量内存发出的请求",
    );
    let mut svg = Svg::new("constant-patterns", title);
    let lanes = language.pick("lanes", "通道");
    let groups = [0, 8, 16, 24].map(|first| format!("{lanes} {first}–{}", first + 7));
    let mut entries: Vec<(Class, &str)> = (0..4)
        .map(|group| (colour(8 * group), groups[group].as_str()))
        .collect();
    entries.push((Class::Faint, language.pick("all lanes", "所有通道")));
    let mut y = svg.legend(0.0, &entries) + 8.0;
    let mut results = Vec::new();
    let names = language.pick(
        [
            "One access per block",
            "One access per warp",
            "One access per thread",
            "Pseudo-random",
        ],
        [
            "每个线程块一个地址",
            "每个线程束一个地址",
            "每个线程一个地址",
            "伪随机",
        ],
    );
    for (number, name) in (0..).zip(names) {
        let mut machine = load(ADD_CONSTANT)?;
        let base = machine.variable("const_values").context("const_values")?;
        let threads = 64;
        let mut buffer = || machine.allocate(8 * threads);
        let (sums, inputs) = (buffer()?, buffer()?);
        let params = params![sums, inputs, 2 * threads as u32, number,];
        let (kernel, block) = ("add_constant_constant_memory", [threads as u32, 1]);
        let launch = Launch::new(kernel, [2, 1], block, params);
        let trace = run(&machine, &launch)?;
        let mut loads = trace.loads(Memory::Constant);
        let load = loads.find(|load| (load.block, load.warp) == (1, 1));
        let load = load.context("the warp reads a value")?;
        let offsets: Vec<(usize, u64)> = load.lanes().map(|(lane, at)| (lane, at - base)).collect();
        let bytes = || offsets.iter().map(|&(_, offset)| offset);
        let (first, last) = (bytes().min().unwrap_or(0), bytes().max().unwrap_or(0));
        let result = match load.units {
            1 => localize!(
                language,
                "{name}: 1 request, byte {first}",
                "{name}：1 次请求，字节 {first}"
            ),
            more => localize!(
                language,
                "{name}: {more} requests, bytes {first} to {}",
                "{name}：{more} 次请求，字节 {first} 到 {}";
                last + 3
            ),
        };
        y = svg.paragraph(y, Class::Bold, &result) + 3.0;
        let mut strip = |y: f64, start: u64, bytes: u64| {
            svg.rect(0.0, y, WIDTH, STRIP, Class::Empty);
            let scale = WIDTH / bytes as f64;
            for &(lane, offset) in offsets.iter().take(load.units as usize) {
                let class = if load.units == 1 {
                    Class::Faint
                } else {
                    colour(lane)
                };
                let width = f64::max(4.0 * scale - 1.0, 2.0);
                let tooltip = localize!(
                    language,
                    "lane {lane}: byte {offset}",
                    "通道 {lane}：字节 {offset}"
                );
                let x = (offset - start) as f64 * scale;
                svg.rect_with_tooltip([x, y, width, STRIP], class, &tooltip);
            }
        };
        strip(y, 0, CONSTANT_BYTES);
        if load.units > 1 && last - first < ZOOM_BYTES {
            strip(y + 2.0 * STRIP, first, ZOOM_BYTES);
            let scale = WIDTH / CONSTANT_BYTES as f64;
            let [left, right] = [first, first + ZOOM_BYTES].map(|offset| offset as f64 * scale);
            svg.line([left, y + STRIP], [0.0, y + 2.0 * STRIP]);
            svg.line([right, y + STRIP], [WIDTH, y + 2.0 * STRIP]);
            y += 2.0 * STRIP;
        }
        y += STRIP + 10.0;
        results.push(result);
    }
    let note = language.pick(
        "Each strip is the 64 KB of constant memory, and each mark is an address that the warp requests. The low strip \
         enlarges 128 bytes. The requests of a load are serialized.",
        "每个长条是 64 KB 常量内存，每个标记是线程束请求的一个地址。下方的长条放大了其中的 128 字节。一次加载的各次请求串行执行。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&results.join(language.pick("; ", "；"))))
}

/// Names of the floats of a sphere.
const FIELDS: [&str; 7] = ["r", "b", "g", "R", "x", "y", "z"];
/// Width of a float.
const FIELD: f64 = 12.0;
/// Number of spheres.
const SPHERES: usize = 4;

/// Draws the loads from constant memory by a warp of the ray tracer, in program order.
pub fn spheres(language: Language) -> Result<String> {
    let title = language.pick(
        "The fields of the spheres in constant memory that a warp reads, load by load",
        "线程束的每次加载从常量内存读取球体的哪些字段",
    );
    let mut machine = load(RAYTRACE_CONST)?;
    let base = machine.variable("constant_spheres");
    let base = base.context("constant_spheres")?;
    let image = machine.allocate(4 * 16 * 16)?;
    let params = params![SPHERES as u32, image, 16u32, 16u32,];
    let launch = Launch::new("raytrace_constant", [1, 1], [16, 16], params);
    let trace = run(&machine, &launch)?;
    let loads = trace.loads(Memory::Constant);
    let loads: Vec<_> = loads.filter(|load| load.warp == 0).collect();

    let mut svg = Svg::new("spheres", title);
    let x = |field: usize| {
        let gap = (ROW - (SPHERES * FIELDS.len()) as f64 * FIELD) / (SPHERES - 1) as f64;
        LEFT + field as f64 * FIELD + (field / FIELDS.len()) as f64 * gap
    };
    for sphere in 0..SPHERES {
        let first = sphere * FIELDS.len();
        let name = language.pick(format!("sphere {sphere}"), format!("球体 {sphere}"));
        let middle = x(first) + FIELDS.len() as f64 * FIELD / 2.0;
        svg.text_centered(middle, 13.0, Class::Ink, &name);
        for (field, name) in FIELDS.iter().enumerate() {
            svg.text_centered(x(first + field) + FIELD / 2.0, 31.0, Class::Faint, name);
        }
    }
    let mut y = 37.0;
    let name = language.pick("load", "读取");
    svg.text_right(LEFT - 6.0, 31.0, Class::Faint, name);
    for (number, load) in loads.iter().enumerate() {
        let number = number + 1;
        svg.text_right(LEFT - 6.0, y + 11.0, Class::Faint, &number.to_string());
        let field = ((load.addresses[0] - base) / 4) as usize;
        for other in 0..SPHERES * FIELDS.len() {
            svg.rect(x(other), y, FIELD - 1.0, 12.0, Class::Empty);
        }
        for word in 0..(load.bytes / 4) as usize {
            let lanes = load.mask.count_ones();
            let tooltip = language.pick(
                format!("load {number}: {lanes} lanes, {} address", load.units),
                format!("第 {number} 次读取：{lanes} 条通道，{} 个地址", load.units),
            );
            let bounds = [x(field + word), y, FIELD - 1.0, 12.0];
            svg.rect_with_tooltip(bounds, Class::A, &tooltip);
        }
        y += 15.0;
    }
    let lanes: u32 = loads.iter().map(|load| load.mask.count_ones()).sum();
    let requests: u32 = loads.iter().map(|load| load.units).sum();
    let count = loads.len();
    let result = language.pick(
        format!("{count} loads by 32 lanes, {lanes} reads in total: {requests} requests"),
        format!("{count} 次加载，每次 32 条通道，共 {lanes} 次读取：{requests} 次请求"),
    );
    y = svg.paragraph(y + 4.0, Class::Bold, &result);
    let note = language.pick(
        "All lanes read the same address at the same time. r b g: colour, R: radius, x y z: centre. \
         Here no ray hits a sphere, so no lane reads its colour.",
        "所有通道在同一时刻读同一个地址。r b g：颜色，R：半径，x y z：球心。这里没有光线击中球体，因此没有\
         通道读取颜色。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&result))
}
