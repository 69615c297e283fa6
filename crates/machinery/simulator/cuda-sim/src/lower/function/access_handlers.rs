//! Selection of load and store handlers by element type and vector length.

use crate::exec::cpu::Cpu;
use crate::exec::memory::access::{Element, load, load_constant_operand, load_param, store};
use crate::exec::memory::memory_order::HostAtomic;
use crate::exec::memory::{memory_order, state_space};
use crate::exec::sm::Handlers;
use crate::ptx::ast::Type;

/// Returns the element size of a type in bytes and whether loads sign-extend it.
fn element(ty: Type) -> (u32, bool) {
    (ty.bytes(), ty.is_signed())
}

/// Selects the handlers of a weak load of one, two or four elements.
pub fn pick_load<S: state_space::SpaceAccess + 'static>(
    cpu: Cpu,
    ty: Type,
    count: u32,
) -> Handlers {
    fn pick<S: state_space::SpaceAccess + 'static, M: Element>(cpu: Cpu, count: u32) -> Handlers {
        match count {
            1 => load::<S, M, 1>(cpu),
            2 => load::<S, M, 2>(cpu),
            _ => load::<S, M, 4>(cpu),
        }
    }
    match element(ty) {
        (8, _) if count == 1 => load::<S, u64, 1>(cpu),
        (8, _) => load::<S, u64, 2>(cpu),
        (1, false) => pick::<S, u8>(cpu, count),
        (1, true) => pick::<S, i8>(cpu, count),
        (2, false) => pick::<S, u16>(cpu, count),
        (2, true) => pick::<S, i16>(cpu, count),
        _ => pick::<S, u32>(cpu, count),
    }
}

/// Selects the handlers of a weak store of one, two or four elements.
pub fn pick_store<S: state_space::SpaceAccess + 'static>(
    cpu: Cpu,
    ty: Type,
    count: u32,
) -> Handlers {
    fn pick<S: state_space::SpaceAccess + 'static, M: Element>(cpu: Cpu, count: u32) -> Handlers {
        match count {
            1 => store::<S, M, 1>(cpu),
            2 => store::<S, M, 2>(cpu),
            _ => store::<S, M, 4>(cpu),
        }
    }
    match ty.bytes() {
        8 if count == 1 => store::<S, u64, 1>(cpu),
        8 => store::<S, u64, 2>(cpu),
        1 => pick::<S, u8>(cpu, count),
        2 => pick::<S, u16>(cpu, count),
        _ => pick::<S, u32>(cpu, count),
    }
}

/// Selects the handlers of an ordered load, which other threads' writes may race with.
pub fn pick_ordered_load<S: state_space::SpaceAccess + 'static>(ty: Type, count: u32) -> Handlers {
    fn pick<S: state_space::SpaceAccess + 'static, M: HostAtomic>(count: u32) -> Handlers {
        let handler = match count {
            1 => memory_order::load::<S, M, 1>(),
            2 => memory_order::load::<S, M, 2>(),
            _ => memory_order::load::<S, M, 4>(),
        };
        handler.into()
    }
    match element(ty) {
        (8, _) if count == 1 => memory_order::load::<S, u64, 1>().into(),
        (8, _) => memory_order::load::<S, u64, 2>().into(),
        (1, false) => pick::<S, u8>(count),
        (1, true) => pick::<S, i8>(count),
        (2, false) => pick::<S, u16>(count),
        (2, true) => pick::<S, i16>(count),
        _ => pick::<S, u32>(count),
    }
}

/// Selects the handlers of an ordered store, which other threads' reads may race with.
pub fn pick_ordered_store<S: state_space::SpaceAccess + 'static>(ty: Type, count: u32) -> Handlers {
    fn pick<S: state_space::SpaceAccess + 'static, M: HostAtomic>(count: u32) -> Handlers {
        let handler = match count {
            1 => memory_order::store::<S, M, 1>(),
            2 => memory_order::store::<S, M, 2>(),
            _ => memory_order::store::<S, M, 4>(),
        };
        handler.into()
    }
    match ty.bytes() {
        8 if count == 1 => memory_order::store::<S, u64, 1>().into(),
        8 => memory_order::store::<S, u64, 2>().into(),
        1 => pick::<S, u8>(count),
        2 => pick::<S, u16>(count),
        _ => pick::<S, u32>(count),
    }
}

/// Selects the handlers of a load at a fixed offset of the kernel's parameters (`PARAM`) or the constant bank.
pub fn pick_fixed_offset_load<const PARAM: bool>(cpu: Cpu, ty: Type) -> Handlers {
    fn pick<const PARAM: bool, M: Element>(cpu: Cpu) -> Handlers {
        if PARAM {
            load_param::<M>(cpu)
        } else {
            load_constant_operand::<M>(cpu)
        }
    }
    match element(ty) {
        (1, false) => pick::<PARAM, u8>(cpu),
        (1, true) => pick::<PARAM, i8>(cpu),
        (2, false) => pick::<PARAM, u16>(cpu),
        (2, true) => pick::<PARAM, i16>(cpu),
        (8, _) => pick::<PARAM, u64>(cpu),
        _ => pick::<PARAM, u32>(cpu),
    }
}
