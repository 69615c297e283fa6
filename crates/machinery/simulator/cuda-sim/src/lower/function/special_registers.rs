//! Lowering of special registers such as `%tid.x`. Source: PTX ISA section 10.

use super::FunctionLowering;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::lower::register::{Register, RegisterClass};

pub use crate::exec::special_registers::Special;

/// Returns the special register with this name.
pub fn find(name: &str) -> Option<Special> {
    Special::ALL
        .iter()
        .copied()
        .find(|special| special.name() == name)
}

/// Returns the value of a special register that is constant: the warp size; driver-defined registers, which
/// CUDA leaves at 0; the fourth dimension, which no grid has; and performance counters, which are never
/// started. Returns `None` for all other names.
pub fn constant(name: &str) -> Option<u64> {
    if name == "WARP_SZ" {
        return Some(32);
    }
    let driver = name.strip_prefix("%envreg").map(str::parse::<u32>);
    let unused = matches!(name, "%tid.w" | "%ntid.w" | "%ctaid.w" | "%nctaid.w");
    let counter = name.strip_prefix("%pm");
    let counter = counter.map(|rest| rest.strip_suffix("_64").unwrap_or(rest).parse::<u32>());
    let zero = unused || matches!(driver, Some(Ok(0 | 3..32))) || matches!(counter, Some(Ok(..8)));
    zero.then_some(0)
}

impl FunctionLowering<'_, '_> {
    /// Reads a special register into a narrow or wide row.
    pub fn read_special(&mut self, special: Special, into: Register) -> Result<(), LoadError> {
        let wide = match self.info(into).row {
            RegisterClass::Narrow => false,
            RegisterClass::Wide => true,
            RegisterClass::Predicate => {
                return Err(self.error("a special register is not a predicate"));
            }
        };
        self.reads_clock |= special.is_clock();
        let handler = special.reader(self.cpu, wide);
        self.push_with_handlers(handler, Class::Integer, &[into], &[]);
        let inst = self.last();
        inst.arg0 = 1;
        inst.imm = special as u64;
        inst.arg1_is_remaining_count = true;
        Ok(())
    }
}
