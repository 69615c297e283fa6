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
/// Width of the strips beside the result that show the operands of a step.
const STRIP: f64 = 5.0;

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

/// Draws the part of the result that block 0 computes. With `strips`, also draws the operands of a step: the
/// rows of A at the left, and the columns of B above.
fn panel(
    svg: &mut Svg,
    [x, y]: [f64; 2],
    scale: f64,
    kernel: &Kernel,
    parts: &Parts,
    strips: bool,
) {
    let [width, height] = kernel.tile.map(|n| n as f64 * scale);
    let frame = SIDE as f64 * scale;
    svg.rect(x, y, frame, frame, Class::Empty);
    if kernel.tile[0] <= SIDE {
        svg.rect(x, y, width, height, Class::Waste);
    }
    for (elements, class) in [(&parts.warp, Class::B), (&parts.thread, Class::D)] {
        area(svg, [x, y], scale, elements, class);
        if !strips {
            continue;
        }
        let [rows, columns] = Parts::operands(elements);
        for (first, count) in runs(rows) {
            let [first, count] = [first, count].map(|n| n as f64 * scale);
            svg.rect(x - 2.0 - STRIP, y + first, STRIP, count, class);
        }
        for (first, count) in runs(columns) {
            let [first, count] = [first, count].map(|n| n as f64 * scale);
            svg.rect(x + first, y - 2.0 - STRIP, count, STRIP, class);
        }
    }
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
    let step = WIDTH / kernels.len() as f64;
    let scale = (step - 16.0) / SIDE as f64;
    let top = LINE_SPACING + 2.0 * STRIP;
    let mut descriptions = Vec::new();
    for (number, kernel) in kernels.iter().enumerate() {
        let parts = kernel.matmul_parts()?;
        let x = number as f64 * step + STRIP + 3.0;
        panel(&mut svg, [x, top], scale, kernel, &parts, true);
        svg.text(x - STRIP - 2.0, 13.0, Class::Bold, kernel.name);
        let elements = if per_warp { &parts.warp } else { &parts.thread };
        let numbers: usize = Parts::operands(elements).iter().map(BTreeSet::len).sum();
        let lines = [
            match elements.len() {
                1 => language.pick("1 element".to_owned(), "1 个元素".to_owned()),
                count => language.pick(format!("{count} elements"), format!("{count} 个元素")),
            },
            language.pick(format!("{numbers} operands"), format!("{numbers} 个操作数")),
        ];
        let mut y = top + SIDE as f64 * scale + 4.0;
        for line in &lines {
            svg.text(x - STRIP - 2.0, y + 13.0, Class::Ink, line);
            y += LINE_SPACING;
        }
        descriptions.push(format!("{}: {}", kernel.name, lines.join(", ")));
    }
    let y = top + SIDE as f64 * scale + 2.0 * LINE_SPACING + 12.0;
    let note = if per_warp {
        language.pick(
            "The tile of C that a block computes, 128×128. Dark: the elements of one thread, and the operands from A \
             (left) and B (above) that it needs for each step. Light: those of its warp. The two lines give the \
             counts per warp.",
            "线程块计算的 C 分块，128×128。深色：一个线程的元素，以及每一步所需的 A（左侧）和 B（上方）的操作数。\
             浅色：其线程束的。下面两行是每个线程束的数目。",
        )
    } else {
        language.pick(
            "A corner of C, 128×128. Dark: the elements of one thread, and the operands from A (left) and B (above) that \
             it needs for each step. Light: those of its warp. Grey: the tile of its block. The two lines give the \
             counts per thread.",
            "C 的一角，128×128。深色：一个线程的元素，以及每一步所需的 A（左侧）和 B（上方）的操作数。浅色：其线程束的。\
             灰色：其线程块的分块。下面两行是每个线程的数目。",
        )
    };
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&descriptions.join("; ")))
}

pub fn pitched(language: Language) -> Result<String> {
    let title = language.pick(
        "The elements that a thread of a matrix multiplication computes, and its operands: from one element to 8×8",
        "矩阵乘法中一个线程计算的元素及其操作数：从一个元素到 8×8",
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
        "The elements of a block’s tile that a thread computes, and its operands from shared memory",
        "一个线程计算的分块元素，及其从共享内存读取的操作数",
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
        "The elements of a block’s tile that a warp computes: a horizontal band, or a warp tile",
        "一个线程束计算的分块元素：一条横带，或一个线程束分块",
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
    let step = WIDTH / kernels.len() as f64;
    let scale = (step - 8.0) / SIDE as f64;
    let top = LINE_SPACING + 2.0;
    let bottom = top + SIDE as f64 * scale + 4.0;
    let mut descriptions = Vec::new();
    for (number, kernel) in kernels.iter().enumerate() {
        let parts = kernel.parts(SIDE, &|_, image| {
            let side = SIDE as u32;
            Ok(params![0u32, image, side, side])
        })?;
        let x = number as f64 * step;
        panel(&mut svg, [x, top], scale, kernel, &parts, false);
        svg.text(x, 13.0, Class::Bold, kernel.name);
        let count = parts.thread.len();
        let line = match count {
            1 => localize!(language, "1 pixel per thread", "每个线程 1 个像素"),
            _ => localize!(
                language,
                "{count} pixels per thread",
                "每个线程 {count} 个像素"
            ),
        };
        svg.text(x, bottom + 13.0, Class::Ink, &line);
        descriptions.push(format!("{}: {line}", kernel.name));
    }
    let note = language.pick(
        "A corner of the image, 128×128 pixels. Dark: the pixels of one thread. Light: the pixels of its warp, whose \
         lanes share each load of a sphere. Grey: the pixels of its block.",
        "图像的一角，128×128 像素。深色：一个线程的像素。浅色：其线程束的像素，各通道共用球体的每次加载。\
         灰色：其线程块的像素。",
    );
    svg.paragraph(bottom + LINE_SPACING + 4.0, Class::Faint, note);
    Ok(svg.finish(&descriptions.join("; ")))
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
        "A tensor core instruction: 16×8 elements of A times 8×8 elements of B, added to 16×8 elements of C",
        "张量核心的一条指令：A 的 16×8 个元素乘以 B 的 8×8 个，加到 C 的 16×8 个上",
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
    let note = language.pick(
        format!("Dark: the {lane_elements} elements that lane {LANE} holds in its registers. Every other lane holds {lane_elements} different elements."),
        format!("深色：通道 {LANE} 的寄存器中的 {lane_elements} 个元素。其他每条通道各持有另外 {lane_elements} 个元素。"),
    );
    svg.paragraph(y, Class::Faint, &note);
    Ok(svg.finish(&result))
}
