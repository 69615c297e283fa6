//! Bulk asynchronous copies: `cp.async.bulk`, `cp.reduce.async.bulk` and their tensor forms, `st.async` and `red.async`.
//! Source: PTX ISA, sections 5.5 and "Data Movement and Conversion Instructions: Asynchronous copy".
//!
//! A GPU may read the source and write the destination of a copy at any time until the copy is waited for. Here a copy
//! to shared memory reads its source when it starts, and arrives when a thread tests the barrier to which it reports. A
//! copy to device memory reads its source and writes its destination when its group is waited for, or when the block
//! ends. These choices expose missing waits.

pub mod reduction;
pub mod tensor;

use super::access::{InvalidAccess, record_undetected, translate};
use super::state_space::{GenericSpace, GlobalSpace, SharedSpace, SpaceAccess};
use crate::check::{BulkCopyMisuse, FaultKind};
use crate::exec::sm::block::Block;
use crate::exec::sm::bulk::{BulkStore, Delivery, Layout, Operand, Operation, Reduction, Run};
use crate::exec::sm::cluster::{mapped_address, rank_and_offset};
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};
use crate::memory::tensor_map::{
    ElementType, Extent, Interleave, MAX_RANK, TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES, TensorMap,
};
use tensor::{Field, Position};

/// The required alignment of the addresses of linear copies, in bytes.
const LINEAR_ALIGN: u64 = 16;
/// The required alignment of a tensor copy's address in shared memory, in bytes.
const TENSOR_ALIGN: u64 = 128;
/// Size of an mbarrier in bytes.
const BARRIER_BYTES: u64 = 8;

/// The source and destination of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From device memory to shared memory of the cluster.
    Load,
    /// From the block's shared memory to that of the cluster.
    ToCluster,
    /// From the block's shared memory to device memory.
    Store,
}

/// The form of a copy, stored in `arg0` and `arg1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkForm {
    pub direction: Direction,
    /// The number of dimensions of a tensor copy; 0 for consecutive bytes.
    pub rank: u32,
    pub is_im2col: bool,
    pub is_multicast: bool,
    /// The operation; a tensor map gives the type.
    pub operation: Option<Operation>,
    pub operand: Operand,
}

impl BulkForm {
    /// Returns the arguments of the instruction.
    pub fn args(self) -> (u32, u32) {
        let flags = u32::from(self.is_im2col) | u32::from(self.is_multicast) << 1;
        (
            self.direction as u32 | self.rank << 8 | flags << 16,
            pack_reduction(self.operation, self.operand),
        )
    }

    fn of(inst: &Inst) -> BulkForm {
        const DIRECTIONS: [Direction; 3] =
            [Direction::Load, Direction::ToCluster, Direction::Store];
        let (operation, operand) = unpack_reduction(inst.arg1);
        BulkForm {
            direction: DIRECTIONS[(inst.arg0 & 0xff) as usize % 3],
            rank: inst.arg0 >> 8 & 0xff,
            is_im2col: inst.arg0 >> 16 & 1 == 1,
            is_multicast: inst.arg0 >> 17 & 1 == 1,
            operation,
            operand,
        }
    }
}

/// Returns the operation and the type of a reduction as an argument of an instruction.
pub fn pack_reduction(operation: Option<Operation>, operand: Operand) -> u32 {
    operation.map_or(0, |operation| operation as u32 + 1) | (operand as u32) << 8
}

fn unpack_reduction(argument: u32) -> (Option<Operation>, Operand) {
    let operation = (argument & 0xff).checked_sub(1);
    (
        operation.map(|number| OPERATIONS[number as usize % OPERATIONS.len()]),
        OPERANDS[(argument >> 8) as usize % OPERANDS.len()],
    )
}

const OPERATIONS: [Operation; 8] = [
    Operation::Add,
    Operation::Min,
    Operation::Max,
    Operation::Increment,
    Operation::Decrement,
    Operation::And,
    Operation::Or,
    Operation::Xor,
];

const OPERANDS: [Operand; 8] = [
    Operand::U32,
    Operand::U64,
    Operand::S32,
    Operand::S64,
    Operand::F16,
    Operand::BF16,
    Operand::F32,
    Operand::F64,
];

/// Indices of the operands in the operand list. The coordinates are followed by the offsets of an im2col copy.
const SHARED: usize = 0;
const OTHER: usize = 1;
const SIZE: usize = 2;
const BARRIER: usize = 3;
const MASK: usize = 4;
const COORDINATES: usize = 5;

/// The bytes that one thread copies, after all checks.
pub struct Transfer {
    /// Address in shared memory, at which the rows start.
    pub shared: u64,
    pub layout: Layout,
    /// Number of bytes in shared memory.
    pub bytes: u64,
    /// The parts of the data in device memory.
    pub runs: Vec<Run>,
    /// The type of the elements of a tensor copy, and true if those outside the array are NaN.
    element: Option<(ElementType, bool)>,
    /// The address of a source in shared memory.
    pub source: Option<u64>,
    /// The address of the barrier that gets the bytes.
    barrier: u64,
    /// The ranks of the blocks that a multicast reaches, as a mask.
    mask: u32,
    pub reduction: Option<Reduction>,
    /// The access past the end of device memory that a GPU does not detect, if there is one.
    undetected: Option<InvalidAccess>,
}

impl Transfer {
    /// Returns the address in a block's own shared memory at which the data will be written; `None` if it goes to other
    /// blocks of the cluster only.
    pub fn own_destination(&self, block: &Block) -> Option<u64> {
        let is_own = match self.mask {
            0 => block.is_own_shared(self.shared),
            mask => mask >> block.cluster_rank & 1 == 1,
        };
        is_own.then(|| rank_and_offset(self.shared).1)
    }
}

/// Returns true if a copy writes to shared memory.
pub fn writes_shared(inst: &Inst) -> bool {
    BulkForm::of(inst).direction != Direction::Store
}

/// Returns operand `index` of a lane.
///
/// # Safety
/// The operand must be a row of `T`.
unsafe fn operand<T: Copy>(sm: &Sm, inst: &Inst, index: usize, lane: usize) -> T {
    let offset = sm.grid.program.operand_lists[inst.imm as usize][index];
    // SAFETY: the lowering placed a row of `T` at this offset of the frame.
    unsafe { sm.frame.add(offset as usize).cast::<T>().add(lane).read() }
}

/// Returns what a lane copies, or the fault that the copy causes.
///
/// # Safety
/// `inst` must be a [`start`].
pub unsafe fn transfer(sm: &mut Sm, inst: &Inst, lane: usize) -> Result<Transfer, FaultKind> {
    let form = BulkForm::of(inst);
    // SAFETY: addresses are 64-bit rows, the size and the mask 32-bit rows.
    let (shared, other, size, barrier, mask) = unsafe {
        (
            operand::<u64>(sm, inst, SHARED, lane),
            operand::<u64>(sm, inst, OTHER, lane),
            operand::<u32>(sm, inst, SIZE, lane),
            operand::<u64>(sm, inst, BARRIER, lane),
            operand::<u32>(sm, inst, MASK, lane),
        )
    };
    let mut transfer = match form.rank {
        0 => {
            if !u64::from(size).is_multiple_of(LINEAR_ALIGN) && !sm.grid.has_hardware_faults {
                return Err(invalid_size(size));
            }
            linear_transfer(
                form,
                (shared, other),
                u64::from(size) / LINEAR_ALIGN * LINEAR_ALIGN,
            )
        }
        _ => {
            // SAFETY: `inst` is a tensor copy, whose coordinates are 32-bit rows.
            let position = unsafe { position(sm, inst, form, lane) };
            let map = read_map(sm, lane, other)?;
            tensor_transfer(form, &map, shared, position)?
        }
    };
    let align = if form.rank == 0 {
        LINEAR_ALIGN
    } else {
        TENSOR_ALIGN
    };
    let writes_shared = form.direction != Direction::Store;
    let span = transfer.layout.span(transfer.bytes);
    check_memory::<SharedSpace>(sm, lane, shared, span, align, writes_shared)?;
    if form.direction == Direction::ToCluster {
        check_memory::<SharedSpace>(sm, lane, other, transfer.bytes, align, false)?;
    }
    let unit = match transfer.element {
        Some((element, _)) => element.bytes(),
        None => LINEAR_ALIGN,
    };
    for run in &transfer.runs {
        let checked =
            check_memory::<GlobalSpace>(sm, lane, run.address, run.bytes, unit, !writes_shared);
        if let Err(access) = checked {
            let is_detected = matches!(access, InvalidAccess::Misaligned { .. })
                || GlobalSpace::host_past_end(sm, lane, run.address, run.bytes).is_null();
            if is_detected {
                return Err(access.into());
            }
            transfer.undetected = Some(access);
        }
    }
    if writes_shared {
        translate::<SharedSpace>(sm, lane, barrier, BARRIER_BYTES, BARRIER_BYTES, true)?;
        transfer.barrier = barrier;
        transfer.mask = if form.is_multicast { mask & 0xffff } else { 0 };
    }
    Ok(transfer)
}

/// Checks the memory of a copy. Fails with the access to the first of its units of 16 bytes that is not accessible.
fn check_memory<S: SpaceAccess>(
    sm: &mut Sm,
    lane: usize,
    address: u64,
    bytes: u64,
    align: u64,
    write: bool,
) -> Result<(), InvalidAccess> {
    let access = match translate::<S>(sm, lane, address, bytes, align, write) {
        Ok(_) => return Ok(()),
        Err(access) => access,
    };
    let InvalidAccess::Illegal { memory, .. } = access else {
        return Err(access);
    };
    let mut units = (0..bytes).step_by(LINEAR_ALIGN as usize).map(|offset| {
        let unit = LINEAR_ALIGN.min(bytes - offset);
        (address.wrapping_add(offset), unit)
    });
    let first = units.find(|&(at, unit)| S::host(sm, lane, at, unit).is_null());
    // All are accessible if the access may not write, and an empty copy has none.
    let (address, unit) = first.unwrap_or((address, LINEAR_ALIGN.min(bytes)));
    Err(InvalidAccess::Illegal {
        address,
        bytes: unit as u32,
        write,
        memory,
    })
}

/// Returns the fault of a copy whose size is not a multiple of 16 bytes. A GPU does not detect it, and copies the
/// multiple below it.
fn invalid_size(size: u32) -> FaultKind {
    FaultKind::BulkCopy(BulkCopyMisuse::InvalidSize(size))
}

fn linear_transfer(form: BulkForm, (shared, other): (u64, u64), bytes: u64) -> Transfer {
    let run = Run {
        at: 0,
        address: other,
        bytes,
    };
    let operand = form.operand;
    Transfer {
        shared,
        layout: Layout::linear(bytes),
        bytes,
        runs: match form.direction {
            Direction::Load | Direction::Store if bytes > 0 => vec![run],
            _ => Vec::new(),
        },
        element: None,
        source: match form.direction {
            Direction::Load => None,
            Direction::ToCluster => Some(other),
            Direction::Store => Some(shared),
        },
        barrier: 0,
        mask: 0,
        reduction: form
            .operation
            .map(|operation| Reduction { operation, operand }),
        undetected: None,
    }
}

fn tensor_transfer(
    form: BulkForm,
    map: &TensorMap,
    shared: u64,
    position: Position,
) -> Result<Transfer, FaultKind> {
    let reduction = (form.operation).and_then(|operation| reduction_of(operation, map.element));
    let start = i64::from(position.coordinates[0]) * map.element.bytes() as i64;
    let misuse = match map.extent {
        _ if !map.is_valid() => Some(BulkCopyMisuse::InvalidTensorMap),
        _ if map.rank != form.rank as usize => {
            Some(BulkCopyMisuse::OtherRank(form.rank, map.rank as u32))
        }
        Extent::Tile(_) if form.is_im2col => Some(BulkCopyMisuse::OtherMode),
        Extent::Im2col(_) if !form.is_im2col => Some(BulkCopyMisuse::OtherMode),
        _ if form.operation.is_some() && reduction.is_none() => Some(BulkCopyMisuse::NoReduction),
        // An H200 checks this and the next two, which are not in NVIDIA's documentation.
        _ if map.interleave == Interleave::None && start % LINEAR_ALIGN as i64 != 0 => {
            Some(BulkCopyMisuse::MisalignedStart(start))
        }
        Extent::Tile(_) if form.direction == Direction::Store => {
            let mut coordinates = position.coordinates.into_iter();
            let negative = coordinates.find(|&coordinate| coordinate < 0);
            negative.map(|coordinate| BulkCopyMisuse::NegativeCoordinate(coordinate.into()))
        }
        Extent::Im2col(_) => tensor::outside_box(map, position)
            .map(|coordinate| BulkCopyMisuse::OutsideBox(coordinate.into())),
        Extent::Tile(_) => None,
    };
    if let Some(misuse) = misuse {
        return Err(FaultKind::BulkCopy(misuse));
    }
    Ok(Transfer {
        shared,
        layout: Layout {
            row_bytes: map.row_bytes(),
            pitch: map.row_pitch(),
            swizzle: map.swizzle,
        },
        bytes: map.copied_bytes(),
        runs: tensor::runs(map, position),
        element: Some((map.element, map.fills_nan)),
        source: (form.direction == Direction::Store).then_some(shared),
        barrier: 0,
        mask: 0,
        reduction,
        undetected: None,
    })
}

/// Returns a reduction of the elements of an array; `None` if their type does not have the operation.
fn reduction_of(operation: Operation, element: ElementType) -> Option<Reduction> {
    use ElementType::*;
    let operand = match element {
        U8 | U16 => return None,
        U32 => Operand::U32,
        S32 => Operand::S32,
        U64 => Operand::U64,
        S64 => Operand::S64,
        F16 => Operand::F16,
        BF16 => Operand::BF16,
        F32 | F32Ftz | TF32 | TF32Ftz => Operand::F32,
        F64 => Operand::F64,
    };
    let exists = match operation {
        Operation::Add => true,
        Operation::Min | Operation::Max => !matches!(operand, Operand::F32 | Operand::F64),
        Operation::Increment | Operation::Decrement => operand == Operand::U32,
        Operation::And | Operation::Or | Operation::Xor => !element.is_float(),
    };
    exists.then_some(Reduction { operation, operand })
}

/// Returns the position of a tensor copy.
///
/// # Safety
/// `inst` must be a [`start`] with coordinates.
unsafe fn position(sm: &Sm, inst: &Inst, form: BulkForm, lane: usize) -> Position {
    let mut position = Position::default();
    let rank = (form.rank as usize).min(MAX_RANK);
    let list = &sm.grid.program.operand_lists[inst.imm as usize];
    let offsets = list.len().saturating_sub(COORDINATES + rank);
    // SAFETY: coordinates and offsets are 32-bit rows.
    unsafe {
        for (index, coordinate) in position.coordinates[..rank].iter_mut().enumerate() {
            *coordinate = operand::<i32>(sm, inst, COORDINATES + index, lane);
        }
        for (index, offset) in position.offsets.iter_mut().take(offsets).enumerate() {
            *offset = operand::<u32>(sm, inst, COORDINATES + rank + index, lane) as u16;
        }
    }
    position
}

/// Reads the tensor map at a generic address.
fn read_map(sm: &mut Sm, lane: usize, address: u64) -> Result<TensorMap, FaultKind> {
    let bytes = TENSOR_MAP_BYTES as u64;
    let host = translate::<GenericSpace>(sm, lane, address, bytes, TENSOR_MAP_ALIGN, false)?;
    // SAFETY: `translate` checked the bytes of a descriptor.
    let descriptor = unsafe { host.cast::<[u8; TENSOR_MAP_BYTES]>().read() };
    TensorMap::decode(&descriptor).ok_or(FaultKind::BulkCopy(BulkCopyMisuse::NotTensorMap(address)))
}

/// Runs a bulk copy. `arg0` and `arg1` are the [`BulkForm`]. The operand list holds:
///
/// - the address in shared memory,
/// - the address of the device memory, the tensor map, or the source in shared memory,
/// - the size,
/// - the address of the barrier,
/// - the mask of blocks,
/// - the coordinates and the im2col offsets.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn start(sm: &mut Sm, inst: &Inst) -> Next {
    let form = BulkForm::of(inst);
    for lane in active(sm.mask) {
        // SAFETY: the size is a 32-bit row.
        let size = unsafe { operand::<u32>(sm, inst, SIZE, lane) };
        if form.rank == 0
            && !u64::from(size).is_multiple_of(LINEAR_ALIGN)
            && sm.grid.has_hardware_faults
        {
            record_undetected(sm, inst, lane, invalid_size(size));
        }
        // SAFETY: `inst` is a `start`, since this is its handler.
        let started = unsafe { transfer(sm, inst, lane) }.and_then(|transfer| {
            if let Some(access) = transfer.undetected {
                record_undetected(sm, inst, lane, access);
            }
            match form.direction {
                Direction::Store => {
                    let thread = sm.block.warp().index * LANES as u32 + lane as u32;
                    sm.block.bulk.start(BulkStore {
                        thread,
                        group: 0,
                        from: transfer.shared,
                        layout: transfer.layout,
                        runs: transfer.runs,
                        bytes: transfer.bytes,
                        data: None,
                        reduction: transfer.reduction,
                    });
                    Ok(())
                }
                Direction::Load => {
                    let data = load(sm, &transfer);
                    send(sm, lane, transfer, data)
                }
                Direction::ToCluster => {
                    let (layout, bytes) = (transfer.layout, transfer.bytes);
                    let data = gather(sm, transfer.source.unwrap_or(0), layout, bytes);
                    send(sm, lane, transfer, data)
                }
            }
        });
        if let Err(fault) = started {
            return sm.fail(inst, lane, fault);
        }
    }
    let lanes = sm.mask.count_ones().into();
    match form.direction {
        Direction::Load => GlobalSpace::count(sm, false, 1, lanes),
        Direction::Store => GlobalSpace::count(sm, true, 1, lanes),
        Direction::ToCluster => SharedSpace::count(sm, false, 1, lanes),
    }
    inst.next()
}

/// Returns the host address of a part of a copy in device memory, or null if the kernel has freed it.
fn device_memory(sm: &mut Sm, run: &Run) -> *mut u8 {
    let host = GlobalSpace::host(sm, 0, run.address, run.bytes);
    match host.is_null() {
        true => GlobalSpace::host_past_end(sm, 0, run.address, run.bytes),
        false => host,
    }
}

/// Reads the source of a copy in device memory, which has been checked.
fn load(sm: &mut Sm, transfer: &Transfer) -> Vec<u8> {
    let mut data = vec![0; transfer.bytes as usize];
    if let Some((element, true)) = transfer.element {
        let width = element.bytes() as usize;
        for part in data.chunks_exact_mut(width) {
            part.copy_from_slice(&element.nan().to_le_bytes()[..width]);
        }
    }
    for run in &transfer.runs {
        let host = device_memory(sm, run);
        let part = &mut data[run.at as usize..(run.at + run.bytes) as usize];
        // SAFETY: `transfer` has checked the run, and no allocation of a launch moves.
        unsafe { host.copy_to_nonoverlapping(part.as_mut_ptr(), part.len()) };
        if let Some((element, _)) = transfer.element
            && element.converts()
        {
            for word in part.as_chunks_mut::<4>().0 {
                *word = element.convert(u32::from_le_bytes(*word)).to_le_bytes();
            }
        }
    }
    data
}

/// Reads the rows of a copy from shared memory. The memory of a block that has ended reads as zero.
pub fn gather(sm: &mut Sm, from: u64, layout: Layout, bytes: u64) -> Vec<u8> {
    let mut data = vec![0; bytes as usize];
    for piece in layout.pieces(from, bytes) {
        let host = SharedSpace::host(sm, 0, piece.address, piece.bytes as u64);
        if !host.is_null() {
            let part = &mut data[piece.at..piece.at + piece.bytes];
            // SAFETY: `host` found the bytes in shared memory, of which `data` is a copy.
            unsafe { host.copy_to_nonoverlapping(part.as_mut_ptr(), piece.bytes) };
        }
    }
    data
}

/// Sends data to shared memory: to the addressed block, or with a mask to the same address in several blocks.
fn send(sm: &mut Sm, lane: usize, transfer: Transfer, data: Vec<u8>) -> Result<(), FaultKind> {
    let destinations: Vec<(u64, u64)> = match transfer.mask {
        0 => vec![(transfer.shared, transfer.barrier)],
        mask => active(mask)
            .map(|rank| {
                let mapped = |address| mapped_address(address, rank as u32);
                (mapped(transfer.shared), mapped(transfer.barrier))
            })
            .collect(),
    };
    for (to, barrier) in destinations {
        // The other blocks of a multicast have not been checked.
        translate::<SharedSpace>(sm, lane, to, transfer.layout.span(transfer.bytes), 1, true)?;
        translate::<SharedSpace>(sm, lane, barrier, BARRIER_BYTES, BARRIER_BYTES, true)?;
        let delivery = Delivery {
            barrier: sm.block.cluster_address(barrier),
            to: sm.block.cluster_address(to),
            layout: transfer.layout,
            data: data.clone(),
            reduction: transfer.reduction,
        };
        sm.block.add_delivery(delivery);
    }
    Ok(())
}

/// Writes data that has arrived to shared memory.
pub fn deliver(sm: &mut Sm, delivery: &Delivery) {
    let bytes = delivery.data.len() as u64;
    for piece in delivery.layout.pieces(delivery.to, bytes) {
        let host = SharedSpace::host(sm, 0, piece.address, piece.bytes as u64);
        let part = &delivery.data[piece.at..piece.at + piece.bytes];
        if host.is_null() {
            continue;
        }
        // SAFETY: `host` found the bytes in shared memory; the elements of a reduction are aligned, as the address is.
        unsafe {
            match delivery.reduction {
                Some(reduction) => reduction.apply_all(host, part),
                None => host.copy_from_nonoverlapping(part.as_ptr(), part.len()),
            }
        }
        let is_own = sm.block.is_own_shared(piece.address);
        if let (Some(checker), Some(shadow)) = (&sm.checker, &mut sm.block.shadow)
            && is_own
        {
            let (_, offset) = rank_and_offset(piece.address);
            let bytes = piece.bytes as u64;
            (shadow.shared).end_bulk_copy(checker.launch.checks, offset, bytes);
        }
    }
}

/// Writes the data of a copy to device memory. Memory that the kernel has freed is skipped.
fn store(sm: &mut Sm, store: BulkStore) {
    let data = match store.data {
        Some(data) => data,
        None => gather(sm, store.from, store.layout, store.bytes),
    };
    for run in &store.runs {
        let host = device_memory(sm, run);
        let part = &data[run.at as usize..(run.at + run.bytes) as usize];
        if host.is_null() {
            continue;
        }
        // SAFETY: `host` found the bytes in device memory; runs consist of whole elements, which are aligned.
        unsafe {
            match store.reduction {
                Some(reduction) => reduction.apply_all(host, part),
                None => host.copy_from_nonoverlapping(part.as_ptr(), part.len()),
            }
        }
    }
}

/// Completes the copies to device memory that the threads of the ended block have not waited for.
pub fn finish(sm: &mut Sm) {
    for each in sm.block.bulk.take_stores() {
        store(sm, each);
    }
}

/// Returns the indices in the block of the running threads.
fn threads(sm: &Sm) -> impl Iterator<Item = u32> + use<> {
    let first = sm.block.warp().index * LANES as u32;
    active(sm.mask).map(move |lane| first + lane as u32)
}

/// Runs `cp.async.bulk.commit_group`.
///
/// # Safety
/// As for [`start`].
pub unsafe fn commit(sm: &mut Sm, inst: &Inst) -> Next {
    for thread in threads(sm) {
        sm.block.bulk.commit(thread);
    }
    inst.next()
}

/// Runs `cp.async.bulk.wait_group`: waits until at most the newest `arg0` groups are in flight. If `arg1` is 1, only
/// until the sources of the others have been read.
///
/// # Safety
/// As for [`start`].
pub unsafe fn wait_group(sm: &mut Sm, inst: &Inst) -> Next {
    let (pending, only_reads) = (inst.arg0, inst.arg1 == 1);
    for thread in threads(sm) {
        if !only_reads {
            for each in sm.block.bulk.take_waited_for(thread, pending) {
                store(sm, each);
            }
            continue;
        }
        let mut bulk = std::mem::take(&mut sm.block.bulk);
        for each in bulk.waited_for(thread, pending) {
            if each.data.is_none() {
                each.data = Some(gather(sm, each.from, each.layout, each.bytes));
            }
        }
        sm.block.bulk = bulk;
    }
    inst.next()
}

/// Runs `st.async` and `red.async`. Operands: the address, the barrier, and one to four values of which `arg0` is the
/// size in bytes; `arg1` is the reduction of [`pack_reduction`].
///
/// # Safety
/// As for [`start`].
pub unsafe fn store_async(sm: &mut Sm, inst: &Inst) -> Next {
    let width = inst.arg0 as usize;
    let count = sm.grid.program.operand_lists[inst.imm as usize].len() - 2;
    let (operation, operand_type) = unpack_reduction(inst.arg1);
    let bytes = (width * count) as u64;
    for lane in active(sm.mask) {
        let mut data = Vec::new();
        // SAFETY: the addresses are 64-bit rows, and the values rows of their width.
        let (to, barrier) = unsafe {
            for index in 0..count {
                match width {
                    8 => data.extend(operand::<u64>(sm, inst, 2 + index, lane).to_le_bytes()),
                    _ => data.extend(operand::<[u8; 4]>(sm, inst, 2 + index, lane)),
                }
            }
            (
                operand::<u64>(sm, inst, 0, lane),
                operand::<u64>(sm, inst, 1, lane),
            )
        };
        let transfer = Transfer {
            shared: to,
            layout: Layout::linear(bytes),
            bytes,
            runs: Vec::new(),
            element: None,
            source: None,
            barrier,
            mask: 0,
            reduction: operation.map(|operation| Reduction {
                operation,
                operand: operand_type,
            }),
            undetected: None,
        };
        let checked = translate::<SharedSpace>(sm, lane, to, bytes, bytes, true);
        if let Err(fault) = checked
            .map_err(FaultKind::from)
            .and_then(|_| send(sm, lane, transfer, data))
        {
            return sm.fail(inst, lane, fault);
        }
    }
    inst.next()
}

/// Runs `tensormap.replace`. Operands: the generic address of the map and the new value, a 64-bit row. `arg0` is the index
/// of the field in [`Field::ALL`], `arg1` the dimension.
///
/// # Safety
/// As for [`start`].
pub unsafe fn replace_field(sm: &mut Sm, inst: &Inst) -> Next {
    let (_, field) = Field::ALL[inst.arg0 as usize % Field::ALL.len()];
    for lane in active(sm.mask) {
        // SAFETY: both operands are 64-bit rows.
        let (address, value) = unsafe {
            (
                sm.row::<u64>(inst, 0)[lane].wrapping_add(inst.imm),
                sm.row::<u64>(inst, 1)[lane],
            )
        };
        let replaced = read_map(sm, lane, address).and_then(|mut map| {
            let changed = field.replace(&mut map, inst.arg1 as usize, value);
            changed.ok_or(FaultKind::BulkCopy(BulkCopyMisuse::InvalidTensorMap))?;
            let bytes = TENSOR_MAP_BYTES as u64;
            let host = translate::<GenericSpace>(sm, lane, address, bytes, TENSOR_MAP_ALIGN, true)?;
            // SAFETY: `translate` checked the bytes of a descriptor.
            unsafe { host.cast::<[u8; TENSOR_MAP_BYTES]>().write(map.encode()) };
            Ok(())
        });
        if let Err(fault) = replaced {
            return sm.fail(inst, lane, fault);
        }
    }
    inst.next()
}

/// Runs `tensormap.cp_fenceproxy`, which copies a tensor map from shared to device memory. Operands: the addresses of the
/// destination and of the source.
///
/// # Safety
/// As for [`start`].
pub unsafe fn copy_map(sm: &mut Sm, inst: &Inst) -> Next {
    let bytes = TENSOR_MAP_BYTES as u64;
    for lane in active(sm.mask) {
        // SAFETY: both operands are 64-bit rows.
        let (to, from) = unsafe { (sm.row::<u64>(inst, 0)[lane], sm.row::<u64>(inst, 1)[lane]) };
        let hosts = translate::<SharedSpace>(sm, lane, from, bytes, TENSOR_MAP_ALIGN, false)
            .and_then(|from| {
                let to = translate::<GlobalSpace>(sm, lane, to, bytes, TENSOR_MAP_ALIGN, true)?;
                Ok((to, from))
            });
        match hosts {
            // SAFETY: `translate` checked the bytes of both; shared and device memory do not overlap.
            Ok((to, from)) => unsafe { to.copy_from_nonoverlapping(from, TENSOR_MAP_BYTES) },
            Err(fault) => return sm.fail(inst, lane, fault),
        }
    }
    inst.next()
}
