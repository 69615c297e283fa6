//! All launches of a kernel together.

use cuda_driver::LaunchRecord;
use cuda_driver::names::{in_full, plain};

/// A kernel and what its launches did.
#[derive(Debug)]
pub struct Kernel {
    /// As its author calls it: `add<float>`.
    pub name: String,
    /// Its name in the PTX, which tells kernels of one name and other parameters apart.
    symbol: String,
    /// How often it was launched.
    pub launches: u64,
    /// Whether its launches had other grids or blocks than the first.
    pub varied: bool,
    /// All launches together; its kernel is [`Self::name`], its grid that of the first.
    pub all: LaunchRecord,
}

/// The kernels of a program, in the order of their first launches.
#[derive(Debug, Default)]
pub struct Kernels(Vec<Kernel>);

impl Kernels {
    /// Adds a launch.
    pub fn add(&mut self, launch: LaunchRecord) {
        let known = self
            .0
            .iter_mut()
            .find(|known| known.symbol == launch.kernel);
        let Some(known) = known else {
            let symbol = launch.kernel.clone();
            let name = plain(&symbol);
            let all = LaunchRecord {
                kernel: name.clone(),
                ..launch
            };
            self.0.push(Kernel {
                name,
                symbol,
                launches: 1,
                varied: false,
                all,
            });
            return;
        };
        known.launches += 1;
        known.varied |= (known.all.grid, known.all.block) != (launch.grid, launch.block);
        known.all.add(&launch);
    }

    /// All of them. Those of one name have their parameters with it.
    pub fn finish(mut self) -> Vec<Kernel> {
        let names: Vec<String> = self.0.iter().map(|kernel| kernel.name.clone()).collect();
        for kernel in &mut self.0 {
            if names.iter().filter(|name| **name == kernel.name).count() > 1 {
                kernel.name = in_full(&kernel.symbol);
                kernel.all.kernel.clone_from(&kernel.name);
            }
        }
        self.0
    }
}
