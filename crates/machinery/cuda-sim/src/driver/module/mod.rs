//! Modules: PTX loaded into a context, its kernels and its variables.

mod compiler;
mod error;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::error::ModuleError;

use self::compiler::made_by_nvidia;
use super::function_attribute::FunctionSettings;
use super::{ContextId, CudaError, Driver, FunctionId, ModuleId};
use crate::exec::sm::Program;
use crate::isa::{Kernel, Param};
use crate::lower;

/// What a `CUmodule` stands for.
pub(super) struct LoadedModule {
    pub(super) context: ContextId,
    pub(super) program: Arc<Program>,
    /// The handles given out so far, by the kernel's index in the program.
    functions: BTreeMap<usize, FunctionId>,
}

/// What a `CUfunction` stands for: a kernel that somebody asked a module for.
pub(super) struct LoadedFunction {
    pub(super) module: ModuleId,
    /// The kernel's index in the module's program.
    pub(super) kernel: usize,
    pub(super) settings: FunctionSettings,
}

/// Refuses a text that is no PTX at all, and the output of NVIDIA's compilers: before it is linked to others.
pub fn check_source(ptx: &str) -> Result<(), ModuleError> {
    if !ptx.contains(".version") {
        return Err(ModuleError::NotPtx);
    }
    if made_by_nvidia(ptx) {
        return Err(ModuleError::MadeByNvidia);
    }
    Ok(())
}

impl LoadedModule {
    /// What is known of the kernel that `function`, one of this module's, stands for.
    pub(super) fn kernel(&self, function: &LoadedFunction) -> &Kernel {
        &self.program.listing.kernels[function.kernel]
    }
}

impl Driver {
    /// `cuModuleLoadData`: loads PTX text and places its variables in device memory. The error says
    /// why it does not load, and has the driver's code for that.
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

    /// The context that `module` was loaded into. [`CudaError::InvalidHandle`] for a module that is
    /// not loaded.
    pub fn module_context(&self, module: ModuleId) -> Result<ContextId, CudaError> {
        let found = self.modules.get(&module);
        Ok(found.ok_or(CudaError::InvalidHandle)?.context)
    }

    /// `cuModuleUnload`: unloads a module; its functions and variables are gone.
    /// [`CudaError::InvalidHandle`] for a module that is not loaded into `context`.
    pub fn unload_module(&mut self, context: ContextId, module: ModuleId) -> Result<(), CudaError> {
        self.module(context, module)?;
        self.remove_module(module);
        Ok(())
    }

    /// `cuModuleGetFunction`: a kernel of `module` by name, the same handle each time.
    /// [`CudaError::NotFound`] where it has no such kernel, [`CudaError::InvalidHandle`] for a
    /// module that is not loaded into `context`.
    pub fn function(
        &mut self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<FunctionId, CudaError> {
        let found = self.module(context, module)?;
        let kernel = found
            .program
            .listing
            .kernel(name)
            .ok_or(CudaError::NotFound)?;
        if let Some(function) = found.functions.get(&kernel) {
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

    /// `cuModuleGetGlobal`: address and bytes of a `__device__` or `__constant__` variable of
    /// `module`. [`CudaError::NotFound`] where it has no such variable,
    /// [`CudaError::InvalidHandle`] for a module that is not loaded into `context`.
    pub fn variable(
        &self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<(u64, u64), CudaError> {
        let found = self.module(context, module)?;
        found.program.variable(name).ok_or(CudaError::NotFound)
    }

    /// `cuModuleEnumerateFunctions`: all kernels of `module`, in the order of its text.
    /// [`CudaError::InvalidHandle`] for a module that is not loaded into `context`.
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

    /// `cuFuncGetName`: the name of `function`. [`CudaError::InvalidHandle`] for an unknown function.
    pub fn function_name(&self, function: FunctionId) -> Result<&str, CudaError> {
        let (function, module) = self.loaded_function(function)?;
        Ok(&module.kernel(function).name)
    }

    /// `cuFuncGetModule`: the module `function` belongs to. [`CudaError::InvalidHandle`] for an
    /// unknown function.
    pub fn function_module(&self, function: FunctionId) -> Result<ModuleId, CudaError> {
        Ok(self.loaded_function(function)?.0.module)
    }

    /// `cuFuncGetParamInfo`: where the parameters of `function` lie, and their bytes in all.
    /// [`CudaError::InvalidHandle`] for an unknown function.
    pub fn parameters(&self, function: FunctionId) -> Result<(&[Param], u32), CudaError> {
        let (function, module) = self.loaded_function(function)?;
        let kernel = module.kernel(function);
        Ok((&kernel.params, kernel.param_bytes))
    }

    /// A function of a loaded module, and that module. [`CudaError::InvalidHandle`] where there is
    /// none, or the fault that ended its context.
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

    /// Ends a module, its functions and its variables. Nothing is left to do where it is gone.
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

    /// A module loaded into `context`. [`CudaError::InvalidHandle`] where there is none, or the
    /// fault that ended the context.
    fn module(&self, context: ContextId, module: ModuleId) -> Result<&LoadedModule, CudaError> {
        self.context(context)?;
        let found = self.modules.get(&module);
        let found = found.filter(|module| module.context == context);
        found.ok_or(CudaError::InvalidHandle)
    }
}
