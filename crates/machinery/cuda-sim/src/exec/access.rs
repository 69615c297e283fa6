//! Loads and stores: a warp's 32 addresses at once.
//!
//! Three patterns are recognised because most accesses have one of them: all lanes at one address
//! (one read, broadcast), consecutive lanes at consecutive addresses (one block copy), and either
//! of these in each quarter of the warp.
//! Source: PTX ISA section 9.7.9 (data movement).

use super::cpu::Cpu;
use super::fault::FaultKind;
use super::lanes::{FULL, LANES, Lane, active};
use super::quarters::{self, LANES_OF_QUARTER, Quarter};
use super::sm::Sm;
use super::space::Space;
use crate::program::code::{Handler, Inst, Next};

/// A value in memory and the row it is loaded into: narrow ones are widened to 32 bits.
pub trait Element: Copy + Default + 'static {
    type Row: Lane;
    fn widen(self) -> Self::Row;
    fn narrow(row: Self::Row) -> Self;
}

macro_rules! element {
    ($($t:ty => $row:ty),*) => {$(
        impl Element for $t {
            type Row = $row;
            #[inline(always)]
            fn widen(self) -> $row {
                self as $row
            }
            #[inline(always)]
            fn narrow(row: $row) -> $t {
                row as $t
            }
        }
    )*};
}
element!(u8 => u32, i8 => u32, u16 => u32, i16 => u32, u32 => u32, u64 => u64);

/// How the running lanes' addresses lie.
enum Pattern {
    /// All the same.
    Same(u64),
    /// Lane `n` at this plus `n` elements (wrapping below zero for lanes that do not run).
    Consecutive(u64),
    Scattered,
}

#[inline(always)]
fn pattern(sm: &Sm, addresses: &[u64; LANES], offset: u64, size: u64) -> Pattern {
    let first = sm.mask.trailing_zeros() as usize & 31;
    let start = addresses[first];
    let origin = start.wrapping_sub(first as u64 * size);
    let (mut differ, mut stray) = (0, 0);
    for lane in 0..LANES {
        let keep = sm.lanes[lane] as i32 as i64 as u64;
        differ |= (addresses[lane] ^ start) & keep;
        stray |= (addresses[lane] ^ origin.wrapping_add(lane as u64 * size)) & keep;
    }
    if differ == 0 {
        Pattern::Same(start.wrapping_add(offset))
    } else if stray == 0 {
        Pattern::Consecutive(origin.wrapping_add(offset))
    } else {
        Pattern::Scattered
    }
}

/// The host's address of one lane's access, or the fault it is.
#[inline(always)]
pub(super) fn reach<S: Space>(
    sm: &mut Sm,
    lane: usize,
    address: u64,
    bytes: u64,
    unit: u64,
    write: bool,
) -> Result<*mut u8, FaultKind> {
    if address & (unit - 1) != 0 {
        return Err(FaultKind::MisalignedAddress {
            address,
            bytes: unit as u32,
        });
    }
    let host = S::host(sm, lane, address, bytes);
    if host.is_null() || write && !S::writable(address) {
        return Err(FaultKind::IllegalAddress {
            address,
            bytes: unit as u32,
            write,
            space: S::NAME,
        });
    }
    S::touch(sm, address, bytes, write);
    Ok(host)
}

/// A load of `x` elements: destinations, then the address row; `imm` is added to it.
#[inline(always)]
unsafe fn run_load<S: Space, M: Element>(sm: &mut Sm, inst: &Inst) -> Next {
    let count = inst.x as usize;
    let size = (size_of::<M>() * count) as u64;
    // SAFETY: the operand after the destinations is a 64-bit row.
    let addresses = unsafe { sm.row::<u64>(inst, count) };
    let first = sm.mask.trailing_zeros() as usize & 31;
    let kind = if S::COMMON {
        pattern(sm, addresses, inst.imm, size)
    } else {
        Pattern::Scattered
    };
    match kind {
        Pattern::Same(address) => {
            let host = match reach::<S>(sm, first, address, size, size, false) {
                Ok(host) => host.cast::<M>(),
                Err(kind) => return sm.fail(inst, first, kind),
            };
            S::count(sm, false);
            for part in 0..count {
                // SAFETY: `reach` checked `size` bytes; the destinations are rows.
                unsafe {
                    let value = host.add(part).read_unaligned().widen();
                    sm.write(inst, part, [value; LANES]);
                }
            }
        }
        Pattern::Consecutive(origin) => {
            let last = 31 - sm.mask.leading_zeros() as usize;
            let start = origin.wrapping_add(first as u64 * size);
            let bytes = (last - first + 1) as u64 * size;
            let host = match reach::<S>(sm, first, start, bytes, size, false) {
                Ok(host) => host.cast::<M>(),
                // Some lane is outside: find out which.
                Err(_) => return load_scattered::<S, M>(sm, inst, addresses),
            };
            S::count(sm, false);
            for part in 0..count {
                let mut values = [M::Row::default(); LANES];
                // SAFETY: lanes first to last were checked; the destination is a row.
                unsafe {
                    if sm.mask == FULL && count == 1 {
                        let source = host.cast::<[M; LANES]>().read_unaligned();
                        for lane in 0..LANES {
                            values[lane] = source[lane].widen();
                        }
                    } else {
                        for lane in first..=last {
                            let place = host.add((lane - first) * count + part);
                            values[lane] = place.read_unaligned().widen();
                        }
                    }
                    sm.write(inst, part, values);
                }
            }
        }
        Pattern::Scattered => {
            if S::COMMON
                && count == 1
                && sm.mask == FULL
                && let Some(found) = quarters::quarters(addresses, inst.imm, size)
            {
                return load_quarters::<S, M>(sm, inst, addresses, found);
            }
            return load_scattered::<S, M>(sm, inst, addresses);
        }
    }
    inst.next()
}

/// A full warp's load of single elements, quarter by quarter.
#[inline(always)]
fn load_quarters<S: Space, M: Element>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
    quarters: [Quarter; 4],
) -> Next {
    let size = size_of::<M>() as u64;
    let mut values = [M::Row::default(); LANES];
    let rows = values.chunks_exact_mut(LANES_OF_QUARTER);
    for (row, Quarter { start, bytes }) in rows.zip(quarters) {
        let host = match reach::<S>(sm, 0, start, bytes, size, false) {
            Ok(host) => host.cast::<M>(),
            // Some lane is outside: find out which.
            Err(_) => return load_scattered::<S, M>(sm, inst, addresses),
        };
        // SAFETY: `reach` checked `bytes` bytes: those of one element or of one a lane.
        unsafe {
            if bytes == size {
                row.fill(host.read_unaligned().widen());
            } else {
                let source = host.cast::<[M; LANES_OF_QUARTER]>().read_unaligned();
                for (value, source) in row.iter_mut().zip(source) {
                    *value = source.widen();
                }
            }
        }
    }
    S::count(sm, false);
    // SAFETY: the destination is a row.
    unsafe { sm.write(inst, 0, values) };
    inst.next()
}

#[inline(never)]
fn load_scattered<S: Space, M: Element>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> Next {
    let count = inst.x as usize;
    let size = (size_of::<M>() * count) as u64;
    let mut values = [[M::Row::default(); LANES]; 4];
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(inst.imm);
        let host = match reach::<S>(sm, lane, address, size, size, false) {
            Ok(host) => host.cast::<M>(),
            Err(kind) => return sm.fail(inst, lane, kind),
        };
        for (part, row) in values[..count].iter_mut().enumerate() {
            // SAFETY: `reach` checked `size` bytes.
            row[lane] = unsafe { host.add(part).read_unaligned() }.widen();
        }
    }
    S::count(sm, false);
    for (part, row) in values[..count].iter().enumerate() {
        // SAFETY: the destinations are rows.
        unsafe { sm.write(inst, part, *row) };
    }
    inst.next()
}

/// A store of `x` elements: the address row, then the values; `imm` is added to the address.
/// Where lanes write to one address the highest lane's value stays.
#[inline(always)]
unsafe fn run_store<S: Space, M: Element>(sm: &mut Sm, inst: &Inst) -> Next {
    let count = inst.x as usize;
    let size = (size_of::<M>() * count) as u64;
    // SAFETY: operand 0 is a 64-bit row.
    let addresses = unsafe { sm.row::<u64>(inst, 0) };
    if S::COMMON
        && count == 1
        && sm.mask == FULL
        && let Pattern::Consecutive(start) = pattern(sm, addresses, inst.imm, size)
        && let Ok(host) = reach::<S>(sm, 0, start, size * LANES as u64, size, true)
    {
        // SAFETY: operand 1 is a row; `reach` checked 32 elements.
        unsafe {
            let row = sm.row::<M::Row>(inst, 1);
            let mut values = [M::default(); LANES];
            for lane in 0..LANES {
                values[lane] = M::narrow(row[lane]);
            }
            host.cast::<[M; LANES]>().write_unaligned(values);
        }
        S::count(sm, true);
        return inst.next();
    }
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(inst.imm);
        let host = match reach::<S>(sm, lane, address, size, size, true) {
            Ok(host) => host.cast::<M>(),
            Err(kind) => return sm.fail(inst, lane, kind),
        };
        for part in 0..count {
            // SAFETY: the values are rows; `reach` checked `size` bytes.
            unsafe {
                let value = sm.row::<M::Row>(inst, 1 + part)[lane];
                host.add(part).write_unaligned(M::narrow(value));
            }
        }
    }
    S::count(sm, true);
    inst.next()
}

macro_rules! access_handlers {
    ($(#[$doc:meta])* $name:ident, $run:ident) => {
        $(#[$doc])*
        pub fn $name<S: Space + 'static, M: Element>(cpu: Cpu) -> Handler {
            unsafe fn plain<S: Space, M: Element>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: the lowering gave the operands the types the body asks for.
                unsafe { $run::<S, M>(sm, inst) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2<S: Space, M: Element>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: as in `plain`; chosen only where the CPU has AVX2.
                unsafe { $run::<S, M>(sm, inst) }
            }
            match cpu {
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2 => avx2::<S, M>,
                _ => plain::<S, M>,
            }
        }
    };
}

access_handlers!(
    /// A load from `S` of elements `M`.
    load, run_load);
access_handlers!(
    /// A store to `S` of elements `M`.
    store, run_store);

/// A load from a place in constant memory known when the module was loaded: `x` elements at
/// `imm` bytes into the bank. On a GPU this is an operand of the instruction that uses it.
///
/// # Safety
/// As for [`Handler`]; the lowering checked the place against the bank's size.
pub unsafe fn load_constant_operand<M: Element>(sm: &mut Sm, inst: &Inst) -> Next {
    let host = sm
        .constants
        .host
        .wrapping_add(inst.imm as usize)
        .cast::<M>();
    for part in 0..inst.x as usize {
        // SAFETY: the bank is at least as large as the module says, and the place is inside.
        unsafe {
            let value = host.add(part).read_unaligned().widen();
            sm.write(inst, part, [value; LANES]);
        }
    }
    inst.next()
}

/// A load of a kernel parameter: `x` elements at `imm` bytes into the parameters.
///
/// # Safety
/// As for [`Handler`]; the lowering checked the place against the parameters' size.
pub unsafe fn load_param<M: Element>(sm: &mut Sm, inst: &Inst) -> Next {
    let host = sm
        .grid
        .params
        .as_ptr()
        .wrapping_add(inst.imm as usize)
        .cast::<M>();
    for part in 0..inst.x as usize {
        // SAFETY: the driver passes as many bytes as the kernel's parameters take.
        unsafe {
            let value = host.add(part).read_unaligned().widen();
            sm.write(inst, part, [value; LANES]);
        }
    }
    inst.next()
}

/// The address of a place in this function's local memory, `imm` bytes from its base: operand 0.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn local_address(sm: &mut Sm, inst: &Inst) -> Next {
    let address = u64::from(sm.local_base) + inst.imm;
    // SAFETY: operand 0 is a 64-bit row.
    unsafe { sm.write(inst, 0, [address; LANES]) };
    inst.next()
}

/// Where atomics find their operand.
pub(super) fn reach_atomic<S: Space>(
    sm: &mut Sm,
    inst: &Inst,
    lane: usize,
    address: u64,
    bytes: u64,
) -> Result<*mut u8, Next> {
    reach::<S>(sm, lane, address, bytes, bytes, true).map_err(|kind| sm.fail(inst, lane, kind))
}
