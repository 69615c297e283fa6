//! Module variables: where each lies, and the bytes it begins with.

use super::error::LoadError;
use super::{limits, mentions};
use crate::device::DeviceSpec;
use crate::isa::Param;
use crate::memory::global::Global;
use crate::memory::{FUNCTION_BASE, FUNCTION_STEP};
use crate::ptx::ast;
use crate::ptx::ast::{Immediate, Initializer, Linkage, Space, Type, Variable};
use std::collections::HashMap;

/// Constant memory of a module, bytes.
pub const CONSTANT_BYTES: u64 = 64 * 1024;

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

pub struct Layout {
    pub symbols: HashMap<String, Symbol>,
    /// Global and constant variables for the driver: address and bytes.
    pub visible: HashMap<String, (u64, u64)>,
    pub allocations: Vec<u64>,
    pub constants: Option<(u64, u64)>,
    /// Shared variables declared inside functions, by function and name: the offset.
    pub function_shared: HashMap<(String, String), u64>,
    /// Static shared memory of each kernel, bytes.
    pub shared_bytes: HashMap<String, u64>,
}

/// Bytes a variable takes; an error where that is absurd.
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
    place_constants(layout, module, global)?;
    for variable in in_space(module, Space::Global) {
        refuse_extern(variable)?;
        let bytes = bytes_of(variable)?.max(1);
        let address = global
            .allocate(bytes)
            .map_err(|_| LoadError::OutOfMemory(bytes))?;
        global.name(address, variable.name);
        layout.allocations.push(address);
        layout.define(variable.name, Symbol::Global(address), variable.line)?;
        layout
            .visible
            .insert(variable.name.to_owned(), (address, bytes));
    }
    place_shared(layout, module, device)?;
    for variable in &module.variables {
        if let Some(&(address, bytes)) = layout.visible.get(variable.name) {
            let image = image(layout, variable)?;
            if image.len() as u64 > bytes {
                let message = format!("`{}` has more initial values than elements", variable.name);
                return Err(LoadError::invalid(variable.line, message));
            }
            if let Some(host) = global.host(address, image.len() as u64) {
                // SAFETY: `host` answers for `image.len()` bytes of a live allocation.
                unsafe { host.copy_from_nonoverlapping(image.as_ptr(), image.len()) };
            }
        }
    }
    Ok(())
}

fn in_space<'m, 'a>(
    module: &'m ast::Module<'a>,
    space: Space,
) -> impl Iterator<Item = &'m Variable<'a>> {
    module
        .variables
        .iter()
        .filter(move |variable| variable.space == space)
}

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

/// All constants in one bank, in order, each aligned.
fn place_constants(
    layout: &mut Layout,
    module: &ast::Module,
    global: &mut Global,
) -> Result<(), LoadError> {
    let mut end = 0;
    let mut places = Vec::new();
    for variable in in_space(module, Space::Const) {
        refuse_extern(variable)?;
        let bytes = bytes_of(variable)?;
        let place = u64::next_multiple_of(end, u64::from(variable.align.max(1)));
        // No more than 2⁴⁸ and 2³² at a time, so that this may grow past any limit.
        end = (place + bytes).min(1 << 62);
        places.push((variable, place, bytes));
    }
    if end > CONSTANT_BYTES {
        return Err(LoadError::ConstantMemory {
            needed: end,
            limit: CONSTANT_BYTES,
        });
    }
    if places.is_empty() {
        return Ok(());
    }
    let bytes = end.max(1);
    let base = global
        .allocate(bytes)
        .map_err(|_| LoadError::OutOfMemory(bytes))?;
    global.name(base, "constants");
    layout.allocations.push(base);
    layout.constants = Some((base, bytes));
    for (variable, place, bytes) in places {
        layout.define(variable.name, Symbol::Const(base + place), variable.line)?;
        layout
            .visible
            .insert(variable.name.to_owned(), (base + place, bytes));
    }
    Ok(())
}

/// Shared variables. Two may overlap when no kernel uses both, as an assembler would have it, so
/// that a module may hold many kernels with large tiles.
fn place_shared(
    layout: &mut Layout,
    module: &ast::Module,
    device: &DeviceSpec,
) -> Result<(), LoadError> {
    let users = mentions::users(module)?;
    let kernels = module.functions.iter().filter(|function| function.entry);
    let mut shelf = SharedShelf::new(kernels.map(|kernel| kernel.name).collect());
    let of = |name: &str| users.get(name).map_or(&[][..], Vec::as_slice);
    for variable in in_space(module, Space::Shared) {
        let unsized_array = variable.dims.first() == Some(&0);
        if variable.linkage == Linkage::Extern && unsized_array {
            let align = variable.align;
            layout.define(
                variable.name,
                Symbol::DynamicShared { align },
                variable.line,
            )?;
            continue;
        }
        refuse_extern(variable)?;
        let place = shelf.place(variable, of(variable.name))?;
        layout.define(variable.name, Symbol::Shared(place), variable.line)?;
    }
    for function in &module.functions {
        for variable in mentions::shared_in(function) {
            let place = shelf.place(variable, of(function.name))?;
            let key = (function.name.to_owned(), variable.name.to_owned());
            if layout.function_shared.insert(key, place).is_some() {
                let message = format!("`{}` is defined twice", variable.name);
                return Err(LoadError::invalid(variable.line, message));
            }
        }
    }
    layout.shared_bytes = shelf.bytes();
    let limit = u64::from(device.shared_per_block);
    match layout
        .shared_bytes
        .iter()
        .filter(|(_, bytes)| **bytes > limit)
        .min()
    {
        Some((kernel, &needed)) => Err(LoadError::SharedMemory {
            kernel: kernel.clone(),
            needed,
            limit,
        }),
        None => Ok(()),
    }
}

/// Shared memory as it fills up.
struct SharedShelf<'a> {
    kernels: Vec<UsedShared<'a>>,
}

/// The shared memory of a kernel.
struct UsedShared<'a> {
    kernel: &'a str,
    /// From and to, in ascending order.
    taken: Vec<(u64, u64)>,
}

impl<'a> SharedShelf<'a> {
    fn new(kernels: Vec<&'a str>) -> Self {
        let used = |kernel| UsedShared {
            kernel,
            taken: Vec::new(),
        };
        Self {
            kernels: kernels.into_iter().map(used).collect(),
        }
    }

    /// The lowest place that is free in all of these kernels.
    fn place(&mut self, variable: &Variable, kernels: &[usize]) -> Result<u64, LoadError> {
        let bytes = bytes_of(variable)?;
        let align = u64::from(variable.align.max(1));
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for &kernel in kernels {
            taken.extend(&self.kernels[kernel].taken);
        }
        taken.sort_unstable();
        let mut place = 0;
        for (from, to) in taken {
            if place < to && from < place + bytes {
                // No more than 2⁴⁸ and 2³² at a time, so that this may grow past any limit.
                place = to.next_multiple_of(align).min(1 << 62);
            }
        }
        let own = (place, place + bytes);
        for &kernel in kernels {
            let UsedShared { kernel, taken } = &mut self.kernels[kernel];
            if taken.len() == limits::SHARED_VARIABLES {
                let message = format!(
                    "kernel {kernel} has more than {} shared variables: make arrays of them",
                    limits::SHARED_VARIABLES
                );
                return Err(LoadError::invalid(variable.line, message));
            }
            taken.insert(taken.partition_point(|&other| other < own), own);
        }
        Ok(place)
    }

    /// Of each kernel that has any, how many bytes.
    fn bytes(&self) -> HashMap<String, u64> {
        let used = self.kernels.iter().filter(|used| !used.taken.is_empty());
        used.map(|used| {
            let ends = used.taken.iter().map(|&(_, to)| to);
            (used.kernel.to_owned(), ends.max().unwrap_or(0))
        })
        .collect()
    }
}

/// The bytes a variable begins with; shorter than the variable where the rest is zero.
fn image(layout: &Layout, variable: &Variable) -> Result<Vec<u8>, LoadError> {
    let size = variable.ty.bytes() as usize;
    let mut image = Vec::with_capacity(variable.init.len() * size);
    for value in &variable.init {
        let bits = match *value {
            Initializer::Value(immediate) => immediate_bits(immediate, variable.ty),
            Initializer::Address {
                symbol,
                addend,
                generic,
            } => {
                let address = match layout.symbols.get(symbol) {
                    Some(Symbol::Global(address) | Symbol::Const(address)) => *address,
                    Some(Symbol::Shared(offset)) if generic => {
                        crate::memory::SHARED_WINDOW + offset
                    }
                    Some(Symbol::Shared(offset)) => *offset,
                    Some(Symbol::Function(number)) => {
                        FUNCTION_BASE + *number as u64 * FUNCTION_STEP
                    }
                    Some(Symbol::DynamicShared { .. }) | None => {
                        let message = format!("`{symbol}` has no address here");
                        return Err(LoadError::invalid(variable.line, message));
                    }
                };
                address.wrapping_add_signed(addend)
            }
        };
        image.extend_from_slice(&bits.to_le_bytes()[..size.min(8)]);
    }
    Ok(image)
}

/// A literal's bits as a value of type `ty`.
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
