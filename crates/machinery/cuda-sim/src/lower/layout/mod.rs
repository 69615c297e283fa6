//! Module variables: where each lies, and the bytes it begins with.

mod constants;
mod image;
mod shared;

pub use image::immediate_bits;

use super::error::LoadError;
use super::mentions;
use crate::device::DeviceSpec;
use crate::isa::Param;
use crate::memory::global::Global;
use crate::ptx::ast;
use crate::ptx::ast::{Linkage, StateSpace, Variable};
use constants::place_constants;
use image::image;
use shared::place_shared;
use std::collections::HashMap;

/// What a name at module scope stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// A device address.
    Global(u64),
    /// A device address inside the constant bank.
    Const(u64),
    /// An offset into shared memory.
    Shared(u64),
    /// Shared memory sized at launch: it begins after what the kernel declares, at a multiple of
    /// `align` bytes.
    DynamicShared { align: u32 },
    /// A function with a body, by number.
    Function(usize),
}

/// Where a module's variables lie.
pub struct Layout {
    /// What each name at module scope stands for.
    pub symbols: HashMap<String, Symbol>,
    /// The address and the length in bytes of each global and constant variable, which the driver
    /// may ask for.
    pub visible: HashMap<String, (u64, u64)>,
    /// The addresses of the device memory that was allocated for variables.
    pub allocations: Vec<u64>,
    /// The address and the length in bytes of the constant bank; none where the module has no
    /// constants.
    pub constants: Option<(u64, u64)>,
    /// The offset in shared memory of each shared variable that a function declares, by function
    /// and name.
    pub function_shared: HashMap<(String, String), u64>,
    /// The address of each global variable that a function declares, by function and name.
    pub function_global: HashMap<(String, String), u64>,
    /// How many bytes each shared variable takes, by the function that declares it, empty at module scope,
    /// and name.
    pub shared_sizes: HashMap<(String, String), u64>,
    /// The bytes of shared memory that each kernel's variables take. Kernels without any are not in it.
    pub shared_bytes: HashMap<String, u64>,
}

/// How many bytes a variable takes; an error where no memory has so many.
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

/// Where the parameters of a kernel lie in its parameter space.
pub fn parameters(function: &ast::Function, device: &DeviceSpec) -> Result<Vec<Param>, LoadError> {
    let mut end = 0;
    let mut params = Vec::with_capacity(function.params.len());
    for param in &function.params {
        let offset = u64::next_multiple_of(end, u64::from(param.align.max(1)));
        let size = bytes_of(param)?;
        // No more than 2⁴⁸ and 2³² at a time, so that this may grow past any limit.
        end = (offset + size).min(1 << 62);
        params.push(Param {
            offset: offset as u32,
            size: size as u32,
        });
    }
    if end > u64::from(device.max_parameter_bytes) {
        let message = format!(
            "kernel {} has {end} bytes of parameters, {} are allowed",
            function.name, device.max_parameter_bytes
        );
        return Err(LoadError::invalid(function.line, message));
    }
    Ok(params)
}

/// Places every variable and writes initial values.
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
            // Allocated by this very call.
            let _ = global.free(address);
        }
    }
    result.map(|()| layout)
}

/// Fills the layout. What is allocated until an error stays in it.
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
            let message = format!("`{}` is no function that has a body here", alias.function);
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
        for variable in mentions::variables_in(function, StateSpace::Global) {
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

/// The module's variables in a state space.
fn in_space<'m, 'a>(
    module: &'m ast::Module<'a>,
    space: StateSpace,
) -> impl Iterator<Item = &'m Variable<'a>> {
    module
        .variables
        .iter()
        .filter(move |variable| variable.space == space)
}

/// An error for a variable that another module defines.
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
    /// Device memory for a variable: its address, and its bytes.
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

    /// Writes what a variable of so many bytes begins with.
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
            // SAFETY: `host` answers for `image.len()` bytes of a live allocation.
            unsafe { host.copy_from_nonoverlapping(image.as_ptr(), image.len()) };
        }
        Ok(())
    }

    /// Notes what a name stands for; an error where it stands for something already.
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
