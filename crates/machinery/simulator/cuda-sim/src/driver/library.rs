//! Libraries: PTX that is loaded for all contexts at once, and context-independent kernels. Each context that
//! uses a library has a module for it, loaded on first use.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::attribute::{FunctionSettings, attribute_value, validate_setting};
use super::module::{ModuleError, check_source};
use super::{ContextId, CudaError, Driver, FunctionId, KernelId, LibraryId, ModuleId};
use crate::exec::sm::Program;
use crate::isa::{Kernel, Param};
use crate::lower;
use crate::memory::global::Global;

/// The state of a `CUlibrary`.
pub(super) struct LoadedLibrary {
    ptx: Arc<str>,
    /// The program of one of its modules, for properties that are equal in all; or the error of a library whose PTX does
    /// not load.
    program: Result<Arc<Program>, CudaError>,
    /// The kernel handles created so far, by the kernel's index in the program.
    kernels: BTreeMap<usize, KernelId>,
    /// The module of each context that has used the library. It may have been unloaded since.
    modules: BTreeMap<ContextId, ModuleId>,
}

/// The state of a `CUkernel`.
pub(super) struct LibraryKernel {
    library: LibraryId,
    /// The kernel's index in the library's program.
    index: usize,
    settings: FunctionSettings,
}

impl LoadedLibrary {
    /// Returns its program. Fails with the error of its PTX.
    fn program(&self) -> Result<&Program, CudaError> {
        self.program.as_deref().map_err(|error| *error)
    }
}

impl Driver {
    /// `cuLibraryLoadData`: loads PTX text for all contexts, immediately for the current one, if any. The
    /// error describes why the PTX does not load, and has the driver's error code.
    pub fn load_library(
        &mut self,
        current: Option<ContextId>,
        ptx: &str,
    ) -> Result<LibraryId, ModuleError> {
        let mut modules = BTreeMap::new();
        let program = match current {
            Some(context) => {
                let module = self.load_module(context, ptx)?;
                modules.insert(context, module);
                self.modules[&module].program.clone()
            }
            None => {
                check_source(ptx)?;
                let mut scratch = Global::new(self.global.capacity());
                Arc::new(lower::load(ptx, &self.device, &mut scratch)?)
            }
        };
        let id = LibraryId(self.handles.next());
        let library = LoadedLibrary {
            ptx: ptx.into(),
            program: Ok(program),
            kernels: BTreeMap::new(),
            modules,
        };
        self.libraries.insert(id, library);
        Ok(id)
    }

    /// Adds a library whose PTX does not load. As with the driver, which loads libraries lazily, each use of it fails with
    /// this error.
    pub fn add_failed_library(&mut self, error: CudaError) -> LibraryId {
        let id = LibraryId(self.handles.next());
        let library = LoadedLibrary {
            ptx: "".into(),
            program: Err(error),
            kernels: BTreeMap::new(),
            modules: BTreeMap::new(),
        };
        self.libraries.insert(id, library);
        id
    }

    /// `cuLibraryUnload`: unloads a library from all contexts. Fails with [`CudaError::InvalidHandle`] for an
    /// unknown library.
    pub fn unload_library(&mut self, library: LibraryId) -> Result<(), CudaError> {
        let removed = self
            .libraries
            .remove(&library)
            .ok_or(CudaError::InvalidHandle)?;
        self.kernels.retain(|_, kernel| kernel.library != library);
        for module in removed.modules.into_values() {
            self.remove_module(module);
        }
        Ok(())
    }

    /// `cuLibraryGetModule`: returns the module of `library` in `context`. Fails with
    /// [`CudaError::InvalidHandle`] for an unknown library, and with the errors of [`Driver::load_module`].
    pub fn library_module(
        &mut self,
        library: LibraryId,
        context: ContextId,
    ) -> Result<ModuleId, CudaError> {
        let entry = self.library(library)?;
        if let Some(&module) = entry.modules.get(&context)
            && self.modules.contains_key(&module)
        {
            self.context(context)?;
            return Ok(module);
        }
        entry.program()?;
        let ptx = entry.ptx.clone();
        let module = self
            .load_module(context, &ptx)
            .map_err(|error| error.code())?;
        if let Some(entry) = self.libraries.get_mut(&library) {
            entry.modules.insert(context, module);
        }
        Ok(module)
    }

    /// `cuLibraryGetKernel`: returns a kernel of `library` by name, with the same handle each time. Fails
    /// with [`CudaError::NotFound`] if there is no such kernel, and with [`CudaError::InvalidHandle`] for an
    /// unknown library.
    pub fn library_kernel(
        &mut self,
        library: LibraryId,
        name: &str,
    ) -> Result<KernelId, CudaError> {
        let entry = self.library(library)?.program()?.listing.kernel(name);
        self.kernel_handle(library, entry.ok_or(CudaError::NotFound)?)
    }

    /// `cuLibraryEnumerateKernels`: returns all kernels of `library`, in the order of its text. Fails with
    /// [`CudaError::InvalidHandle`] for an unknown library.
    pub fn library_kernels(&mut self, library: LibraryId) -> Result<Vec<KernelId>, CudaError> {
        let count = self.library(library)?.program()?.listing.kernels.len();
        let kernels = (0..count).map(|index| self.kernel_handle(library, index));
        kernels.collect()
    }

    /// `cuKernelGetLibrary`: returns the library of `kernel`. This and the functions below fail with
    /// [`CudaError::InvalidHandle`] for an unknown kernel.
    pub fn kernel_library(&self, kernel: KernelId) -> Result<LibraryId, CudaError> {
        Ok(self.kernel(kernel)?.0.library)
    }

    /// `cuKernelGetName`: returns the name of `kernel`.
    pub fn kernel_name(&self, kernel: KernelId) -> Result<&str, CudaError> {
        Ok(&self.kernel(kernel)?.1.name)
    }

    /// `cuKernelGetParamInfo`: returns the layout of the parameters of `kernel`.
    pub fn kernel_parameters(&self, kernel: KernelId) -> Result<&[Param], CudaError> {
        Ok(&self.kernel(kernel)?.1.params)
    }

    /// `cuKernelGetFunction`: returns the function of `kernel` in `context`. Fails with the errors of
    /// [`Driver::library_module`].
    pub fn kernel_function(
        &mut self,
        kernel: KernelId,
        context: ContextId,
    ) -> Result<FunctionId, CudaError> {
        let (library_kernel, entry) = self.kernel(kernel)?;
        let (library, name) = (library_kernel.library, entry.name.clone());
        let module = self.library_module(library, context)?;
        self.function(context, module, &name)
    }

    /// Returns the attributes with which a kernel of a module starts: of a library's module, those that
    /// [`Driver::set_kernel_attribute`] has set. Later settings of the function and of the kernel replace each other.
    pub(super) fn initial_settings(&self, module: ModuleId, kernel: usize) -> FunctionSettings {
        let has_module =
            |library: &&LoadedLibrary| library.modules.values().any(|&id| id == module);
        let library = self.libraries.values().find(has_module);
        let kernel = library.and_then(|library| library.kernels.get(&kernel));
        let kernel = kernel.and_then(|kernel| self.kernels.get(kernel));
        kernel.map_or_else(FunctionSettings::default, |kernel| kernel.settings)
    }

    /// Resolves a function handle for a launch or a query in `context`: the handle may also be that of a
    /// library's kernel. A handle that is neither fails with [`CudaError::InvalidHandle`] when it is used.
    pub fn resolve_function(
        &mut self,
        handle: u64,
        context: Option<ContextId>,
    ) -> Result<FunctionId, CudaError> {
        if !self.kernels.contains_key(&KernelId(handle)) {
            return Ok(FunctionId(handle));
        }
        self.kernel_function(KernelId(handle), context.ok_or(CudaError::InvalidContext)?)
    }

    /// `cuKernelGetAttribute`: returns attribute `number` of `kernel`. Fails with [`CudaError::InvalidValue`]
    /// if there is no such attribute.
    pub fn kernel_attribute(&self, kernel: KernelId, number: i32) -> Result<i32, CudaError> {
        let (kernel, entry) = self.kernel(kernel)?;
        let target = self.library(kernel.library)?.program()?.listing.ptx_target;
        attribute_value(&self.device, entry, target, &kernel.settings, number)
    }

    /// `cuKernelSetAttribute`: sets an attribute like [`Driver::set_function_attribute`], in all contexts.
    pub fn set_kernel_attribute(
        &mut self,
        kernel: KernelId,
        number: i32,
        value: i32,
    ) -> Result<(), CudaError> {
        let (entry, kernel_info) = self.kernel(kernel)?;
        let mut settings = entry.settings;
        validate_setting(&self.device, kernel_info, number, value)?;
        settings.set(number, value);
        let (library, index) = (entry.library, entry.index);
        let modules: Vec<ModuleId> = self.library(library)?.modules.values().copied().collect();
        for function in self.functions.values_mut() {
            if function.kernel == index && modules.contains(&function.module) {
                function.settings.set(number, value);
            }
        }
        if let Some(kernel) = self.kernels.get_mut(&kernel) {
            kernel.settings = settings;
        }
        Ok(())
    }

    fn library(&self, library: LibraryId) -> Result<&LoadedLibrary, CudaError> {
        self.libraries.get(&library).ok_or(CudaError::InvalidHandle)
    }

    fn kernel(&self, kernel: KernelId) -> Result<(&LibraryKernel, &Kernel), CudaError> {
        let entry = self.kernels.get(&kernel).ok_or(CudaError::InvalidHandle)?;
        let listing = &self.library(entry.library)?.program()?.listing;
        Ok((entry, &listing.kernels[entry.index]))
    }

    /// Returns the handle of the kernel with this index, and creates it on first use.
    fn kernel_handle(&mut self, library: LibraryId, index: usize) -> Result<KernelId, CudaError> {
        if let Some(&handle) = self.library(library)?.kernels.get(&index) {
            return Ok(handle);
        }
        let id = KernelId(self.handles.next());
        let kernel = LibraryKernel {
            library,
            index,
            settings: FunctionSettings::default(),
        };
        self.kernels.insert(id, kernel);
        if let Some(library) = self.libraries.get_mut(&library) {
            library.kernels.insert(index, id);
        }
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PTX, driver};
    use crate::driver::CudaError::*;

    #[test]
    fn a_library_has_one_module_per_context() {
        let (mut driver, context) = driver();
        let free = driver.memory_info(context).unwrap();
        let library = driver.load_library(None, PTX).unwrap();
        assert_eq!(
            driver.memory_info(context).unwrap(),
            free,
            "in no context yet"
        );
        let kernel = driver.library_kernel(library, "store").unwrap();
        assert_eq!(driver.library_kernel(library, "store"), Ok(kernel));
        assert_eq!(driver.kernel_name(kernel), Ok("store"));
        assert_eq!(driver.kernel_library(kernel), Ok(library));
        assert!(driver.library_kernels(library).unwrap().contains(&kernel));
        assert_eq!(driver.kernel_parameters(kernel).unwrap().len(), 2);
        let other = driver.create_context(0, 0).unwrap();
        let in_context = driver.kernel_function(kernel, context).unwrap();
        let in_other = driver.kernel_function(kernel, other).unwrap();
        assert_ne!(in_context, in_other);
        assert_eq!(driver.kernel_function(kernel, context), Ok(in_context));
        assert_eq!(driver.resolve_function(kernel.0, Some(other)), Ok(in_other));
        assert_eq!(driver.resolve_function(in_context.0, None), Ok(in_context));
        let without = driver.resolve_function(kernel.0, None);
        assert_eq!(without, Err(InvalidContext));
        let module = driver.library_module(library, context).unwrap();
        assert_eq!(driver.function_module(in_context), Ok(module));

        driver.unload_library(library).unwrap();
        assert_eq!(driver.memory_info(context).unwrap(), free);
        let invalid = Err(InvalidHandle);
        assert_eq!(driver.unload_library(library), invalid);
        assert_eq!(driver.kernel_attribute(kernel, 0), Err(InvalidHandle));
        assert_eq!(driver.function_module(in_context), Err(InvalidHandle));
    }

    #[test]
    fn kernel_attributes_apply_to_all_contexts() {
        let (mut driver, context) = driver();
        let library = driver.load_library(Some(context), PTX).unwrap();
        let kernel = driver.library_kernel(library, "store").unwrap();
        let in_context = driver.kernel_function(kernel, context).unwrap();
        driver.set_kernel_attribute(kernel, 8, 100 << 10).unwrap();
        assert_eq!(driver.kernel_attribute(kernel, 8), Ok(100 << 10));
        assert_eq!(driver.function_attribute(in_context, 8), Ok(100 << 10));
        let other = driver.create_context(0, 0).unwrap();
        let in_other = driver.kernel_function(kernel, other).unwrap();
        assert_eq!(driver.function_attribute(in_other, 8), Ok(100 << 10));
        let refused = driver.set_kernel_attribute(kernel, 8, 1 << 30);
        assert_eq!(refused, Err(InvalidValue));
        driver.destroy_context(other).unwrap();
        assert_eq!(driver.function_attribute(in_context, 8), Ok(100 << 10));
    }

    #[test]
    fn function_attributes_of_library_kernels_are_kept() {
        let (mut driver, context) = driver();
        let library = driver.load_library(Some(context), PTX).unwrap();
        let kernel = driver.library_kernel(library, "store").unwrap();
        let function = driver.kernel_function(kernel, context).unwrap();
        driver
            .set_function_attribute(function, 8, 90 << 10)
            .unwrap();
        assert_eq!(driver.kernel_function(kernel, context), Ok(function));
        driver.resolve_function(kernel.0, Some(context)).unwrap();
        assert_eq!(driver.function_attribute(function, 8), Ok(90 << 10));
        assert_ne!(driver.kernel_attribute(kernel, 8), Ok(90 << 10));
        // The last setting applies.
        driver.set_kernel_attribute(kernel, 8, 80 << 10).unwrap();
        assert_eq!(driver.function_attribute(function, 8), Ok(80 << 10));
        // A function of the library's module starts with the kernel's setting too.
        let other = driver.create_context(0, 0).unwrap();
        let module = driver.library_module(library, other).unwrap();
        let of_module = driver.function(other, module, "store").unwrap();
        assert_eq!(driver.function_attribute(of_module, 8), Ok(80 << 10));
    }

    #[test]
    fn invalid_libraries_and_unknown_kernels_are_rejected() {
        let (mut driver, context) = driver();
        for current in [None, Some(context)] {
            assert!(driver.load_library(current, "nothing").is_err());
            let invalid_ptx = ".version 6.4\n.target sm_52\n.address_size 64\n.entry k() { oops; }";
            assert!(driver.load_library(current, invalid_ptx).is_err());
            let library = driver.load_library(current, PTX).unwrap();
            let missing = driver.library_kernel(library, "nothing");
            assert_eq!(missing, Err(NotFound));
        }
    }
}
