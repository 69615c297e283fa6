//! Surface instructions: `suld`, `sust`, `sured`.

use super::{Geometry, fetch, host, no_image};
use crate::check::device_access::Texel;
use crate::check::{AddressedMemory, Cause, FaultKind};
use crate::exec::image::Image;
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The treatment of accesses outside a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfBounds {
    /// The launch ends with a fault.
    Trap,
    /// The nearest texel is accessed.
    Clamp,
    /// Loads return zero, and stores do nothing.
    Zero,
}

/// The properties of an access, packed into `arg0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceAccess {
    pub geometry: Geometry,
    /// Number of elements, one register each, and bytes per element.
    pub elements: u32,
    pub bytes: u32,
    pub out_of_bounds: OutOfBounds,
    /// True if the first coordinate counts texels instead of bytes.
    pub by_texels: bool,
}

impl SurfaceAccess {
    pub fn packed(self) -> u32 {
        self.geometry.packed()
            | self.elements << 4
            | self.bytes << 8
            | (self.out_of_bounds as u32) << 12
            | u32::from(self.by_texels) << 14
    }

    fn of(packed: u32) -> SurfaceAccess {
        SurfaceAccess {
            geometry: Geometry::of(packed & 15),
            elements: packed >> 4 & 15,
            bytes: packed >> 8 & 15,
            out_of_bounds: [OutOfBounds::Trap, OutOfBounds::Clamp, OutOfBounds::Zero]
                [(packed >> 12 & 3) as usize % 3],
            by_texels: packed >> 14 & 1 == 1,
        }
    }
}

/// The operation of `sured`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceOp {
    Add,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
}

impl SurfaceOp {
    const ALL: [SurfaceOp; 7] = [
        SurfaceOp::Add,
        SurfaceOp::MinUnsigned,
        SurfaceOp::MaxUnsigned,
        SurfaceOp::MinSigned,
        SurfaceOp::MaxSigned,
        SurfaceOp::And,
        SurfaceOp::Or,
    ];

    fn narrow(self, old: u32, new: u32) -> u32 {
        let extended = |value: u32| match self {
            SurfaceOp::MinSigned | SurfaceOp::MaxSigned => {
                i64::from(value.cast_signed()).cast_unsigned()
            }
            _ => value.into(),
        };
        self.wide(extended(old), extended(new)) as u32
    }

    fn wide(self, old: u64, new: u64) -> u64 {
        match self {
            SurfaceOp::Add => old.wrapping_add(new),
            SurfaceOp::MinUnsigned => old.min(new),
            SurfaceOp::MaxUnsigned => old.max(new),
            SurfaceOp::MinSigned => old.cast_signed().min(new.cast_signed()).cast_unsigned(),
            SurfaceOp::MaxSigned => old.cast_signed().max(new.cast_signed()).cast_unsigned(),
            SurfaceOp::And => old & new,
            SurfaceOp::Or => old | new,
        }
    }
}

/// Returns the host address of a lane's access at coordinates x, y, and z or the layer. Returns `Ok(None)` if
/// the access is outside and has no effect.
fn translate(
    sm: &Sm,
    access: SurfaceAccess,
    handle: u64,
    at: [i32; 3],
) -> Result<Option<*mut u8>, FaultKind> {
    let Some(image) = sm.grid.images.surfaces.get(&handle) else {
        return Err(no_image(sm, handle));
    };
    let memory = host(sm, image);
    if memory.is_null() {
        return Err(no_image(sm, handle));
    }
    if let Some(checker) = &sm.checker {
        checker.use_memory(image.base);
    }
    let unit = i64::from(access.elements * access.bytes);
    let first = if access.by_texels {
        i64::from(at[0]) * image.texel() as i64
    } else {
        i64::from(at[0])
    };
    if first % unit != 0 {
        return Err(FaultKind::MisalignedSurface {
            x: first as u64,
            bytes: unit as u32,
        });
    }
    let row = image.extent(0) * image.texel() as i64;
    let mut position = [first, at[1].into(), at[2].into()];
    if access.geometry.layered {
        // Layers are unsigned.
        position[2] = at[2].cast_unsigned().into();
    }
    let last = [row - unit, image.extent(1) - 1, image.extent(2) - 1];
    let inside = (0..3).all(|dimension| (0..=last[dimension]).contains(&position[dimension]));
    match access.out_of_bounds {
        _ if inside => {}
        OutOfBounds::Zero => return Ok(None),
        OutOfBounds::Clamp => {
            for (position, last) in position.iter_mut().zip(last) {
                *position = (*position).clamp(0, last.max(0));
            }
        }
        OutOfBounds::Trap => {
            return Err(FaultKind::IllegalAddress {
                address: first as u64,
                bytes: unit as u32,
                write: false,
                memory: AddressedMemory::Surface,
            });
        }
    }
    if row < unit {
        return Ok(None);
    }
    Ok(Some(memory.wrapping_add(byte_offset(image, position))))
}

/// Returns the byte offset of a position in an image whose first coordinate is in bytes.
fn byte_offset(image: &Image, [x, y, z]: [i64; 3]) -> usize {
    (image.offset([0, y, z]) + x as u64) as usize
}

/// Returns the device address of the elements at a host address, for the checks.
fn device_address(sm: &Sm, handle: u64, at: *mut u8) -> Option<u64> {
    let image = sm.grid.images.surfaces.get(&handle)?;
    Some(image.base + (at.addr() - host(sm, image).addr()) as u64)
}

/// Checks the elements that a lane reads. `at` is their host address.
fn check_read(
    sm: &mut Sm,
    inst: &Inst,
    access: SurfaceAccess,
    (lane, handle): (usize, u64),
    at: *mut u8,
) {
    if sm.checker.is_none() {
        return;
    }
    let element = Texel {
        at: device_address(sm, handle, at),
        bytes: (access.elements * access.bytes).into(),
        outside: None,
    };
    let fetch = fetch(sm, inst, lane);
    if let Some(checker) = &mut sm.checker {
        checker.check_texel(fetch, element, Cause::SurfaceNotInitialized);
    }
}

/// Notes the elements that an access writes, for the checks. `at` is their host address.
fn note_store(sm: &mut Sm, access: SurfaceAccess, handle: u64, at: *mut u8) {
    if sm.checker.is_none() {
        return;
    }
    let address = device_address(sm, handle, at);
    let bytes = access.elements * access.bytes;
    if let (Some(checker), Some(address)) = (&mut sm.checker, address) {
        checker.store_texels(address, bytes.into());
    }
}

/// Returns the operand list of an instruction, and the lanes' handles and coordinates, which start at index
/// `from` of the list. A layer comes last and is stored as z.
///
/// # Safety
/// The list must hold a 64-bit row of handles and as many 32-bit rows as the access's geometry has operands.
unsafe fn operands(
    sm: &Sm,
    inst: &Inst,
    access: SurfaceAccess,
    from: usize,
) -> (Vec<u32>, [u64; LANES], [[i32; 3]; LANES]) {
    let list = sm.grid.program.operand_lists[inst.imm as usize].to_vec();
    // SAFETY: the caller guarantees the rows in the operand list.
    unsafe {
        let handles = *sm.frame.add(list[from] as usize).cast::<[u64; LANES]>();
        let mut positions = [[0; 3]; LANES];
        for operand in 0..access.geometry.operands() {
            let row = *sm
                .frame
                .add(list[from + 1 + operand] as usize)
                .cast::<[i32; LANES]>();
            let is_layer = operand == access.geometry.dimensions as usize;
            let dimension = if is_layer { 2 } else { operand };
            for (position, at) in positions.iter_mut().zip(row) {
                position[dimension] = at;
            }
        }
        (list, handles, positions)
    }
}

/// Runs `suld`. Operands: a destination for each element, the handles, the coordinates; `arg0` is a
/// [`SurfaceAccess`].
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the operands are in a list.
pub unsafe fn surface_load(sm: &mut Sm, inst: &Inst) -> Next {
    let access = SurfaceAccess::of(inst.arg0);
    let elements = access.elements as usize;
    // SAFETY: the lowering made the operand list, and `translate` checked the bytes that are read.
    unsafe {
        let (list, handles, positions) = operands(sm, inst, access, elements);
        for lane in active(sm.mask) {
            let host = match translate(sm, access, handles[lane], positions[lane]) {
                Ok(host) => host,
                Err(kind) => return sm.fail(inst, lane, kind),
            };
            if let Some(host) = host {
                check_read(sm, inst, access, (lane, handles[lane]), host);
            }
            for (element, &to) in list[..elements].iter().enumerate() {
                let from = host.map(|host| host.add(element * access.bytes as usize));
                let value = match (from, access.bytes) {
                    (None, _) => 0,
                    (Some(from), 1) => from.read().into(),
                    (Some(from), 2) => from.cast::<u16>().read_unaligned().into(),
                    (Some(from), 4) => from.cast::<u32>().read_unaligned().into(),
                    (Some(from), _) => from.cast::<u64>().read_unaligned(),
                };
                let row = sm.frame.add(to as usize);
                match access.bytes {
                    8 => row.cast::<u64>().add(lane).write(value),
                    _ => row.cast::<u32>().add(lane).write(value as u32),
                }
            }
        }
    }
    sm.counts.reads += 1;
    inst.next()
}

/// Runs `sust`. Operands: the handles, the coordinates, and a source for each element; `arg0` is a
/// [`SurfaceAccess`].
///
/// # Safety
/// As for [`surface_load`].
pub unsafe fn surface_store(sm: &mut Sm, inst: &Inst) -> Next {
    let access = SurfaceAccess::of(inst.arg0);
    // SAFETY: the lowering made the operand list, and `translate` checked the bytes that are written.
    unsafe {
        let (list, handles, positions) = operands(sm, inst, access, 0);
        let sources = &list[1 + access.geometry.operands()..];
        for lane in active(sm.mask) {
            let host = match translate(sm, access, handles[lane], positions[lane]) {
                Ok(Some(host)) => host,
                Ok(None) => continue,
                Err(kind) => return sm.fail(inst, lane, kind),
            };
            note_store(sm, access, handles[lane], host);
            for (element, &from) in sources.iter().take(access.elements as usize).enumerate() {
                let to = host.add(element * access.bytes as usize);
                let row = sm.frame.add(from as usize);
                match access.bytes {
                    8 => to
                        .cast::<u64>()
                        .write_unaligned(row.cast::<u64>().add(lane).read()),
                    4 => to
                        .cast::<u32>()
                        .write_unaligned(row.cast::<u32>().add(lane).read()),
                    2 => to
                        .cast::<u16>()
                        .write_unaligned(row.cast::<u32>().add(lane).read() as u16),
                    _ => to.write(row.cast::<u32>().add(lane).read() as u8),
                }
            }
        }
    }
    inst.next()
}

/// Runs `sured`. Operands as for [`surface_store`], with one element of 4 or 8 bytes; `arg1` is the
/// [`SurfaceOp`].
///
/// # Safety
/// As for [`surface_load`].
pub unsafe fn reduce(sm: &mut Sm, inst: &Inst) -> Next {
    let access = SurfaceAccess::of(inst.arg0);
    let kind = SurfaceOp::ALL[inst.arg1 as usize % SurfaceOp::ALL.len()];
    // SAFETY: the lowering made the operand list; `translate` checked bounds, and arrays and their rows are
    // aligned.
    unsafe {
        let (list, handles, positions) = operands(sm, inst, access, 0);
        let source = list[1 + access.geometry.operands()] as usize;
        for lane in active(sm.mask) {
            let host = match translate(sm, access, handles[lane], positions[lane]) {
                Ok(Some(host)) => host,
                Ok(None) => continue,
                Err(kind) => return sm.fail(inst, lane, kind),
            };
            check_read(sm, inst, access, (lane, handles[lane]), host);
            note_store(sm, access, handles[lane], host);
            let row = sm.frame.add(source);
            // The old value is not needed: the update applies to any value.
            match access.bytes {
                8 => {
                    let new = row.cast::<u64>().add(lane).read();
                    let atomic = AtomicU64::from_ptr(host.cast());
                    let _ = atomic.fetch_update(SeqCst, SeqCst, |old| Some(kind.wide(old, new)));
                }
                _ => {
                    let new = row.cast::<u32>().add(lane).read();
                    let atomic = AtomicU32::from_ptr(host.cast());
                    let _ = atomic.fetch_update(SeqCst, SeqCst, |old| Some(kind.narrow(old, new)));
                }
            }
        }
    }
    sm.counts.atomics += 1;
    inst.next()
}
