//! Support for tests of single instructions: an SM without a launch, and pseudorandom operands.

use super::{Grid, Launch, Program, Sm};
use crate::device::DeviceSpec;
use crate::exec::warp::window::Function;
use crate::exec::{LaunchOptions, LaunchSpec, Resources};
use crate::isa::Kernel;
use crate::memory::global::Global;
use std::sync::{Arc, OnceLock};

impl Sm {
    /// Creates an SM that holds a block of one warp, of a kernel without code.
    pub fn for_tests() -> Sm {
        static GRID: OnceLock<Arc<Grid>> = OnceLock::new();
        let grid = GRID.get_or_init(|| {
            let mut program = Program::default();
            program.listing.kernels.push(Kernel::default());
            program.functions.push(Function::default());
            let launch = Launch {
                program: &Arc::new(program),
                kernel: 0,
                spec: &LaunchSpec::new([1; 3], [32, 1, 1], &[]),
                resources: &Resources {
                    stack_limit: 0,
                    ..Resources::default()
                },
                options: &LaunchOptions::default(),
                global: &Global::new(0),
                device: &DeviceSpec::h200(),
                submitter: None,
            };
            Arc::new(Grid::new(&launch, 1, None))
        });
        let mut sm = Sm::new(grid.clone());
        sm.block.reset(0, [0; 3], 32, (0, 0));
        sm
    }
}

/// Returns the first `n` numbers of a fixed pseudorandom sequence.
pub fn random(n: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x853c_49e6_748f_ea9bu64;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        state ^ state >> 29
    })
    .take(n)
}
