//! The program's kernels and device variables, identified by host addresses, and the device code that contains
//! them. They are registered before `main` and loaded into a context when the first of them is used there.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null_mut, with_exposed_provenance_mut, without_provenance_mut};
use std::sync::LazyLock;

use cuda_driver::types::{CUfunction, CUmodule};
use cuda_driver::{Reason, functions as cu, names, warn};
use parking_lot::RwLock;

use crate::context::{Context, context};
use crate::errors::{Code, Error, Result, check};

/// A device variable in a context.
pub struct Variable {
    pub address: u64,
    pub bytes: usize,
}

/// Returns the kernel identified by a host function, loaded into the calling thread's context.
pub fn kernel(host: *const c_void) -> Result<CUfunction> {
    if host.is_null() {
        return Err(Error::INVALID_FUNCTION);
    }
    let context = context()?;
    if let Some(function) = REGISTRY.read().kernel(context, host.addr()) {
        return Ok(function);
    }
    REGISTRY.write().load_kernel(context, host.addr())
}

/// Returns the host address that identifies a loaded kernel.
pub fn host_function(kernel: CUfunction) -> Result<*mut c_void> {
    let function = REGISTRY.read().host_function(context()?, kernel);
    function.ok_or(Error::INVALID_FUNCTION)
}

/// Returns the device variable identified by a host address, in the calling thread's context.
pub fn variable(host: *const c_void) -> Result<Variable> {
    let context = context()?;
    REGISTRY.write().load_variable(context, host.addr())
}

/// Drops everything loaded into a context that is being destroyed.
pub fn forget_context(context: Context) {
    REGISTRY.write().forget_context(context);
}

/// Returns a kernel's name in the device code. The string lives as long as the kernel is registered.
pub fn kernel_name(host: *const c_void) -> Result<*const c_char> {
    REGISTRY.read().kernel_name(host.addr())
}

pub static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

/// The index in [`Registry::images`] of a registered fat binary, i.e. of one translation unit's device code.
pub type ImageId = usize;

/// The program's kernels and variables, and the modules they are loaded into.
#[derive(Default)]
pub struct Registry {
    images: Vec<Option<Image>>,
    /// Kernels by host address.
    kernels: HashMap<usize, Symbol>,
    /// Variables by host address.
    variables: HashMap<usize, Symbol>,
    /// Addresses of the host's pointers to managed variables.
    managed: Vec<(ImageId, usize)>,
    /// These addresses by those of the variables, which also identify them: `&x` is the variable's address.
    managed_pointers: HashMap<usize, usize>,
    /// Handles of modules; for a module that did not load, the error and its reason.
    modules: HashMap<(Context, ImageId), LoadResult>,
    functions: HashMap<(Context, usize), usize>,
}

/// The handle of a module, or the error with which it failed to load and its reason.
type LoadResult = std::result::Result<usize, (Error, String)>;

/// A registered kernel or variable: its image and its name there.
struct Symbol {
    image_id: ImageId,
    name: CString,
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
        let pointers: Vec<usize> = self
            .managed
            .iter()
            .filter(|(owner, _)| *owner == image_id)
            .map(|(_, pointer)| *pointer)
            .collect();
        for pointer in pointers {
            let variable = self
                .load_variable(context, pointer)
                .inspect_err(|_| self.warn_of_missing(pointer))?;
            self.managed_pointers
                .insert(variable.address as usize, pointer);
            let pointer = with_exposed_provenance_mut::<u64>(pointer);
            // SAFETY: the compiler allocates a pointer at this address for the variable's address.
            unsafe { pointer.write(variable.address) };
        }
        Ok(())
    }

    /// Names a managed variable that the kernels' code does not contain, before the program uses its null pointer.
    fn warn_of_missing(&self, pointer: usize) {
        let name = self.variables.get(&pointer).map(|variable| &variable.name);
        warn(format_args!(
            "the managed variable {} is not in the kernels' code: give its type a name outside unnamed namespaces, and \
             with -rdc=true declare it outside of class templates",
            name.map_or_else(Default::default, |name| names::with_parameters(
                &name.to_string_lossy()
            ))
        ));
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
        self.managed_pointers
            .retain(|_, pointer| self.variables.contains_key(pointer));
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
        let kernel = self.registered_kernel(host)?;
        let name = kernel.name.clone();
        let module = self.module(context, kernel.image_id)?;
        let mut function = null_mut();
        // SAFETY: `function` is writable, `module` is loaded, and `name` is a C string.
        let result = unsafe { cu::cuModuleGetFunction(&mut function, module, name.as_ptr()) };
        // After a fault the driver returns its error instead.
        check(result).map_err(|error| match error {
            Error::SYMBOL_NOT_FOUND => Error::INVALID_FUNCTION,
            other => other,
        })?;
        self.functions.insert((context, host), function.addr());
        Ok(function)
    }

    fn registered_kernel(&self, host: usize) -> Result<&Symbol> {
        let kernel = self.kernels.get(&host);
        kernel.ok_or_else(|| Error::INVALID_FUNCTION.because(Reason::NotAKernel))
    }

    pub fn kernel_name(&self, host: usize) -> Result<*const c_char> {
        let kernel = self.registered_kernel(host)?;
        Ok(kernel.name.as_ptr())
    }

    /// Loads a variable's module if necessary, and returns the variable's address and size.
    pub fn load_variable(&mut self, context: Context, host: usize) -> Result<Variable> {
        let pointer = self.managed_pointers.get(&host).unwrap_or(&host);
        let variable = self.variables.get(pointer).ok_or_else(|| {
            let names = self.variables.values();
            let names = names
                .map(|variable| variable.name.to_string_lossy())
                .collect();
            Error::INVALID_SYMBOL.because(Reason::NotASymbol(names))
        })?;
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
            let loaded = image.map_or_else(
                || {
                    Err((
                        Error::INVALID_IMAGE,
                        "unknown device code format".to_owned(),
                    ))
                },
                Image::load,
            );
            loaded.inspect_err(|(_, reason)| {
                warn(format_args!("cannot load the program's kernels: {reason}"));
            })
        });
        match module {
            Ok(module) => Ok(without_provenance_mut(*module)),
            Err((error, reason)) => Err(error.because(Reason::NotLoaded(reason.clone()))),
        }
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

/// The structure passed to `__cudaRegisterFatBinary` (`__fatBinC_Wrapper_t`).
#[repr(C)]
pub struct Wrapper {
    magic: c_int,
    version: c_int,
    data: *const c_void,
    more: *const c_void,
}

/// The magic number of a wrapper.
const WRAPPER_MAGIC: c_int = 0x4662_43b1;

/// The magic numbers of images with machine code: a fat binary and an ELF file.
const FAT_BINARY_MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

/// The capacity of the log in bytes for a module that fails to load.
const LOG_CAPACITY: usize = 1 << 14;

/// The options of `cuModuleLoadDataEx` that request the log.
const ERROR_LOG: c_int = 5;
const ERROR_LOG_SIZE: c_int = 6;

/// Device code, by its address. It lives as long as the program or library that contains it.
#[derive(Clone, Copy)]
pub struct Image(usize);

impl Image {
    /// Returns the image in a wrapper, or `None` if the wrapper is not valid.
    ///
    /// `wrapper` must be null or the argument of `__cudaRegisterFatBinary`.
    pub unsafe fn from_wrapper(wrapper: *const Wrapper) -> Option<Self> {
        // SAFETY: `wrapper` is null or points to a compiler-generated wrapper, which is a constant.
        let wrapper = unsafe { wrapper.as_ref() }?;
        let is_valid = wrapper.magic == WRAPPER_MAGIC && !wrapper.data.is_null();
        is_valid.then(|| Self(wrapper.data.expose_provenance()))
    }

    fn address(self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0)
    }

    /// Loads the image into the current context and returns the module's handle, or the error with its reason.
    fn load(self) -> LoadResult {
        // SAFETY: every image is longer than four bytes.
        let magic = unsafe { self.address().cast::<[u8; 4]>().read() };
        if magic == FAT_BINARY_MAGIC || magic == ELF_MAGIC {
            let reason = "they are GPU machine code, as nvcc produces it; recompile the program to PTX with clang, \
                          as `cuda-run program.cu` does";
            return Err((Error::INVALID_IMAGE, reason.to_owned()));
        }
        let mut log = vec![0_u8; LOG_CAPACITY];
        let mut options = [ERROR_LOG, ERROR_LOG_SIZE];
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            std::ptr::without_provenance_mut(LOG_CAPACITY),
        ];
        let mut module: CUmodule = null_mut();
        // SAFETY: the image is NUL-terminated text; both option arrays have `options.len()` entries, and the
        // log has `LOG_CAPACITY` bytes.
        let result = unsafe {
            cu::cuModuleLoadDataEx(
                &mut module,
                self.address(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match check(result) {
            Ok(()) => Ok(module.addr()),
            Err(error) => Err((error, load_failure(error, &log))),
        }
    }
}

/// Returns the reason for which a module does not load.
fn load_failure(Error(code): Error, log: &[u8]) -> String {
    let log = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(log);
    match text.trim() {
        "" => error_text(code),
        text => text.to_owned(),
    }
}

fn error_text(code: Code) -> String {
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: `text` is writable, and the driver's error texts are static.
    unsafe {
        match cu::cuGetErrorString(code, &mut text) {
            0 => CStr::from_ptr(text).to_string_lossy().into_owned(),
            _ => format!("error {code}"),
        }
    }
}
