//! Modules: PTX loaded into a context, its kernels and its variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use super::{ContextId, CudaError, Driver, FunctionId, ModuleId};
use crate::program::{LoadError, Param, Program};

/// A loaded module.
pub(super) struct Module {
    pub(super) context: ContextId,
    pub(super) program: Arc<Program>,
    /// The handles given out so far, by the kernel's index.
    functions: BTreeMap<usize, FunctionId>,
}

/// A kernel somebody has a handle of.
pub(super) struct Function {
    pub(super) module: ModuleId,
    /// An index into the program's kernels.
    pub(super) kernel: usize,
    /// Dynamic shared memory it may be launched with, where more than usual was asked for.
    pub(super) max_dynamic_shared: Option<u32>,
    /// Percentage of the SM's memory wished for as shared memory; -1: no wish.
    pub(super) carveout: i32,
}

/// Why a module did not load.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// The context is gone or has faulted.
    #[error(transparent)]
    Context(#[from] CudaError),
    /// The PTX is not accepted; the message names the line and the reason.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl ModuleError {
    /// The driver's code for it.
    pub fn code(&self) -> CudaError {
        match self {
            Self::Context(error) => *error,
            Self::Load(LoadError::UnsupportedVersion(..)) => CudaError::UnsupportedPtxVersion,
            Self::Load(LoadError::WrongTarget { .. }) => CudaError::NoBinaryForGpu,
            Self::Load(LoadError::OutOfMemory(_)) => CudaError::OutOfMemory,
            Self::Load(_) => CudaError::InvalidPtx,
        }
    }
}

impl Driver {
    /// Loads PTX text and places its variables in device memory.
    pub fn load_module(&mut self, context: ContextId, ptx: &str) -> Result<ModuleId, ModuleError> {
        self.context(context)?;
        let program = Program::load(ptx, &self.device, &mut self.global)?;
        let id = ModuleId(self.handles.next());
        let module = Module {
            context,
            program: Arc::new(program),
            functions: BTreeMap::new(),
        };
        self.modules.insert(id, module);
        Ok(id)
    }

    /// Unloads a module; its functions and variables are gone.
    pub fn unload_module(&mut self, context: ContextId, module: ModuleId) -> Result<(), CudaError> {
        self.module(context, module)?;
        self.remove_module(module);
        Ok(())
    }

    /// A kernel of `module` by name: the same handle each time.
    pub fn function(
        &mut self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<FunctionId, CudaError> {
        let found = self.module(context, module)?;
        let kernel = found.program.kernel(name).ok_or(CudaError::NotFound)?;
        if let Some(function) = found.functions.get(&kernel) {
            return Ok(*function);
        }
        let id = FunctionId(self.handles.next());
        let function = Function {
            module,
            kernel,
            max_dynamic_shared: None,
            carveout: -1,
        };
        self.functions.insert(id, function);
        if let Some(module) = self.modules.get_mut(&module) {
            module.functions.insert(kernel, id);
        }
        Ok(id)
    }

    /// Address and bytes of a `__device__` or `__constant__` variable of `module`.
    pub fn variable(
        &self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<(u64, u64), CudaError> {
        let found = self.module(context, module)?;
        found.program.variable(name).ok_or(CudaError::NotFound)
    }

    /// The module `function` belongs to.
    pub fn module_of(&self, function: FunctionId) -> Result<ModuleId, CudaError> {
        Ok(self.kernel(function)?.0.module)
    }

    /// Where the parameters of `function` lie, and their bytes in all.
    pub fn parameters(&self, function: FunctionId) -> Result<(&[Param], u32), CudaError> {
        let (function, module) = self.kernel(function)?;
        let kernel = &module.program.kernels[function.kernel];
        Ok((&kernel.params, kernel.param_bytes))
    }

    /// A live function and its module, in a context that has not faulted.
    pub(super) fn kernel(&self, function: FunctionId) -> Result<(&Function, &Module), CudaError> {
        let function = self.functions.get(&function);
        let function = function.ok_or(CudaError::InvalidHandle)?;
        let module = self.modules.get(&function.module);
        let module = module.ok_or(CudaError::InvalidHandle)?;
        self.context(module.context)?;
        Ok((function, module))
    }

    /// Drops a module and all that was made for it.
    pub(super) fn remove_module(&mut self, module: ModuleId) {
        self.functions
            .retain(|_, function| function.module != module);
        let removed = self.modules.remove(&module);
        for address in removed
            .iter()
            .flat_map(|module| module.program.allocations())
        {
            let freed = self.global.free(*address);
            debug_assert_eq!(freed, Ok(()), "a module's own variable");
        }
    }

    /// A live module of `context`.
    fn module(&self, context: ContextId, module: ModuleId) -> Result<&Module, CudaError> {
        self.context(context)?;
        let found = self.modules.get(&module);
        let found = found.filter(|module| module.context == context);
        found.ok_or(CudaError::InvalidHandle)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PTX, driver};
    use super::*;

    #[test]
    fn kernels_and_variables_are_found_by_name() {
        let (mut driver, context) = driver();
        let module = driver.load_module(context, PTX).unwrap();
        let function = driver.function(context, module, "store").unwrap();
        assert_eq!(driver.function(context, module, "store"), Ok(function));
        assert_eq!(driver.module_of(function), Ok(module));
        assert_eq!(driver.parameters(function).unwrap().1, 12);
        assert_eq!(driver.variable(context, module, "factor").unwrap().1, 4);
        assert_eq!(driver.variable(context, module, "table").unwrap().1, 64);
        assert_eq!(
            driver.function(context, module, "factor"),
            Err(CudaError::NotFound)
        );
        assert_eq!(
            driver.variable(context, module, "store"),
            Err(CudaError::NotFound)
        );
    }

    #[test]
    fn unloading_ends_functions_and_variables() {
        let (mut driver, context) = driver();
        let before = driver.memory_info(context).unwrap();
        let module = driver.load_module(context, PTX).unwrap();
        let function = driver.function(context, module, "store").unwrap();
        let (address, _) = driver.variable(context, module, "table").unwrap();
        assert_eq!(driver.free(context, address), Err(CudaError::InvalidValue));
        driver.unload_module(context, module).unwrap();
        assert_eq!(driver.memory_info(context), Ok(before));
        let gone = CudaError::InvalidHandle;
        assert_eq!(driver.parameters(function).err(), Some(gone));
        assert_eq!(driver.unload_module(context, module), Err(gone));
        assert_eq!(driver.function(context, module, "store"), Err(gone));
    }

    #[test]
    fn a_context_takes_its_modules_with_it() {
        let (mut driver, primary) = driver();
        let own = driver.create_context(0).unwrap();
        let before = driver.memory_info(primary).unwrap();
        let module = driver.load_module(own, PTX).unwrap();
        let function = driver.function(own, module, "store").unwrap();
        assert_eq!(
            driver.function(primary, module, "store"),
            Err(CudaError::InvalidHandle)
        );
        driver.destroy_context(own).unwrap();
        assert_eq!(driver.memory_info(primary), Ok(before));
        assert_eq!(driver.module_of(function), Err(CudaError::InvalidHandle));
    }

    #[test]
    fn ptx_that_does_not_load_has_the_drivers_code_and_a_message() {
        let (mut driver, context) = driver();
        let cases = [
            ("int main() {}", CudaError::InvalidPtx, "1"),
            (
                ".version 99.0\n.target sm_52\n.address_size 64\n",
                CudaError::UnsupportedPtxVersion,
                "99.0",
            ),
            (
                ".version 6.4\n.target sm_120\n.address_size 64\n",
                CudaError::NoBinaryForGpu,
                "sm_120",
            ),
            (
                ".version 6.4\n.target sm_52\n.address_size 64\n.const .b8 big[65537];\n",
                CudaError::InvalidPtx,
                "65536",
            ),
        ];
        for (ptx, code, named) in cases {
            let error = driver.load_module(context, ptx).err().unwrap();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}
