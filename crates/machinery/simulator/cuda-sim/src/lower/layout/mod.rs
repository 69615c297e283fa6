//! The layout of module variables: the address and the initial contents of each.

mod shared;

use super::error::LoadError;
use crate::device::DeviceSpec;
use crate::isa::ExternArrays;
use crate::isa::Param;
use crate::isa::check_event::SharedArray;
use crate::memory::global::Global;
use crate::memory::{FUNCTION_BASE, FUNCTION_STEP, SHARED_WINDOW};
use crate::ptx::ast;
use crate::ptx::ast::{
    ImageReference, Immediate, Initializer, Linkage, StateSpace, Type, Variable,
};
use shared::place_shared;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The meaning of a name at module scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// A device address.
    Global(u64),
    /// A device address inside the constant bank.
    Const(u64),
    /// The handle of a texture or surface reference.
    Reference(ImageReference, u64),
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
    /// The kind and the handle of each texture and surface reference, by name. The handle is the address of memory that
    /// belongs to the reference, which no object or other reference has.
    pub references: HashMap<String, (ImageReference, u64)>,
    /// The device allocations that back the variables.
    pub allocations: Vec<u64>,
    /// The address and size in bytes of the constant bank; `None` if the module has no constants.
    pub constants: Option<(u64, u64)>,
    /// The shared-memory offset of each function-scope shared variable, by function and variable name.
    pub function_shared: HashMap<(String, String), u64>,
    /// The address of each function-scope global variable, by function and variable name.
    pub function_global: HashMap<(String, String), u64>,
    /// The size in bytes of each shared variable, and its index in `shared_names`, by declaring function (empty
    /// at module scope) and variable name.
    pub shared_sizes: HashMap<(String, String), (u64, u32)>,
    /// The names of the shared variables in the source.
    pub shared_names: Vec<String>,
    /// The static variables in shared memory that each kernel uses. Kernels without any have no entry.
    pub shared_variables: HashMap<String, Vec<SharedArray>>,
    /// The bytes of static shared memory per kernel. Kernels without shared variables have no entry.
    pub shared_bytes: HashMap<String, u64>,
    /// The `extern` shared arrays of the kernels that use several.
    pub extern_arrays: HashMap<String, ExternArrays>,
}

/// Returns the size of a variable in bytes. Fails if it is 2⁴⁸ bytes or more.
pub fn bytes_of(variable: &Variable) -> Result<u64, LoadError> {
    variable.bytes().ok_or_else(|| {
        let message = format!("`{}` is larger than any memory", variable.name);
        LoadError::invalid(variable.line, message)
    })
}

/// Returns the names that a variable's declaration defines, each with its offset in bytes: one, or those of a
/// parameterized name (`p0`, `p1` and so on).
fn names_of<'m>(variable: &'m Variable) -> Vec<(Cow<'m, str>, u64)> {
    if !variable.is_range {
        return vec![(Cow::Borrowed(variable.name), 0)];
    }
    let count = variable.dims.first().copied().unwrap_or(0);
    let member = |n| {
        let name = format!("{}{n}", variable.name);
        (Cow::Owned(name), n * variable.element_bytes())
    };
    (0..count).map(member).collect()
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
        references: HashMap::new(),
        allocations: Vec::new(),
        constants: None,
        function_shared: HashMap::new(),
        function_global: HashMap::new(),
        shared_sizes: HashMap::new(),
        shared_names: Vec::new(),
        shared_variables: HashMap::new(),
        shared_bytes: HashMap::new(),
        extern_arrays: HashMap::new(),
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
        let Some(kind) = variable.reference else {
            layout.define_visible(variable, Symbol::Global, address, bytes)?;
            continue;
        };
        let symbol = Symbol::Reference(kind, address);
        layout.define(variable.name, symbol, variable.line)?;
        let name = variable.name.to_owned();
        layout.references.insert(name, (kind, address));
    }
    for function in &module.functions {
        for variable in shared::function_variables(function, StateSpace::Global) {
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

/// Returns the module's variables in state space `space`, without `.extern` declarations of a variable that the module
/// also defines, or has declared before.
fn in_space<'m, 'a>(
    module: &'m ast::Module<'a>,
    space: StateSpace,
) -> impl Iterator<Item = &'m Variable<'a>> {
    let variables = module
        .variables
        .iter()
        .filter(move |variable| variable.space == space);
    let mut placed: HashSet<&str> = variables
        .clone()
        .filter(|variable| variable.linkage != Linkage::Extern)
        .map(|variable| variable.name)
        .collect();
    variables
        .filter(move |variable| variable.linkage != Linkage::Extern || placed.insert(variable.name))
}

impl Layout {
    /// Allocates device or managed memory for a variable. Returns its address and size in bytes. As in the driver,
    /// a variable that is declared `.extern` and defined nowhere has memory too, which is zero.
    fn allocate(
        &mut self,
        variable: &Variable,
        global: &mut Global,
    ) -> Result<(u64, u64), LoadError> {
        let bytes = bytes_of(variable)?.max(1);
        let allocated = match variable.managed {
            true => global.allocate_managed(bytes),
            false => global.allocate(bytes),
        };
        let address = allocated.map_err(|_| LoadError::OutOfMemory(bytes))?;
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

    /// Returns the address of a symbol in an initial value. Fails with a message if the symbol has no single address
    /// when the module is loaded.
    ///
    /// NVIDIA's assembler refuses addresses of shared variables here. Code of clang has them, in particular
    /// unoptimized code: from lists of pointers such as `float *both[] = {a, b};`, with arrays that a function
    /// declares.
    fn address_of(&self, symbol: &str, generic: bool) -> Result<u64, String> {
        let shared = |offset| match generic {
            true => SHARED_WINDOW + offset,
            false => offset,
        };
        match self.symbols.get(symbol) {
            Some(
                Symbol::Global(address) | Symbol::Const(address) | Symbol::Reference(_, address),
            ) => Ok(*address),
            Some(Symbol::Shared(offset)) => Ok(shared(*offset)),
            Some(Symbol::Function(number)) => Ok(FUNCTION_BASE + *number as u64 * FUNCTION_STEP),
            Some(Symbol::DynamicShared { .. }) => Err(format!(
                "`{symbol}` has no address here: it follows the kernel's other shared variables, and each \
                 kernel has others"
            )),
            None => self.shared_offset_in_functions(symbol).map(shared),
        }
    }

    /// Returns the offset of the shared variable that a function declares. It is the same in all kernels that use the
    /// function. Fails with a message if there is no such variable, or if several functions have one at different
    /// offsets.
    fn shared_offset_in_functions(&self, symbol: &str) -> Result<u64, String> {
        let variables = self.function_shared.iter();
        let mut offsets = variables
            .filter(|((_, name), _)| name == symbol)
            .map(|(_, &offset)| offset);
        let Some(first) = offsets.next() else {
            return Err(format!("`{symbol}` has no address here"));
        };
        match offsets.all(|offset| offset == first) {
            true => Ok(first),
            false => Err(format!(
                "`{symbol}` has no address here: several functions have shared variables of this name"
            )),
        }
    }

    /// Defines a global or constant variable, or the variables of a parameterized name, at `address`.
    fn define_visible(
        &mut self,
        variable: &Variable,
        symbol: fn(u64) -> Symbol,
        address: u64,
        bytes: u64,
    ) -> Result<(), LoadError> {
        for (name, offset) in names_of(variable) {
            self.define(&name, symbol(address + offset), variable.line)?;
            let bytes = match variable.is_range {
                true => variable.element_bytes(),
                false => bytes,
            };
            self.visible
                .insert(name.into_owned(), (address + offset, bytes));
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

/// The size of a module's constant memory in bytes.
const CONSTANT_BYTES: u64 = 64 * 1024;

/// Places all constants in one bank, in declaration order, each at its alignment.
fn place_constants(
    layout: &mut Layout,
    module: &ast::Module,
    global: &mut Global,
) -> Result<(), LoadError> {
    let mut end = 0;
    let mut placements = Vec::new();
    for variable in in_space(module, StateSpace::Const) {
        let bytes = bytes_of(variable)?;
        let offset = u64::next_multiple_of(end, u64::from(variable.align.max(1)));
        // One step adds less than 2⁴⁸ + 2³² bytes, so clamping the total here keeps it from overflowing.
        end = (offset + bytes).min(1 << 62);
        placements.push((variable, offset, bytes));
    }
    if end > CONSTANT_BYTES {
        return Err(LoadError::ConstantMemory {
            needed: end,
            limit: CONSTANT_BYTES,
        });
    }
    if placements.is_empty() {
        return Ok(());
    }
    let bytes = end.max(1);
    let base = global
        .allocate(bytes)
        .map_err(|_| LoadError::OutOfMemory(bytes))?;
    global.name(base, "constants");
    layout.allocations.push(base);
    layout.constants = Some((base, bytes));
    for (variable, offset, bytes) in placements {
        layout.define_visible(variable, Symbol::Const, base + offset, bytes)?;
    }
    Ok(())
}

/// Returns a variable's initial bytes. The image may be shorter than the variable; the remainder is zero.
pub fn image(layout: &Layout, variable: &Variable) -> Result<Vec<u8>, LoadError> {
    let size = variable.ty.bytes() as usize;
    let mut image = Vec::with_capacity(variable.init.len() * size);
    for value in &variable.init {
        let bits = match *value {
            Initializer::Value(immediate) => immediate_bits(immediate, variable.ty),
            Initializer::Address {
                symbol,
                addend,
                generic,
                mask,
            } => {
                let address = layout.address_of(symbol, generic);
                let address =
                    address.map_err(|message| LoadError::invalid(variable.line, message))?;
                let address = address.wrapping_add_signed(addend);
                match mask {
                    Some(mask) => (address & mask) >> mask.trailing_zeros(),
                    None => address,
                }
            }
        };
        image.extend_from_slice(&bits.to_le_bytes()[..size.min(8)]);
    }
    Ok(image)
}

/// Returns the bits of a literal converted to type `ty`.
pub fn immediate_bits(immediate: Immediate, ty: Type) -> u64 {
    match (immediate, ty) {
        (Immediate::Int(value), Type::F32) => u64::from((value as f32).to_bits()),
        (Immediate::Int(value), Type::F64) => (value as f64).to_bits(),
        (Immediate::Int(value), _) => value as u64,
        (Immediate::F32(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
        (Immediate::F32(bits), _) => u64::from(bits),
        (Immediate::F64(bits), Type::F32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Immediate::F64(bits), Type::F16) => {
            u64::from(half::f16::from_f64(f64::from_bits(bits)).to_bits())
        }
        (Immediate::F64(bits), _) => bits,
    }
}
