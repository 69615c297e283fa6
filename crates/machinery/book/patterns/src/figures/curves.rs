//! Curves of time or bandwidth against one property of the addresses, measured on an H200 and modelled on the simulator,
//! from the records of `scripts/curves`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::{Language, localize};

/// The records, relative to the root of the repository.
const RECORDS: &str = "docs/results/curves-h200.jsonl";

/// Bytes that a launch of the copies moves usefully: 16,777,216 floats in and as many out.
const COPIED: f64 = (2 * 4 * (1 << 24)) as f64;

/// The area of the plot: its left and right edge and its height.
const LEFT: f64 = 40.0;
const RIGHT: f64 = WIDTH - 12.0;
const HEIGHT: f64 = 170.0;

/// One curve.
struct Curve {
    /// Its name in the records.
    name: &'static str,
    title: [&'static str; 2],
    x_label: [&'static str; 2],
    y: Quantity,
    /// The labelled values of x.
    x_ticks: &'static [u32],
    /// Distance of the labelled values of y, from 0.
    y_step: f64,
    /// True if x has a logarithmic scale.
    is_logarithmic: bool,
}

/// The quantity that a curve shows.
#[derive(Clone, Copy)]
enum Quantity {
    Time,
    Bandwidth,
}

impl Quantity {
    fn label(self, language: Language) -> &'static str {
        match self {
            Quantity::Time => language.pick("time of a launch, ms", "一次启动的时间，毫秒"),
            Quantity::Bandwidth => language.pick("useful bandwidth, TB/s", "有效带宽，TB/s"),
        }
    }

    /// Returns the quantity for the time of a launch in ms.
    fn of_time(self, ms: f64) -> f64 {
        match self {
            Quantity::Time => ms,
            Quantity::Bandwidth => COPIED / ms * 1e-9,
        }
    }
}

pub fn offset(language: Language) -> Result<String> {
    draw(
        language,
        &Curve {
            name: "offset",
            title: [
                "A copy whose loads begin at an offset",
                "读取从某个偏移开始的复制",
            ],
            x_label: ["offset, floats", "偏移（浮点数的个数）"],
            y: Quantity::Bandwidth,
            x_ticks: &[0, 8, 16, 24, 32],
            y_step: 1.0,
            is_logarithmic: false,
        },
    )
}

pub fn stride(language: Language) -> Result<String> {
    draw(
        language,
        &Curve {
            name: "stride",
            title: ["A copy whose loads have a stride", "读取带有步长的复制"],
            x_label: ["stride, floats", "步长（浮点数的个数）"],
            y: Quantity::Bandwidth,
            x_ticks: &[1, 4, 8, 16, 24, 32],
            y_step: 1.0,
            is_logarithmic: false,
        },
    )
}

pub fn addresses(language: Language) -> Result<String> {
    draw(
        language,
        &Curve {
            name: "addresses",
            title: [
                "Constant memory: distinct addresses in a request",
                "常量内存：一次请求中不同地址的个数",
            ],
            x_label: ["distinct addresses per warp", "每个线程束的不同地址数"],
            y: Quantity::Time,
            x_ticks: &[1, 8, 16, 24, 32],
            y_step: 0.5,
            is_logarithmic: false,
        },
    )
}

pub fn footprint(language: Language) -> Result<String> {
    draw(
        language,
        &Curve {
            name: "footprint",
            title: [
                "Constant memory: bytes that a loop reads",
                "常量内存：循环读取的字节数",
            ],
            x_label: ["bytes, log scale", "字节数，对数坐标"],
            y: Quantity::Time,
            x_ticks: &[256, 1024, 2048, 4096, 16384, 65536],
            y_step: 0.1,
            is_logarithmic: true,
        },
    )
}

pub fn banks(language: Language) -> Result<String> {
    draw(
        language,
        &Curve {
            name: "banks",
            title: [
                "Shared memory: stride between neighbouring threads",
                "共享内存：相邻线程之间的步长",
            ],
            x_label: ["stride, words of 4 bytes", "步长（4 字节的字）"],
            y: Quantity::Time,
            x_ticks: &[1, 4, 8, 12, 16, 20, 24, 28, 32],
            y_step: 0.25,
            is_logarithmic: false,
        },
    )
}

/// A point of a curve: x, and the measured and the modelled value of y.
type Point = (f64, [f64; 2]);

/// Returns a sentence about the GPU, and the points of a curve.
fn records(curve: &Curve, language: Language) -> Result<(String, Vec<Point>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..");
    let text = fs::read_to_string(root.join(RECORDS)).with_context(|| RECORDS)?;
    let lines: Vec<Value> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| RECORDS)?;
    let (about, points) = lines.split_first().context("no records")?;
    let field = |name: &str| about[name].as_str().context("a description of the GPU");
    let (gpu, driver, date) = (field("gpu")?, field("driver")?, field("date")?);
    let measured = localize!(
        language,
        "measured: {}, driver {}, {}",
        "实测：{}，驱动 {}，{}";
        gpu, driver, date
    );
    let points: Vec<Point> = points
        .iter()
        .filter(|point| point["curve"] == curve.name)
        .map(|point| {
            let number = |name: &str| point[name].as_f64().context("a number");
            let y = [
                curve.y.of_time(number("measured")?),
                curve.y.of_time(number("modelled")?),
            ];
            Ok((number("x")?, y))
        })
        .collect::<Result<_>>()?;
    ensure!(points.len() > 1, "{RECORDS} has no curve {}", curve.name);
    Ok((measured, points))
}

fn draw(language: Language, curve: &Curve) -> Result<String> {
    let pick = |[english, chinese]: [&'static str; 2]| language.pick(english, chinese);
    let (measured, points) = records(curve, language)?;
    let mut svg = Svg::new(&format!("curve-{}", curve.name), pick(curve.title));
    let top = svg.paragraph(0.0, Class::Faint, curve.y.label(language)) + 8.0;
    let bottom = top + HEIGHT;

    let largest = points
        .iter()
        .flat_map(|(_, y)| y)
        .copied()
        .fold(0.0, f64::max);
    let steps = (largest / curve.y_step).ceil();
    let y_at = |y: f64| bottom - y / (steps * curve.y_step) * HEIGHT;
    let scale = |x: f64| if curve.is_logarithmic { x.log2() } else { x };
    let (first, last) = (scale(points[0].0), scale(points[points.len() - 1].0));
    let x_at = |x: f64| LEFT + 8.0 + (scale(x) - first) / (last - first) * (RIGHT - LEFT - 16.0);

    let decimals = curve.y_step.to_string().len().saturating_sub(2);
    for step in 0..=steps as u32 {
        let y = f64::from(step) * curve.y_step;
        let label = format!("{y:.decimals$}");
        svg.text_right(LEFT - 8.0, y_at(y) + 4.0, Class::Faint, &label);
        svg.line([LEFT - 4.0, y_at(y)], [LEFT, y_at(y)]);
    }
    svg.line([LEFT, top], [LEFT, bottom]);
    svg.line([LEFT, bottom], [RIGHT, bottom]);
    for &x in curve.x_ticks {
        let label = match x {
            1024.. => format!("{} K", x / 1024),
            _ => x.to_string(),
        };
        let x = x_at(x.into());
        svg.line([x, bottom], [x, bottom + 4.0]);
        svg.text_centered(x, bottom + 18.0, Class::Faint, &label);
    }

    let at = |&(x, [_, modelled]): &Point| [x_at(x), y_at(modelled)];
    for pair in points.windows(2) {
        svg.line(at(&pair[0]), at(&pair[1]));
    }
    for &(x, [measured, modelled]) in &points {
        let (x, modelled) = (x_at(x), y_at(modelled));
        svg.rect(x - 3.0, modelled - 3.0, 6.0, 6.0, Class::A);
        svg.circle([x, y_at(measured)], 3.5, Class::C);
    }

    let x_label = pick(curve.x_label);
    svg.text_centered((LEFT + RIGHT) / 2.0, bottom + 36.0, Class::Faint, x_label);
    let modelled = language.pick("modelled on the simulator", "模拟器的模型估算");
    let y = bottom + 36.0 + LINE_SPACING / 2.0;
    svg.legend(y, &[(Class::C, &*measured), (Class::A, modelled)]);

    let value = |(x, [measured, modelled]): Point| {
        localize!(
            language,
            "{}: measured {:.3}, modelled {:.3}",
            "{}：实测 {:.3}，模型估算 {:.3}";
            x, measured, modelled
        )
    };
    let description = localize!(
        language,
        "{} by {}: at {}; at {}.",
        "{}随{}的变化：{}；{}。";
        curve.y.label(language), x_label, value(points[0]), value(points[points.len() - 1])
    );
    Ok(svg.finish(&description))
}
