//! A GPU with the kernels that call the functions.

use anyhow::{Context, Result, ensure};
use bytemuck::Pod;
use cuda_sim::check::Checks;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{Conditions, Observe, Program};
use cuda_sim::launch::{Launch, launch};
use cuda_sim::memory::global::Global;
use std::sync::Arc;

/// Device memory that there is.
const MEMORY: u64 = 256 << 20;

/// Threads of a block.
const BLOCK: u32 = 128;

/// The modules for numbers of one format, in the order of their names.
const SINGLE: [&str; 4] = [
    include_str!(env!("MATHEMATICS_ELEMENTARY_FLOAT_PTX")),
    include_str!(env!("MATHEMATICS_EXACT_FLOAT_PTX")),
    include_str!(env!("MATHEMATICS_SPECIAL_FLOAT_PTX")),
    include_str!(env!("MATHEMATICS_TRIGONOMETRIC_FLOAT_PTX")),
];
const DOUBLE: [&str; 4] = [
    include_str!(env!("MATHEMATICS_ELEMENTARY_DOUBLE_PTX")),
    include_str!(env!("MATHEMATICS_EXACT_DOUBLE_PTX")),
    include_str!(env!("MATHEMATICS_SPECIAL_DOUBLE_PTX")),
    include_str!(env!("MATHEMATICS_TRIGONOMETRIC_DOUBLE_PTX")),
];

const WHOLE: [&str; 1] = [include_str!(env!("MATHEMATICS_INTEGERS_PTX"))];

/// A module that is loaded.
struct Module {
    global: Global,
    program: Arc<Program>,
}

/// All modules for one format.
pub struct Machine {
    device: DeviceSpec,
    modules: Vec<Module>,
}

impl Machine {
    /// The functions of floats.
    pub fn single() -> Result<Machine> {
        Machine::load(&SINGLE)
    }

    /// The functions of doubles.
    pub fn double() -> Result<Machine> {
        Machine::load(&DOUBLE)
    }

    /// The functions of whole numbers, and conversions.
    pub fn whole() -> Result<Machine> {
        Machine::load(&WHOLE)
    }

    fn load(modules: &[&str]) -> Result<Machine> {
        let device = DeviceSpec::h200();
        let load = |ptx: &&str| {
            let mut global = Global::new(MEMORY);
            let program = Arc::new(cuda_sim::lower::load(ptx, &device, &mut global)?);
            Ok(Module { global, program })
        };
        let modules = modules.iter().map(load).collect::<Result<_>>()?;
        Ok(Machine { device, modules })
    }

    /// What a function is of these arguments: as many for each result as it takes.
    pub fn evaluate<T: Pod>(
        &mut self,
        function: &str,
        arguments: &[T],
        arity: usize,
    ) -> Result<Vec<T>> {
        let kernel = format!("of_{function}");
        let found = self.modules.iter_mut().find_map(|module| {
            let number = module.program.listing.kernel(&kernel)?;
            Some((number, module))
        });
        let (number, module) = found.with_context(|| format!("there is no kernel {kernel}"))?;
        let count = arguments.len() / arity;
        ensure!(count * arity == arguments.len(), "{kernel}: {arity} each");
        module.evaluate(&self.device, number, arguments, count)
    }
}

impl Module {
    fn evaluate<T: Pod>(
        &mut self,
        device: &DeviceSpec,
        kernel: usize,
        arguments: &[T],
        count: usize,
    ) -> Result<Vec<T>> {
        let input = self.holding(bytemuck::cast_slice(arguments))?;
        let output = self.holding(&vec![0xa5; count * size_of::<T>()])?;
        let mut params = [0; 24];
        params[..8].copy_from_slice(&input.to_le_bytes());
        params[8..16].copy_from_slice(&output.to_le_bytes());
        params[16..20].copy_from_slice(&u32::try_from(count)?.to_le_bytes());
        let bytes = self.program.listing.kernels[kernel].param_bytes as usize;
        let work = Launch {
            kernel,
            grid: [u32::try_from(count)?.div_ceil(BLOCK).max(1), 1, 1],
            block: [BLOCK, 1, 1],
            dynamic_shared: 0,
            params: &params[..bytes],
            stack_limit: 1024,
            cooperative: None,
            heap: None,
            images: Arc::default(),
            time_limit: None,
            threads: None,
            watch: None,
            observe: Observe::Sample,
            checks: Checks::NONE,
            conditions: Conditions::USUAL,
        };
        launch(&self.program, &self.global, device, &work).map_err(Box::new)?;
        let host = self
            .global
            .host(output, (count * size_of::<T>()) as u64)
            .context("the results are in memory")?;
        // SAFETY: `host` answers for as many bytes of a live allocation, which no launch writes to now.
        let bytes = unsafe { std::slice::from_raw_parts(host, count * size_of::<T>()) };
        let results = bytemuck::pod_collect_to_vec(bytes);
        self.global.free(input)?;
        self.global.free(output)?;
        Ok(results)
    }

    /// Device memory that holds these bytes.
    fn holding(&mut self, bytes: &[u8]) -> Result<u64> {
        let length = bytes.len().max(1) as u64;
        let address = self.global.allocate(length)?;
        let host = self
            .global
            .host(address, length)
            .context("just allocated")?;
        // SAFETY: `host` answers for at least as many bytes of a live allocation.
        unsafe { host.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(address)
    }
}
