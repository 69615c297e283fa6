#![doc = include_str!("../README.md")]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytemuck::Pod;
use cuda_sim::check::Checks;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{Fault, LaunchOptions, LaunchSpec, Program, Resources, TimeLimit};
use cuda_sim::launch::{LaunchRecord, LaunchReport};
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::{Global, OutOfMemory};
use rayon::ThreadPoolBuilder;

/// The initial value of each byte of an output buffer.
pub const POISON: u8 = 0xa5;

/// Bytes of device memory of a machine for tests.
const MEMORY: u64 = 1 << 30;

/// The time limit of launches in tests. It makes a test that hangs fail instead.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Creates the kernel parameters, in order: `params![out, n, 0.5f32]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::bytes_of(&$value)),*]
    };
}

/// The bytes of each parameter of a kernel, in order.
pub type Params = Vec<Vec<u8>>;

/// Returns the bytes of a kernel parameter.
pub fn bytes_of<T: Pod>(value: &T) -> Vec<u8> {
    bytemuck::bytes_of(value).to_vec()
}

/// The dimensions of a grid or a block: a number, or numbers for x and y, or for x, y and z.
pub struct Dims([u32; 3]);

impl From<u32> for Dims {
    fn from(x: u32) -> Self {
        Dims([x, 1, 1])
    }
}

impl From<[u32; 2]> for Dims {
    fn from([x, y]: [u32; 2]) -> Self {
        Dims([x, y, 1])
    }
}

impl From<[u32; 3]> for Dims {
    fn from(dims: [u32; 3]) -> Self {
        Dims(dims)
    }
}

/// A kernel to launch, with its launch configuration and parameters.
pub struct Launch<'a> {
    pub kernel: &'a str,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    pub params: Params,
    /// The address of the grid barrier of a cooperative launch: see [`Machine::grid_barrier`].
    pub cooperative: Option<u64>,
    /// The size of a cluster in blocks, if the launch specifies it.
    pub cluster: Option<[u32; 3]>,
}

impl<'a> Launch<'a> {
    /// Describes a launch without dynamic shared memory that is not cooperative.
    pub fn new(
        kernel: &'a str,
        grid: impl Into<Dims>,
        block: impl Into<Dims>,
        params: Params,
    ) -> Self {
        Launch {
            kernel,
            grid: grid.into().0,
            block: block.into().0,
            shared: 0,
            params,
            cooperative: None,
            cluster: None,
        }
    }

    /// Sets the size of a cluster in blocks.
    pub fn cluster(self, size: impl Into<Dims>) -> Self {
        Launch {
            cluster: Some(size.into().0),
            ..self
        }
    }

    /// Sets the bytes of dynamic shared memory.
    pub fn shared(self, bytes: u32) -> Self {
        Launch {
            shared: bytes,
            ..self
        }
    }
}

/// The options of all machines that a test program creates, if it has set them.
static OPTIONS: OnceLock<LaunchOptions> = OnceLock::new();

/// Sets the options of all machines created later, for a test program that runs all its tests under other conditions. Only
/// the first call has an effect.
pub fn set_options(options: LaunchOptions) {
    let _ = OPTIONS.set(options);
}

/// A simulated GPU with one module loaded.
pub struct Machine {
    pub device: DeviceSpec,
    pub global: Global,
    pub program: Arc<Program>,
    /// The options of later launches.
    pub options: LaunchOptions,
}

impl Machine {
    /// Creates an H200 with `memory` bytes of device memory that has loaded `ptx`. Launches have no time limit.
    ///
    /// # Errors
    /// Fails if the PTX is invalid or its variables do not fit into the memory.
    pub fn load(ptx: &str, memory: u64) -> Result<Machine, LoadError> {
        let device = DeviceSpec::h200();
        let mut global = Global::new(memory);
        let program = Arc::new(cuda_sim::lower::load(ptx, &device, &mut global)?);
        Ok(Machine {
            device,
            global,
            program,
            options: OPTIONS.get().cloned().unwrap_or_default(),
        })
    }

    /// Creates an H200 for a test, which has loaded `ptx` and stops launches that take too long.
    ///
    /// # Panics
    /// Panics if the module cannot be loaded.
    pub fn new(ptx: &str) -> Machine {
        let machine = Machine::load(ptx, MEMORY);
        let mut machine = machine.unwrap_or_else(|error| panic!("cannot load the module: {error}"));
        machine.options.time_limit = Some(TimeLimit::Launch(TIME_LIMIT));
        machine
    }

    /// Creates a machine like [`Machine::new`] that profiles line by line.
    pub fn profiling(ptx: &str) -> Machine {
        let mut machine = Machine::new(ptx);
        machine.options.profile = true;
        machine
    }

    /// Creates a machine like [`Machine::new`] that runs checks.
    pub fn checking(ptx: &str, checks: Checks) -> Machine {
        let mut machine = Machine::new(ptx);
        machine.options.checks = checks;
        machine
    }

    /// Makes launches run on `count` host threads.
    ///
    /// # Panics
    /// Panics if the threads cannot be started.
    pub fn use_threads(&mut self, count: usize) {
        let pool = ThreadPoolBuilder::new().num_threads(count).build();
        self.options.threads = Some(Arc::new(pool.expect("cannot start the threads")));
    }

    /// Allocates a buffer with these values and returns its device address.
    ///
    /// # Panics
    /// Panics if device memory is exhausted.
    pub fn buffer<T: Pod>(&mut self, values: &[T]) -> u64 {
        let bytes = bytemuck::cast_slice(values);
        let address = self.allocate(bytes.len() as u64);
        let address = address.expect("out of device memory");
        self.write(address, bytes);
        address
    }

    /// Allocates an output buffer for `count` values, filled with [`POISON`].
    ///
    /// # Panics
    /// Panics if device memory is exhausted.
    pub fn out<T>(&mut self, count: usize) -> u64 {
        self.buffer(&vec![POISON; count * size_of::<T>()])
    }

    /// Allocates zeroed device memory.
    ///
    /// # Errors
    /// Fails if device memory is exhausted.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        self.global.allocate(bytes)
    }

    /// Allocates the grid barrier of a cooperative launch: a word with the barrier's size, and the word by which
    /// the blocks synchronize.
    pub fn grid_barrier(&mut self) -> u64 {
        self.buffer(&[2 * size_of::<u32>() as u32, 0])
    }

    /// Writes bytes to device memory.
    ///
    /// # Panics
    /// Panics if the range is not allocated.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let host = self.global.host(address, bytes.len() as u64);
        let host = host.expect("the range is not allocated");
        // SAFETY: `Global::host` has checked that `host` is valid for `bytes.len()` bytes of a live
        // allocation. `bytes` is a borrowed host slice, so the two do not overlap.
        unsafe { host.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// Reads `count` values from device memory.
    ///
    /// # Panics
    /// Panics if the range is not allocated.
    pub fn read<T: Pod>(&self, address: u64, count: usize) -> Vec<T> {
        let length = count * size_of::<T>();
        let host = self.global.host(address, length as u64);
        let host = host.expect("the range is not allocated");
        // SAFETY: `Global::host` has checked that `host` is valid for `length` bytes of a live allocation,
        // and no launch is writing them.
        let bytes = unsafe { std::slice::from_raw_parts(host, length) };
        bytemuck::pod_collect_to_vec(bytes)
    }

    /// Returns true if the module has a kernel with this name.
    pub fn has_kernel(&self, name: &str) -> bool {
        self.program.listing.kernel(name).is_some()
    }

    /// Returns the address of a module variable, or `None` if the module has no variable of that name.
    pub fn variable(&self, name: &str) -> Option<u64> {
        self.program.variable(name).map(|(address, _)| address)
    }

    /// Runs a launch to completion.
    ///
    /// # Errors
    /// Returns the fault of the lowest-numbered block that raised one.
    ///
    /// # Panics
    /// Panics if the module has no such kernel, or if the kernel has other parameters.
    pub fn launch(&self, launch: &Launch) -> Result<LaunchReport, Fault> {
        let report = self.report(launch);
        match report.result {
            Ok(_) => Ok(report),
            Err(fault) => Err(fault),
        }
    }

    /// Runs a launch and returns its report, even if it faults.
    ///
    /// # Panics
    /// Panics if the module has no such kernel, or if the kernel has other parameters.
    pub fn report(&self, launch: &Launch) -> LaunchReport {
        let listing = &self.program.listing;
        let kernel = listing.kernel(launch.kernel).expect("no such kernel");
        let signature = &listing.kernels[kernel];
        let (name, count) = (launch.kernel, signature.params.len());
        assert_eq!(launch.params.len(), count, "parameters of {name}");
        let mut params = vec![0; signature.param_bytes as usize];
        for (value, param) in launch.params.iter().zip(&signature.params) {
            assert_eq!(value.len(), param.size as usize, "a parameter of {name}");
            params[param.offset as usize..][..value.len()].copy_from_slice(value);
        }
        cuda_sim::launch::launch(&cuda_sim::launch::Launch {
            program: &self.program,
            kernel,
            spec: &LaunchSpec {
                dynamic_shared: launch.shared,
                cooperative: launch.cooperative.is_some(),
                cluster: launch.cluster,
                ..LaunchSpec::new(launch.grid, launch.block, &params)
            },
            resources: &Resources {
                grid_barrier: launch.cooperative,
                ..Resources::default()
            },
            options: &self.options,
            global: &self.global,
            device: &self.device,
            submitter: None,
        })
    }

    /// Runs a kernel that must succeed.
    ///
    /// # Panics
    /// Panics if the kernel faults.
    pub fn run(
        &self,
        kernel: &str,
        grid: impl Into<Dims>,
        block: impl Into<Dims>,
        params: Params,
    ) -> LaunchReport {
        let launch = Launch::new(kernel, grid, block, params);
        self.launch(&launch)
            .unwrap_or_else(|fault| panic!("{kernel} with blocks of {:?}: {fault}", launch.block))
    }

    /// Runs a kernel that must succeed, and returns its record.
    ///
    /// # Panics
    /// Panics if the kernel faults.
    pub fn record(
        &self,
        kernel: &str,
        grid: impl Into<Dims>,
        block: impl Into<Dims>,
        params: Params,
    ) -> LaunchRecord {
        let report = self.run(kernel, grid, block, params);
        report.result.expect("`run` returns after a success only")
    }

    /// Runs a kernel that must fault.
    ///
    /// # Panics
    /// Panics if the kernel succeeds.
    pub fn fault(
        &self,
        kernel: &str,
        grid: impl Into<Dims>,
        block: impl Into<Dims>,
        params: Params,
    ) -> Fault {
        let launch = Launch::new(kernel, grid, block, params);
        match self.launch(&launch) {
            Ok(_) => panic!("{kernel} with blocks of {:?} did not fail", launch.block),
            Err(fault) => fault,
        }
    }
}
