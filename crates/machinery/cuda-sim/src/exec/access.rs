//! Loads and stores: a warp's 32 addresses at once.
//!
//! Three patterns are recognised because most accesses have one of them: all lanes at one address
//! (one read, broadcast), consecutive lanes at consecutive addresses (one block copy), and either
//! of these in each quarter of the warp.
//! Source: PTX ISA section 9.7.9 (data movement).

use super::code::{Handler, Inst, Next, Run};
use super::cpu::Cpu;
use super::fault::FaultKind;
use super::lanewise::{Alone, Lane, Together, View, same};
use super::sm::Sm;
use super::space::Space;
use super::spread::{Key, Spread};
use crate::lanes::quarters::{LANES_OF_QUARTER, Quarter, Whole};
use crate::lanes::{FULL, LANES, active, quarters};

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
    /// Lane `n` at this plus `n` times the access's size (wrapping below zero for lanes that do not
    /// run).
    Consecutive(u64),
    /// In each quarter of a full warp one of these.
    Quarters([Quarter; 4]),
    Scattered,
}

#[inline(always)]
fn pattern(sm: &Sm, addresses: &[u64; LANES], offset: u64, size: u64) -> Pattern {
    if sm.mask == FULL {
        return match quarters::quarters(addresses, offset, size) {
            Some(quarters) => match quarters::whole(&quarters, size) {
                Whole::Same => Pattern::Same(quarters[0].start),
                Whole::Consecutive => Pattern::Consecutive(quarters[0].start),
                Whole::Neither => Pattern::Quarters(quarters),
            },
            None => Pattern::Scattered,
        };
    }
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
    S::touch(sm, address, address, bytes, write);
    Ok(host)
}

/// What a load of `N` elements reads from registers: the address row, behind the destinations.
///
/// # Safety
/// It is a 64-bit row.
#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "as `store_operands`")]
unsafe fn load_operands<'a, M, const N: usize>(
    view: impl View,
    sm: &Sm,
    inst: &Inst,
) -> &'a [u64; LANES] {
    // SAFETY: the caller's promise.
    unsafe { view.row::<u64>(sm, inst, N) }
}

/// A load of `N` elements at these addresses plus `imm`. Answers whether it could be done.
///
/// # Safety
/// The destinations are rows.
#[inline(always)]
unsafe fn run_load<S: Space, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> bool {
    let size = (size_of::<M>() * N) as u64;
    let first = sm.mask.trailing_zeros() as usize & 31;
    match pattern(sm, addresses, inst.imm, size) {
        Pattern::Same(address) => {
            let host = match reach::<S>(sm, first, address, size, size, false) {
                Ok(host) => host.cast::<M>(),
                Err(kind) => return failed(sm, inst, first, kind),
            };
            for part in 0..N {
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
                // SAFETY: the destinations are rows.
                Err(_) => return unsafe { load_each::<S, M, N>(sm, inst, addresses) },
            };
            if sm.mask == FULL {
                // SAFETY: the elements of all lanes were checked; the destinations are rows.
                unsafe {
                    for (part, row) in get::<M, N, LANES>(host).into_iter().enumerate() {
                        sm.write(inst, part, row);
                    }
                }
            } else {
                for part in 0..N {
                    let mut values = [M::Row::default(); LANES];
                    // SAFETY: lanes first to last were checked; the destination is a row.
                    unsafe {
                        for lane in first..=last {
                            let place = host.add((lane - first) * N + part);
                            values[lane] = place.read_unaligned().widen();
                        }
                        sm.write(inst, part, values);
                    }
                }
            }
        }
        Pattern::Quarters(quarters) => {
            let mut values = [[M::Row::default(); LANES]; N];
            for (quarter, Quarter { start, apart }) in quarters.into_iter().enumerate() {
                let bytes = if apart { size * 8 } else { size };
                let host = match reach::<S>(sm, 0, start, bytes, size, false) {
                    Ok(host) => host.cast::<M>(),
                    // Some lane is outside: find out which.
                    // SAFETY: the destinations are rows.
                    Err(_) => return unsafe { load_each::<S, M, N>(sm, inst, addresses) },
                };
                for (part, row) in values.iter_mut().enumerate() {
                    let row = &mut row[quarter * LANES_OF_QUARTER..][..LANES_OF_QUARTER];
                    // SAFETY: `reach` checked the elements of one lane, or of all eight.
                    unsafe {
                        if apart {
                            for (lane, value) in row.iter_mut().enumerate() {
                                *value = host.add(lane * N + part).read_unaligned().widen();
                            }
                        } else {
                            row.fill(host.add(part).read_unaligned().widen());
                        }
                    }
                }
            }
            for (part, row) in values.into_iter().enumerate() {
                // SAFETY: the destinations are rows.
                unsafe { sm.write(inst, part, row) };
            }
        }
        Pattern::Scattered => {
            // SAFETY: the destinations are rows.
            if !unsafe { load_from_one::<S, M, N>(sm, inst, addresses) } {
                // SAFETY: as above.
                return unsafe { load_each::<S, M, N>(sm, inst, addresses) };
            }
        }
    }
    S::count(sm, false, 1, sm.mask.count_ones().into());
    true
}

/// Notes what `lane` did; answers that the access could not be done.
#[cold]
fn failed(sm: &mut Sm, inst: &Inst, lane: usize, kind: FaultKind) -> bool {
    sm.fail(inst, lane, kind);
    false
}

/// Loads where the addresses of a full warp lie in one allocation; whether they do, and as they
/// should.
///
/// # Safety
/// The destinations are rows.
#[inline(always)]
unsafe fn load_from_one<S: Space, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> bool {
    if sm.mask != FULL {
        return false;
    }
    let size = (size_of::<M>() * N) as u64;
    let (mut lowest, mut highest, mut bits) = (u64::MAX, 0, 0);
    for address in addresses {
        let address = address.wrapping_add(inst.imm);
        lowest = address.min(lowest);
        highest = address.max(highest);
        bits |= address;
    }
    let bytes = (highest - lowest).saturating_add(size);
    if bits & (size - 1) != 0 {
        return false;
    }
    let host = S::host(sm, 0, lowest, bytes);
    if host.is_null() {
        return false;
    }
    let mut values = [[M::Row::default(); LANES]; N];
    for (lane, address) in addresses.iter().enumerate() {
        let address = address.wrapping_add(inst.imm);
        S::touch(sm, lowest, address, size, false);
        let host = host.wrapping_add((address - lowest) as usize).cast::<M>();
        for (part, row) in values.iter_mut().enumerate() {
            // SAFETY: all from the lowest address to the end of the highest is there.
            row[lane] = unsafe { host.add(part).read_unaligned() }.widen();
        }
    }
    for (part, row) in values.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { sm.write(inst, part, row) };
    }
    true
}

/// Loads lane by lane, wherever the addresses lie.
///
/// # Safety
/// The destinations are rows.
#[inline(never)]
unsafe fn load_each<S: Space, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> bool {
    let size = (size_of::<M>() * N) as u64;
    let mut values = [[M::Row::default(); LANES]; N];
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(inst.imm);
        let host = match reach::<S>(sm, lane, address, size, size, false) {
            Ok(host) => host.cast::<M>(),
            Err(kind) => return failed(sm, inst, lane, kind),
        };
        for (part, row) in values.iter_mut().enumerate() {
            // SAFETY: `reach` checked `size` bytes.
            row[lane] = unsafe { host.add(part).read_unaligned() }.widen();
        }
    }
    for (part, row) in values.into_iter().enumerate() {
        // SAFETY: the destinations are rows.
        unsafe { sm.write(inst, part, row) };
    }
    S::count(sm, false, 1, sm.mask.count_ones().into());
    true
}

/// [`run_load`] without a look at how the addresses lie: short to compile, and for local memory all
/// there is.
///
/// # Safety
/// As for [`run_load`].
unsafe fn run_load_plainly<S: Space, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    addresses: &[u64; LANES],
) -> bool {
    if S::COMMON && sm.mask != FULL {
        touch_between::<S>(sm, inst, addresses, (size_of::<M>() * N) as u64);
    }
    // SAFETY: the caller's promise.
    unsafe { load_each::<S, M, N>(sm, inst, addresses) }
}

/// Marks what [`run_load`] marks of neighbours of which not all run: all from the first to the last.
#[inline(never)]
fn touch_between<S: Space>(sm: &mut Sm, inst: &Inst, addresses: &[u64; LANES], size: u64) {
    if let Pattern::Consecutive(origin) = pattern(sm, addresses, inst.imm, size) {
        let first = sm.mask.trailing_zeros() as usize & 31;
        let start = origin.wrapping_add(first as u64 * size);
        let lanes = 32 - sm.mask.leading_zeros() as usize - first;
        // If some are outside, each lane will be looked at.
        let _ = reach::<S>(sm, first, start, lanes as u64 * size, size, false);
    }
}

/// What a store of `N` elements reads from registers: the address row, then the values.
type Stored<'a, R, const N: usize> = (&'a [u64; LANES], [&'a [R; LANES]; N]);

/// The same, read.
///
/// # Safety
/// Operand 0 is a 64-bit row, the others are rows of values.
#[inline(always)]
unsafe fn store_operands<'a, M: Element, const N: usize>(
    view: impl View,
    sm: &Sm,
    inst: &Inst,
) -> Stored<'a, M::Row, N> {
    // SAFETY: the caller's promise.
    unsafe {
        let rows = std::array::from_fn(|part| view.row::<M::Row>(sm, inst, 1 + part));
        (view.row::<u64>(sm, inst, 0), rows)
    }
}

/// A store of `N` elements to these addresses plus `imm`. Where lanes write to one address the
/// highest lane's value stays. Answers whether it could be done.
///
/// # Safety
/// The addresses are checked here. One macro makes the handlers of loads and of stores.
#[inline(always)]
unsafe fn run_store<S: Space, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    (addresses, rows): Stored<M::Row, N>,
) -> bool {
    let size = (size_of::<M>() * N) as u64;
    if sm.mask == FULL {
        match pattern(sm, addresses, inst.imm, size) {
            Pattern::Consecutive(start) => {
                if let Ok(host) = reach::<S>(sm, 0, start, size * LANES as u64, size, true) {
                    // SAFETY: `reach` checked the elements of all lanes.
                    unsafe { put::<M, N, LANES>(host.cast(), rows, 0) };
                    S::count(sm, true, 1, sm.mask.count_ones().into());
                    return true;
                }
            }
            Pattern::Quarters(quarters) if quarters.iter().all(|quarter| quarter.apart) => {
                let bytes = size * LANES_OF_QUARTER as u64;
                let hosts = quarters.map(|Quarter { start, .. }| {
                    reach::<S>(sm, 0, start, bytes, size, true)
                        .map_or(std::ptr::null_mut(), |at| at)
                });
                if hosts.iter().all(|host| !host.is_null()) {
                    for (quarter, host) in hosts.into_iter().enumerate() {
                        let first = quarter * LANES_OF_QUARTER;
                        // SAFETY: `reach` checked the elements of eight lanes.
                        unsafe { put::<M, N, LANES_OF_QUARTER>(host.cast(), rows, first) };
                    }
                    S::count(sm, true, 1, sm.mask.count_ones().into());
                    return true;
                }
            }
            _ => {}
        }
    }
    // SAFETY: there is nothing to promise.
    unsafe { run_store_plainly::<S, M, N>(sm, inst, (addresses, rows)) }
}

/// [`run_store`] without a look at how the addresses lie.
///
/// # Safety
/// As for [`run_store`].
#[inline(never)]
unsafe fn run_store_plainly<S: Space, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    (addresses, rows): Stored<M::Row, N>,
) -> bool {
    let size = (size_of::<M>() * N) as u64;
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(inst.imm);
        let host = match reach::<S>(sm, lane, address, size, size, true) {
            Ok(host) => host.cast::<M>(),
            Err(kind) => return failed(sm, inst, lane, kind),
        };
        for (part, row) in rows.into_iter().enumerate() {
            // SAFETY: `reach` checked `size` bytes.
            unsafe { host.add(part).write_unaligned(M::narrow(row[lane])) };
        }
    }
    S::count(sm, true, 1, sm.mask.count_ones().into());
    true
}

/// Writes the elements of `L` lanes from `first` on, one lane's behind the other's.
///
/// # Safety
/// There is room for them at `host`.
#[inline(always)]
unsafe fn put<M: Element, const N: usize, const L: usize>(
    host: *mut M,
    rows: [&[M::Row; LANES]; N],
    first: usize,
) {
    let mut values = [[M::default(); N]; L];
    for (lane, values) in values.iter_mut().enumerate() {
        *values = rows.map(|row| M::narrow(row[first + lane]));
    }
    // SAFETY: the caller's promise.
    unsafe { host.cast::<[[M; N]; L]>().write_unaligned(values) };
}

/// Under which the running gang's spread at an instruction is remembered. What is counted is each
/// instruction's own.
#[inline(always)]
pub(super) fn spread_key(sm: &Sm, inst: &Inst) -> Key {
    let back = match sm.observer {
        Some(_) => 0,
        None => u32::from(inst.back),
    };
    Key {
        place: sm.address_of(inst) - back,
        full: sm.gang.count == sm.gang_size,
        follows: back > 0,
    }
}

/// Where a gang's access is, if its addresses, operand `n`, lie in quarters: how they lie, which is
/// to be given back, and the host's address of the lowest of them. The access is counted then.
///
/// # Safety
/// Operand `n` is a 64-bit row of each warp's own.
#[inline(always)]
unsafe fn reach_together<S: Space>(
    sm: &mut Sm,
    inst: &Inst,
    n: usize,
    size: u64,
    write: bool,
) -> Option<(Box<Spread>, *mut u8)> {
    let warps = sm.gang.whole_warps()?;
    let (at, key) = (inst.o[n] as usize, spread_key(sm, inst));
    let frames = &sm.gang.frames;
    // SAFETY: the caller's promise; nothing is written while these are looked at.
    let rows = |turn: usize| unsafe { &*frames[turn][0].add(at).cast::<[u64; LANES]>() };
    let origin = rows(0)[0].wrapping_add(inst.imm);
    let mut spread = sm.spreads.take(key, size, warps, rows)?;
    let (lowest, bytes) = spread.extent();
    let lowest = origin.wrapping_add(lowest);
    // Where lanes write to one address it matters which is the last.
    let orderly = spread.all_apart() || !write;
    let host = if orderly && origin & (size - 1) == 0 {
        S::host(sm, 0, lowest, bytes)
    } else {
        std::ptr::null_mut()
    };
    if host.is_null() {
        // Some lane is outside, or they are in several allocations.
        sm.spreads.keep(key, spread);
        return None;
    }
    for &(start, bytes) in spread.unmarked(origin, sm.epoch) {
        S::touch(sm, lowest, origin.wrapping_add(start), bytes, write);
    }
    S::count(sm, write, warps as u64, (warps * LANES) as u64);
    Some((spread, host))
}

/// A gang's load: from the address that its warps have in common once; where the addresses lie in
/// quarters without a look at each; else warp by warp.
#[inline(always)]
unsafe fn run_load_together<S: Space, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    one_warp: impl Fn(&mut Sm, &[u64; LANES]) -> bool,
) -> Next {
    let size = (size_of::<M>() * N) as u64;
    if inst.common >> N & 1 == 0 {
        // SAFETY: the operand after the destinations is a 64-bit row.
        if let Some((spread, host)) = unsafe { reach_together::<S>(sm, inst, N, size, false) } {
            for turn in 0..sm.gang.count {
                let frame = sm.gang.frames[turn][0];
                // SAFETY: the elements of all lanes are inside what was found; the destinations are
                // rows.
                unsafe {
                    if let Some(start) = spread.consecutive(turn) {
                        let values = get::<M, N, LANES>(host.add(start).cast());
                        for (part, row) in values.into_iter().enumerate() {
                            *frame.add(inst.o[part] as usize).cast() = row;
                        }
                        continue;
                    }
                    for (quarter, (start, apart)) in spread.of_warp(turn).enumerate() {
                        let host = host.add(start).cast::<M>();
                        let values = if apart {
                            get::<M, N, LANES_OF_QUARTER>(host)
                        } else {
                            let value = |part| host.add(part).read_unaligned().widen();
                            std::array::from_fn(|part| [value(part); LANES_OF_QUARTER])
                        };
                        for (part, values) in values.into_iter().enumerate() {
                            let row = frame.add(inst.o[part] as usize);
                            *row.cast::<[M::Row; LANES_OF_QUARTER]>().add(quarter) = values;
                        }
                    }
                }
            }
            sm.spreads.keep(spread_key(sm, inst), spread);
            return inst.next();
        }
        // SAFETY: the caller's promise.
        return in_turn(sm, inst, |sm, turn| unsafe {
            one_warp(
                sm,
                load_operands::<M, N>(Together::of(&sm.gang, turn), sm, inst),
            )
        });
    }
    sm.take_turn(0);
    // SAFETY: the operand after the destinations is a 64-bit row, and all its lanes are alike.
    let address =
        unsafe { Together::of(&sm.gang, 0).row::<u64>(sm, inst, N) }[0].wrapping_add(inst.imm);
    let host = match reach::<S>(sm, 0, address, size, size, false) {
        Ok(host) => host.cast::<M>(),
        Err(_) => return sm.fail_in_gang(inst),
    };
    let (warps, threads) = (sm.gang.count as u64, sm.gang.threads());
    S::count(sm, false, warps, threads);
    for part in 0..N {
        // SAFETY: `reach` checked `size` bytes; the destinations are rows.
        unsafe {
            let value = host.add(part).read_unaligned().widen();
            sm.write_in_turn(inst, part, [value; LANES]);
        }
    }
    inst.next()
}

/// Runs an access warp by warp; it answers whether it could be done.
#[inline(always)]
fn in_turn(sm: &mut Sm, inst: &Inst, access: impl Fn(&mut Sm, usize) -> bool) -> Next {
    for turn in 0..sm.gang.count {
        sm.take_turn(turn);
        if !access(sm, turn) {
            return sm.fail_in_gang(inst);
        }
    }
    inst.next()
}

/// Reads the elements of `L` lanes, one lane's behind the other's: a row for each part.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn get<M: Element, const N: usize, const L: usize>(host: *const M) -> [[M::Row; L]; N] {
    // SAFETY: the caller's promise.
    let values = unsafe { host.cast::<[[M; N]; L]>().read_unaligned() };
    let mut rows = [[M::Row::default(); L]; N];
    for (part, row) in rows.iter_mut().enumerate() {
        for lane in 0..L {
            row[lane] = values[lane][part].widen();
        }
    }
    rows
}

/// A gang's store: where all lanes are apart without a look at each address, else warp by warp.
#[inline(always)]
unsafe fn run_store_together<S: Space, M: Element, const N: usize>(
    sm: &mut Sm,
    inst: &Inst,
    one_warp: impl Fn(&mut Sm, Stored<M::Row, N>) -> bool,
) -> Next {
    let size = (size_of::<M>() * N) as u64;
    if inst.common & 1 == 0 {
        // SAFETY: operand 0 is a 64-bit row.
        if let Some((spread, host)) = unsafe { reach_together::<S>(sm, inst, 0, size, true) } {
            for turn in 0..sm.gang.count {
                let view = Together::of(&sm.gang, turn);
                // SAFETY: the values are rows; the elements of all lanes are inside what was found.
                unsafe {
                    let rows = std::array::from_fn(|part| view.row::<M::Row>(sm, inst, 1 + part));
                    if let Some(start) = spread.consecutive(turn) {
                        put::<M, N, LANES>(host.add(start).cast(), rows, 0);
                        continue;
                    }
                    for (quarter, (start, _)) in spread.of_warp(turn).enumerate() {
                        put::<M, N, LANES_OF_QUARTER>(
                            host.add(start).cast(),
                            rows,
                            quarter * LANES_OF_QUARTER,
                        );
                    }
                }
            }
            sm.spreads.keep(spread_key(sm, inst), spread);
            return inst.next();
        }
    }
    // SAFETY: the caller's promise.
    in_turn(sm, inst, |sm, turn| unsafe {
        one_warp(
            sm,
            store_operands::<M, N>(Together::of(&sm.gang, turn), sm, inst),
        )
    })
}

/// Makes `$name(cpu)`: the handlers of an access. `$run` is what a warp does on a CPU with wide
/// registers, compiled once for each type: a warp alone calls it, and a gang where it goes warp by
/// warp. `$plainly` is for other CPUs, and for memory where an address means something else in each
/// thread, for which there is no form for gangs.
macro_rules! access_handlers {
    ($(#[$doc:meta])* $name:ident, $operands:ident -> $read:ty, $run:ident, $plainly:ident, $together:ident) => {
        $(#[$doc])*
        pub fn $name<S: Space + 'static, M: Element, const N: usize>(cpu: Cpu) -> Run {
            unsafe fn plain<S: Space, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: the lowering gave the operands the types the body asks for.
                unsafe {
                    let operands = $operands::<M, N>(Alone, sm, inst);
                    go_on(inst, $plainly::<S, M, N>(sm, inst, operands))
                }
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            #[inline(never)]
            unsafe fn one_warp<S: Space, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
                operands: $read,
            ) -> bool {
                // SAFETY: as in `plain`; chosen only where the CPU has AVX2, if it is for that.
                unsafe { $run::<S, M, N>(sm, inst, operands) }
            }
            unsafe fn wide<S: Space, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: as in `one_warp`.
                unsafe {
                    let operands = $operands::<M, N>(Alone, sm, inst);
                    go_on(inst, one_warp::<S, M, N>(sm, inst, operands))
                }
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide_together<S: Space, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: as in `one_warp`. A gang's warp has all its living lanes running, so that
                // its registers are written as those of a warp alone.
                unsafe {
                    $together::<S, M, N>(sm, inst, |sm, operands| {
                        one_warp::<S, M, N>(sm, inst, operands)
                    })
                }
            }
            let (alone, together): (Handler, Option<Handler>) = if !S::COMMON {
                (plain::<S, M, N>, None)
            } else if cpu.is_wide() {
                (wide::<S, M, N>, Some(wide_together::<S, M, N>))
            } else {
                (plain::<S, M, N>, None)
            };
            Run {
                alone,
                together,
                repeats: S::COMMON,
            }
        }
    };
}

/// The next instruction, or nowhere if the access could not be done.
#[inline(always)]
fn go_on(inst: &Inst, done: bool) -> Next {
    match done {
        true => inst.next(),
        false => std::ptr::null(),
    }
}

access_handlers!(
    /// A load from `S` of `N` elements `M`.
    load, load_operands -> &[u64; LANES], run_load, run_load_plainly, run_load_together);
access_handlers!(
    /// A store to `S` of `N` elements `M`.
    store, store_operands -> Stored<M::Row, N>, run_store, run_store_plainly, run_store_together);

/// A load from a place in constant memory known when the module was loaded: `x` elements at
/// `imm` bytes into the bank. On a GPU this is an operand of the instruction that uses it.
pub fn load_constant_operand<M: Element>(cpu: Cpu) -> Run {
    same(cpu, |sm: &Sm, inst: &Inst, part| {
        let bank = sm.constants.host.cast_const();
        // SAFETY: the bank is at least as large as the module says; the lowering checked the place.
        unsafe { known::<M>(bank, inst, part) }
    })
}

/// A load of a kernel parameter: `x` elements at `imm` bytes into the parameters.
pub fn load_param<M: Element>(cpu: Cpu) -> Run {
    same(cpu, |sm: &Sm, inst: &Inst, part| {
        // SAFETY: there are as many bytes as the kernel's parameters take; the lowering checked
        // the place.
        unsafe { known::<M>(sm.grid.params.as_ptr(), inst, part) }
    })
}

/// Element `part` of those that `inst` loads from a known place after `base`.
///
/// # Safety
/// The place is inside what `base` begins.
#[inline(always)]
unsafe fn known<M: Element>(base: *const u8, inst: &Inst, part: usize) -> M::Row {
    let host = base.wrapping_add(inst.imm as usize).cast::<M>();
    // SAFETY: the caller's promise.
    unsafe { host.add(part).read_unaligned() }.widen()
}

/// The address of a place in this function's local memory, `imm` bytes from its base: operand 0.
pub fn local_address(cpu: Cpu) -> Run {
    same(cpu, |sm: &Sm, inst: &Inst, _| {
        u64::from(sm.local_base) + inst.imm
    })
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
