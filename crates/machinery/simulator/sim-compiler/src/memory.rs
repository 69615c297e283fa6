//! Loads and stores of a chunk: their bounds checks, fast paths for lanes at one address and for consecutive lanes, and
//! the general path through the simulator.
//!
//! The allocation found by the last access of device memory is cached in registers, so that the bounds check of the
//! next access with the same base is one comparison. For this comparison, the offset in the allocation is rotated right
//! by the number of bits that must be zero, so that a misaligned offset becomes large and fails the check.

use crate::classes::Class;
use crate::region::{
    Emitter, Guard, Values, all_lanes, context_offset, scalar, trusted, untrusted, vector,
};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64, I64X2};
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder as _, StackSlot, StackSlotData, StackSlotKind, Value,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use cuda_sim::exec::compiled::{
    Context, Function, Instruction, Region, TransferDescription, TransferRequest, helpers, offsets,
};
use cuda_sim::isa::operation::{Operation, Transfer};
use cuda_sim::isa::{Memory, RegisterClass};
use std::collections::HashMap;
use std::mem::{offset_of, size_of};

/// A load or a store.
pub struct Access<'i> {
    transfer: Transfer,
    write: bool,
    /// The register with the addresses.
    address: u32,
    /// The offset added to each address.
    offset: u64,
    /// The registers loaded or stored, one per element.
    elements: &'i [u32],
}

impl<'i> Access<'i> {
    pub fn new(inst: &'i Instruction, transfer: Transfer, write: bool) -> Access<'i> {
        Access {
            transfer,
            write,
            address: inst.uses[0],
            offset: inst.imm,
            elements: if write { &inst.uses[1..] } else { &inst.defs },
        }
    }

    /// Returns the access of an instruction; `None` if it is neither a load nor a store.
    fn of(inst: &'i Instruction) -> Option<Access<'i>> {
        let (transfer, write) = inst.operation?.transfer()?;
        Some(Access::new(inst, transfer, write))
    }

    /// Returns the bytes that each lane transfers.
    fn size(&self) -> i64 {
        i64::from(self.transfer.bytes * self.transfer.count)
    }

    /// Returns the bytes that are checked at once: those of one lane if all have the same address, otherwise as many as
    /// consecutive lanes access.
    fn chunk_bytes(&self, class: Class, lanes: usize) -> i64 {
        match class {
            Class::Uniform => self.size(),
            Class::Linear(_) | Class::Varying => self.size() * lanes as i64,
        }
    }
}

/// Returns whether an instruction loads from device memory (`Some(false)`) or stores to it, and whether it reads memory
/// that other threads may write. All generic accesses count as such.
pub fn counts(inst: &Instruction) -> (Option<bool>, bool) {
    let Some(access) = Access::of(inst) else {
        return (None, false);
    };
    let reads = !access.write
        && (access.transfer.is_of_device() || access.transfer.memory == Memory::Shared);
    (
        access.transfer.is_of_device().then_some(access.write),
        reads,
    )
}

/// Values that accesses use, computed once per call.
pub struct MemoryValues {
    /// The number of the block's first bit in a word of a footprint.
    epoch_shift: Option<Value>,
    /// The host address of shared memory, and its size.
    shared: Option<[Value; 2]>,
    /// The operands of calls of the simulator.
    request: Option<StackSlot>,
    /// The allocations that accesses last found, by the root of their addresses, the bytes of a chunk
    /// and of a lane, and their direction.
    found: HashMap<(u32, i64, i64, bool), CachedAllocation>,
}

/// An allocation that an access has found.
#[derive(Clone, Copy)]
struct CachedAllocation {
    base: Variable,
    /// The number of rotated offsets at which an access fits into it; 0 if none has been found.
    room: Variable,
    /// The host address of device address 0.
    host: Variable,
    /// The words of its footprint.
    words: Variable,
    /// The sector that an access at one address has marked last, plus 1.
    sector: Variable,
}

impl MemoryValues {
    /// Emits the values for a region's accesses at the start of its function.
    pub fn new(
        b: &mut FunctionBuilder,
        function: &Function,
        region: &Region,
        context: Value,
        lanes: usize,
        classes: &[Class],
    ) -> MemoryValues {
        let mut values = MemoryValues {
            epoch_shift: None,
            shared: None,
            request: None,
            found: HashMap::new(),
        };
        for access in region.instructions(function).filter_map(Access::of) {
            if access.transfer.memory == Memory::Shared && values.shared.is_none() {
                let [host, bytes] = [
                    offset_of!(Context, shared),
                    offset_of!(Context, shared_bytes),
                ];
                let mut load = |at| b.ins().load(I64, trusted(), context, context_offset(at));
                values.shared = Some([load(host), load(bytes)]);
            }
            let class = classes[access.address as usize];
            if !access.transfer.is_of_device() {
                continue;
            }
            let bytes = access.chunk_bytes(class, lanes);
            if values.epoch_shift.is_none() {
                let at = context_offset(offset_of!(Context, epoch));
                let epoch = b.ins().load(I32, trusted(), context, at);
                values.epoch_shift = Some(b.ins().imul_imm_s(epoch, i64::from(offsets::SECTORS)));
            }
            let root = root(function, classes, access.address);
            values
                .found
                .entry((root, bytes, access.size(), access.write))
                .or_insert_with(|| {
                    let found = CachedAllocation {
                        base: b.declare_var(I64),
                        room: b.declare_var(I64),
                        host: b.declare_var(I64),
                        words: b.declare_var(I64),
                        sector: b.declare_var(I64),
                    };
                    let zero = b.ins().iconst(I64, 0);
                    for variable in [
                        found.base,
                        found.room,
                        found.host,
                        found.words,
                        found.sector,
                    ] {
                        b.def_var(variable, zero);
                    }
                    found
                });
        }
        values
    }
}

/// Returns the register from which an address is computed by additions: probably a pointer to the start of an array.
fn root(function: &Function, classes: &[Class], register: u32) -> u32 {
    const MAX_STEPS: usize = 16;
    let mut current = register;
    for _ in 0..MAX_STEPS {
        if function.registers[current as usize].definitions != 1 {
            break;
        }
        let mut insts = function.instructions.iter();
        let Some(inst) = insts.find(|inst| inst.defs.contains(&current)) else {
            break;
        };
        let next = match inst.operation {
            Some(Operation::Copy | Operation::AddImmediate) => inst.uses[0],
            Some(Operation::Add(_)) => {
                // The scaled index is not the pointer.
                let is_pointer = |&&used: &&u32| {
                    let mut insts = function.instructions.iter();
                    let of = insts.find(|inst| inst.defs.contains(&used));
                    classes[used as usize] == Class::Uniform
                        && function.registers[used as usize].literal.is_none()
                        && !matches!(
                            of.and_then(|inst| inst.operation),
                            Some(
                                Operation::MultiplyWide(_)
                                    | Operation::ShiftLeft(_)
                                    | Operation::Resize { .. }
                            )
                        )
                };
                let variable = |&&used: &&u32| function.registers[used as usize].literal.is_none();
                let pointer = inst.uses.iter().find(is_pointer);
                match pointer.or_else(|| inst.uses.iter().find(variable)) {
                    Some(&next) => next,
                    None => break,
                }
            }
            Some(Operation::MultiplyAddWide(_)) => inst.uses[2],
            _ => break,
        };
        current = next;
    }
    current
}

impl Emitter<'_, '_> {
    /// Emits a load or a store.
    pub fn access(&mut self, access: Access, guard: &Guard) -> Option<()> {
        let address = self.values(access.address);
        let counted = access.transfer.is_of_device();
        let after = self.b.create_block();
        let (mask, lanes_guard) = match guard {
            Guard::None => (self.chunk.mask, None),
            Guard::Uniform(condition) => {
                let then = self.b.create_block();
                self.b.ins().brif(*condition, then, &[], after, &[]);
                self.b.switch_to_block(then);
                (self.chunk.mask, None)
            }
            Guard::Lanes(masks) => {
                let bits = self.bits(masks);
                let bits = self.b.ins().band(bits, self.chunk.mask);
                let then = self.b.create_block();
                self.b.ins().brif(bits, then, &[], after, &[]);
                self.b.switch_to_block(then);
                (bits, Some(guard))
            }
        };
        if counted && !matches!(guard, Guard::None) {
            self.count_guarded(access.write, mask);
        }
        let blends = lanes_guard.unwrap_or(&Guard::None);
        match (&address, access.write) {
            (Values::Uniform(address), false) => {
                self.load_uniform(&access, *address, mask, blends)?
            }
            (Values::Linear(base, step), _) if *step == access.size() => {
                self.consecutive(&access, &address, *base, mask, blends)?;
            }
            _ if access.transfer.memory == Memory::Shared => {
                self.scattered_shared(&access, &address, mask, blends)?;
            }
            (Values::Linear(..) | Values::Lanes(_), _) if access.transfer.is_of_device() => {
                self.scattered_device(&access, &address, mask, blends)?;
            }
            _ => self.slow_access(&access, &address, mask, blends)?,
        }
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
        Some(())
    }

    /// Emits an access through the simulator.
    fn slow_access(
        &mut self,
        access: &Access,
        address: &Values,
        mask: Value,
        blends: &Guard,
    ) -> Option<()> {
        match access.write {
            true => self.slow_store(access, address, mask),
            false => self.slow_load(access, address, mask, blends),
        }
    }

    /// Emits the slow path of an access, in block `slow`, and continues in block `after`.
    fn emit_slow_path(
        &mut self,
        access: &Access,
        address: &Values,
        mask: Value,
        blends: &Guard,
        [slow, after]: [Block; 2],
    ) -> Option<()> {
        self.b.switch_to_block(slow);
        self.slow_access(access, address, mask, blends)?;
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
        Some(())
    }

    /// Emits an access of device memory whose addresses are known at run time only: consecutive, or any in one
    /// allocation.
    fn scattered_device(
        &mut self,
        access: &Access,
        address: &Values,
        mask: Value,
        blends: &Guard,
    ) -> Option<()> {
        let [check, row, each, fast, slow, after] = [(); 6].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        let all = all_lanes(self.chunk_lanes);
        let is_full = self.b.ins().icmp_imm_s(IntCC::Equal, mask, all);
        self.b.ins().brif(is_full, check, &[], slow, &[]);
        self.b.switch_to_block(check);
        let bytes = access.size() * self.chunk_lanes as i64;
        let addresses = self.lanes(RegisterClass::Wide, address);
        let first = self.b.ins().extractlane(addresses[0], 0);
        let start = self.b.ins().iadd_imm_s(first, access.offset as i64);
        let found = self.found(access, start, bytes, slow)?;
        if let Values::Lanes(_) = address {
            let expected = self.lanes(RegisterClass::Wide, &Values::Linear(first, access.size()));
            let pairs = addresses.iter().zip(expected);
            let differences: Vec<Value> = pairs
                .map(|(&actual, expected)| self.b.ins().bxor(actual, expected))
                .collect();
            let differences = self.any(&differences)?;
            let differs = self.b.ins().vany_true(differences);
            self.b.ins().brif(differs, each, &[], row, &[]);
        } else {
            self.b.ins().jump(each, &[]);
        }

        self.b.switch_to_block(row);
        let host = self.marked(access, found, start, bytes, false)?;
        match access.write {
            true => self.store_consecutive(access, host),
            false => self.load_consecutive(access, host, blends)?,
        }
        self.b.ins().jump(after, &[]);

        // Each lane must be inside the allocation, in a sector that is marked already.
        self.b.switch_to_block(each);
        let align = access.size().trailing_zeros();
        let (base, room) = (self.b.use_var(found.base), self.b.use_var(found.room));
        let mut offsets_of = Vec::with_capacity(self.chunk_lanes);
        let mut valid = Vec::with_capacity(self.chunk_lanes);
        for lane in 0..self.chunk_lanes {
            let address = self.lane(RegisterClass::Wide, &addresses, lane);
            let address = self.b.ins().iadd_imm_s(address, access.offset as i64);
            let offset = self.b.ins().isub(address, base);
            let rotated = match align {
                0 => offset,
                align => self.b.ins().rotr_imm_s(offset, i64::from(align)),
            };
            let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, rotated, room);
            valid.push(inside);
            offsets_of.push(offset);
        }
        let marks = self.b.create_block();
        let valid = self.all(&valid)?;
        self.b.ins().brif(valid, marks, &[], slow, &[]);
        self.b.switch_to_block(marks);
        let words = self.b.use_var(found.words);
        let shift = self.memory.epoch_shift?;
        let shift = self.b.ins().uextend(I64, shift);
        let mut marked = Vec::with_capacity(offsets_of.len());
        for &offset in &offsets_of {
            let line = self.b.ins().ushr_imm_s(offset, 7);
            let line = self.b.ins().ishl_imm_s(line, 3);
            let at = self.b.ins().iadd(words, line);
            let word = self.b.ins().load(I64, trusted(), at, 0);
            let sector = self.b.ins().ushr_imm_s(offset, 5);
            let sector = self
                .b
                .ins()
                .band_imm_s(sector, i64::from(offsets::SECTORS) - 1);
            let bit = self.b.ins().iadd(sector, shift);
            marked.push(self.b.ins().ushr(word, bit));
        }
        let marked = self.all(&marked)?;
        let marked = self.b.ins().band_imm_s(marked, 1);
        self.b.ins().brif(marked, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        let host = self.b.use_var(found.host);
        let host = self.b.ins().iadd(host, base);
        let hosts: Vec<Value> = offsets_of
            .into_iter()
            .map(|offset| self.b.ins().iadd(host, offset))
            .collect();
        self.each_element(access, &hosts, blends)?;
        self.b.ins().jump(after, &[]);
        self.emit_slow_path(access, address, mask, blends, [slow, after])
    }

    /// Loads or stores the elements of each lane, at its host address.
    fn each_element(&mut self, access: &Access, hosts: &[Value], blends: &Guard) -> Option<()> {
        let Transfer { bytes, signed, .. } = access.transfer;
        for (n, &element) in access.elements.iter().enumerate() {
            let class = self.class(element);
            let at = (n as u32 * bytes) as i32;
            if access.write {
                let values = self.values(element);
                let lanes = self.lanes(class, &values);
                for (lane, &host) in hosts.iter().enumerate() {
                    let value = self.lane(class, &lanes, lane);
                    self.store_element(bytes, value, host, at);
                }
                continue;
            }
            let mut values = Vec::with_capacity(hosts.len());
            for &host in hosts {
                values.push(self.load_element(scalar(class), bytes, signed, host, at));
            }
            let lanes = self.collect(class, &values);
            self.define(element, Values::Lanes(lanes), blends)?;
        }
        Some(())
    }

    /// Emits a load of all lanes from one address.
    fn load_uniform(
        &mut self,
        access: &Access,
        address: Value,
        mask: Value,
        blends: &Guard,
    ) -> Option<()> {
        let address = self.b.ins().iadd_imm_s(address, access.offset as i64);
        let [fast, slow, merge] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        for &def in access.elements {
            self.b.append_block_param(merge, scalar(self.class(def)));
        }
        // A generic address of local memory differs from lane to lane.
        let is_uniform = !matches!(access.transfer.memory, Memory::Generic | Memory::Local);
        let values = Values::Uniform(address);
        let host = self.translate(access, address, access.size(), true, slow);
        if let Some(host) = host {
            self.b.ins().jump(fast, &[]);
            self.b.switch_to_block(fast);
            let mut loaded: Vec<BlockArg> = Vec::new();
            for (n, &def) in access.elements.iter().enumerate() {
                let ty = scalar(self.class(def));
                let Transfer { bytes, signed, .. } = access.transfer;
                let offset = (n as u32 * bytes) as i32;
                loaded.push(self.load_element(ty, bytes, signed, host, offset).into());
            }
            self.b.ins().jump(merge, &loaded);
        } else {
            self.b.ins().jump(slow, &[]);
        }
        if !is_uniform {
            // The general path defines the registers by itself.
            self.b.switch_to_block(merge);
            let loaded = self.b.block_params(merge).to_vec();
            for (&def, value) in access.elements.iter().zip(loaded) {
                self.define(def, Values::Uniform(value), blends)?;
            }
            let after = self.b.create_block();
            self.b.ins().jump(after, &[]);
            self.b.switch_to_block(slow);
            let offset = Access {
                offset: 0,
                ..*access
            };
            self.slow_load(&offset, &values, mask, blends)?;
            self.b.ins().jump(after, &[]);
            self.b.switch_to_block(after);
            return Some(());
        }
        self.b.switch_to_block(slow);
        // One lane suffices.
        let lowest = self.b.ins().ineg(mask);
        let lowest = self.b.ins().band(lowest, mask);
        let offset = Access {
            offset: 0,
            ..*access
        };
        let request = self.request(&offset, &values, lowest)?;
        let lane = self.b.ins().ctz(lowest);
        let lane = self.b.ins().uextend(I64, lane);
        let mut loaded: Vec<BlockArg> = Vec::new();
        for (n, &def) in access.elements.iter().enumerate() {
            let ty = scalar(self.class(def));
            let distance = self.b.ins().imul_imm_s(lane, i64::from(ty.bytes()));
            let at = self.b.ins().iadd(request, distance);
            loaded.push(self.b.ins().load(ty, trusted(), at, row_offset(n)).into());
        }
        self.b.ins().jump(merge, &loaded);
        self.b.switch_to_block(merge);
        let loaded = self.b.block_params(merge).to_vec();
        for (&def, value) in access.elements.iter().zip(loaded) {
            self.define(def, Values::Uniform(value), blends)?;
        }
        Some(())
    }

    /// Emits an access of consecutive elements by consecutive lanes.
    fn consecutive(
        &mut self,
        access: &Access,
        address: &Values,
        base: Value,
        mask: Value,
        blends: &Guard,
    ) -> Option<()> {
        let start = self.b.ins().iadd_imm_s(base, access.offset as i64);
        let [check, slow, after] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        // Loads of inactive lanes from shared memory do no harm.
        if access.write || access.transfer.memory != Memory::Shared {
            let all = all_lanes(self.chunk_lanes);
            let is_full = self.b.ins().icmp_imm_s(IntCC::Equal, mask, all);
            self.b.ins().brif(is_full, check, &[], slow, &[]);
        } else {
            self.b.ins().jump(check, &[]);
        }
        self.b.switch_to_block(check);
        let bytes = access.size() * self.chunk_lanes as i64;
        match self.translate(access, start, bytes, false, slow) {
            Some(host) if access.write => self.store_consecutive(access, host),
            Some(host) => self.load_consecutive(access, host, blends)?,
            None => {
                self.b.ins().jump(slow, &[]);
                return self.emit_slow_path(access, address, mask, blends, [slow, after]);
            }
        }
        self.b.ins().jump(after, &[]);
        self.emit_slow_path(access, address, mask, blends, [slow, after])
    }

    fn load_consecutive(&mut self, access: &Access, host: Value, blends: &Guard) -> Option<()> {
        let Transfer {
            bytes,
            signed,
            count,
            ..
        } = access.transfer;
        for (n, &def) in access.elements.iter().enumerate() {
            let class = self.class(def);
            let lanes = if count == 1 && bytes >= 4 {
                let pieces = self.vector_count_of(class);
                (0..pieces)
                    .map(|piece| {
                        let at = 16 * piece as i32;
                        self.b.ins().load(vector(class), untrusted(), host, at)
                    })
                    .collect()
            } else {
                let values: Vec<Value> = (0..self.chunk_lanes)
                    .map(|lane| {
                        let at = (lane as u32 * bytes * count + n as u32 * bytes) as i32;
                        self.load_element(scalar(class), bytes, signed, host, at)
                    })
                    .collect();
                self.collect(class, &values)
            };
            self.define(def, Values::Lanes(lanes), blends)?;
        }
        Some(())
    }

    fn store_consecutive(&mut self, access: &Access, host: Value) {
        let Transfer { bytes, count, .. } = access.transfer;
        for (n, &element) in access.elements.iter().enumerate() {
            let class = self.class(element);
            let values = self.values(element);
            let lanes = self.lanes(class, &values);
            if count == 1 && bytes >= 4 {
                for (piece, value) in lanes.into_iter().enumerate() {
                    self.b
                        .ins()
                        .store(untrusted(), value, host, 16 * piece as i32);
                }
                continue;
            }
            for lane in 0..self.chunk_lanes {
                let value = self.lane(class, &lanes, lane);
                let at = (lane as u32 * bytes * count + n as u32 * bytes) as i32;
                self.store_element(bytes, value, host, at);
            }
        }
    }

    /// Emits an access of shared memory by lanes at any addresses.
    fn scattered_shared(
        &mut self,
        access: &Access,
        address: &Values,
        mask: Value,
        blends: &Guard,
    ) -> Option<()> {
        let [base, limit] = self.memory.shared?;
        let [check, fast, slow, after] = [(); 4].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        if access.write {
            let all = all_lanes(self.chunk_lanes);
            let is_full = self.b.ins().icmp_imm_s(IntCC::Equal, mask, all);
            self.b.ins().brif(is_full, check, &[], slow, &[]);
        } else {
            self.b.ins().jump(check, &[]);
        }
        self.b.switch_to_block(check);
        let offset = self.constant(I64, access.offset);
        let offset = self.b.ins().splat(I64X2, offset);
        // Neither the address nor its distance from the last valid address may be negative.
        let last = self.b.ins().iadd_imm_s(limit, -access.size());
        let last = self.b.ins().splat(I64X2, last);
        let mut signs = last;
        let mut addresses = Vec::with_capacity(self.wide_vectors());
        for lanes in self.lanes(RegisterClass::Wide, address) {
            let lanes = self.b.ins().iadd(lanes, offset);
            let left = self.b.ins().isub(last, lanes);
            let both = self.b.ins().bor(lanes, left);
            signs = self.b.ins().bor(signs, both);
            addresses.push(lanes);
        }
        let signs = self.b.ins().vhigh_bits(I32, signs);
        let mut valid = self.b.ins().icmp_imm_s(IntCC::Equal, signs, 0);
        if access.size() > 1 {
            let low = self.any(&addresses)?;
            let [first, second] = [0, 1].map(|n| self.b.ins().extractlane(low, n));
            let low = self.b.ins().bor(first, second);
            let low = self.b.ins().band_imm_s(low, access.size() - 1);
            let aligned = self.b.ins().icmp_imm_s(IntCC::Equal, low, 0);
            valid = self.b.ins().band(valid, aligned);
        }
        self.b.ins().brif(valid, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        let mut hosts = Vec::with_capacity(self.chunk_lanes);
        for lane in 0..self.chunk_lanes {
            let lane = self.lane(RegisterClass::Wide, &addresses, lane);
            hosts.push(self.b.ins().iadd(base, lane));
        }
        self.each_element(access, &hosts, blends)?;
        self.b.ins().jump(after, &[]);
        self.emit_slow_path(access, address, mask, blends, [slow, after])
    }

    /// Stores the lowest `bytes` bytes of a value.
    fn store_element(&mut self, bytes: u32, value: Value, host: Value, at: i32) {
        match bytes {
            1 => self.b.ins().istore8(untrusted(), value, host, at),
            2 => self.b.ins().istore16(untrusted(), value, host, at),
            _ => self.b.ins().store(untrusted(), value, host, at),
        };
    }

    /// Emits a load through the simulator.
    fn slow_load(
        &mut self,
        access: &Access,
        address: &Values,
        mask: Value,
        blends: &Guard,
    ) -> Option<()> {
        let request = self.request(access, address, mask)?;
        for (n, &def) in access.elements.iter().enumerate() {
            let class = self.class(def);
            let pieces = self.vector_count(def);
            let lanes = (0..pieces)
                .map(|piece| {
                    let at = row_offset(n) + 16 * piece as i32;
                    self.b.ins().load(vector(class), trusted(), request, at)
                })
                .collect();
            self.define(def, Values::Lanes(lanes), blends)?;
        }
        Some(())
    }

    /// Emits a store through the simulator.
    fn slow_store(&mut self, access: &Access, address: &Values, mask: Value) -> Option<()> {
        self.request(access, address, mask)?;
        Some(())
    }

    /// Emits a call of the simulator for the lanes of `mask`. Returns the address of the request.
    fn request(&mut self, access: &Access, address: &Values, mask: Value) -> Option<Value> {
        let slot = match self.memory.request {
            Some(slot) => slot,
            None => {
                let size = size_of::<TransferRequest>() as u32;
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
                let slot = self.b.create_sized_stack_slot(data);
                self.memory.request = Some(slot);
                slot
            }
        };
        let request = self.b.ins().stack_addr(I64, slot, 0);
        let small = |step: i64| i32::try_from(step).ok();
        let (first, step) = match address {
            Values::Uniform(value) => (*value, Some(0)),
            Values::Linear(value, step) if small(*step).is_some() => (*value, small(*step)),
            _ => {
                for (piece, lanes) in self
                    .lanes(RegisterClass::Wide, address)
                    .into_iter()
                    .enumerate()
                {
                    let at = (offset_of!(TransferRequest, addresses) + 16 * piece) as i32;
                    let offset = self.constant(I64, access.offset);
                    let offset = self.b.ins().splat(I64X2, offset);
                    let lanes = self.b.ins().iadd(lanes, offset);
                    self.b.ins().store(trusted(), lanes, request, at);
                }
                (self.constant(I64, 0), None)
            }
        };
        let first = self.b.ins().iadd_imm_s(first, access.offset as i64);
        if access.write {
            for (n, &element) in access.elements.iter().enumerate() {
                let values = self.values(element);
                let lanes = self.lanes(self.class(element), &values);
                for (piece, lanes) in lanes.into_iter().enumerate() {
                    let at = row_offset(n) + 16 * piece as i32;
                    self.b.ins().store(trusted(), lanes, request, at);
                }
            }
        }
        let description = TransferDescription {
            memory: access.transfer.memory,
            bytes: access.transfer.bytes,
            count: access.transfer.count,
            signed: access.transfer.signed,
            write: access.write,
            step,
        };
        let description = self.constant(I64, description.code());
        let first_lane = self.b.ins().ireduce(I32, self.chunk.lane);
        let arguments = [self.context, request, first, mask, first_lane, description];
        let done = self.call(helpers().transfer as usize, &arguments, Some(I32));
        self.require(done[0]);
        Some(request)
    }

    /// Emits the bounds check of `bytes` bytes at an address, and marks them as touched. Returns their host address;
    /// `None` if the memory has no fast path. Control goes to `slow` if the check fails. `repeats`: the next access
    /// probably touches the same sector.
    fn translate(
        &mut self,
        access: &Access,
        address: Value,
        bytes: i64,
        repeats: bool,
        slow: Block,
    ) -> Option<Value> {
        let size = access.size();
        let inside = self.b.create_block();
        let (start, limit, base) = match access.transfer.memory {
            Memory::Local => return None,
            Memory::Shared => {
                let [base, limit] = self.memory.shared?;
                (None, limit, base)
            }
            Memory::Constant => {
                let start = self.field(I64, offset_of!(Context, constants_base));
                let limit = self.field(I64, offset_of!(Context, constants_bytes));
                (
                    Some(start),
                    limit,
                    self.field(I64, offset_of!(Context, constants)),
                )
            }
            Memory::Global | Memory::Generic => {
                return self.translate_device(access, address, bytes, repeats, slow);
            }
        };
        let offset = match start {
            None => address,
            Some(start) => self.b.ins().isub(address, start),
        };
        let room = self.b.ins().iadd_imm_s(limit, -bytes);
        let fits = self
            .b
            .ins()
            .icmp(IntCC::UnsignedLessThanOrEqual, offset, room);
        let is_large = self
            .b
            .ins()
            .icmp_imm_s(IntCC::SignedGreaterThanOrEqual, room, 0);
        let mut valid = self.b.ins().band(fits, is_large);
        if size > 1 {
            let misaligned = self.b.ins().band_imm_s(address, size - 1);
            let aligned = self.b.ins().icmp_imm_s(IntCC::Equal, misaligned, 0);
            valid = self.b.ins().band(valid, aligned);
        }
        self.b.ins().brif(valid, inside, &[], slow, &[]);
        self.b.switch_to_block(inside);
        Some(self.b.ins().iadd(base, offset))
    }

    /// Implements [`Emitter::translate`] for device memory.
    fn translate_device(
        &mut self,
        access: &Access,
        address: Value,
        bytes: i64,
        repeats: bool,
        slow: Block,
    ) -> Option<Value> {
        let found = self.found(access, address, bytes, slow)?;
        self.marked(access, found, address, bytes, repeats)
    }

    /// Emits the search for the allocation that contains `bytes` bytes at an address. Control goes to `slow` if no
    /// allocation contains them.
    fn found(
        &mut self,
        access: &Access,
        address: Value,
        bytes: i64,
        slow: Block,
    ) -> Option<CachedAllocation> {
        let root = root(self.function, self.classes, access.address);
        let found = *self
            .memory
            .found
            .get(&(root, bytes, access.size(), access.write))?;
        let align = access.size().trailing_zeros();
        let [search, load, refill, inside] = [(); 4].map(|()| self.b.create_block());
        for block in [search, load, refill] {
            self.b.set_cold_block(block);
        }
        let valid = self.fits(found, address, align);
        self.b.ins().brif(valid, inside, &[], search, &[]);

        // Another allocation than the last time.
        self.b.switch_to_block(search);
        let write = self.b.ins().iconst(I32, i64::from(access.write));
        let region = self.call(
            helpers().find as usize,
            &[self.context, address, write],
            Some(I64),
        );
        self.b.ins().brif(region[0], load, &[], slow, &[]);
        self.b.switch_to_block(load);
        let words = match access.write {
            true => offsets::REGION_WRITES,
            false => offsets::REGION_READS,
        };
        let fields = [
            offsets::REGION_BASE,
            offsets::REGION_SIZE,
            offsets::REGION_HOST,
            words,
        ];
        let [base, size, host, words] =
            fields.map(|at| self.b.ins().load(I64, trusted(), region[0], at as i32));
        let room = self.b.ins().iadd_imm_s(size, -bytes);
        let is_large = self
            .b
            .ins()
            .icmp_imm_s(IntCC::SignedGreaterThanOrEqual, room, 0);
        self.b.ins().brif(is_large, refill, &[], slow, &[]);
        self.b.switch_to_block(refill);
        let room = self.b.ins().ushr_imm_s(room, i64::from(align));
        let room = self.b.ins().iadd_imm_s(room, 1);
        let host = self.b.ins().isub(host, base);
        let none = self.b.ins().iconst(I64, 0);
        self.b.def_var(found.base, base);
        self.b.def_var(found.room, room);
        self.b.def_var(found.host, host);
        self.b.def_var(found.words, words);
        self.b.def_var(found.sector, none);
        let valid = self.fits(found, address, align);
        self.b.ins().brif(valid, inside, &[], slow, &[]);

        self.b.switch_to_block(inside);
        Some(found)
    }

    /// Marks bytes at an address in the allocation found last as touched. Returns their host address.
    fn marked(
        &mut self,
        access: &Access,
        found: CachedAllocation,
        address: Value,
        bytes: i64,
        repeats: bool,
    ) -> Option<Value> {
        let base = self.b.use_var(found.base);
        let offset = self.b.ins().isub(address, base);
        self.touch(access, found, address, offset, bytes, repeats)?;
        let host = self.b.use_var(found.host);
        Some(self.b.ins().iadd(host, address))
    }

    /// Returns whether an access fits into the allocation found last.
    fn fits(&mut self, found: CachedAllocation, address: Value, align: u32) -> Value {
        let base = self.b.use_var(found.base);
        let room = self.b.use_var(found.room);
        let offset = self.b.ins().isub(address, base);
        let rotated = match align {
            0 => offset,
            align => self.b.ins().rotr_imm_s(offset, i64::from(align)),
        };
        self.b.ins().icmp(IntCC::UnsignedLessThan, rotated, room)
    }

    /// Marks bytes of device memory as touched in the block's epoch, unless they are marked already.
    fn touch(
        &mut self,
        access: &Access,
        found: CachedAllocation,
        address: Value,
        offset: Value,
        bytes: i64,
        repeats: bool,
    ) -> Option<()> {
        let sectors = i64::from(offsets::SECTORS);
        let [check, mark, after] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(mark);
        let first = self.b.ins().ushr_imm_s(offset, 5);
        if repeats {
            let number = self.b.ins().iadd_imm_s(first, 1);
            let last = self.b.use_var(found.sector);
            self.b.def_var(found.sector, number);
            let is_new = self.b.ins().icmp(IntCC::NotEqual, number, last);
            self.b.ins().brif(is_new, check, &[], after, &[]);
        } else {
            self.b.ins().jump(check, &[]);
        }
        self.b.switch_to_block(check);
        let last_byte = self.b.ins().iadd_imm_s(offset, bytes - 1);
        let last = self.b.ins().ushr_imm_s(last_byte, 5);
        let line = self.b.ins().ushr_imm_s(offset, 7);
        let last_line = self.b.ins().ushr_imm_s(last_byte, 7);
        // The bits of the sectors from `first` to `last`, if they are in one line.
        let [first, last] = [first, last].map(|n| self.b.ins().band_imm_s(n, sectors - 1));
        let [one, two] = [1, 2].map(|n| self.b.ins().iconst(I64, n));
        let end = self.b.ins().ishl(two, last);
        let start = self.b.ins().ishl(one, first);
        let bits = self.b.ins().isub(end, start);
        let shift = self.memory.epoch_shift?;
        let bits = self.b.ins().ishl(bits, shift);
        let words = self.b.use_var(found.words);
        let distance = self.b.ins().ishl_imm_s(line, 3);
        let at = self.b.ins().iadd(words, distance);
        let word = self.b.ins().load(I64, trusted(), at, 0);
        let missing = self.b.ins().band_not(bits, word);
        let missing = self.b.ins().icmp_imm_s(IntCC::NotEqual, missing, 0);
        let crosses = self.b.ins().icmp(IntCC::NotEqual, line, last_line);
        let needed = self.b.ins().bor(missing, crosses);
        self.b.ins().brif(needed, mark, &[], after, &[]);
        self.b.switch_to_block(mark);
        let bytes = self.b.ins().iconst(I32, bytes);
        let is_write = self.b.ins().iconst(I32, i64::from(access.write));
        let arguments = [self.context, address, bytes, is_write];
        self.call(helpers().touch as usize, &arguments, None);
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
        Some(())
    }
}

/// Returns the offset of the row of an element's values in a request.
fn row_offset(element: usize) -> i32 {
    (offset_of!(TransferRequest, values) + element * size_of::<[u64; crate::region::LANES]>())
        as i32
}
