//! A test harness: a device with one loaded module, its buffers, and launches.

use bytemuck::Pod;
use cuda_sim::check::Checks;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{
    Conditions, Fault, FaultKind, LaunchOptions, LaunchSpec, Program, Resources, TimeLimit, Watch,
};
use cuda_sim::isa::AccessClass;
use cuda_sim::launch::{Launch, LaunchRecord, LaunchReport, launch};
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::Global;
use cuda_sim::profile::{AccessCounts, Tally};
use std::sync::Arc;
use std::time::Duration;

/// Block sizes around a warp's, and larger ones.
pub const BLOCK_SIZES: [u32; 6] = [1, 31, 32, 33, 100, 256];

/// The initial value of each byte of an output buffer.
pub const POISON: u8 = 0xa5;

/// Creates the kernel parameters, in order: `params![out, n, 0.5f32]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$(bytemuck::bytes_of(&$value).to_vec()),*]
    };
}

pub struct Machine {
    pub global: Global,
    pub device: DeviceSpec,
    pub program: Arc<Program>,
    pub dynamic_shared: u32,
    pub time_limit: Duration,
    /// If set, limits the time in which no block finishes, instead of the launch's time.
    pub standstill: Option<Duration>,
    /// Host threads to run on; `None` uses as many as there are cores.
    pub threads: Option<Arc<rayon::ThreadPool>>,
    /// Reports the progress of a launch.
    pub watch: Arc<Watch>,
    /// True to profile launches line by line.
    pub profile: bool,
    /// The checks that launches run.
    pub checks: Checks,
    /// The conditions under which launches run.
    pub conditions: Conditions,
}

impl Machine {
    /// Creates a device that has loaded `ptx`.
    pub fn new(ptx: &str) -> Machine {
        let mut global = Global::new(1 << 30);
        let device = DeviceSpec::h200();
        let program = cuda_sim::lower::load(ptx, &device, &mut global)
            .unwrap_or_else(|error| panic!("cannot load the module: {error}"));
        Machine {
            global,
            device,
            program: Arc::new(program),
            dynamic_shared: 0,
            // Makes a test that hangs fail instead.
            time_limit: Duration::from_secs(20),
            standstill: None,
            threads: None,
            watch: Arc::default(),
            profile: false,
            checks: Checks::NONE,
            conditions: Conditions::DEFAULT,
        }
    }

    /// Creates a device that has loaded `ptx` and profiles line by line.
    pub fn profiling(ptx: &str) -> Machine {
        Machine {
            profile: true,
            ..Machine::new(ptx)
        }
    }

    /// Makes launches run on `count` host threads.
    pub fn use_threads(&mut self, count: usize) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        self.threads = Some(Arc::new(pool.expect("cannot start the threads")));
    }

    /// Allocates a buffer with these values and returns its device address.
    pub fn buffer<T: Pod>(&mut self, values: &[T]) -> u64 {
        self.buffer_of_bytes(bytemuck::cast_slice(values))
    }

    /// Allocates a buffer with these bytes and returns its device address.
    fn buffer_of_bytes(&mut self, bytes: &[u8]) -> u64 {
        let address = self
            .global
            .allocate(bytes.len() as u64)
            .expect("out of device memory");
        self.write(address, bytes);
        address
    }

    /// Allocates a poisoned output buffer for `count` values.
    pub fn out<T>(&mut self, count: usize) -> u64 {
        self.buffer_of_bytes(&vec![POISON; count * size_of::<T>()])
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let host = self
            .global
            .host(address, bytes.len() as u64)
            .expect("the range is not allocated");
        // SAFETY: `Global::host` has checked that `host` is valid for `bytes.len()` bytes of a live
        // allocation. `bytes` is a borrowed host slice, so the two do not overlap.
        unsafe { host.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    pub fn read<T: Pod>(&self, address: u64, count: usize) -> Vec<T> {
        let length = count * size_of::<T>();
        let host = self.global.host(address, length as u64);
        let host = host.expect("the range is not allocated");
        // SAFETY: `Global::host` has checked that `host` is valid for `length` bytes of a live allocation,
        // and no launch is writing them.
        let bytes = unsafe { std::slice::from_raw_parts(host, length) };
        bytemuck::pod_collect_to_vec(bytes)
    }

    /// Runs a kernel with a one-dimensional grid and one-dimensional blocks.
    pub fn launch(
        &self,
        kernel: &str,
        grid: u32,
        block: u32,
        params: Vec<Vec<u8>>,
    ) -> Result<LaunchReport, Fault> {
        self.launch_3d(kernel, [grid, 1, 1], [block, 1, 1], params)
    }

    pub fn launch_3d(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        params: Vec<Vec<u8>>,
    ) -> Result<LaunchReport, Fault> {
        let report = self.report(kernel, grid, block, params);
        match report.result {
            Ok(_) => Ok(report),
            Err(fault) => Err(fault),
        }
    }

    /// Runs a kernel and returns its report, even if it faults.
    pub fn report(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        params: Vec<Vec<u8>>,
    ) -> LaunchReport {
        let index = self.program.listing.kernel(kernel).expect("no such kernel");
        let signature = &self.program.listing.kernels[index];
        let mut bytes = vec![0; signature.param_bytes as usize];
        assert_eq!(
            params.len(),
            signature.params.len(),
            "parameters of {kernel}"
        );
        for (value, param) in params.iter().zip(&signature.params) {
            assert_eq!(value.len(), param.size as usize, "a parameter of {kernel}");
            bytes[param.offset as usize..][..value.len()].copy_from_slice(value);
        }
        launch(&Launch {
            program: &self.program,
            kernel: index,
            spec: &LaunchSpec {
                dynamic_shared: self.dynamic_shared,
                ..LaunchSpec::new(grid, block, &bytes)
            },
            resources: &Resources::default(),
            options: &LaunchOptions {
                time_limit: Some(match self.standstill {
                    Some(limit) => TimeLimit::Standstill(limit),
                    None => TimeLimit::Launch(self.time_limit),
                }),
                threads: self.threads.clone(),
                watch: self.watch.clone(),
                profile: self.profile,
                checks: self.checks,
                conditions: self.conditions,
                ..LaunchOptions::default()
            },
            global: &self.global,
            device: &self.device,
        })
    }

    /// Runs a kernel that must succeed.
    pub fn run(&self, kernel: &str, grid: u32, block: u32, params: Vec<Vec<u8>>) -> LaunchReport {
        self.launch(kernel, grid, block, params)
            .unwrap_or_else(|fault| panic!("{kernel} with blocks of {block}: {fault}"))
    }

    /// Runs a kernel that must succeed, and returns its record.
    pub fn record(
        &self,
        kernel: &str,
        grid: u32,
        block: u32,
        params: Vec<Vec<u8>>,
    ) -> LaunchRecord {
        record(&self.run(kernel, grid, block, params)).clone()
    }

    /// Runs a kernel that must fault.
    pub fn fault(&self, kernel: &str, grid: u32, block: u32, params: Vec<Vec<u8>>) -> Fault {
        match self.launch(kernel, grid, block, params) {
            Ok(_) => panic!("{kernel} with blocks of {block} did not fail"),
            Err(fault) => fault,
        }
    }
}

/// Returns the record of a launch that succeeded.
pub fn record(report: &LaunchReport) -> &LaunchRecord {
    report.result.as_ref().expect("the launch failed")
}

/// Returns the totals over all lines of a launch on a [`Machine::profiling`].
pub fn total(report: &LaunchReport) -> Tally {
    let profile = record(report).profile.as_ref();
    profile.expect("the launch has no profile").total
}

/// Returns the counts of loads from global memory, including read-only loads.
pub fn global_loads(tally: &Tally) -> AccessCounts {
    let mut loads = tally[AccessClass::GlobalLoad];
    loads.add(&tally[AccessClass::ReadOnlyLoad]);
    loads
}

/// Returns the error of loading a module that must not load, which must leave nothing allocated.
pub fn load_error(ptx: &str) -> LoadError {
    let mut global = Global::new(1 << 30);
    let error = match cuda_sim::lower::load(ptx, &DeviceSpec::h200(), &mut global) {
        Ok(_) => panic!("the module was loaded:\n{ptx}"),
        Err(error) => error,
    };
    assert_eq!(
        global.free_bytes(),
        1 << 30,
        "something stays allocated after: {error}"
    );
    error
}

/// Returns a module with one kernel, `k`, whose only parameter is the address of its output. `%out` holds the
/// address, `%t` the thread's index, and `%mine` the address of the thread's word.
pub fn kernel_of(body: &str) -> String {
    module_of("", body)
}

/// Returns a module like that of [`kernel_of`], with `before` at module scope before the kernel.
pub fn module_of(before: &str, body: &str) -> String {
    format!(
        ".version 7.0
.target sm_80
.address_size 64
{before}
.visible .entry k(.param .u64 p) {{
    .reg .pred %p<16>;
    .reg .b16 %h<16>;
    .reg .b32 %r<32>;
    .reg .b32 %t;
    .reg .b64 %d<16>;
    .reg .b64 %out, %mine;
    ld.param.u64 %out, [p];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %mine, %t, 4, %out;
    {body}
    ret;
}}
"
    )
}

/// Runs the kernel of [`kernel_of`] in one block. Returns each thread's word of output.
pub fn words(ptx: &str, threads: u32) -> Result<Vec<u32>, Fault> {
    let mut machine = Machine::new(ptx);
    let out = machine.out::<u32>(threads as usize);
    machine.launch("k", 1, threads, params![out])?;
    Ok(machine.read(out, threads as usize))
}

/// Returns `count` pseudo-random words, always the same (PCG's multiplier, top bits).
pub fn noise(count: usize) -> Vec<u32> {
    let mut state = 0x853c_49e6_748f_ea9b_u64;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u32
        })
        .collect()
}

/// Returns the state space and address of an illegal access, and whether it is a write.
pub fn illegal(fault: &Fault) -> (&'static str, u64, bool) {
    match fault.kind {
        FaultKind::IllegalAddress {
            space,
            address,
            write,
            ..
        } => (space, address, write),
        ref other => panic!("unexpected fault: {other:?}"),
    }
}
