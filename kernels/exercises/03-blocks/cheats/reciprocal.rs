// Rejected at: right
// Says: blocks(
//! Multiplies by the reciprocal, which rounds some multiples up.
pub fn blocks(count: u32, block: u32) -> u32 {
    (f64::from(count) * (1.0 / f64::from(block))).ceil() as u32
}
pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {
    (blocks(columns, block.0), blocks(rows, block.1))
}
