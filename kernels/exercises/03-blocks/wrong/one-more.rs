// Rejected at: right
// Says: 5 of the 600 elements of `blocks(n, 128)` are wrong
// Adds one block in any case: if the count is a multiple of the block size, the last block has no work.

/// Returns the number of blocks of `block` threads that cover `count` elements with one thread each.
pub fn blocks(count: u32, block: u32) -> u32 {
    count / block + 1
}

/// Returns the grid of blocks along x and y that covers a matrix of `columns` by `rows`.
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
