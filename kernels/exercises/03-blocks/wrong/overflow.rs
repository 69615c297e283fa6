// Rejected at: launch
// Says: panicked: attempt to add with overflow
// The sum of a large count and a block size does not fit into 32 bits.

/// Returns the number of blocks of `block` threads that cover `count` elements with one thread each.
pub fn blocks(count: u32, block: u32) -> u32 {
    (count + block - 1) / block
}

/// Returns the grid of blocks along x and y that covers a matrix of `columns` by `rows`.
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
