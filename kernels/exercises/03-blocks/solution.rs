//! How many blocks does a launch need?

/// The blocks of `block` threads each that it takes to have a thread for each of `count` elements.
pub fn blocks(count: u32, block: u32) -> u32 {
    // What is left over after whole blocks takes one block more.
    count / block + u32::from(count % block != 0)
}

/// The same in two dimensions: blocks along x, then along y, for a matrix of `columns` by `rows`.
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
