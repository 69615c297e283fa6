//! All launches of a kernel together.

use std::collections::HashMap;

use cuda_driver::LaunchRecord;
use cuda_driver::names::{in_full, plain};

/// A kernel and what its launches did.
#[derive(Clone, Debug)]
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
pub struct Kernels {
    all: Vec<Kernel>,
    /// Where each is, by its symbol: a program may have thousands.
    places: HashMap<String, usize>,
}

impl Kernels {
    /// Adds a launch.
    pub fn add(&mut self, launch: LaunchRecord) {
        if let Some(&place) = self.places.get(&launch.kernel) {
            let known = &mut self.all[place];
            known.launches += 1;
            known.varied |= (known.all.grid, known.all.block) != (launch.grid, launch.block);
            known.all.add(&launch);
            return;
        }
        let symbol = launch.kernel.clone();
        let name = plain(&symbol);
        self.places.insert(symbol.clone(), self.all.len());
        self.all.push(Kernel {
            all: LaunchRecord {
                kernel: name.clone(),
                ..launch
            },
            name,
            symbol,
            launches: 1,
            varied: false,
        });
    }

    /// All of them. Those of one name have their parameters with it.
    pub fn finish(&self) -> Vec<Kernel> {
        let mut named: HashMap<&str, usize> = HashMap::new();
        for kernel in &self.all {
            *named.entry(&kernel.name).or_default() += 1;
        }
        let mut kernels = self.all.clone();
        for kernel in &mut kernels {
            if named[kernel.name.as_str()] > 1 {
                kernel.name = in_full(&kernel.symbol);
                kernel.all.kernel.clone_from(&kernel.name);
            }
        }
        kernels
    }
}
