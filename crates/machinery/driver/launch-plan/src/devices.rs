//! The devices that plans run on: a module loaded by the CUDA driver, and the simulator's Rust API.

use std::ffi::{CString, c_void};
use std::ptr;

use anyhow::{Context as _, Result, bail, ensure};
use cuda_sim::launch::LaunchReport;
use cust::error::CudaResult;
use cust::memory::{CopyDestination as _, DeviceBuffer, DevicePointer, DeviceSlice};
use cust::stream::Stream;
use cust::sys::{self, CUjit_option};
use sim_machine::Machine;

use crate::execute::Device;
use crate::kernels::{EntryPoint, Parameter, entry_points, find};
use crate::resolve::Launch;

/// A PTX module loaded into the current context, and the stream of its launches. It uses the driver API directly,
/// because cust's module type requires the size of a variable at compile time.
pub struct DriverModule<'a> {
    module: sys::CUmodule,
    entries: Vec<EntryPoint>,
    stream: &'a Stream,
    memory: Vec<DeviceBuffer<u8>>,
}

impl<'a> DriverModule<'a> {
    /// Loads PTX source, with the lines of the kernels' sources for profilers and checkers.
    ///
    /// # Errors
    ///
    /// Fails if the driver rejects the source.
    pub fn load(ptx: &str, stream: &'a Stream) -> Result<Self> {
        let text = CString::new(ptx).context("the PTX contains a NUL byte")?;
        let mut module = ptr::null_mut();
        let mut options = [CUjit_option::CU_JIT_GENERATE_LINE_INFO];
        let mut values = [ptr::without_provenance_mut::<c_void>(1)];
        // SAFETY: `module` is writable, `text` is NUL-terminated, and there is one value per option.
        let code = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        check(code).context("cannot load the kernels")?;
        Ok(DriverModule {
            module,
            entries: entry_points(ptx),
            stream,
            memory: Vec::new(),
        })
    }
}

impl Drop for DriverModule<'_> {
    fn drop(&mut self) {
        self.memory.clear();
        // SAFETY: the module is loaded, and no launch of its kernels is running: freeing the memory has waited for
        // them. After a fault unloading fails, which is of no consequence.
        let _ = unsafe { sys::cuModuleUnload(self.module) };
    }
}

impl Device for DriverModule<'_> {
    type Kernel = sys::CUfunction;

    fn kernel(&mut self, name: &str) -> Result<(Self::Kernel, Option<Vec<Parameter>>)> {
        let entry = find(&self.entries, name)?;
        let symbol = CString::new(entry.symbol.as_str())?;
        let mut function = ptr::null_mut();
        // SAFETY: `function` is writable, the module is loaded, and `symbol` is NUL-terminated.
        check(unsafe { sys::cuModuleGetFunction(&mut function, self.module, symbol.as_ptr()) })?;
        Ok((function, Some(entry.parameters.clone())))
    }

    fn allocate(&mut self, bytes: usize) -> Result<u64> {
        // SAFETY: any bytes are a valid `u8`, and on the device nothing assumes that they are initialized.
        let memory = unsafe { DeviceBuffer::uninitialized(bytes) }?;
        let address = memory.as_device_ptr().as_raw();
        self.memory.push(memory);
        Ok(address)
    }

    fn variable(&mut self, name: &str, bytes: usize) -> Result<u64> {
        let c_name = CString::new(name).with_context(|| format!("{name:?} is not a valid name"))?;
        let (mut address, mut size) = (0, 0);
        // SAFETY: `address` and `size` are writable, and `c_name` is NUL-terminated.
        let code = unsafe {
            sys::cuModuleGetGlobal_v2(&mut address, &mut size, self.module, c_name.as_ptr())
        };
        match check(code) {
            Ok(()) if size < bytes => {
                bail!(
                    "{name} has {size} bytes in the kernel's file, but {bytes} in the launch plan"
                )
            }
            Ok(()) => Ok(address),
            Err(_) => bail!(
                "the kernel's file has no __constant__ or __device__ variable {name} that a kernel uses"
            ),
        }
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        Ok(copy_to_device(address, bytes)?)
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<()> {
        Ok(copy_from_device(bytes, address)?)
    }

    unsafe fn launch(
        &mut self,
        kernel: &Self::Kernel,
        launch: &Launch,
        arguments: &[Vec<u8>],
    ) -> Result<()> {
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (launch.grid, launch.block);
        let pointers = arguments.iter().map(|value| value.as_ptr().cast());
        let mut pointers: Vec<*mut c_void> = pointers.map(<*const c_void>::cast_mut).collect();
        // SAFETY: there is one pointer per parameter, each to as many bytes as the parameter has. The driver only
        // reads them. An invalid access of the kernel can only affect device memory.
        let code = unsafe {
            sys::cuLaunchKernel(
                *kernel,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                launch.shared,
                self.stream.as_inner(),
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        check(code).with_context(|| format!("cannot launch {}", launch.kernel))
    }

    fn synchronize(&mut self) -> Result<()> {
        Ok(self.stream.synchronize()?)
    }
}

/// Copies bytes to an address in device memory.
///
/// # Errors
///
/// Fails if the copy does, for example because the memory is not allocated.
pub fn copy_to_device(address: u64, bytes: &[u8]) -> CudaResult<()> {
    slice(address, bytes.len()).copy_from(bytes)
}

/// Copies bytes from an address in device memory.
///
/// # Errors
///
/// Fails if the copy does, for example because the memory is not allocated.
pub fn copy_from_device(bytes: &mut [u8], address: u64) -> CudaResult<()> {
    slice(address, bytes.len()).copy_to(bytes)
}

/// Returns device memory as a slice, for copies.
fn slice(address: u64, bytes: usize) -> DeviceSlice<u8> {
    // SAFETY: the slice is used only for copies between host and device, whose range the driver checks.
    unsafe { DeviceSlice::from_raw_parts(DevicePointer::from_raw(address), bytes) }
}

/// Converts the driver's result code to a `Result`.
fn check(code: sys::CUresult) -> Result<()> {
    ensure!(code == sys::CUresult::CUDA_SUCCESS, "{code:?}");
    Ok(())
}

/// A module on the simulator.
pub struct Simulator {
    pub machine: Machine,
    entries: Vec<EntryPoint>,
    /// The report of the last launch.
    pub report: Option<LaunchReport>,
}

impl Simulator {
    /// Loads PTX source into a machine with `memory` bytes of device memory.
    ///
    /// # Errors
    ///
    /// Fails if the PTX is invalid or its variables do not fit into the memory.
    pub fn load(ptx: &str, memory: u64) -> Result<Self> {
        Ok(Simulator {
            machine: Machine::load(ptx, memory)?,
            entries: entry_points(ptx),
            report: None,
        })
    }
}

impl Device for Simulator {
    /// The kernel's name in the PTX.
    type Kernel = String;

    fn kernel(&mut self, name: &str) -> Result<(String, Option<Vec<Parameter>>)> {
        let entry = find(&self.entries, name)?;
        Ok((entry.symbol.clone(), Some(entry.parameters.clone())))
    }

    fn allocate(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.machine.allocate(bytes as u64)?)
    }

    fn variable(&mut self, name: &str, bytes: usize) -> Result<u64> {
        let (address, size) = self
            .machine
            .program
            .variable(name)
            .with_context(|| format!("the module has no variable {name}"))?;
        ensure!(size >= bytes as u64, "{name} has only {size} bytes");
        Ok(address)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        self.machine.write(address, bytes);
        Ok(())
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&self.machine.read::<u8>(address, bytes.len()));
        Ok(())
    }

    unsafe fn launch(
        &mut self,
        kernel: &String,
        launch: &Launch,
        arguments: &[Vec<u8>],
    ) -> Result<()> {
        let launch =
            sim_machine::Launch::new(kernel, launch.grid, launch.block, arguments.to_vec())
                .shared(launch.shared);
        self.report = Some(self.machine.launch(&launch).map_err(Box::new)?);
        Ok(())
    }

    fn synchronize(&mut self) -> Result<()> {
        Ok(())
    }
}
