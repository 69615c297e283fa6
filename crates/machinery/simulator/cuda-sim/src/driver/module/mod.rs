//! Modules: PTX that is loaded into a context, with its kernels and variables.

mod compiler;
mod error;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::error::ModuleError;

use self::compiler::is_from_nvidia;
use super::function_attribute::FunctionSettings;
use super::{ContextId, CudaError, Driver, FunctionId, ModuleId};
use crate::exec::sm::Program;
use crate::isa::{Kernel, Param};
use crate::lower;

/// The state of a `CUmodule`.
pub(super) struct LoadedModule {
    pub(super) context: ContextId,
    pub(super) program: Arc<Program>,
    /// The function handles created so far, by the kernel's index in the program.
    functions: BTreeMap<usize, FunctionId>,
}

/// The state of a `CUfunction`: a kernel that was requested from a module.
pub(super) struct LoadedFunction {
    pub(super) module: ModuleId,
    /// The kernel's index in the module's program.
    pub(super) kernel: usize,
    pub(super) settings: FunctionSettings,
}

/// Validates a text before it is linked to others. Fails if it is not PTX, or if one of NVIDIA's compilers
/// generated it.
pub fn check_source(ptx: &str) -> Result<(), ModuleError> {
    if !ptx.contains(".version") {
        return Err(ModuleError::NotPtx);
    }
    if is_from_nvidia(ptx) {
        return Err(ModuleError::MadeByNvidia);
    }
    Ok(())
}

impl LoadedModule {
    /// Returns the kernel of `function`, which must be one of this module's.
    pub(super) fn kernel(&self, function: &LoadedFunction) -> &Kernel {
        &self.program.listing.kernels[function.kernel]
    }
}

impl Driver {
    /// `cuModuleLoadData`: loads PTX text and places its variables in device memory. The error describes why
    /// the PTX does not load, and has the driver's error code.
    pub fn load_module(&mut self, context: ContextId, ptx: &str) -> Result<ModuleId, ModuleError> {
        self.global_of(context)?;
        check_source(ptx)?;
        let program = lower::load(ptx, &self.device, &mut self.global)?;
        let id = ModuleId(self.handles.next());
        let module = LoadedModule {
            context,
            program: Arc::new(program),
            functions: BTreeMap::new(),
        };
        self.modules.insert(id, module);
        Ok(id)
    }

    /// Returns the context of `module`. Fails with [`CudaError::InvalidHandle`] for an unknown module.
    pub fn module_context(&self, module: ModuleId) -> Result<ContextId, CudaError> {
        let loaded = self.modules.get(&module);
        Ok(loaded.ok_or(CudaError::InvalidHandle)?.context)
    }

    /// `cuModuleUnload`: unloads a module with its functions and variables. Fails with
    /// [`CudaError::InvalidHandle`] if the module is not loaded in `context`.
    pub fn unload_module(&mut self, context: ContextId, module: ModuleId) -> Result<(), CudaError> {
        self.module(context, module)?;
        self.remove_module(module);
        Ok(())
    }

    /// `cuModuleGetFunction`: returns a kernel of `module` by name, with the same handle each time. Fails
    /// with [`CudaError::NotFound`] if there is no such kernel, and with [`CudaError::InvalidHandle`] if the
    /// module is not loaded in `context`.
    pub fn function(
        &mut self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<FunctionId, CudaError> {
        let loaded = self.module(context, module)?;
        let kernel = loaded
            .program
            .listing
            .kernel(name)
            .ok_or(CudaError::NotFound)?;
        if let Some(function) = loaded.functions.get(&kernel) {
            return Ok(*function);
        }
        let id = FunctionId(self.handles.next());
        let function = LoadedFunction {
            module,
            kernel,
            settings: FunctionSettings::default(),
        };
        self.functions.insert(id, function);
        if let Some(module) = self.modules.get_mut(&module) {
            module.functions.insert(kernel, id);
        }
        Ok(id)
    }

    /// `cuModuleGetGlobal`: returns the address and the size in bytes of a `__device__` or `__constant__`
    /// variable of `module`. Fails with [`CudaError::NotFound`] if there is no such variable, and with
    /// [`CudaError::InvalidHandle`] if the module is not loaded in `context`.
    pub fn variable(
        &self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<(u64, u64), CudaError> {
        let loaded = self.module(context, module)?;
        loaded.program.variable(name).ok_or(CudaError::NotFound)
    }

    /// `cuModuleEnumerateFunctions`: returns all kernels of `module`, in the order of its text. Fails with
    /// [`CudaError::InvalidHandle`] if the module is not loaded in `context`.
    pub fn functions(
        &mut self,
        context: ContextId,
        module: ModuleId,
    ) -> Result<Vec<FunctionId>, CudaError> {
        let kernels = &self.module(context, module)?.program.listing.kernels;
        let names = kernels.iter().map(|kernel| kernel.name.clone());
        let names: Vec<String> = names.collect();
        let functions = names
            .iter()
            .map(|name| self.function(context, module, name));
        functions.collect()
    }

    /// `cuFuncGetName`: returns the name of `function`. Fails with [`CudaError::InvalidHandle`] for an
    /// unknown function.
    pub fn function_name(&self, function: FunctionId) -> Result<&str, CudaError> {
        let (function, module) = self.loaded_function(function)?;
        Ok(&module.kernel(function).name)
    }

    /// `cuFuncGetModule`: returns the module of `function`. Fails with [`CudaError::InvalidHandle`] for an
    /// unknown function.
    pub fn function_module(&self, function: FunctionId) -> Result<ModuleId, CudaError> {
        Ok(self.loaded_function(function)?.0.module)
    }

    /// `cuFuncGetParamInfo`: returns the layout of the parameters of `function`, and their total size in
    /// bytes. Fails with [`CudaError::InvalidHandle`] for an unknown function.
    pub fn parameters(&self, function: FunctionId) -> Result<(&[Param], u32), CudaError> {
        let (function, module) = self.loaded_function(function)?;
        let kernel = module.kernel(function);
        Ok((&kernel.params, kernel.param_bytes))
    }

    /// Returns a function of a loaded module, and that module. Fails with [`CudaError::InvalidHandle`] if
    /// there is none, or with the sticky error of its context.
    pub(super) fn loaded_function(
        &self,
        function: FunctionId,
    ) -> Result<(&LoadedFunction, &LoadedModule), CudaError> {
        let function = self.functions.get(&function);
        let function = function.ok_or(CudaError::InvalidHandle)?;
        let module = self.modules.get(&function.module);
        let module = module.ok_or(CudaError::InvalidHandle)?;
        self.context(module.context)?;
        Ok((function, module))
    }

    /// Removes a module with its functions and variables. Does nothing if the module does not exist.
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

    /// Returns a module of `context`. Fails with [`CudaError::InvalidHandle`] if there is none, or with the
    /// sticky error of the context.
    fn module(&self, context: ContextId, module: ModuleId) -> Result<&LoadedModule, CudaError> {
        self.context(context)?;
        let loaded = self.modules.get(&module);
        let loaded = loaded.filter(|module| module.context == context);
        loaded.ok_or(CudaError::InvalidHandle)
    }
}
