//! The number of blocks of a launch.

/// Returns the number of blocks of `block` threads that cover `count` elements with one thread each.
pub fn blocks(count: u32, block: u32) -> u32 {
    // A remainder after the whole blocks needs one more block.
    count / block + u32::from(count % block != 0)
}

/// Returns the grid of blocks along x and y that covers a matrix of `columns` by `rows`.
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
