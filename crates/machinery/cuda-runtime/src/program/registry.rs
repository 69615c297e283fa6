//! The kernels and variables that the program has registered, and where they are loaded.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null_mut, with_exposed_provenance_mut, without_provenance_mut};
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cuda_driver::{functions as cu, say};
use cust_raw::{CUfunction, CUmodule};

use super::Variable;
use super::image::Image;
use crate::start::Context;
use crate::status::{Answer, Error, driver};

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

/// A part of the program that was compiled at once; its number is its place in [`Registry::images`].
pub type Part = usize;

#[derive(Default)]
pub struct Registry {
    images: Vec<Option<Image>>,
    /// By the address of the function on the host.
    kernels: HashMap<usize, Named>,
    /// By the address of the variable on the host.
    variables: HashMap<usize, Named>,
    /// Where the host's pointers to managed variables lie.
    managed: Vec<(Part, usize)>,
    modules: HashMap<(Context, Part), Answer<usize>>,
    functions: HashMap<(Context, usize), usize>,
}

/// What is registered: its part of the program and its name there.
struct Named {
    part: Part,
    name: CString,
}

pub fn read() -> RwLockReadGuard<'static, Registry> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner)
}

pub fn write() -> RwLockWriteGuard<'static, Registry> {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    pub fn add(&mut self, image: Option<Image>) -> Part {
        self.images.push(image);
        self.images.len() - 1
    }

    pub fn add_kernel(&mut self, host: usize, part: Part, name: CString) {
        self.kernels.insert(host, Named { part, name });
    }

    pub fn add_variable(&mut self, host: usize, part: Part, name: CString) {
        self.variables.insert(host, Named { part, name });
    }

    /// Takes note of where the host's pointer to a managed variable lies, which is its address too.
    pub fn add_managed(&mut self, pointer: usize, part: Part) {
        self.managed.push((part, pointer));
    }

    pub fn has_managed(&self, part: Part) -> bool {
        self.managed.iter().any(|(of, _)| *of == part)
    }

    /// Sets the host's pointers to a part's managed variables.
    pub fn set_managed(&mut self, context: Context, part: Part) -> Answer {
        let pointers = self.managed.iter().filter(|(of, _)| *of == part);
        let pointers: Vec<usize> = pointers.map(|(_, pointer)| *pointer).collect();
        for pointer in pointers {
            let found = self.load_variable(context, pointer)?;
            let pointer = with_exposed_provenance_mut::<u64>(pointer);
            // SAFETY: a compiler has put a pointer there for this.
            unsafe { pointer.write(found.address) };
        }
        Ok(())
    }

    /// Forgets a part of the program, which is unloaded.
    pub fn remove(&mut self, part: Part) {
        if let Some(image) = self.images.get_mut(part) {
            *image = None;
        }
        let gone: Vec<usize> = of_part(&self.kernels, part).collect();
        self.functions.retain(|(_, host), _| !gone.contains(host));
        self.kernels.retain(|_, kernel| kernel.part != part);
        self.variables.retain(|_, variable| variable.part != part);
        self.managed.retain(|(of, _)| *of != part);
        self.modules.retain(|(_, of), module| {
            if let (true, Ok(module)) = (*of == part, &module) {
                // SAFETY: nobody has a function of the module any more. Where its context has ended, the
                // driver says so.
                unsafe { cu::cuModuleUnload(without_provenance_mut(*module)) };
            }
            *of != part
        });
    }

    /// Forgets what is loaded in a context.
    pub fn forget(&mut self, context: Context) {
        self.modules.retain(|(of, _), _| *of != context);
        self.functions.retain(|(of, _), _| *of != context);
    }

    /// A kernel that was used before in this context.
    pub fn kernel(&self, context: Context, host: usize) -> Option<CUfunction> {
        let found = self.functions.get(&(context, host))?;
        Some(without_provenance_mut(*found))
    }

    /// The address on the host of a kernel that is used in this context.
    pub fn host_function(&self, context: Context, kernel: CUfunction) -> Option<*mut c_void> {
        let mut functions = self.functions.iter();
        let found =
            functions.find(|((of, _), function)| *of == context && **function == kernel.addr());
        found.map(|((_, host), _)| with_exposed_provenance_mut(*host))
    }

    /// Loads a kernel's module, if need be, and finds it there.
    pub fn load_kernel(&mut self, context: Context, host: usize) -> Answer<CUfunction> {
        let kernel = self.kernels.get(&host).ok_or(Error::INVALID_FUNCTION)?;
        let name = kernel.name.clone();
        let module = self.module(context, kernel.part)?;
        let mut function = null_mut();
        // SAFETY: the module is loaded, and the name a string.
        let found = unsafe { cu::cuModuleGetFunction(&mut function, module, name.as_ptr()) };
        driver(found).map_err(|_| Error::INVALID_FUNCTION)?;
        self.functions.insert((context, host), function.addr());
        Ok(function)
    }

    pub fn kernel_name(&self, host: usize) -> Answer<*const c_char> {
        let kernel = self.kernels.get(&host).ok_or(Error::INVALID_FUNCTION)?;
        Ok(kernel.name.as_ptr())
    }

    /// Loads a variable's module, if need be, and finds it there.
    pub fn load_variable(&mut self, context: Context, host: usize) -> Answer<Variable> {
        let variable = self.variables.get(&host).ok_or(Error::INVALID_SYMBOL)?;
        let name = variable.name.clone();
        let module = self.module(context, variable.part)?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: as in `load_kernel`.
        let found =
            unsafe { cu::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()) };
        driver(found).map_err(|_| Error::INVALID_SYMBOL)?;
        Ok(Variable { address, bytes })
    }

    /// A part's module in a context. One that does not load is tried once.
    fn module(&mut self, context: Context, part: Part) -> Answer<CUmodule> {
        let image = self.images.get(part).copied().flatten();
        let module = self.modules.entry((context, part)).or_insert_with(|| {
            let Some(image) = image else {
                say(format_args!(
                    "the program's kernels are in no form that is known"
                ));
                return Err(Error::INVALID_IMAGE);
            };
            image.load()
        });
        module.map(without_provenance_mut)
    }
}

/// The addresses on the host of what is registered of a part.
fn of_part(named: &HashMap<usize, Named>, part: Part) -> impl Iterator<Item = usize> {
    let of_part = named.iter().filter(move |(_, named)| named.part == part);
    of_part.map(|(host, _)| *host)
}
