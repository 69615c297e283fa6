//! The number of global memory accesses: by the note's formula, and counted.

use chapter::lang::Lang;
use chapter::report::Details;
use chapter::text::or_dash;
use common::timing::Measured;
use matmul_pitched::flags::ProductFlags;
use matmul_pitched::rate::Rate;
use serde::Serialize;

use crate::tile::{Moves, Tile};

/// The chapter's columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Accesses {
    /// Loads and stores of elements in global memory by all threads, by the formula.
    pub accesses_formula: u64,
    /// Accesses counted by the simulator; `None` on a GPU.
    pub accesses_counted: Option<u64>,
    #[serde(flatten)]
    rate: Rate,
}

impl Accesses {
    /// Creates the columns of a kernel whose blocks compute `tile`, or that has no tiles.
    pub fn of(product: &ProductFlags, tile: Option<Tile>, measured: &Measured) -> Self {
        let counters = measured.launch.as_ref().map(|launch| &launch.counters);
        Accesses {
            accesses_formula: formula(product, tile),
            accesses_counted: counters.map(|counted| counted.global_loads + counted.global_stores),
            rate: Rate::of(product, &measured.timing),
        }
    }

    /// Adds the accesses for `cut_tiles` tiles that one block begins and another one finishes: a store and a
    /// load of each element.
    pub fn handing_on(self, tile: Tile, cut_tiles: u64) -> Self {
        let elements = u64::from(tile.rows) * u64::from(tile.cols);
        Accesses {
            accesses_formula: self.accesses_formula + 2 * cut_tiles * elements,
            ..self
        }
    }
}

/// Returns the number of accesses, the note's 2MPN / `BLOCK_SIZE` + MP, generalized to sizes that are not
/// multiples: every element of A is loaded once for each tile in a row of C, every element of B once for each
/// tile in a column of C, and every element of C is stored once. Without tiles, each element of C counts as a
/// tile, which gives 2MPN + MP. Four elements moved together are one access, and the remaining elements of a
/// row one access each. Tiles that are copied asynchronously are copied whole, also beyond the edges.
pub fn formula(product: &ProductFlags, tile: Option<Tile>) -> u64 {
    let [m, n, p] = [product.m, product.n, product.p].map(u64::from);
    let Some(tile) = tile else {
        return 2 * m * n * p + m * p;
    };
    let (down, across) = (tile.down(product), tile.across(product));
    // Cannot overflow: matrices that fit into memory have fewer than 2^40 elements, and MPN, the square root
    // of the product of their sizes, is less than 2^60.
    match tile.moves {
        Moves::Ones => m * n * across + n * p * down + m * p,
        Moves::Fours => {
            let row = |elements: u64| elements / 4 + elements % 4;
            m * row(n) * across + n * row(p) * down + m * row(p)
        }
        Moves::Copies { stored } => {
            let step = u64::from(tile.depth) * u64::from(tile.rows + tile.cols / 4);
            let stored = u64::from(stored);
            down * across * tile.steps(product) * step + m * (p / stored + p % stored)
        }
        Moves::CopiesOfFours => {
            let (a_row, b_row) = (n.div_ceil(4), p.div_ceil(4));
            m * a_row * across + n * b_row * down + m * (p / 4 + p % 4)
        }
        Moves::CopiesAhead => {
            let step = u64::from(tile.depth / 4) * u64::from(tile.rows + tile.cols);
            let steps = tile.steps(product).next_multiple_of(2) + 2;
            down * across * steps * step + m * (p / 2 + p % 2)
        }
    }
}

impl Details for Accesses {
    fn columns(&self, lang: Lang) -> &'static [&'static str] {
        lang.pick(
            &["accesses", "counted", "GFLOP/s"],
            &["访问次数", "计数值", "GFLOP/s"],
        )
    }

    fn cells(&self) -> Vec<String> {
        let counted = self.accesses_counted.map(|counted| counted.to_string());
        let counted = or_dash(counted);
        let mut cells = vec![self.accesses_formula.to_string(), counted];
        cells.extend(self.rate.cells());
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::named;
    use common::timing::Timing;
    use matmul_pitched::flags::Fill;

    fn product(m: u32, n: u32, p: u32) -> ProductFlags {
        ProductFlags {
            m,
            n,
            p,
            fill: Fill::Random,
            seed: 1,
        }
    }

    /// Returns a launch without time and counters.
    fn without_time() -> Measured {
        Measured {
            timing: Timing::once(0.0),
            launch: None,
        }
    }

    #[test]
    fn the_notes_formula_where_tiles_divide_the_sizes() {
        for [m, n, p] in [[480, 640, 320], [4800, 6400, 3200]] {
            let product = product(m, n, p);
            let [m, n, p] = [m, n, p].map(u64::from);
            assert_eq!(formula(&product, None), 2 * m * p * n + m * p);
            for (variant, side) in [("tiled 8", 8), ("tiled 16", 16), ("tiled 32", 32)] {
                let expected = 2 * m * p * n / side + m * p;
                assert_eq!(formula(&product, named(variant).tile), expected);
            }
        }
    }

    #[test]
    fn tiles_beyond_the_edge_count_as_far_as_they_reach() {
        // A is 3x5 and loaded for one tile across; B is 5x9 and loaded for one tile down.
        assert_eq!(
            formula(&product(3, 5, 9), named("tiled 16").tile),
            15 + 45 + 27
        );
        // There are two tiles across.
        assert_eq!(
            formula(&product(3, 5, 17), named("tiled 16").tile),
            2 * 15 + 85 + 51
        );
        assert_eq!(formula(&product(1, 1, 1), named("tiled 32").tile), 3);
    }

    #[test]
    fn four_elements_are_one_access_and_row_remainders_one_each() {
        let tile = named("vectors").tile;
        assert_eq!(formula(&product(2, 4, 8), tile), 2 + 4 * 2 + 2 * 2);
        // Rows of 7 are a vector and three elements, rows of 129 thirty-two vectors and one element in two
        // tiles.
        let expected = 3 * (1 + 3) * 2 + 7 * (32 + 1) + 3 * (32 + 1);
        assert_eq!(formula(&product(3, 7, 129), tile), expected);
    }

    #[test]
    fn whole_tiles_are_copied() {
        let tile = named("async").tile;
        let step = 16 * 128 + 16 * 128 / 4;
        assert_eq!(formula(&product(1, 1, 1), tile), step + 1);
        assert_eq!(formula(&product(128, 16, 128), tile), step + 128 * 128);
        // Two tiles down, three across, five steps each.
        let expected = 2 * 3 * 5 * step + 129 * 257;
        assert_eq!(formula(&product(129, 65, 257), tile), expected);
    }

    #[test]
    fn tiles_are_copied_ahead_past_the_end_too() {
        let tile = named("warpgroups").tile;
        let step = 8 * (256 + 128);
        // There is one step; two are multiplied, and four copied.
        assert_eq!(formula(&product(1, 1, 1), tile), 4 * step + 1);
        assert_eq!(formula(&product(1, 64, 2), tile), 4 * step + 1);
        // Two tiles down, three across, five steps each, and rows are stored as pairs and one element.
        let expected = 2 * 3 * 8 * step + 257 * (128 + 1);
        assert_eq!(formula(&product(257, 150, 257), tile), expected);
    }

    #[test]
    fn row_remainders_are_copied_at_once() {
        let tile = named("tensor cores").tile;
        // Rows of 7 are two copies, rows of 129 thirty-three in two tiles, and C needs one more store.
        assert_eq!(
            formula(&product(3, 7, 129), tile),
            3 * 2 * 2 + 7 * 33 + 3 * 33
        );
        // Two tiles down, and rows of 6 are stored as a vector and two elements.
        let expected = 321 * 2 + 8 * 2 * 2 + 321 * 3;
        assert_eq!(formula(&product(321, 8, 6), tile), expected);
    }

    #[test]
    fn passed_on_tiles_are_stored_and_loaded() {
        let tile = named("even shares").tile.unwrap();
        let accesses = |cut_tiles| {
            Accesses::of(&product(300, 40, 300), Some(tile), &without_time())
                .handing_on(tile, cut_tiles)
                .accesses_formula
        };
        assert_eq!(accesses(0), formula(&product(300, 40, 300), Some(tile)));
        assert_eq!(accesses(3) - accesses(0), 3 * 2 * 128 * 128);
    }

    #[test]
    fn unknown_values_are_dash_and_null() {
        let accesses = Accesses::of(&product(1, 1, 1), None, &without_time());
        assert_eq!(accesses.cells(), ["3", "–", "–"]);
        let record = serde_json::to_value(accesses).unwrap();
        assert_eq!(record["accesses_formula"], 3);
        assert!(record["accesses_counted"].is_null());
        assert!(record["gflop_per_s"].is_null());
    }
}
