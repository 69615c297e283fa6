//! A device with one module loaded: buffers in, a launch, buffers out.

use bytemuck::Pod;
use cuda_sim::check::Checks;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{Conditions, Fault, FaultKind, ProfileMode, Program, TimeLimit, Watch};
use cuda_sim::isa::AccessClass;
use cuda_sim::launch::{Launch, Report, launch};
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::Global;
use cuda_sim::profile::{AccessCounts, Tally};
use std::sync::Arc;
use std::time::Duration;

/// Block sizes around a warp's, and larger ones.
pub const BLOCK_SIZES: [u32; 6] = [1, 31, 32, 33, 100, 256];

/// What an output buffer holds before a kernel writes to it.
pub const POISON: u8 = 0xa5;

/// Kernel parameters in order: `params![out, n, 0.5f32]`.
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
    /// Limits how long no block may end, instead.
    pub standstill: Option<Duration>,
    /// Host threads to run on; as many as there are cores where none.
    pub threads: Option<rayon::ThreadPool>,
    /// Shows how far a launch is.
    pub watch: Watch,
    /// Whether launches are counted line by line.
    pub profile: bool,
    /// What launches are looked at for.
    pub checks: Checks,
    /// How launches run.
    pub conditions: Conditions,
}

impl Machine {
    /// A device that has loaded `ptx`.
    pub fn new(ptx: &str) -> Machine {
        let mut global = Global::new(1 << 30);
        let device = DeviceSpec::h200();
        let program = cuda_sim::lower::load(ptx, &device, &mut global)
            .unwrap_or_else(|error| panic!("does not load: {error}"));
        Machine {
            global,
            device,
            program: Arc::new(program),
            dynamic_shared: 0,
            // A test that hangs is to fail, not to hang.
            time_limit: Duration::from_secs(20),
            standstill: None,
            threads: None,
            watch: Watch::new(),
            profile: false,
            checks: Checks::NONE,
            conditions: Conditions::USUAL,
        }
    }

    /// A device that has loaded `ptx` and counts line by line.
    pub fn profiling(ptx: &str) -> Machine {
        Machine {
            profile: true,
            ..Machine::new(ptx)
        }
    }

    /// Makes every launch run on this many host threads.
    pub fn use_threads(&mut self, count: usize) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        self.threads = Some(pool.expect("threads"));
    }

    /// A buffer that holds `values`; its device address.
    pub fn buffer<T: Pod>(&mut self, values: &[T]) -> u64 {
        self.holding(bytemuck::cast_slice(values))
    }

    /// A buffer that holds these bytes.
    fn holding(&mut self, bytes: &[u8]) -> u64 {
        let address = self
            .global
            .allocate(bytes.len() as u64)
            .expect("device memory");
        self.write(address, bytes);
        address
    }

    /// A buffer for `count` values that a kernel is to write: poisoned.
    pub fn out<T>(&mut self, count: usize) -> u64 {
        self.holding(&vec![POISON; count * size_of::<T>()])
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let host = self
            .global
            .host(address, bytes.len() as u64)
            .expect("inside an allocation");
        // SAFETY: `host` answers for as many bytes of a live allocation.
        unsafe { host.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    pub fn read<T: Pod>(&self, address: u64, count: usize) -> Vec<T> {
        let length = count * size_of::<T>();
        let host = self.global.host(address, length as u64);
        let host = host.expect("inside an allocation");
        // SAFETY: `host` answers for `length` bytes of a live allocation.
        let bytes = unsafe { std::slice::from_raw_parts(host, length) };
        bytemuck::pod_collect_to_vec(bytes)
    }

    /// Runs a kernel on a grid and blocks of one dimension.
    pub fn launch(
        &self,
        kernel: &str,
        grid: u32,
        block: u32,
        params: Vec<Vec<u8>>,
    ) -> Result<Report, Fault> {
        self.launch_3d(kernel, [grid, 1, 1], [block, 1, 1], params)
    }

    pub fn launch_3d(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        params: Vec<Vec<u8>>,
    ) -> Result<Report, Fault> {
        let number = self
            .program
            .listing
            .kernel(kernel)
            .expect("a kernel of the module");
        let known = &self.program.listing.kernels[number];
        let mut bytes = vec![0; known.param_bytes as usize];
        assert_eq!(params.len(), known.params.len(), "parameters of {kernel}");
        for (value, param) in params.iter().zip(&known.params) {
            assert_eq!(value.len(), param.size as usize, "a parameter of {kernel}");
            bytes[param.offset as usize..][..value.len()].copy_from_slice(value);
        }
        let work = Launch {
            kernel: number,
            grid,
            block,
            dynamic_shared: self.dynamic_shared,
            params: &bytes,
            stack_limit: 1024,
            cooperative: None,
            heap: None,
            images: Arc::default(),
            time_limit: Some(match self.standstill {
                Some(limit) => TimeLimit::Standstill(limit),
                None => TimeLimit::Launch(self.time_limit),
            }),
            threads: self.threads.as_ref(),
            watch: Some(&self.watch),
            profile: match self.profile {
                true => ProfileMode::Full,
                false => ProfileMode::Sample,
            },
            checks: self.checks,
            conditions: self.conditions,
        };
        launch(&self.program, &self.global, &self.device, &work)
    }

    /// Runs a kernel that is to succeed.
    pub fn run(&self, kernel: &str, grid: u32, block: u32, params: Vec<Vec<u8>>) -> Report {
        self.launch(kernel, grid, block, params)
            .unwrap_or_else(|fault| panic!("{kernel} with blocks of {block}: {fault}"))
    }

    /// Runs a kernel that is to fail.
    pub fn fault(&self, kernel: &str, grid: u32, block: u32, params: Vec<Vec<u8>>) -> Fault {
        match self.launch(kernel, grid, block, params) {
            Ok(_) => panic!("{kernel} with blocks of {block} did not fail"),
            Err(fault) => fault,
        }
    }
}

/// What a launch of a [`Machine::profiling`] counted, all lines together.
pub fn total(report: &Report) -> Tally {
    report.profile.as_ref().expect("a profile").total
}

/// Loads from global memory, read-only ones among them.
pub fn global_loads(tally: &Tally) -> AccessCounts {
    let mut loads = tally[AccessClass::GlobalLoad];
    loads.add(&tally[AccessClass::ReadOnlyLoad]);
    loads
}

/// Why a module does not load. Nothing may stay allocated.
pub fn load_error(ptx: &str) -> LoadError {
    let mut global = Global::new(1 << 30);
    let error = match cuda_sim::lower::load(ptx, &DeviceSpec::h200(), &mut global) {
        Ok(_) => panic!("loads:\n{ptx}"),
        Err(error) => error,
    };
    assert_eq!(
        global.free_bytes(),
        1 << 30,
        "something stays allocated after: {error}"
    );
    error
}

/// A module of one kernel, `k`, whose one parameter is the address of its output: `%out` holds
/// it, `%t` the thread, and `%mine` the address of the thread's own word.
pub fn kernel_of(body: &str) -> String {
    module_of("", body)
}

/// As [`kernel_of`], with more at module scope before the kernel.
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

/// Runs the kernel of [`kernel_of`] in one block: each thread's word of output.
pub fn words(ptx: &str, threads: u32) -> Result<Vec<u32>, Fault> {
    let mut machine = Machine::new(ptx);
    let out = machine.out::<u32>(threads as usize);
    machine.launch("k", 1, threads, params![out])?;
    Ok(machine.read(out, threads as usize))
}

/// The same pseudo-random words each time (PCG's multiplier, top bits).
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

/// The space, address and direction of an illegal access.
pub fn illegal(fault: &Fault) -> (&'static str, u64, bool) {
    match fault.kind {
        FaultKind::IllegalAddress {
            space,
            address,
            write,
            ..
        } => (space, address, write),
        ref other => panic!("another fault: {other:?}"),
    }
}
