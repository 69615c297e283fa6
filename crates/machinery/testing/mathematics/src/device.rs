//! A simulated GPU with the kernels that call the functions.

use anyhow::{Context, Result, ensure};
use bytemuck::Pod;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{LaunchOptions, LaunchSpec, Program, Resources};
use cuda_sim::launch::{Launch, launch};
use cuda_sim::memory::global::Global;
use std::sync::Arc;

/// Bytes of device memory per module.
const MEMORY_BYTES: u64 = 256 << 20;

/// Threads per block.
const BLOCK_SIZE: u32 = 128;

/// The modules for each format, in alphabetical order.
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

const INTEGERS: [&str; 1] = [include_str!(env!("MATHEMATICS_INTEGERS_PTX"))];

/// A loaded module.
struct Module {
    global: Global,
    program: Arc<Program>,
}

/// A device with the modules for one format.
pub struct Device {
    spec: DeviceSpec,
    modules: Vec<Module>,
}

impl Device {
    /// Loads the functions of floats.
    pub fn single() -> Result<Device> {
        Device::load(&SINGLE)
    }

    /// Loads the functions of doubles.
    pub fn double() -> Result<Device> {
        Device::load(&DOUBLE)
    }

    /// Loads the integer functions and conversions.
    pub fn integers() -> Result<Device> {
        Device::load(&INTEGERS)
    }

    fn load(modules: &[&str]) -> Result<Device> {
        let spec = DeviceSpec::h200();
        let load = |ptx: &&str| {
            let mut global = Global::new(MEMORY_BYTES);
            let program = Arc::new(cuda_sim::lower::load(ptx, &spec, &mut global)?);
            Ok(Module { global, program })
        };
        let modules = modules.iter().map(load).collect::<Result<_>>()?;
        Ok(Device { spec, modules })
    }

    /// Evaluates a function. `arguments` holds `arity` arguments for each result.
    pub fn evaluate<T: Pod>(
        &mut self,
        function: &str,
        arguments: &[T],
        arity: usize,
    ) -> Result<Vec<T>> {
        let kernel = format!("of_{function}");
        let kernel_module = self.modules.iter_mut().find_map(|module| {
            let number = module.program.listing.kernel(&kernel)?;
            Some((number, module))
        });
        let (number, module) =
            kernel_module.with_context(|| format!("kernel not found: {kernel}"))?;
        let count = arguments.len() / arity;
        ensure!(
            count * arity == arguments.len(),
            "{kernel} takes {arity} arguments"
        );
        module.evaluate(&self.spec, number, arguments, count)
    }
}

impl Module {
    fn evaluate<T: Pod>(
        &mut self,
        spec: &DeviceSpec,
        kernel: usize,
        arguments: &[T],
        count: usize,
    ) -> Result<Vec<T>> {
        let input = self.upload(bytemuck::cast_slice(arguments))?;
        let output = self.upload(&vec![0xa5; count * size_of::<T>()])?;
        let mut params = [0; 24];
        params[..8].copy_from_slice(&input.to_le_bytes());
        params[8..16].copy_from_slice(&output.to_le_bytes());
        params[16..20].copy_from_slice(&u32::try_from(count)?.to_le_bytes());
        let bytes = self.program.listing.kernels[kernel].param_bytes as usize;
        let blocks = u32::try_from(count)?.div_ceil(BLOCK_SIZE).max(1);
        let report = launch(&Launch {
            program: &self.program,
            kernel,
            spec: &LaunchSpec::new([blocks, 1, 1], [BLOCK_SIZE, 1, 1], &params[..bytes]),
            resources: &Resources::default(),
            options: &LaunchOptions::default(),
            global: &self.global,
            device: spec,
        });
        report.result.map_err(Box::new)?;
        let host = self
            .global
            .host(output, (count * size_of::<T>()) as u64)
            .context("the results are in memory")?;
        // SAFETY: `host` has checked the length of a live allocation, which no running launch writes to.
        let bytes = unsafe { std::slice::from_raw_parts(host, count * size_of::<T>()) };
        let results = bytemuck::pod_collect_to_vec(bytes);
        self.global.free(input)?;
        self.global.free(output)?;
        Ok(results)
    }

    /// Allocates device memory with these contents.
    fn upload(&mut self, bytes: &[u8]) -> Result<u64> {
        let length = bytes.len().max(1) as u64;
        let address = self.global.allocate(length)?;
        let host = self
            .global
            .host(address, length)
            .context("just allocated")?;
        // SAFETY: `host` has checked that the allocation is at least `bytes.len()` bytes long.
        unsafe { host.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(address)
    }
}
