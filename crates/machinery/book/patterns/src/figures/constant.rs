//! Figures of constant memory: add-constant's four access patterns, and the ray tracer's spheres.

use anyhow::{Context as _, Result};
use cuda_sim::isa::Memory;
use sim_machine::{Launch, params};

use crate::draw::svg::{Class, Svg};
use crate::draw::{LEFT, ROW, requests, warp};
use crate::language::Language;
use crate::trace::{load, run};

const ADD_CONSTANT: &str = include_str!(env!("ADD_CONSTANT_PTX"));
const RAYTRACE_CONST: &str = include_str!(env!("RAYTRACE_CONST_PTX"));

/// Draws a load by the second warp of the second block of add-constant's kernel, for each access pattern.
pub fn patterns(language: Language) -> Result<String> {
    let title = language.pick(
        "The constant memory requests of a warp's load, for four access patterns",
        "四种访问模式下，线程束的一次加载向常量内存发出的请求",
    );
    let mut svg = Svg::new("constant-patterns", title);
    let mut y = warp(&mut svg, 0.0, language) + 8.0;
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
        let result = match load.units {
            1 => language.pick("1 request".into(), "1 次请求".into()),
            more => language.pick(format!("{more} requests"), format!("{more} 次请求")),
        };
        let result = language.pick(format!("{name}: {result}"), format!("{name}：{result}"));
        y = svg.paragraph(y, Class::Bold, &result);
        y = requests(&mut svg, y + 3.0, load, base, language) + 8.0;
        results.push(result);
    }
    let note = language.pick(
        "Each row is a request; the coloured cells are the lanes that it serves.",
        "每行是一次请求；彩色的格子是该请求服务的通道。",
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
