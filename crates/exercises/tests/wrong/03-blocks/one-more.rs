// Rejected at: right
// Says: 5 of the 600 elements of `blocks(n, 128)` are wrong
// Always one more: where whole blocks are enough, the last one has nothing to do.

/// The blocks of `block` threads each that it takes to have a thread for each of `count` elements.
pub fn blocks(count: u32, block: u32) -> u32 {
    count / block + 1
}

/// The same in two dimensions: blocks along x, then along y, for a matrix of `columns` by `rows`.
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
