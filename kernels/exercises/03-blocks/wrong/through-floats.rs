// Rejected at: right
// Says: 256 of the 600 elements of `blocks(4294967295 - n, 128)` are wrong
// A float has a 24-bit significand: large counts are rounded before the division.

/// Returns the number of blocks of `block` threads that cover `count` elements with one thread each.
pub fn blocks(count: u32, block: u32) -> u32 {
    (count as f32 / block as f32).ceil() as u32
}

/// Returns the grid of blocks along x and y that covers a matrix of `columns` by `rows`.
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
