//! What a thread, its warp and its block compute of a result, as their stores say.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use cuda_sim::isa::Memory;

use crate::draw::WIDTH;
use crate::draw::svg::{Class, LEADING, Svg};
use crate::language::Language;
use crate::machine::{Job, Machine, Param, params};

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

/// Columns of the result, and as many rows; factors have fewer columns and rows in between.
const SIDE: usize = 128;
const INNER: usize = 16;
/// How wide what a step reads of A and B is drawn, and the gap to the result.
const STRIP: f64 = 5.0;

/// A kernel, and how it is launched.
struct Kernel {
    name: &'static str,
    ptx: &'static str,
    kernel: &'static str,
    block: [u32; 2],
    /// Columns and rows that a block computes.
    tile: [usize; 2],
}

const fn product(
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
type Place = (usize, usize);

/// What block 0 stores: of its first thread, and of its first warp.
struct Parts {
    thread: BTreeSet<Place>,
    warp: BTreeSet<Place>,
}

impl Kernel {
    /// Runs it; `given` are the parameters but for the result's address, which `last` are behind.
    fn parts(
        &self,
        columns: usize,
        job: &dyn Fn(&mut Machine, u64) -> Result<Vec<Param>>,
    ) -> Result<Parts> {
        let mut machine = Machine::load(self.ptx)?;
        let bytes = 4 * (columns * SIDE) as u64;
        let result = machine.buffer(bytes)?;
        let given = job(&mut machine, result)?;
        let [across, down] = [columns.div_ceil(self.tile[0]), SIDE.div_ceil(self.tile[1])];
        let trace = machine.run(&Job {
            kernel: self.kernel,
            grid: [across as u32, down as u32],
            block: self.block,
            shared: 0,
            params: &params(&given),
        })?;
        let mut parts = Parts {
            thread: BTreeSet::new(),
            warp: BTreeSet::new(),
        };
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
                    let place = (element % columns, element / columns);
                    parts.warp.insert(place);
                    if lane == 0 {
                        parts.thread.insert(place);
                    }
                }
            }
        }
        parts
            .thread
            .first()
            .context("the thread stores something")?;
        Ok(parts)
    }

    /// The same of a product of matrices.
    fn product(&self) -> Result<Parts> {
        self.parts(SIDE, &|machine, c| {
            let a = machine.buffer(4 * (SIDE * INNER) as u64)?;
            let b = machine.buffer(4 * (INNER * SIDE) as u64)?;
            let matrix = |rows: usize, columns: usize, at: u64| {
                let [rows, columns] = [rows, columns].map(|n| Param::Long(n as u64));
                [rows, columns, Param::Long(at), columns]
            };
            Ok([
                matrix(SIDE, INNER, a),
                matrix(INNER, SIDE, b),
                matrix(SIDE, SIDE, c),
            ]
            .concat())
        })
    }
}

impl Parts {
    /// Rows of A and columns of B that a step takes for these elements.
    fn operands(of: &BTreeSet<Place>) -> [BTreeSet<usize>; 2] {
        [
            of.iter().map(|&(_, row)| row).collect(),
            of.iter().map(|&(column, _)| column).collect(),
        ]
    }
}

/// Numbers as ranges of neighbours: the first, and how many.
fn runs(numbers: impl IntoIterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((first, many)) if *first + *many == number => *many += 1,
            _ => runs.push((number, 1)),
        }
    }
    runs
}

/// Elements as rectangles: rows that have the same columns are one.
fn area(svg: &mut Svg, [x, y]: [f64; 2], scale: f64, of: &BTreeSet<Place>, class: Class) {
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(column, row) in of {
        rows.entry(row).or_default().push(column);
    }
    let mut alike: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (row, columns) in rows {
        for run in runs(columns) {
            alike.entry(run).or_default().push(row);
        }
    }
    for ((left, wide), rows) in alike {
        for (top, high) in runs(rows) {
            let [left, top, wide, high] = [left, top, wide, high].map(|n| n as f64 * scale);
            svg.rect(x + left, y + top, wide, high, class);
        }
    }
}

/// Draws block 0's part of the result at a place: with what a step reads of A, at its left, and of B,
/// above it, where `strips` says so.
fn panel(
    svg: &mut Svg,
    [x, y]: [f64; 2],
    scale: f64,
    kernel: &Kernel,
    parts: &Parts,
    strips: bool,
) {
    let [wide, high] = kernel.tile.map(|n| n as f64 * scale);
    let frame = SIDE as f64 * scale;
    svg.rect(x, y, frame, frame, Class::Empty);
    if kernel.tile[0] <= SIDE {
        svg.rect(x, y, wide, high, Class::Waste);
    }
    for (of, class) in [(&parts.warp, Class::B), (&parts.thread, Class::D)] {
        area(svg, [x, y], scale, of, class);
        if !strips {
            continue;
        }
        let [rows, columns] = Parts::operands(of);
        for (first, many) in runs(rows) {
            svg.rect(
                x - 2.0 - STRIP,
                y + first as f64 * scale,
                STRIP,
                many as f64 * scale,
                class,
            );
        }
        for (first, many) in runs(columns) {
            svg.rect(
                x + first as f64 * scale,
                y - 2.0 - STRIP,
                many as f64 * scale,
                STRIP,
                class,
            );
        }
    }
}

/// Kernels of a product side by side, with what a thread has and takes.
fn products(
    name: &str,
    title: &str,
    kernels: &[Kernel],
    per_warp: bool,
    language: Language,
) -> Result<String> {
    let mut svg = Svg::new(name, title);
    let step = WIDTH / kernels.len() as f64;
    let scale = (step - 16.0) / SIDE as f64;
    let top = LEADING + 2.0 * STRIP;
    let mut said = Vec::new();
    for (number, kernel) in kernels.iter().enumerate() {
        let parts = kernel.product()?;
        let x = number as f64 * step + STRIP + 3.0;
        panel(&mut svg, [x, top], scale, kernel, &parts, true);
        svg.text(x - STRIP - 2.0, 13.0, Class::Bold, kernel.name);
        let of = if per_warp { &parts.warp } else { &parts.thread };
        let numbers: usize = Parts::operands(of).iter().map(BTreeSet::len).sum();
        let lines = [
            match of.len() {
                1 => language.of("1 element".to_owned(), "1 个元素".to_owned()),
                many => language.of(format!("{many} elements"), format!("{many} 个元素")),
            },
            language.of(format!("{numbers} numbers"), format!("{numbers} 个数")),
        ];
        let mut y = top + SIDE as f64 * scale + 4.0;
        for line in &lines {
            svg.text(x - STRIP - 2.0, y + 13.0, Class::Ink, line);
            y += LEADING;
        }
        said.push(format!("{}: {}", kernel.name, lines.join(", ")));
    }
    let y = top + SIDE as f64 * scale + 2.0 * LEADING + 12.0;
    let note = match per_warp {
        false => language.of(
            "A corner of C, 128×128. Dark: one thread’s elements, and the numbers of A (left) and B (above) that \
             it takes for each step. Light: its warp’s. Grey: its block’s tile. The two lines count the thread’s.",
            "C 的一角，128×128。深色：一个线程的元素，以及它每一步要取的 A（左侧）和 B（上方）的数。浅色：它的线程束的。\
             灰色：它的线程块的分块。下面两行数的是一个线程的。",
        ),
        true => language.of(
            "A block’s tile of C, 128×128. Dark: one thread’s elements, and the numbers of A (left) and B (above) \
             that it takes for each step. Light: its warp’s, which the two lines count.",
            "线程块的 C 分块，128×128。深色：一个线程的元素，以及它每一步要取的 A（左侧）和 B（上方）的数。\
             浅色：它的线程束的，下面两行数的就是这些。",
        ),
    };
    svg.paragraph(y, Class::Faint, note);
    Ok(svg.finish(&said.join("; ")))
}

pub fn pitched(language: Language) -> Result<String> {
    let title = language.of(
        "What a thread computes of a product, and what it loads for it, from one element to 8×8",
        "一个线程计算乘积的哪些元素、为此读取什么：从一个元素到 8×8",
    );
    let kernels = [
        product("pitched", PITCHED, "mat_mul_pitched", [16, 16], [16, 16]),
        product("float4", FLOAT4, "mat_mul_float4", [16, 16], [64, 16]),
        product("tile 4x4", TILE_4, "mat_mul_tile_4x4", [16, 8], [64, 32]),
        product("tile 8x8", TILE_8, "mat_mul_tile_8x8", [16, 8], [128, 64]),
    ];
    products("ladder-parts", title, &kernels, false, language)
}

pub fn squares(language: Language) -> Result<String> {
    let title = language.of(
        "What a thread computes of a block’s tile, and what it takes from shared memory for it",
        "一个线程计算分块中的哪些元素、为此从共享内存取什么",
    );
    let kernels = [
        product("tiled 16", TILED, "mat_mul_tiled_16", [16, 16], [16, 16]),
        product("columns", COLUMNS, "mat_mul_columns", [512, 1], [64, 64]),
        product("squares", SQUARES, "mat_mul_squares", [256, 1], [128, 128]),
    ];
    products("ladder-squares", title, &kernels, false, language)
}

pub fn warp_tiles(language: Language) -> Result<String> {
    let title = language.of(
        "What a warp computes of a block’s tile: a band, and a tile of its own",
        "一个线程束计算分块中的哪些元素：一条横带，或一个自己的分块",
    );
    let kernels = [
        product(
            "squares, vectors",
            SQUARES,
            "mat_mul_squares",
            [256, 1],
            [128, 128],
        ),
        product(
            "warp tiles",
            WARP_TILES,
            "mat_mul_warp_tiles",
            [256, 1],
            [128, 128],
        ),
    ];
    products("ladder-warp-tiles", title, &kernels, true, language)
}

pub fn pixels(language: Language) -> Result<String> {
    let title = language.of(
        "The pixels of a thread and of its warp, on three rungs",
        "三级阶梯上，一个线程和它的线程束各画哪些像素",
    );
    let kernels = [
        product(
            "outlines",
            OUTLINES,
            "raytrace_outlines",
            [16, 16],
            [16, 16],
        ),
        product("rows", ROWS, "raytrace_rows", [16, 16], [64, 16]),
        product("patches", PATCHES, "raytrace_patches", [16, 16], [64, 64]),
    ];
    let mut svg = Svg::new("ladder-pixels", title);
    let step = WIDTH / kernels.len() as f64;
    let scale = (step - 8.0) / SIDE as f64;
    let top = LEADING + 2.0;
    let bottom = top + SIDE as f64 * scale + 4.0;
    let mut said = Vec::new();
    for (number, kernel) in kernels.iter().enumerate() {
        let parts = kernel.parts(SIDE, &|_, image| {
            let side = Param::Word(SIDE as u32);
            Ok(vec![Param::Word(0), Param::Long(image), side, side])
        })?;
        let x = number as f64 * step;
        panel(&mut svg, [x, top], scale, kernel, &parts, false);
        svg.text(x, 13.0, Class::Bold, kernel.name);
        let many = parts.thread.len();
        let line = match many {
            1 => language.of(
                "1 pixel a thread".to_owned(),
                "每个线程 1 个像素".to_owned(),
            ),
            _ => language.of(
                format!("{many} pixels a thread"),
                format!("每个线程 {many} 个像素"),
            ),
        };
        svg.text(x, bottom + 13.0, Class::Ink, &line);
        said.push(format!("{}: {line}", kernel.name));
    }
    let note = language.of(
        "A corner of the picture, 128×128 pixels. Dark: the pixels of one thread. Light: those of its warp, which \
         share every read of a sphere. Grey: those of its block.",
        "图像的一角，128×128 像素。深色：一个线程的像素。浅色：它的线程束的像素，球的每次读取由它们共用。\
         灰色：它的线程块的像素。",
    );
    svg.paragraph(bottom + LEADING + 4.0, Class::Faint, note);
    Ok(svg.finish(&said.join("; ")))
}
