//! Aggregation of all launches of a kernel.

use std::collections::HashMap;

use cuda_driver::names::{short, with_parameters};
use cuda_driver::{LaunchRecord, TimedLaunch};

/// A record of one launch, or of several launches of one kernel.
pub trait Launch: Clone {
    /// The kernel's name.
    fn kernel(&mut self) -> &mut String;
    /// Returns the blocks of the grid and the threads of a block.
    fn shape(&self) -> [[u32; 3]; 2];
    /// Adds another launch. The shape is kept.
    fn add(&mut self, other: &Self);
    /// Returns the total time in milliseconds.
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

/// A kernel and the total of its launches.
#[derive(Clone, Debug)]
pub struct Kernel<L = LaunchRecord> {
    /// The name in the source, such as `add<float>`.
    pub name: String,
    /// The name in the PTX, which distinguishes overloads.
    symbol: String,
    /// Number of launches.
    pub launches: u64,
    /// True if the grid or the block of a launch differs from the first launch's.
    pub varied: bool,
    /// The sum of all launches. Its kernel is [`Self::name`]; its grid and block are those of the first launch.
    pub total: L,
}

/// The kernels of a program in the order of their first launches.
#[derive(Debug)]
pub struct Kernels<L = LaunchRecord> {
    entries: Vec<Kernel<L>>,
    /// Index of each kernel by symbol. A map, because a program may have thousands of kernels.
    indices: HashMap<String, usize>,
}

impl<L> Default for Kernels<L> {
    fn default() -> Self {
        Kernels {
            entries: Vec::new(),
            indices: HashMap::new(),
        }
    }
}

impl<L: Launch> Kernels<L> {
    /// Adds `times` identical launches.
    pub fn add(&mut self, mut launch: L, times: u64) {
        if times == 0 {
            return;
        }
        let symbol = launch.kernel().clone();
        if let Some(&index) = self.indices.get(&symbol) {
            let kernel = &mut self.entries[index];
            kernel.launches += times;
            kernel.varied |= kernel.total.shape() != launch.shape();
            // Added one by one, because a product would be rounded differently from the sum.
            for _ in 0..times {
                kernel.total.add(&launch);
            }
            return;
        }
        let remaining = launch.clone();
        let name = short(&symbol);
        launch.kernel().clone_from(&name);
        self.indices.insert(symbol.clone(), self.entries.len());
        self.entries.push(Kernel {
            total: launch,
            name,
            symbol,
            launches: 1,
            varied: false,
        });
        self.add(remaining, times - 1);
    }

    /// Returns all kernels. Overloads get their parameters in their names.
    pub fn finish(&self) -> Vec<Kernel<L>> {
        let mut named: HashMap<&str, usize> = HashMap::new();
        for kernel in &self.entries {
            *named.entry(&kernel.name).or_default() += 1;
        }
        let mut kernels = self.entries.clone();
        for kernel in &mut kernels {
            if named[kernel.name.as_str()] > 1 {
                kernel.name = with_parameters(&kernel.symbol);
                kernel.total.kernel().clone_from(&kernel.name);
            }
        }
        kernels
    }
}
