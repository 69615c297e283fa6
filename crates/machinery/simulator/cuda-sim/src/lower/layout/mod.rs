//! The layout of module variables: the address and the initial contents of each.

mod constants;
mod image;
mod shared;

pub use image::immediate_bits;

use super::error::LoadError;
use super::references;
use crate::device::DeviceSpec;
use crate::isa::Param;
use crate::memory::global::Global;
use crate::ptx::ast;
use crate::ptx::ast::{Linkage, StateSpace, Variable};
use constants::place_constants;
use image::image;
use shared::place_shared;
use std::collections::HashMap;

/// The meaning of a name at module scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// A device address.
    Global(u64),
    /// A device address inside the constant bank.
    Const(u64),
    /// An offset into shared memory.
    Shared(u64),
    /// Shared memory sized at launch. It follows the kernel's static shared memory, aligned to `align` bytes.
    DynamicShared { align: u32 },
    /// The number of a function that has a body.
    Function(usize),
}

/// The addresses of a module's variables.
pub struct Layout {
    /// The symbol for each name at module scope.
    pub symbols: HashMap<String, Symbol>,
    /// The address and size in bytes of each global and constant variable, by name, for `cuModuleGetGlobal`.
    pub visible: HashMap<String, (u64, u64)>,
    /// The device allocations that back the variables.
    pub allocations: Vec<u64>,
    /// The address and size in bytes of the constant bank; `None` if the module has no constants.
    pub constants: Option<(u64, u64)>,
    /// The shared-memory offset of each function-scope shared variable, by function and variable name.
    pub function_shared: HashMap<(String, String), u64>,
    /// The address of each function-scope global variable, by function and variable name.
    pub function_global: HashMap<(String, String), u64>,
    /// The size in bytes of each shared variable, by declaring function (empty at module scope) and variable
    /// name.
    pub shared_sizes: HashMap<(String, String), u64>,
    /// The bytes of static shared memory per kernel. Kernels without shared variables have no entry.
    pub shared_bytes: HashMap<String, u64>,
}

/// Returns the size of a variable in bytes. Fails if it is 2⁴⁸ bytes or more.
pub fn bytes_of(variable: &Variable) -> Result<u64, LoadError> {
    let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    variable
        .dims
        .iter()
        .try_fold(element, |bytes, &count| bytes.checked_mul(count))
        .filter(|&bytes| bytes < 1 << 48)
        .ok_or_else(|| {
            let message = format!("`{}` is larger than any memory", variable.name);
            LoadError::invalid(variable.line, message)
        })
}

/// Returns the offsets and sizes of a kernel's parameters in its parameter space. Fails if they exceed the
/// device's limit.
pub fn parameters(function: &ast::Function, device: &DeviceSpec) -> Result<Vec<Param>, LoadError> {
    let mut end = 0;
    let mut params = Vec::with_capacity(function.params.len());
    for param in &function.params {
        let offset = u64::next_multiple_of(end, u64::from(param.align.max(1)));
        let size = bytes_of(param)?;
        // One step adds less than 2⁴⁸ + 2³² bytes, so clamping the total here keeps it from overflowing.
        end = (offset + size).min(1 << 62);
        params.push(Param {
            offset: offset as u32,
            size: size as u32,
        });
    }
    if end > u64::from(device.max_parameter_bytes) {
        let message = format!(
            "kernel {} has {end} bytes of parameters, but at most {} are allowed",
            function.name, device.max_parameter_bytes
        );
        return Err(LoadError::invalid(function.line, message));
    }
    Ok(params)
}

/// Places all variables and writes their initial values. Frees its allocations on error.
pub fn place(
    module: &ast::Module,
    device: &DeviceSpec,
    global: &mut Global,
) -> Result<Layout, LoadError> {
    let mut layout = Layout {
        symbols: HashMap::new(),
        visible: HashMap::new(),
        allocations: Vec::new(),
        constants: None,
        function_shared: HashMap::new(),
        function_global: HashMap::new(),
        shared_sizes: HashMap::new(),
        shared_bytes: HashMap::new(),
    };
    let result = place_all(&mut layout, module, device, global);
    if result.is_err() {
        for &address in &layout.allocations {
            // `place_all` allocated `address`, so freeing it cannot fail.
            let _ = global.free(address);
        }
    }
    result.map(|()| layout)
}

/// Fills in `layout`. After an error, `layout.allocations` lists the memory to free.
fn place_all(
    layout: &mut Layout,
    module: &ast::Module,
    device: &DeviceSpec,
    global: &mut Global,
) -> Result<(), LoadError> {
    let bodies = module
        .functions
        .iter()
        .filter(|function| function.body.is_some());
    for (number, function) in bodies.enumerate() {
        layout.define(function.name, Symbol::Function(number), function.line)?;
    }
    for alias in &module.aliases {
        let Some(&function @ Symbol::Function(_)) = layout.symbols.get(alias.function) else {
            let message = format!(
                "`{}` is not a function with a body in this module",
                alias.function
            );
            return Err(LoadError::invalid(alias.line, message));
        };
        layout.define(alias.name, function, alias.line)?;
    }
    place_constants(layout, module, global)?;
    let mut in_functions = Vec::new();
    for variable in in_space(module, StateSpace::Global) {
        let (address, bytes) = layout.allocate(variable, global)?;
        layout.define(variable.name, Symbol::Global(address), variable.line)?;
        layout
            .visible
            .insert(variable.name.to_owned(), (address, bytes));
    }
    for function in &module.functions {
        for variable in references::function_variables(function, StateSpace::Global) {
            let (address, bytes) = layout.allocate(variable, global)?;
            let key = (function.name.to_owned(), variable.name.to_owned());
            if layout.function_global.insert(key, address).is_some() {
                let message = format!("`{}` is defined twice", variable.name);
                return Err(LoadError::invalid(variable.line, message));
            }
            in_functions.push((variable, address, bytes));
        }
    }
    place_shared(layout, module, device)?;
    for variable in &module.variables {
        if let Some(&(address, bytes)) = layout.visible.get(variable.name) {
            layout.fill(variable, address, bytes, global)?;
        }
    }
    for (variable, address, bytes) in in_functions {
        layout.fill(variable, address, bytes, global)?;
    }
    Ok(())
}

/// Returns the module's variables in state space `space`.
fn in_space<'m, 'a>(
    module: &'m ast::Module<'a>,
    space: StateSpace,
) -> impl Iterator<Item = &'m Variable<'a>> {
    module
        .variables
        .iter()
        .filter(move |variable| variable.space == space)
}

/// Fails if the variable is defined in another module.
fn refuse_extern(variable: &Variable) -> Result<(), LoadError> {
    if variable.linkage == Linkage::Extern {
        let message = format!(
            "`{}` is defined in another module; link them first",
            variable.name
        );
        return Err(LoadError::invalid(variable.line, message));
    }
    Ok(())
}

impl Layout {
    /// Allocates device memory for a variable. Returns its address and size in bytes.
    fn allocate(
        &mut self,
        variable: &Variable,
        global: &mut Global,
    ) -> Result<(u64, u64), LoadError> {
        refuse_extern(variable)?;
        let bytes = bytes_of(variable)?.max(1);
        let address = global
            .allocate(bytes)
            .map_err(|_| LoadError::OutOfMemory(bytes))?;
        global.name(address, variable.name);
        self.allocations.push(address);
        Ok((address, bytes))
    }

    /// Writes the initial value of a variable of `bytes` bytes at `address`.
    fn fill(
        &self,
        variable: &Variable,
        address: u64,
        bytes: u64,
        global: &mut Global,
    ) -> Result<(), LoadError> {
        let image = image(self, variable)?;
        if image.len() as u64 > bytes {
            let message = format!("`{}` has more initial values than elements", variable.name);
            return Err(LoadError::invalid(variable.line, message));
        }
        if let Some(host) = global.host(address, image.len() as u64) {
            // SAFETY: `Global::host` returned a pointer to `image.len()` bytes of a live allocation, which
            // cannot overlap `image`, a fresh `Vec`.
            unsafe { host.copy_from_nonoverlapping(image.as_ptr(), image.len()) };
        }
        Ok(())
    }

    /// Defines a name at module scope. Fails if the name is already defined.
    fn define(&mut self, name: &str, symbol: Symbol, line: u32) -> Result<(), LoadError> {
        match self.symbols.insert(name.to_owned(), symbol) {
            None => Ok(()),
            Some(_) => Err(LoadError::invalid(
                line,
                format!("`{name}` is defined twice"),
            )),
        }
    }
}
