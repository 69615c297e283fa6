//! Surfaces are read, written and changed: `suld`, `sust`, `sured`.

use super::{Geometry, host};
use crate::exec::fault::FaultKind;
use crate::exec::image::Image;
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// What becomes of an access outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// The launch ends.
    Trap,
    /// The nearest texel is meant.
    Clamp,
    /// Zero is read, and nothing written.
    Zero,
}

/// What an instruction moves, packed into its `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceAccess {
    pub geometry: Geometry,
    /// Elements of a register each, and the bytes of one.
    pub elements: u32,
    pub bytes: u32,
    pub beyond: Beyond,
    /// The first coordinate counts texels, and not bytes.
    pub by_texels: bool,
}

impl SurfaceAccess {
    pub fn packed(self) -> u32 {
        self.geometry.packed()
            | self.elements << 4
            | self.bytes << 8
            | (self.beyond as u32) << 12
            | u32::from(self.by_texels) << 14
    }

    fn of(packed: u32) -> SurfaceAccess {
        SurfaceAccess {
            geometry: Geometry::of(packed & 15),
            elements: packed >> 4 & 15,
            bytes: packed >> 8 & 15,
            beyond: [Beyond::Trap, Beyond::Clamp, Beyond::Zero][(packed >> 12 & 3) as usize % 3],
            by_texels: packed >> 14 & 1 == 1,
        }
    }
}

/// What `sured` does to what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceKind {
    Add,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
}

impl SurfaceKind {
    const ALL: [SurfaceKind; 7] = [
        SurfaceKind::Add,
        SurfaceKind::MinUnsigned,
        SurfaceKind::MaxUnsigned,
        SurfaceKind::MinSigned,
        SurfaceKind::MaxSigned,
        SurfaceKind::And,
        SurfaceKind::Or,
    ];

    fn narrow(self, old: u32, new: u32) -> u32 {
        match self {
            SurfaceKind::Add => old.wrapping_add(new),
            SurfaceKind::MinUnsigned => old.min(new),
            SurfaceKind::MaxUnsigned => old.max(new),
            SurfaceKind::MinSigned => old.cast_signed().min(new.cast_signed()).cast_unsigned(),
            SurfaceKind::MaxSigned => old.cast_signed().max(new.cast_signed()).cast_unsigned(),
            SurfaceKind::And => old & new,
            SurfaceKind::Or => old | new,
        }
    }

    fn wide(self, old: u64, new: u64) -> u64 {
        match self {
            SurfaceKind::Add => old.wrapping_add(new),
            SurfaceKind::MinUnsigned => old.min(new),
            SurfaceKind::MaxUnsigned => old.max(new),
            SurfaceKind::MinSigned => old.cast_signed().min(new.cast_signed()).cast_unsigned(),
            SurfaceKind::MaxSigned => old.cast_signed().max(new.cast_signed()).cast_unsigned(),
            SurfaceKind::And => old & new,
            SurfaceKind::Or => old | new,
        }
    }
}

/// The host's address of what a lane means, by its coordinates in x, y and z or the layer in z's place; none
/// where that is outside and nothing is to happen.
fn translate(
    sm: &Sm,
    access: SurfaceAccess,
    handle: u64,
    at: [i32; 3],
) -> Result<Option<*mut u8>, FaultKind> {
    let none = FaultKind::NoImage { handle };
    let Some(image) = sm.grid.images.surfaces.get(&handle) else {
        return Err(none);
    };
    let memory = host(sm, image);
    if memory.is_null() {
        return Err(none);
    }
    let unit = i64::from(access.elements * access.bytes);
    let first = match access.by_texels {
        true => i64::from(at[0]) * image.texel() as i64,
        false => i64::from(at[0]),
    };
    if first % unit != 0 {
        return Err(FaultKind::MisalignedAddress {
            address: first as u64,
            bytes: unit as u32,
        });
    }
    let row = image.extent(0) * image.texel() as i64;
    let mut place = [first, at[1].into(), at[2].into()];
    if access.geometry.layered {
        // It is a number without a sign.
        place[2] = at[2].cast_unsigned().into();
    }
    let last = [row - unit, image.extent(1) - 1, image.extent(2) - 1];
    let inside = (0..3).all(|dimension| (0..=last[dimension]).contains(&place[dimension]));
    match access.beyond {
        _ if inside => {}
        Beyond::Zero => return Ok(None),
        Beyond::Clamp => {
            for (place, last) in place.iter_mut().zip(last) {
                *place = (*place).clamp(0, last.max(0));
            }
        }
        Beyond::Trap => {
            return Err(FaultKind::IllegalAddress {
                address: first as u64,
                bytes: unit as u32,
                write: false,
                space: "the surface",
            });
        }
    }
    if row < unit {
        return Ok(None);
    }
    Ok(Some(memory.wrapping_add(of(image, place))))
}

/// Bytes from an image's beginning to a place in it, whose first coordinate is in bytes.
fn of(image: &Image, [x, y, z]: [i64; 3]) -> usize {
    (image.offset([0, y, z]) + x as u64) as usize
}

/// The rows of an instruction whose operands are in a list, and the lanes' handles and coordinates, which
/// begin at a place in it. A layer comes last, and is in z's place.
///
/// # Safety
/// There are a 64-bit row of handles, and as many 32-bit rows as the access's geometry has operands.
unsafe fn operands(
    sm: &Sm,
    inst: &Inst,
    access: SurfaceAccess,
    from: usize,
) -> (Vec<u32>, [u64; LANES], [[i32; 3]; LANES]) {
    let list = sm.grid.program.operand_lists[inst.imm as usize].to_vec();
    // SAFETY: the caller's promise.
    unsafe {
        let handles = *sm.frame.add(list[from] as usize).cast::<[u64; LANES]>();
        let mut places = [[0; 3]; LANES];
        for operand in 0..access.geometry.operands() {
            let row = *sm
                .frame
                .add(list[from + 1 + operand] as usize)
                .cast::<[i32; LANES]>();
            let is_layer = operand == access.geometry.dimensions as usize;
            let dimension = if is_layer { 2 } else { operand };
            for (place, at) in places.iter_mut().zip(row) {
                place[dimension] = at;
            }
        }
        (list, handles, places)
    }
}

/// `suld`: a destination for each element, the handles, the coordinates; `x` a [`SurfaceAccess`].
///
/// # Safety
/// As for [`crate::exec::sm::Handler`]; its operands are in a list.
pub unsafe fn surface_load(sm: &mut Sm, inst: &Inst) -> Next {
    let access = SurfaceAccess::of(inst.arg0);
    let elements = access.elements as usize;
    // SAFETY: the lowering put the operands there; `translate` found as many bytes as are read.
    unsafe {
        let (list, handles, places) = operands(sm, inst, access, elements);
        for lane in active(sm.mask) {
            let found = match translate(sm, access, handles[lane], places[lane]) {
                Ok(found) => found,
                Err(kind) => return sm.fail(inst, lane, kind),
            };
            for (element, &to) in list[..elements].iter().enumerate() {
                let from = found.map(|host| host.add(element * access.bytes as usize));
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

/// `sust`: the handles, the coordinates, and a source for each element; `x` a [`SurfaceAccess`].
///
/// # Safety
/// As for [`surface_load`].
pub unsafe fn surface_store(sm: &mut Sm, inst: &Inst) -> Next {
    let access = SurfaceAccess::of(inst.arg0);
    // SAFETY: as in `surface_load`.
    unsafe {
        let (list, handles, places) = operands(sm, inst, access, 0);
        let sources = &list[1 + access.geometry.operands()..];
        for lane in active(sm.mask) {
            let found = match translate(sm, access, handles[lane], places[lane]) {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(kind) => return sm.fail(inst, lane, kind),
            };
            for (element, &from) in sources.iter().take(access.elements as usize).enumerate() {
                let to = found.add(element * access.bytes as usize);
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

/// `sured`: as [`surface_store`] with one element of 4 or 8 bytes; `y` the [`SurfaceKind`].
///
/// # Safety
/// As for [`surface_load`].
pub unsafe fn reduce(sm: &mut Sm, inst: &Inst) -> Next {
    let access = SurfaceAccess::of(inst.arg0);
    let kind = SurfaceKind::ALL[inst.arg1 as usize % SurfaceKind::ALL.len()];
    // SAFETY: as in `surface_load`; arrays and their rows are aligned, and so is the place.
    unsafe {
        let (list, handles, places) = operands(sm, inst, access, 0);
        let source = list[1 + access.geometry.operands()] as usize;
        for lane in active(sm.mask) {
            let found = match translate(sm, access, handles[lane], places[lane]) {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(kind) => return sm.fail(inst, lane, kind),
            };
            let row = sm.frame.add(source);
            // What was there before does not matter: it is changed whatever it is.
            match access.bytes {
                8 => {
                    let new = row.cast::<u64>().add(lane).read();
                    let place = AtomicU64::from_ptr(found.cast());
                    let _ = place.fetch_update(SeqCst, SeqCst, |old| Some(kind.wide(old, new)));
                }
                _ => {
                    let new = row.cast::<u32>().add(lane).read();
                    let place = AtomicU32::from_ptr(found.cast());
                    let _ = place.fetch_update(SeqCst, SeqCst, |old| Some(kind.narrow(old, new)));
                }
            }
        }
    }
    sm.counts.atomics += 1;
    inst.next()
}
