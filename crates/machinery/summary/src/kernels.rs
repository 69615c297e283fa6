//! All launches of a kernel together.

use std::collections::HashMap;

use cuda_driver::names::{in_full, plain};
use cuda_driver::{LaunchRecord, TimedLaunch};

/// What is known of a launch, and then of several of one kernel.
pub trait Launch: Clone {
    /// The kernel's name.
    fn kernel(&mut self) -> &mut String;
    /// Blocks of the grid, and threads of a block.
    fn shape(&self) -> [[u32; 3]; 2];
    /// Adds another launch; the shape stays.
    fn add(&mut self, other: &Self);
    /// What it took, or all of them together.
    fn milliseconds(&self) -> f64;
}

impl Launch for LaunchRecord {
    fn kernel(&mut self) -> &mut String {
        &mut self.kernel
    }

    fn shape(&self) -> [[u32; 3]; 2] {
        [self.grid, self.block]
    }

    fn add(&mut self, other: &Self) {
        LaunchRecord::add(self, other);
    }

    fn milliseconds(&self) -> f64 {
        self.time.milliseconds
    }
}

impl Launch for TimedLaunch {
    fn kernel(&mut self) -> &mut String {
        &mut self.kernel
    }

    fn shape(&self) -> [[u32; 3]; 2] {
        [self.grid, self.block]
    }

    fn add(&mut self, other: &Self) {
        self.milliseconds += other.milliseconds;
    }

    fn milliseconds(&self) -> f64 {
        self.milliseconds
    }
}

/// A kernel and what its launches did.
#[derive(Clone, Debug)]
pub struct Kernel<L = LaunchRecord> {
    /// As its author calls it: `add<float>`.
    pub name: String,
    /// Its name in the PTX, which tells kernels of one name and other parameters apart.
    symbol: String,
    /// How often it was launched.
    pub launches: u64,
    /// Whether its launches had other grids or blocks than the first.
    pub varied: bool,
    /// All launches together; its kernel is [`Self::name`], its grid that of the first.
    pub all: L,
}

/// The kernels of a program, in the order of their first launches.
#[derive(Debug)]
pub struct Kernels<L = LaunchRecord> {
    all: Vec<Kernel<L>>,
    /// Where each is, by its symbol: a program may have thousands.
    places: HashMap<String, usize>,
}

impl<L> Default for Kernels<L> {
    fn default() -> Self {
        Kernels {
            all: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<L: Launch> Kernels<L> {
    /// Adds so many launches that are alike.
    pub fn add(&mut self, mut launch: L, times: u64) {
        if times == 0 {
            return;
        }
        let symbol = launch.kernel().clone();
        if let Some(&place) = self.places.get(&symbol) {
            let known = &mut self.all[place];
            known.launches += times;
            known.varied |= known.all.shape() != launch.shape();
            // One by one, as they happened: a product would be rounded otherwise than their sum.
            for _ in 0..times {
                known.all.add(&launch);
            }
            return;
        }
        let more = launch.clone();
        let name = plain(&symbol);
        launch.kernel().clone_from(&name);
        self.places.insert(symbol.clone(), self.all.len());
        self.all.push(Kernel {
            all: launch,
            name,
            symbol,
            launches: 1,
            varied: false,
        });
        self.add(more, times - 1);
    }

    /// All of them. Those of one name have their parameters with it.
    pub fn finish(&self) -> Vec<Kernel<L>> {
        let mut named: HashMap<&str, usize> = HashMap::new();
        for kernel in &self.all {
            *named.entry(&kernel.name).or_default() += 1;
        }
        let mut kernels = self.all.clone();
        for kernel in &mut kernels {
            if named[kernel.name.as_str()] > 1 {
                kernel.name = in_full(&kernel.symbol);
                kernel.all.kernel().clone_from(&kernel.name);
            }
        }
        kernels
    }
}
