//! The registry of the program's kernels and variables, and of the modules they are loaded into.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null_mut, with_exposed_provenance_mut, without_provenance_mut};
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cuda_driver::{functions as cu, warn};
use cust_raw::{CUfunction, CUmodule};

use super::Variable;
use super::image::Image;
use crate::context::Context;
use crate::status::{Error, Result, check};

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

/// The index in [`Registry::images`] of a registered fat binary, i.e. of one translation unit's device code.
pub type ImageId = usize;

#[derive(Default)]
pub struct Registry {
    images: Vec<Option<Image>>,
    /// Kernels by host address.
    kernels: HashMap<usize, Symbol>,
    /// Variables by host address.
    variables: HashMap<usize, Symbol>,
    /// Addresses of the host's pointers to managed variables.
    managed: Vec<(ImageId, usize)>,
    modules: HashMap<(Context, ImageId), Result<usize>>,
    functions: HashMap<(Context, usize), usize>,
}

/// A registered kernel or variable: its image and its name there.
struct Symbol {
    image_id: ImageId,
    name: CString,
}

pub fn read() -> RwLockReadGuard<'static, Registry> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner)
}

pub fn write() -> RwLockWriteGuard<'static, Registry> {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    pub fn add_image(&mut self, image: Option<Image>) -> ImageId {
        self.images.push(image);
        self.images.len() - 1
    }

    pub fn add_kernel(&mut self, host: usize, image_id: ImageId, name: CString) {
        self.kernels.insert(host, Symbol { image_id, name });
    }

    pub fn add_variable(&mut self, host: usize, image_id: ImageId, name: CString) {
        self.variables.insert(host, Symbol { image_id, name });
    }

    /// Registers the host's pointer to a managed variable. Its address also identifies the variable.
    pub fn add_managed(&mut self, pointer: usize, image_id: ImageId) {
        self.managed.push((image_id, pointer));
    }

    pub fn has_managed(&self, image_id: ImageId) -> bool {
        self.managed.iter().any(|(of, _)| *of == image_id)
    }

    /// Sets the host's pointers to an image's managed variables.
    pub fn set_managed(&mut self, context: Context, image_id: ImageId) -> Result {
        let pointers = self.managed.iter().filter(|(owner, _)| *owner == image_id);
        let pointers: Vec<usize> = pointers.map(|(_, pointer)| *pointer).collect();
        for pointer in pointers {
            let variable = self.load_variable(context, pointer)?;
            let pointer = with_exposed_provenance_mut::<u64>(pointer);
            // SAFETY: the compiler allocates a pointer at this address for the variable's address.
            unsafe { pointer.write(variable.address) };
        }
        Ok(())
    }

    /// Removes an image that is being unloaded, with its kernels and variables.
    pub fn remove(&mut self, image_id: ImageId) {
        if let Some(image) = self.images.get_mut(image_id) {
            *image = None;
        }
        let removed_kernels: Vec<usize> = host_addresses(&self.kernels, image_id).collect();
        self.functions
            .retain(|(_, host), _| !removed_kernels.contains(host));
        self.kernels.retain(|_, kernel| kernel.image_id != image_id);
        self.variables
            .retain(|_, variable| variable.image_id != image_id);
        self.managed.retain(|(owner, _)| *owner != image_id);
        self.modules.retain(|(_, owner), module| {
            if let (true, Ok(module)) = (*owner == image_id, &module) {
                // SAFETY: all functions of the module were removed above. If its context was destroyed, the
                // driver rejects the handle.
                unsafe { cu::cuModuleUnload(without_provenance_mut(*module)) };
            }
            *owner != image_id
        });
    }

    /// Drops everything loaded into a context.
    pub fn forget_context(&mut self, context: Context) {
        self.modules.retain(|(owner, _), _| *owner != context);
        self.functions.retain(|(owner, _), _| *owner != context);
    }

    /// Returns a kernel that was loaded into this context before, or `None`.
    pub fn kernel(&self, context: Context, host: usize) -> Option<CUfunction> {
        let function = self.functions.get(&(context, host))?;
        Some(without_provenance_mut(*function))
    }

    /// Returns the host address of a kernel that was loaded into this context.
    pub fn host_function(&self, context: Context, kernel: CUfunction) -> Option<*mut c_void> {
        let mut functions = self.functions.iter();
        let entry = functions
            .find(|((owner, _), function)| *owner == context && **function == kernel.addr());
        entry.map(|((_, host), _)| with_exposed_provenance_mut(*host))
    }

    /// Loads a kernel, and its module if necessary.
    pub fn load_kernel(&mut self, context: Context, host: usize) -> Result<CUfunction> {
        let kernel = self.kernels.get(&host).ok_or(Error::INVALID_FUNCTION)?;
        let name = kernel.name.clone();
        let module = self.module(context, kernel.image_id)?;
        let mut function = null_mut();
        // SAFETY: `function` is writable, `module` is loaded, and `name` is a C string.
        let result = unsafe { cu::cuModuleGetFunction(&mut function, module, name.as_ptr()) };
        check(result).map_err(|_| Error::INVALID_FUNCTION)?;
        self.functions.insert((context, host), function.addr());
        Ok(function)
    }

    pub fn kernel_name(&self, host: usize) -> Result<*const c_char> {
        let kernel = self.kernels.get(&host).ok_or(Error::INVALID_FUNCTION)?;
        Ok(kernel.name.as_ptr())
    }

    /// Loads a variable's module if necessary, and returns the variable's address and size.
    pub fn load_variable(&mut self, context: Context, host: usize) -> Result<Variable> {
        let variable = self.variables.get(&host).ok_or(Error::INVALID_SYMBOL)?;
        let name = variable.name.clone();
        let module = self.module(context, variable.image_id)?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: `address` and `bytes` are writable, `module` is loaded, and `name` is a C string.
        let result =
            unsafe { cu::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()) };
        check(result).map_err(|_| Error::INVALID_SYMBOL)?;
        Ok(Variable { address, bytes })
    }

    /// Returns an image's module in a context. A load that fails is not repeated.
    fn module(&mut self, context: Context, image_id: ImageId) -> Result<CUmodule> {
        let image = self.images.get(image_id).copied().flatten();
        let module = self.modules.entry((context, image_id)).or_insert_with(|| {
            let Some(image) = image else {
                warn(format_args!(
                    "cannot load the program's kernels: unknown device code format"
                ));
                return Err(Error::INVALID_IMAGE);
            };
            image.load()
        });
        module.map(without_provenance_mut)
    }
}

/// Returns the host addresses of an image's kernels or variables.
fn host_addresses(
    symbols: &HashMap<usize, Symbol>,
    image_id: ImageId,
) -> impl Iterator<Item = usize> {
    let matching = symbols
        .iter()
        .filter(move |(_, symbol)| symbol.image_id == image_id);
    matching.map(|(host, _)| *host)
}
