//! Figures of the elements that a thread, its warp and its block compute, taken from their stores.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use cuda_sim::isa::Memory;
use sim_machine::{Launch, Machine, Params, params};

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LINE_SPACING, Svg};
use crate::language::{Language, localize};
use crate::trace::{load, run};

const PITCHED: &str = include_str!(env!("MATMUL_PITCHED_PTX"));
const FLOAT4: &str = include_str!(env!("MATMUL_PITCHED_LADDER_3_FLOAT4_PTX"));
const TILE_4: &str = include_str!(env!("MATMUL_PITCHED_LADDER_4_TILE_4X4_PTX"));
const TILE_8: &str = include_str!(env!("MATMUL_PITCHED_LADDER_5_TILE_8X8_PTX"));
const TILED: &str = include_str!(env!("MATMUL_TILED_PTX"));
const COLUMNS: &str = include_str!(env!("MATMUL_LADDER_1_COLUMNS_PTX"));
const SQUARES: &str = include_str!(env!("MATMUL_LADDER_2_SQUARES_PTX"));
const WARP_TILES: &str = include_str!(env!("MATMUL_LADDER_4_WARP_TILES_PTX"));
const OUTLINES: &str = include_str!(env!("RAYTRACE_CONST_LADDER_1_OUTLINES_PTX"));
const ROWS: &str = include_str!(env!("RAYTRACE_CONST_LADDER_2_ROWS_PTX"));
const PATCHES: &str = include_str!(env!("RAYTRACE_CONST_LADDER_3_PATCHES_PTX"));

/// Rows and columns of the result.
const SIDE: usize = 128;
/// Columns of A and rows of B.
const INNER: usize = 16;
/// Rows and columns of the enlarged corner of the result.
const CORNER: usize = 16;
/// Width of the strips next to the result that show the operands of a step.
const STRIP: f64 = 5.0;
/// Distance from the strips to the result.
const STRIP_GAP: f64 = 2.0;

/// A kernel and its launch configuration.
struct Kernel {
    name: &'static str,
    ptx: &'static str,
    kernel: &'static str,
    block: [u32; 2],
    /// Columns and rows of the tile that a block computes.
    tile: [usize; 2],
}

const fn new_kernel(
    name: &'static str,
    ptx: &'static str,
    kernel: &'static str,
    block: [u32; 2],
    tile: [usize; 2],
) -> Kernel {
    Kernel {
        name,
        ptx,
        kernel,
        block,
        tile,
    }
}

/// A column and a row of the result.
type Position = (usize, usize);

/// The elements that the first thread and the first warp of block 0 store.
#[derive(Default)]
struct Parts {
    thread: BTreeSet<Position>,
    warp: BTreeSet<Position>,
}

impl Kernel {
    /// Runs the kernel, and collects the stores of block 0. `make_parameters` allocates inputs and returns the
    /// parameters for a result at the given address.
    fn parts(
        &self,
        columns: usize,
        make_parameters: &dyn Fn(&mut Machine, u64) -> Result<Params>,
    ) -> Result<Parts> {
        let mut machine = load(self.ptx)?;
        let bytes = 4 * (columns * SIDE) as u64;
        let result = machine.allocate(bytes)?;
        let parameters = make_parameters(&mut machine, result)?;
        let grid = [columns.div_ceil(self.tile[0]), SIDE.div_ceil(self.tile[1])];
        let grid = grid.map(|blocks| blocks as u32);
        let launch = Launch::new(self.kernel, grid, self.block, parameters);
        let trace = run(&machine, &launch)?;
        let mut parts = Parts::default();
        let stores = trace.accesses.iter().filter(|access| {
            !access.kind.is_load()
                && access.memory == Memory::Global
                && access.block == 0
                && access.warp == 0
        });
        for store in stores {
            for (lane, address) in store.lanes() {
                for word in 0..store.bytes / 4 {
                    let element = ((address - result) / 4 + word) as usize;
                    let position = (element % columns, element / columns);
                    parts.warp.insert(position);
                    if lane == 0 {
                        parts.thread.insert(position);
                    }
                }
            }
        }
        let first = parts.thread.first();
        first.context("the thread stores something")?;
        Ok(parts)
    }

    /// Runs a matrix multiplication kernel.
    fn matmul_parts(&self) -> Result<Parts> {
        self.parts(SIDE, &|machine, c| {
            let a = machine.allocate(4 * (SIDE * INNER) as u64)?;
            let b = machine.allocate(4 * (INNER * SIDE) as u64)?;
            let matrix = |rows: usize, columns: usize, at: u64| {
                let [rows, columns] = [rows, columns].map(|n| n as u64);
                [rows, columns, at, columns]
            };
            Ok(params![
                matrix(SIDE, INNER, a),
                matrix(INNER, SIDE, b),
                matrix(SIDE, SIDE, c),
            ])
        })
    }
}

impl Parts {
    /// Returns the rows of A and the columns of B that these elements depend on.
    fn operands(elements: &BTreeSet<Position>) -> [BTreeSet<usize>; 2] {
        [
            elements.iter().map(|&(_, row)| row).collect(),
            elements.iter().map(|&(column, _)| column).collect(),
        ]
    }
}

/// Groups sorted numbers into runs of consecutive ones: the first, and the length.
fn runs(numbers: impl IntoIterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => runs.push((number, 1)),
        }
    }
    runs
}

/// Draws elements as rectangles; adjacent rows with the same columns become one.
fn area(svg: &mut Svg, [x, y]: [f64; 2], scale: f64, elements: &BTreeSet<Position>, class: Class) {
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(column, row) in elements {
        rows.entry(row).or_default().push(column);
    }
    let mut rows_by_run: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (row, columns) in rows {
        for run in runs(columns) {
            rows_by_run.entry(run).or_default().push(row);
        }
    }
    for ((left, width), rows) in rows_by_run {
        for (top, height) in runs(rows) {
            let [left, top, width, height] = [left, top, width, height].map(|n| n as f64 * scale);
            svg.rect(x + left, y + top, width, height, class);
        }
    }
}

/// Draws the first `side` rows and columns of the result, with the elements that block 0, its first warp and its first
/// thread compute. With `strips`, also draws the operands of a step: the rows of A at the left, and the columns of B
/// above.
fn panel(svg: &mut Svg, [x, y]: [f64; 2], scale: f64, side: usize, kernel: &Drawn, strips: bool) {
    let frame = side as f64 * scale;
    svg.rect(x, y, frame, frame, Class::Empty);
    let [width, height] = kernel.tile.map(|n| n.min(side) as f64 * scale);
    svg.rect(x, y, width, height, Class::Waste);
    for (elements, class) in [
        (&kernel.parts.warp, Class::B),
        (&kernel.parts.thread, Class::D),
    ] {
        let is_inside = |&&(column, row): &&Position| column < side && row < side;
        let elements = elements.iter().filter(is_inside).copied().collect();
        area(svg, [x, y], scale, &elements, class);
        if !strips {
            continue;
        }
        let offset = STRIP_GAP + STRIP;
        let [rows, columns] = Parts::operands(&elements);
        for (first, count) in runs(rows) {
            let [first, count] = [first, count].map(|n| n as f64 * scale);
            svg.rect(x - offset, y + first, STRIP, count, class);
        }
        for (first, count) in runs(columns) {
            let [first, count] = [first, count].map(|n| n as f64 * scale);
            svg.rect(x + first, y - offset, count, STRIP, class);
        }
    }
}

/// A kernel to draw, and the lines of text below it.
struct Drawn {
    name: &'static str,
    tile: [usize; 2],
    parts: Parts,
    lines: Vec<String>,
}

/// Draws kernels side by side, with the first rows and columns of the result enlarged if `corner` is set. Returns the
/// y coordinate below them, and a description.
fn draw_panels(svg: &mut Svg, kernels: &[Drawn], corner: bool, strips: bool) -> (f64, String) {
    let offset = if strips { STRIP + STRIP_GAP } else { 0.0 };
    let step = WIDTH / kernels.len() as f64;
    let frame = step - offset - 10.0;
    let scale = frame / SIDE as f64;
    let top = LINE_SPACING + offset + 2.0;
    let corner_top = top + frame + 14.0 + offset;
    let bottom = if corner { corner_top } else { top } + frame + 4.0;
    let mut end = bottom;
    for (number, kernel) in kernels.iter().enumerate() {
        let left = number as f64 * step;
        let x = left + offset;
        svg.text(left, 13.0, Class::Bold, kernel.name);
        panel(svg, [x, top], scale, SIDE, kernel, strips);
        if corner {
            let enlargement = frame / CORNER as f64;
            panel(svg, [x, corner_top], enlargement, CORNER, kernel, strips);
            let enlarged = CORNER as f64 * scale;
            svg.rect(x, top, enlarged, enlarged, Class::Line);
            svg.rect(x, corner_top, frame, frame, Class::Line);
            for index in 0..CORNER {
                let offset = index as f64 * enlargement;
                svg.rect(x, corner_top + offset, frame, enlargement, Class::Empty);
                svg.rect(x + offset, corner_top, enlargement, frame, Class::Empty);
            }
            for (from, to) in [(x, x), (x + enlarged, x + frame)] {
                svg.line([from, top + enlarged], [to, corner_top]);
            }
        }
        for (line, text) in kernel.lines.iter().enumerate() {
            let y = bottom + line as f64 * LINE_SPACING;
            svg.text(left, y + 13.0, Class::Ink, text);
            end = f64::max(end, y + LINE_SPACING);
        }
    }
    let describe = |kernel: &Drawn| format!("{}: {}", kernel.name, kernel.lines.join(", "));
    let descriptions: Vec<String> = kernels.iter().map(describe).collect();
    (end + 4.0, descriptions.join("; "))
}

/// Draws matrix multiplication kernels side by side, with the elements and operands of a thread, or of a
/// warp if `per_warp` is set.
fn draw_kernels(
    name: &str,
    title: &str,
    kernels: &[Kernel],
    per_warp: bool,
    language: Language,
) -> Result<String> {
    let mut svg = Svg::new(name, title);
    let mut drawn = Vec::new();
    for kernel in kernels {
        let parts = kernel.matmul_parts()?;
        let elements = if per_warp { &parts.warp } else { &parts.thread };
        let numbers: usize = Parts::operands(elements).iter().map(BTreeSet::len).sum();
        let lines = vec![
            match elements.len() {
                1 => language.pick("1 element".to_owned(), "1 个元素".to_owned()),
                count => language.pick(format!("{count} elements"), format!("{count} 个元素")),
            },
            language.pick(format!("{numbers} operands"), format!("{numbers} 个操作数")),
        ];
        drawn.push(Drawn {
            name: kernel.name,
            tile: kernel.tile,
            parts,
            lines,
        });
    }
    let (y, description) = draw_panels(&mut svg, &drawn, !per_warp, true);
    let y = legend(&mut svg, y, language);
    let note = if per_warp {
        language.pick(
            "The tile of C that a block computes, 128×128. The strips are the operands from A (left) and B (above) that \
             a step needs. The lines below the tiles give the counts per warp.",
            "线程块计算的 C 分块，128×128。边上的条带是每一步所需的 A（左侧）和 B（上方）的操作数。分块下方是每个线程束的数目。",
        )
    } else {
        language.pick(
            "Above: a corner of C, 128×128. Below: its first 16×16 elements, enlarged. The strips are the operands from \
             A (left) and B (above) that a step needs. The last lines give the counts per thread.",
            "上：C 的一角，128×128。下：其中最前面的 16×16 个元素，放大。边上的条带是每一步所需的 A（左侧）和 B（上方）的\
             操作数。最下面两行是每个线程的数目。",
        )
    };
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&description))
}

fn legend(svg: &mut Svg, y: f64, language: Language) -> f64 {
    let [thread, warp, block] = language.pick(
        ["one thread", "its warp", "its block"],
        ["一个线程", "其线程束", "其线程块"],
    );
    let entries = [(Class::D, thread), (Class::B, warp), (Class::Waste, block)];
    svg.legend(y, &entries)
}

pub fn pitched(language: Language) -> Result<String> {
    let title = language.pick(
        "The elements that one thread computes, and its operands: from one element to 8×8",
        "一个线程计算的元素及其操作数：从一个元素到 8×8",
    );
    let kernels = [
        new_kernel("pitched", PITCHED, "mat_mul_pitched", [16, 16], [16, 16]),
        new_kernel("float4", FLOAT4, "mat_mul_float4", [16, 16], [64, 16]),
        new_kernel("tile 4x4", TILE_4, "mat_mul_tile_4x4", [16, 8], [64, 32]),
        new_kernel("tile 8x8", TILE_8, "mat_mul_tile_8x8", [16, 8], [128, 64]),
    ];
    draw_kernels("ladder-parts", title, &kernels, false, language)
}

pub fn squares(language: Language) -> Result<String> {
    let title = language.pick(
        "The elements that one thread computes, and its operands from shared memory",
        "一个线程计算的元素，及其从共享内存读取的操作数",
    );
    let kernels = [
        new_kernel("tiled 16", TILED, "mat_mul_tiled_16", [16, 16], [16, 16]),
        new_kernel("columns", COLUMNS, "mat_mul_columns", [512, 1], [64, 64]),
        new_kernel("squares", SQUARES, "mat_mul_squares", [256, 1], [128, 128]),
    ];
    draw_kernels("ladder-squares", title, &kernels, false, language)
}

pub fn warp_tiles(language: Language) -> Result<String> {
    let title = language.pick(
        "The elements that a warp computes: a horizontal band, or a warp tile",
        "一个线程束计算的元素：一条横带，或一个线程束分块",
    );
    let kernels = [
        ("squares, vectors", SQUARES, "mat_mul_squares"),
        ("warp tiles", WARP_TILES, "mat_mul_warp_tiles"),
    ];
    let kernels =
        kernels.map(|(name, ptx, kernel)| new_kernel(name, ptx, kernel, [256, 1], [128, 128]));
    draw_kernels("ladder-warp-tiles", title, &kernels, true, language)
}

pub fn pixels(language: Language) -> Result<String> {
    let title = language.pick(
        "The pixels that a thread and its warp compute, on three rungs",
        "三级优化中，一个线程及其线程束计算的像素",
    );
    let kernels = [
        ("outlines", OUTLINES, "raytrace_outlines", [16, 16]),
        ("rows", ROWS, "raytrace_rows", [64, 16]),
        ("patches", PATCHES, "raytrace_patches", [64, 64]),
    ];
    let kernels =
        kernels.map(|(name, ptx, kernel, tile)| new_kernel(name, ptx, kernel, [16, 16], tile));
    let mut svg = Svg::new("ladder-pixels", title);
    let mut drawn = Vec::new();
    for kernel in kernels {
        let parts = kernel.parts(SIDE, &|_, image| {
            let side = SIDE as u32;
            Ok(params![0u32, image, side, side])
        })?;
        let count = parts.thread.len();
        let line = match count {
            1 => localize!(language, "1 pixel per thread", "每个线程 1 个像素"),
            _ => localize!(
                language,
                "{count} pixels per thread",
                "每个线程 {count} 个像素"
            ),
        };
        drawn.push(Drawn {
            name: kernel.name,
            tile: kernel.tile,
            parts,
            lines: vec![line],
        });
    }
    let (y, description) = draw_panels(&mut svg, &drawn, true, false);
    let y = legend(&mut svg, y, language);
    let note = language.pick(
        "Above: a corner of the image, 128×128 pixels. Below: its first 16×16 pixels, enlarged. The lanes of a warp \
         share each load of a sphere.",
        "上：图像的一角，128×128 像素。下：其中最前面的 16×16 像素，放大。线程束的各通道共用球体的每次加载。",
    );
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&description))
}

/// The shape of `mma.m16n8k8`: rows of A and C, columns of B and C, columns of A and rows of B.
const M: usize = 16;
const N: usize = 8;
const K: usize = 8;
/// The lane whose elements are shown.
const LANE: usize = 9;
/// Side length of an element.
const CELL: f64 = 11.0;

/// Returns true if lane [`LANE`] holds this element of A, by the PTX ISA's section on `mma.m16n8k8` with
/// TF32.
fn in_a(row: usize, column: usize) -> bool {
    row % 8 == LANE / 4 && column % 4 == LANE % 4
}
/// Returns true if lane [`LANE`] holds this element of B.
fn in_b(row: usize, column: usize) -> bool {
    row % 4 == LANE % 4 && column == LANE / 4
}
/// Returns true if lane [`LANE`] holds this element of C.
fn in_c(row: usize, column: usize) -> bool {
    row % 8 == LANE / 4 && column / 2 == LANE % 4
}

/// Draws a tensor core instruction: the small matrices that it multiplies, and the elements of one lane.
pub fn mma(language: Language) -> Result<String> {
    let title = language.pick(
        "A tensor core instruction: 16×8 elements times 8×8, added to 16×8",
        "张量核心的一条指令：16×8 个元素乘以 8×8 个，加到 16×8 个上",
    );
    let mut svg = Svg::new("ladder-mma", title);
    let top = LINE_SPACING + 2.0;
    let mut lane_elements = 0;
    let mut draw =
        |svg: &mut Svg, x: f64, name: &str, size: [usize; 2], in_lane: fn(usize, usize) -> bool| {
            svg.text(x, 13.0, Class::Bold, name);
            for row in 0..size[0] {
                for column in 0..size[1] {
                    let held = in_lane(row, column);
                    let class = if held { Class::D } else { Class::B };
                    lane_elements += usize::from(held);
                    let [x, y] = [x + column as f64 * CELL, top + row as f64 * CELL];
                    svg.rect(x, y, CELL - 1.0, CELL - 1.0, class);
                }
            }
        };
    draw(&mut svg, 0.0, "A, 16×8", [M, K], in_a);
    draw(&mut svg, 140.0, "B, 8×8", [K, N], in_b);
    draw(&mut svg, 280.0, "C, 16×8", [M, N], in_c);
    for (x, sign) in [(112.0, "×"), (254.0, "+=")] {
        svg.text(x, top + 4.0 * CELL + 4.0, Class::Bold, sign);
    }
    let products = M * N * K;
    let result = localize!(
        language,
        "{products} multiply-adds in one instruction; an FMA instruction of a warp performs 32",
        "一条指令完成 {products} 次乘加；线程束的一条普通 FMA 指令只完成 32 次"
    );
    let y = svg.paragraph(top + M as f64 * CELL + 4.0, Class::Bold, &result);
    let held = localize!(
        language,
        "the {lane_elements} elements that lane {LANE} holds in its registers",
        "通道 {LANE} 的寄存器中的 {lane_elements} 个元素"
    );
    let other = language.pick("the elements of the other lanes", "其他通道的元素");
    svg.legend(y, &[(Class::D, &held), (Class::B, other)]);
    Ok(svg.finish(&result))
}
