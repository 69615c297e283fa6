// Rejected at: right
// Says: 256 of the 600 elements of `blocks(4294967295 - n, 128)` are wrong
// A float has 24 bits: large counts are rounded before they are divided.

/// The blocks of `block` threads each that it takes to have a thread for each of `count` elements.
pub fn blocks(count: u32, block: u32) -> u32 {
    (count as f32 / block as f32).ceil() as u32
}

/// The same in two dimensions: blocks along x, then along y, for a matrix of `columns` by `rows`.
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
