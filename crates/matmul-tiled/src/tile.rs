//! Tiles, the parts of C that blocks compute; and for the rung `split k`, the choice of its tile and of the number of parts
//! of a tile's sum.
//!
//! A small C has few large tiles, too few for a large GPU, and small tiles need more loads per multiply-add.
//! Splitting the sums gives more blocks of the same tile size, but the partial sums must be stored, loaded
//! and added. For a C with many tiles, the equal shares of the rung before (Stream-K) avoid the tail effect.
//! The best choice depends on the shape and is estimated here.
//!
//! The estimates are fitted to times of an NVIDIA H200 (driver 580.159.04, 2026-11-24): 629 of 69 products,
//! with these tiles and one to 16 parts, and 40 of equal shares. Six in seven are within 5 %. The chosen
//! configuration takes 0.5 % longer than the best one on average, and 8 % at most. On other GPUs the
//! estimates rank the choices roughly as well.

use chapter::launch::Block;
use matmul_pitched::flags::ProductFlags;
use matmul_pitched::reference;

/// The tile of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of the tile of C.
    pub rows: u32,
    /// Columns of the tile of C.
    pub cols: u32,
    /// Columns of the tiles of A, rows of the tiles of B.
    pub depth: u32,
    /// The way elements are moved.
    pub moves: Moves,
}

impl Tile {
    /// Creates a square tile.
    pub const fn square(side: u32, depth: u32, moves: Moves) -> Self {
        Tile {
            rows: side,
            cols: side,
            depth,
            moves,
        }
    }

    /// Returns the dimensions of the tile of C.
    pub fn area(self) -> Block {
        Block {
            width: self.cols,
            height: self.rows,
        }
    }

    /// Returns the number of tiles in a column of C.
    pub fn down(self, product: &ProductFlags) -> u64 {
        product.m.div_ceil(self.rows).into()
    }

    /// Returns the number of tiles in a row of C.
    pub fn across(self, product: &ProductFlags) -> u64 {
        product.p.div_ceil(self.cols).into()
    }

    /// Returns the number of tiles of A, and of B, that a tile of C needs one after the other.
    pub fn steps(self, product: &ProductFlags) -> u64 {
        product.n.div_ceil(self.depth).into()
    }
}

/// The way elements move between global memory and a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// One element at a time.
    Ones,
    /// Four elements at a time, and one at a time at the end of a row.
    Fours,
    /// Asynchronous copies of whole tiles, one element of A and four of B at a time; elements beyond the edge
    /// are copied as zeros or never used.
    Copies {
        /// Number of elements of C stored at a time; one at a time at the end of a row.
        stored: u32,
    },
    /// Asynchronous copies of four elements at a time, or fewer at the end of a row. C is stored four
    /// elements at a time, one at a time at the end of a row.
    CopiesOfFours,
    /// Asynchronous copies of four elements at a time in whole tiles, with two tiles more than needed, and
    /// one more if their number is odd. C is stored two elements at a time, one at a time at the end of a
    /// row.
    CopiesAhead,
}

/// A tile size with its kernel, and the parameters of its time estimate.
#[derive(Debug)]
pub struct Shape {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The tile that a block computes.
    pub tile: Tile,
    /// Threads per block.
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// Fraction of the peak rate of multiply-adds that a scheduler with all its warps reaches.
    speed: f64,
    /// Warps per scheduler that give half of peak throughput (a latency constant).
    half: f64,
    /// Cycles of a block before its first multiply-add and after its last.
    overhead: f64,
}

/// Columns of a tile of A.
const DEPTH: u32 = 16;

/// All tile sizes, the largest first.
pub const SHAPES: [Shape; 3] = [
    Shape {
        kernel: "mat_mul_split_k_64x128",
        tile: tile(64, 128, Moves::Copies { stored: 1 }),
        threads: 64,
        shared_bytes: 37_632,
        speed: 0.768,
        half: 0.215,
        overhead: 11_530.0,
    },
    Shape {
        kernel: "mat_mul_split_k_64x64",
        tile: tile(64, 64, Moves::Copies { stored: 4 }),
        threads: 64,
        shared_bytes: 25_344,
        speed: 0.731,
        half: 0.416,
        overhead: 6_070.0,
    },
    Shape {
        kernel: "mat_mul_split_k_32x64",
        tile: tile(32, 64, Moves::Copies { stored: 4 }),
        threads: 128,
        shared_bytes: 25_600,
        speed: 0.484,
        half: 0.225,
        overhead: 906.0,
    },
];

const fn tile(rows: u32, cols: u32, moves: Moves) -> Tile {
    Tile {
        rows,
        cols,
        depth: DEPTH,
        moves,
    }
}

/// Cycles to add up parts: a constant, and per 64x64 elements of each part.
const REDUCTION_CYCLES: f64 = 1_050.0;
const REDUCTION_CYCLES_PER_PART: f64 = 958.0;
/// Equal shares: the fraction of the peak rate of multiply-adds they reach, and additional cycles: a
/// constant, per step of a tile that blocks share, and per tile of a share.
const SHARES_SPEED: f64 = 0.772;
const SHARES_CYCLES: f64 = 6_180.0;
const SHARES_CYCLES_PER_STEP: f64 = 304.0;
const SHARES_CYCLES_PER_TILE: f64 = 25_360.0;
/// Blocks with equal shares that are resident on a streaming multiprocessor.
const SHARES_PER_SM: u32 = 2;
/// Fraction of the blocks after the first wave that share a scheduler while another one has none.
const UNBALANCED_FRACTION: f64 = 0.25;
/// Schedulers per streaming multiprocessor. A warp stays with one scheduler, which issues a warp's
/// multiply-add per cycle.
const SCHEDULERS: u64 = 4;
const WARP: u32 = 32;
/// Multiply-adds per cycle of a streaming multiprocessor.
const MULTIPLY_ADDS_PER_CYCLE: f64 = 128.0;
/// Maximum number of parts of a sum, and minimum number of steps of a part.
const MAX_PARTS: u32 = 16;
const MIN_STEPS: u64 = 4;

/// A tile size and the number of parts of each tile's sum.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    pub shape: &'static Shape,
    pub parts: u32,
}

/// Returns the tile size and number of parts with the shortest estimated time; `None` if equal shares are
/// faster. `resident` is the number of resident blocks of each shape per streaming multiprocessor.
pub fn choose_split(
    product: &ProductFlags,
    multiprocessors: u32,
    resident: [u32; SHAPES.len()],
) -> Option<Split> {
    let shapes = SHAPES.iter().zip(resident);
    let splits = shapes.flat_map(|(shape, resident)| {
        let steps = shape.tile.steps(product);
        let sensible = move |parts: &u32| *parts == 1 || steps >= MIN_STEPS * u64::from(*parts);
        let parts = (1..=MAX_PARTS).filter(sensible);
        parts.map(move |parts| (Split { shape, parts }, resident))
    });
    let timed = splits.map(|(split, resident)| {
        let cycles = split.cycles(product, multiprocessors, resident.max(1));
        (split, cycles)
    });
    let best = timed.min_by(|(_, a), (_, b)| a.total_cmp(b));
    let (split, cycles) = best.expect("a sum of one part");
    let shares = shares_cycles(product, multiprocessors);
    shares.is_none_or(|shares| cycles < shares).then_some(split)
}

/// Estimates the cycles of equal shares. Returns `None` if there are fewer tiles than shares: then a tile
/// would have many blocks that wait for each other.
fn shares_cycles(product: &ProductFlags, multiprocessors: u32) -> Option<f64> {
    let tile = tile(128, 128, Moves::Ones);
    let tiles = tile.down(product) * tile.across(product);
    let shares = u64::from(SHARES_PER_SM * multiprocessors);
    let steps = tile.steps(product);
    let work =
        f64::from(SHARES_PER_SM * tile.rows * tile.cols * tile.depth) / MULTIPLY_ADDS_PER_CYCLE;
    let steps_per_share = (tiles * steps).div_ceil(shares) as f64;
    let cycles = steps_per_share * work / SHARES_SPEED
        + SHARES_CYCLES
        + SHARES_CYCLES_PER_STEP * steps as f64
        + SHARES_CYCLES_PER_TILE * steps_per_share / steps as f64;
    (tiles >= shares).then_some(cycles)
}

impl Split {
    /// Returns the number of blocks of the launch.
    pub fn blocks(&self, product: &ProductFlags) -> u64 {
        self.tiles(product) * u64::from(self.parts)
    }

    fn tiles(&self, product: &ProductFlags) -> u64 {
        self.shape.tile.down(product) * self.shape.tile.across(product)
    }

    /// Returns the number of partial tiles that are stored and loaded between blocks: all of them if there is
    /// more than one part.
    pub fn handed_on(&self, product: &ProductFlags) -> u64 {
        match self.parts {
            1 => 0,
            _ => self.blocks(product),
        }
    }

    /// Estimates the cycles of the scheduler with the most warps. Three blocks of two warps take a streaming
    /// multiprocessor as long as four: two of its schedulers have one warp, the others have two.
    fn cycles(&self, product: &ProductFlags, multiprocessors: u32, resident: u32) -> f64 {
        let Shape {
            tile,
            threads,
            speed,
            half,
            overhead,
            ..
        } = self.shape;
        let warps_per_block = u64::from(threads / WARP);
        let steps = tile.steps(product).div_ceil(self.parts.into());
        let elements = f64::from(tile.rows) * f64::from(tile.cols);
        let work = steps as f64 * elements * f64::from(tile.depth) / f64::from(*threads);

        let warps_per_scheduler =
            |blocks: u64| (blocks * warps_per_block).div_ceil(SCHEDULERS) as f64;
        let full = warps_per_scheduler(resident.into());
        // Cycles of a wave with this number of warps per scheduler.
        let wave_cycles = |warps: f64| {
            let throughput = |warps: f64| warps / (warps + half);
            warps * work / (speed * throughput(warps) / throughput(full)) + overhead
        };
        // The blocks of the streaming multiprocessor that has the most.
        let blocks = self.blocks(product).div_ceil(multiprocessors.into());
        let (rounds, rest) = (blocks / u64::from(resident), blocks % u64::from(resident));
        let mut cycles = rounds as f64 * wave_cycles(full);
        if rest > 0 {
            // Blocks that start later take the schedulers of blocks that have ended.
            let extra_warps = full.min((rest * warps_per_block.div_ceil(SCHEDULERS)) as f64)
                - warps_per_scheduler(rest);
            let extra_warps = if rounds > 0 {
                UNBALANCED_FRACTION * extra_warps
            } else {
                0.0
            };
            cycles += wave_cycles(warps_per_scheduler(rest) + extra_warps);
        }
        if self.parts > 1 {
            cycles += REDUCTION_CYCLES
                + REDUCTION_CYCLES_PER_PART * f64::from(self.parts) * elements / 4096.0;
        }
        cycles
    }

    /// Computes C = A·B on the CPU with the same split of the sums, adding the parts in order, so that
    /// results are equal bit by bit. `a` has rows of `n` elements, `b` has `n` rows of `p`.
    pub fn product(&self, a: &[f32], b: &[f32], n: usize, p: usize) -> Vec<f32> {
        let depth = self.shape.tile.depth as usize;
        let (steps, parts) = (n.div_ceil(depth), self.parts as usize);
        let end = |part: usize| n.min(steps * part / parts * depth);
        let mut c = Vec::new();
        for part in 0..parts {
            let (from, to) = (end(part), end(part + 1));
            let columns: Vec<f32> = a
                .chunks(n)
                .flat_map(|row| &row[from..to])
                .copied()
                .collect();
            let of_part = reference::product(&columns, &b[from * p..to * p], to - from, p);
            match part {
                0 => c = of_part,
                _ => c
                    .iter_mut()
                    .zip(of_part)
                    .for_each(|(sum, part)| *sum += part),
            }
        }
        c
    }
}

#[cfg(test)]
mod tests {
    use matmul_pitched::flags::Fill;
    use matmul_pitched::matrix;

    use super::*;

    fn product([m, n, p]: [u32; 3]) -> ProductFlags {
        ProductFlags {
            m,
            n,
            p,
            fill: Fill::Random,
            seed: 1,
        }
    }

    /// Returns the choice for an H200; `None` for equal shares.
    fn chosen(sizes: [u32; 3]) -> Option<(&'static str, u32)> {
        let split = choose_split(&product(sizes), 132, [4, 6, 6]);
        split.map(|split| (split.shape.kernel, split.parts))
    }

    #[test]
    fn small_products_have_small_tiles_and_split_sums() {
        let [large, medium, small] = SHAPES.map(|shape| shape.kernel);
        assert_eq!(chosen([480, 640, 320]), Some((small, 5)));
        assert_eq!(chosen([361, 7001, 277]), Some((medium, 16)));
        assert_eq!(chosen([700, 3000, 900]), Some((large, 6)));
        // 512 tiles for 528 slots need no splitting.
        assert_eq!(chosen([2048, 2048, 2048]), Some((large, 1)));
        // 640 tiles are five per streaming multiprocessor: ten warps for four schedulers. Splitting balances
        // them.
        assert!(chosen([2500, 2500, 1000]).is_some_and(|(_, parts)| parts > 1));
        assert_eq!(chosen([1, 1, 1]), Some((small, 1)));
        // Twenty steps are five parts at most.
        assert!(chosen([40, 320, 40]).is_some_and(|(_, parts)| parts <= 5));
    }

    #[test]
    fn many_tiles_use_equal_shares() {
        for sizes in [[4800, 6400, 3200], [4097, 3001, 2050], [8192, 8192, 8192]] {
            assert_eq!(chosen(sizes), None, "{sizes:?}");
        }
        // The number of tiles equals the number of slots, or exceeds it slightly.
        assert!(chosen([2048, 512, 4096]).is_some());
        assert_eq!(chosen([1920, 512, 2304]), None);
        // Fewer tiles than shares.
        assert_eq!(shares_cycles(&product([2048, 8, 2048]), 132), None);
        assert!(shares_cycles(&product([1408, 8, 3072]), 132).is_some());
    }

    #[test]
    fn parts_are_added_up_in_order() {
        let (n, p) = (150, 7);
        let (a, b) = matrix::factors(&product([5, n, p]));
        let (n, p) = (n as usize, p as usize);
        for parts in [1, 2, 3, 10] {
            let split = Split {
                shape: &SHAPES[0],
                parts,
            };
            let steps = n.div_ceil(16);
            let element = |row: usize, col: usize| {
                let part = |part: usize| {
                    let end = |part: usize| (steps * part / parts as usize * 16).min(n);
                    (end(part)..end(part + 1)).fold(0.0, |sum: f32, i| {
                        a[row * n + i].mul_add(b[i * p + col], sum)
                    })
                };
                (1..parts as usize).fold(part(0), |sum, next| sum + part(next))
            };
            let expected: Vec<f32> = (0..5 * p).map(|at| element(at / p, at % p)).collect();
            assert_eq!(split.product(&a, &b, n, p), expected, "{parts}");
        }
    }

    #[test]
    fn several_parts_are_stored_and_loaded() {
        let split = |parts| Split {
            shape: &SHAPES[2],
            parts,
        };
        // There are 3x2 tiles.
        let product = product([96, 640, 128]);
        assert_eq!(split(1).handed_on(&product), 0);
        assert_eq!(split(5).handed_on(&product), 30);
    }
}
