//! Constant memory: add-constant's four patterns, and the ray tracer's spheres.

use anyhow::{Context as _, Result};
use cuda_sim::isa::Memory;

use crate::draw::svg::{Class, Svg};
use crate::draw::{LEFT, ROW, requests, warp};
use crate::language::Language;
use crate::machine::{Job, Machine, Param, params};

const ADD_CONSTANT: &str = include_str!(env!("ADD_CONSTANT_PTX"));
const RAYTRACE_CONST: &str = include_str!(env!("RAYTRACE_CONST_PTX"));

/// The second warp of the second block of add-constant's kernel, in each of its patterns.
pub fn patterns(language: Language) -> Result<String> {
    let title = language.of(
        "The requests to constant memory of a warp's load, in four access patterns",
        "四种访问模式下，线程束的一次读取对常量内存发出的请求",
    );
    let mut svg = Svg::new("constant-patterns", title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
    let mut results = Vec::new();
    let names = language.of(
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
        let mut machine = Machine::load(ADD_CONSTANT)?;
        let base = machine.variable("const_values").context("const_values")?;
        let threads = 64;
        let (sums, inputs) = (machine.buffer(8 * threads)?, machine.buffer(8 * threads)?);
        let trace = machine.run(&Job {
            kernel: "add_constant_constant_memory",
            grid: [2, 1],
            block: [threads as u32, 1],
            shared: 0,
            params: &params(&[
                Param::Long(sums),
                Param::Long(inputs),
                Param::Word(2 * threads as u32),
                Param::Word(number),
            ]),
        })?;
        let mut loads = trace.loads(Memory::Constant);
        let load = loads.find(|load| (load.block, load.warp) == (1, 1));
        let load = load.context("the warp reads a value")?;
        let result = match load.units {
            1 => language.of("1 request".into(), "1 次请求".into()),
            more => language.of(format!("{more} requests"), format!("{more} 次请求")),
        };
        let result = language.of(format!("{name}: {result}"), format!("{name}：{result}"));
        y = svg.paragraph(y, Class::Bold, &result);
        y = requests::draw(&mut svg, y + 3.0, load, base, language) + 8.0;
        results.push(result);
    }
    let note = language.of(
        "A row is a request, and the cells in it are the lanes that it serves.",
        "一行是一次请求，行中有颜色的格子是它所满足的通道。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&results.join(language.of("; ", "；"))))
}

/// Floats of a sphere, and how wide one is drawn.
const FIELDS: [&str; 7] = ["r", "b", "g", "R", "x", "y", "z"];
const FIELD: f64 = 12.0;
/// As many spheres as are drawn.
const SPHERES: usize = 4;

/// The loads of a warp of the ray tracer, in their order.
pub fn spheres(language: Language) -> Result<String> {
    let title = language.of(
        "What the lanes of a warp read of the spheres in constant memory, load by load",
        "线程束逐次读取时，各通道从常量内存的球体中取得的内容",
    );
    let mut machine = Machine::load(RAYTRACE_CONST)?;
    let base = machine.variable("constant_spheres");
    let base = base.context("constant_spheres")?;
    let image = machine.buffer(4 * 16 * 16)?;
    let trace = machine.run(&Job {
        kernel: "raytrace_constant",
        grid: [1, 1],
        block: [16, 16],
        shared: 0,
        params: &params(&[
            Param::Word(SPHERES as u32),
            Param::Long(image),
            Param::Word(16),
            Param::Word(16),
        ]),
    })?;
    let loads = trace.loads(Memory::Constant);
    let loads: Vec<_> = loads.filter(|load| load.warp == 0).collect();

    let mut svg = Svg::new("spheres", title);
    let x = |field: usize| {
        let gap = (ROW - (SPHERES * FIELDS.len()) as f64 * FIELD) / (SPHERES - 1) as f64;
        LEFT + field as f64 * FIELD + (field / FIELDS.len()) as f64 * gap
    };
    for sphere in 0..SPHERES {
        let first = sphere * FIELDS.len();
        let name = language.of(format!("sphere {sphere}"), format!("球 {sphere}"));
        let middle = x(first) + FIELDS.len() as f64 * FIELD / 2.0;
        svg.text_middle(middle, 13.0, Class::Ink, &name);
        for (field, name) in FIELDS.iter().enumerate() {
            svg.text_middle(x(first + field) + FIELD / 2.0, 31.0, Class::Faint, name);
        }
    }
    let mut y = 37.0;
    svg.text_right(LEFT - 6.0, 31.0, Class::Faint, language.of("load", "读取"));
    for (number, load) in loads.iter().enumerate() {
        let number = number + 1;
        svg.text_right(LEFT - 6.0, y + 11.0, Class::Faint, &number.to_string());
        let field = ((load.addresses[0] - base) / 4) as usize;
        for other in 0..SPHERES * FIELDS.len() {
            svg.rect(x(other), y, FIELD - 1.0, 12.0, Class::Empty);
        }
        for word in 0..(load.bytes / 4) as usize {
            let lanes = load.mask.count_ones();
            let what = language.of(
                format!("load {number}: {lanes} lanes, {} address", load.units),
                format!("第 {number} 次读取：{lanes} 条通道，{} 个地址", load.units),
            );
            let place = [x(field + word), y, FIELD - 1.0, 12.0];
            svg.rect_of(place, Class::A, &what);
        }
        y += 15.0;
    }
    let lanes: u32 = loads.iter().map(|load| load.mask.count_ones()).sum();
    let requests: u32 = loads.iter().map(|load| load.units).sum();
    let count = loads.len();
    let result = language.of(
        format!("{count} loads of 32 lanes, {lanes} reads in all: {requests} requests"),
        format!("{count} 次读取，每次 32 条通道，共读 {lanes} 次：{requests} 次请求"),
    );
    y = svg.paragraph(y + 4.0, Class::Bold, &result);
    let note = language.of(
        "All lanes read the same address at the same time. r b g: colour, R: radius, x y z: centre. \
         Here no ray meets a sphere, so nobody asks for its colour.",
        "所有通道在同一时刻读同一个地址。r b g：颜色，R：半径，x y z：球心。这里没有光线碰到球，所以没有\
         通道去读颜色。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&result))
}
