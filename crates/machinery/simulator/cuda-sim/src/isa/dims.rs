//! The dimensions of a launch, and conversion from linear numbers to CUDA's coordinates.

/// The dimensions of the grid in blocks and of a block in threads, each as x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

impl Dims {
    /// Returns the number of blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the number of threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Returns `blockIdx` of the block with linear number `number` (x varies fastest).
    pub fn block_index(&self, number: u64) -> [u32; 3] {
        coordinates(number, self.grid)
    }

    /// Returns `threadIdx` of the thread with linear number `number` in its block (x varies fastest).
    pub fn thread_index(&self, number: u32) -> [u32; 3] {
        coordinates(number.into(), self.block)
    }
}

/// Returns the coordinates of linear number `number` in a box of the given size (x varies fastest).
pub fn coordinates(number: u64, size: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(size[0]), u64::from(size[1]));
    [
        (number % x) as u32,
        (number / x % y) as u32,
        (number / x / y) as u32,
    ]
}
