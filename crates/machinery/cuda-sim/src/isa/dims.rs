//! The sizes of a launch, and from a number to the coordinates that CUDA has for it.

/// The grid's blocks and a block's threads, each in x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

impl Dims {
    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// `blockIdx` of block number `number`, x counted first.
    pub fn block_index(&self, number: u64) -> [u32; 3] {
        coordinates(number, self.grid)
    }

    /// `threadIdx` of thread number `number` in its block, x counted first.
    pub fn thread_index(&self, number: u32) -> [u32; 3] {
        coordinates(number.into(), self.block)
    }
}

/// Where number `number` is in a grid of blocks or a block of threads of this size, x counted first.
pub fn coordinates(number: u64, size: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(size[0]), u64::from(size[1]));
    [
        (number % x) as u32,
        (number / x % y) as u32,
        (number / x / y) as u32,
    ]
}
