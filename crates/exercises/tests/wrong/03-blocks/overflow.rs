// Rejected at: launch
// Says: panicked: attempt to add with overflow
// The sum of a large count and a block does not fit into 32 bits.

/// The blocks of `block` threads each that it takes to have a thread for each of `count` elements.
pub fn blocks(count: u32, block: u32) -> u32 {
    (count + block - 1) / block
}

/// The same in two dimensions: blocks along x, then along y, for a matrix of `columns` by `rows`.
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
