//! Code emission: IR instructions with frame rows for registers and code addresses for blocks.

use super::FunctionLowering;
use crate::exec::compiled;
use crate::exec::control;
use crate::exec::gang::{self, ExitPath};
use crate::exec::sm::Inst;
use crate::exec::warp::NO_INDEX;
use crate::exec::warp::gang_state::GangScope;
use crate::exec::warp::window::Function;
use crate::isa::check_event::{CheckEvent, ExitBranch, SharedArray};
use crate::isa::listing::{BlockInfo, LineInfo, Site, SiteKind};
use crate::isa::{Access, Class};
use crate::lower::analysis::sanitizer::MovedBytes;
use crate::lower::analysis::uniformity::{self, RowOwner};
use crate::lower::analysis::vectorizer::{self, MergeRole};
use crate::lower::analysis::{self, machine_code, sanitizer};
use crate::lower::cfg::Cfg;
use crate::lower::error::LoadError;
use crate::lower::ir::{BlockId, Flow, IrInst, Register};
use crate::lower::regions;
use crate::lower::register_allocation::{self, Assignment};

/// The results of all analyses, used while code is emitted. Blocks and IR instructions are numbered within
/// the function.
struct Plan {
    cfg: Cfg,
    /// The index of the first IR instruction of each block.
    starts: Vec<usize>,
    /// For each block, whether diverged lanes reconverge at its start.
    reconverges: Vec<bool>,
    /// For each predicated block, the block whose executions count how often it is issued.
    issued_by: Vec<Option<usize>>,
    /// For each block that issues predicated loads, an earlier predicated block whose loads are still in flight.
    overlaps: Vec<Option<usize>>,
    /// For each block, whether a branch at its end remains a branch in machine code.
    machine_branches: Vec<bool>,
    /// The shared-memory array that each IR instruction accesses.
    arrays: Vec<Option<SharedArray>>,
    /// The bytes that each IR instruction moves between memory and registers.
    moved: Vec<Option<MovedBytes>>,
    /// The role of each load and store in merged accesses.
    merge_roles: Vec<MergeRole>,
    /// The frames that hold each register while a gang runs.
    row_owners: Vec<RowOwner>,
    assignment: Assignment,
    /// The address of the function's first instruction.
    base: u32,
    /// The program-wide number of the function's first block.
    first_block: usize,
}

impl Plan {
    /// Returns the address of a block. Every block is preceded by one `enter` instruction.
    fn address(&self, block: usize) -> u32 {
        self.base + (self.starts[block] + block) as u32
    }

    /// Returns the frames whose registers the instruction writes when a gang executes it.
    fn gang_scope(&self, ir: &IrInst) -> GangScope {
        let of = |def: &Register| self.row_owners[def.0 as usize];
        let everywhere = |owner: RowOwner| ir.defs.iter().all(|def| of(def) == owner);
        if everywhere(RowOwner::Warps) {
            GangScope::Warps
        } else if everywhere(RowOwner::Gang) {
            GangScope::Uniform
        } else {
            GangScope::Both
        }
    }
}

impl FunctionLowering<'_, '_> {
    /// Finishes the function and appends its code to the program.
    pub fn finish(mut self) -> Result<(), LoadError> {
        // Falling off the end of the body is a return.
        self.push_return();
        if let Some(end) = self.blocks.return_block {
            self.start_block(end);
            // Control never falls through here: lanes leave for their callers when they arrive at the block.
            self.push(control::trap, Class::Control, &[], &[]);
            self.last().flow = Flow::Exit;
        }
        self.number_blocks()?;
        let reads_old = self.insts.iter().any(|ir| {
            ir.uses
                .iter()
                .any(|used| self.effects.old_values.contains(used))
        });
        let can_form_gangs = self.can_form_gangs() && !reads_old;
        let plan = self.plan(can_form_gangs)?;
        analysis::annotate_delays(&mut self.insts, &plan.cfg);
        sanitizer::annotate_spin_loops(&mut self.insts, &plan.cfg, self.function.entry);
        machine_code::annotate_atomics(&mut self.insts, &plan.cfg, &self.registers.infos);
        sanitizer::annotate_loads(
            &mut self.insts,
            &plan.cfg,
            &self.registers.infos,
            &plan.arrays,
        );
        sanitizer::annotate_shuffles(&mut self.insts, &plan.cfg, &self.registers.infos);
        for block in 0..plan.starts.len() {
            self.emit_block(&plan, block);
        }
        if compiled::is_installed() {
            let compilable = match self.function.entry {
                true => regions::function(
                    &self.insts,
                    &plan.cfg,
                    &self.registers.infos,
                    &plan.assignment.offsets,
                    plan.first_block,
                    |block| plan.address(block),
                ),
                false => compiled::Function::default(),
            };
            self.program.compilable.push(compilable);
        }
        self.emit_function(plan, can_form_gangs, reads_old);
        Ok(())
    }

    fn plan(&self, can_form_gangs: bool) -> Result<Plan, LoadError> {
        let starts: Vec<usize> = self.blocks.starts.iter().map(|&(_, start)| start).collect();
        let cfg = Cfg::new(&self.insts, &starts, self.blocks.return_block);
        let merge_roles = vectorizer::merge_roles(&self.insts, &cfg, &self.registers.infos);
        let issued_by = machine_code::issued_by(&self.insts, &cfg);
        let row_owners = if can_form_gangs {
            uniformity::row_owners(&self.insts, &cfg, &self.registers.infos)
        } else {
            vec![RowOwner::Warps; self.registers.infos.len()]
        };
        let assignment =
            register_allocation::assign(&self.registers.infos, &row_owners, &self.insts, &cfg)
                .map_err(|message| LoadError::invalid(self.function.line, message))?;
        Ok(Plan {
            overlaps: machine_code::overlaps(&issued_by, &self.insts, &cfg),
            machine_branches: machine_code::machine_branches(&issued_by, &self.insts, &cfg),
            arrays: sanitizer::target_arrays(
                &self.insts,
                &self.registers.infos,
                &self.registers.arrays,
            ),
            moved: sanitizer::moved_bytes(&self.insts, &self.registers.infos),
            reconverges: self.reconverges(&cfg),
            cfg,
            starts,
            issued_by,
            merge_roles,
            row_owners,
            assignment,
            base: self.program.code.plain.len() as u32,
            first_block: self.program.listing.blocks.len(),
        })
    }

    /// Returns, for each block, whether diverged lanes, or the lanes of a returning function, reconverge at
    /// its start.
    fn reconverges(&self, cfg: &Cfg) -> Vec<bool> {
        let mut reconverges = vec![false; cfg.ranges.len()];
        for (block, point) in cfg.reconvergence.iter().enumerate() {
            let branches = self.insts[cfg.ranges[block].clone()]
                .last()
                .is_some_and(|ir| matches!(ir.flow, Flow::Branch(_) | Flow::Table(_)));
            if let (true, Some(point)) = (branches, point) {
                reconverges[*point] = true;
            }
        }
        if let Some(end) = self.blocks.return_block {
            reconverges[end.0] = true;
        }
        reconverges
    }

    /// Appends a basic block: its `enter` instruction and its own instructions.
    fn emit_block(&mut self, plan: &Plan, block: usize) {
        let range = plan.cfg.ranges[block].clone();
        let number = self.program.listing.blocks.len();
        let info = self.block_info(plan, block);
        let insts = &self.insts[range.clone()];
        let first = insts.first();
        let line = LineInfo {
            ptx_line: first.map_or(self.position.line, |ir| ir.ptx_line),
            location: first.and_then(|ir| ir.location),
        };
        let enter = Inst {
            run: if plan.reconverges[block] {
                control::enter_reconvergence
            } else {
                control::enter
            },
            operands: [0; 6],
            arg0: number as u32,
            arg1: insts.len() as u32,
            imm: 0,
            uniform: 0,
            gang_scope: GangScope::Warps,
            reuse_distance: 0,
        };
        let reuse_distances = uniformity::reuse_distances(insts);
        self.program.code.sites.push_none();
        self.program.code.push(enter, gang::enter);
        self.program.listing.check_events.push(CheckEvent::None);
        self.program.listing.push_line(line);
        self.program.listing.blocks.push(info);
        for (index, reuse_distance) in range.zip(reuse_distances) {
            self.emit_inst(plan, block, index, reuse_distance);
        }
    }

    fn block_info(&self, plan: &Plan, block: usize) -> BlockInfo {
        let range = plan.cfg.ranges[block].clone();
        let insts = &self.insts[range.clone()];
        let mut info = BlockInfo::default();
        for ir in insts {
            info.classes[ir.class as usize] += 1;
            info.ptx_instructions += u32::from(ir.starts_ptx_inst);
            info.flops += ir.flops;
            info.n8_tiles += ir.n8_tiles;
        }
        let number = |other: usize| plan.first_block + other;
        info.issued_by = plan.issued_by[block].map(number);
        info.overlaps = plan.overlaps[block].map(number);
        let slots = self.program.listing.sites.slot_count();
        info.steps = machine_code::steps(insts, &plan.merge_roles[range], slots);
        info
    }

    /// Appends the code of IR instruction `index`, which is in `block`.
    fn emit_inst(&mut self, plan: &Plan, block: usize, index: usize, reuse_distance: u16) {
        let ir = &self.insts[index];
        let remaining = plan.cfg.ranges[block].end - index;
        let mut inst = Inst {
            run: ir.handlers.warp,
            operands: [0; 6],
            arg0: ir.arg0,
            arg1: if ir.arg1_is_remaining_count {
                remaining as u32
            } else {
                ir.arg1
            },
            imm: ir.imm,
            uniform: 0,
            gang_scope: plan.gang_scope(ir),
            reuse_distance,
        };
        self.set_operands(plan, index, &mut inst);
        self.set_targets(plan, block, index, &mut inst);
        let ir = &self.insts[index];
        let gang_handler = ir.handlers.gang;
        let number = (plan.first_block + block) as u32;
        let program = &mut *self.program;
        if ir.starts_ptx_inst {
            program.listing.push_ptx_inst(number, ir.class);
        }
        let address = program.code.plain.len() as u32;
        let slot = program.listing.sites.slot_count() as u32;
        let is_machine_branch = plan.machine_branches[block];
        let location = SiteLocation {
            address,
            block: number,
            slot,
            is_machine_branch,
        };
        match site(ir, &inst, plan.merge_roles[index], location) {
            Some(site) => {
                program.listing.sites.push(site);
                program.code.sites.push(site, inst.run, gang_handler);
            }
            None => program.code.sites.push_none(),
        }
        program.code.yield_points.extend(ir.yield_point(address));
        let check_event = match ir.check_event() {
            CheckEvent::Branch { unless } if self.function.entry => exit_event(inst.imm, unless),
            event => event,
        };
        program.listing.check_events.push(check_event);
        if let Some(array) = plan.arrays[index] {
            program.listing.check_events.set_array(array);
        }
        match plan.moved[index] {
            Some(MovedBytes::Loaded(loaded)) => program.listing.check_events.set_loaded(loaded),
            Some(MovedBytes::Stored(stored)) => program.listing.check_events.set_stored(stored),
            None => {}
        }
        let gang_handler = gang_handler.unwrap_or(if ir.barrier {
            gang::barrier
        } else {
            gang::warp_by_warp
        });
        program.code.push(inst, gang_handler);
        program.listing.push_line(LineInfo {
            ptx_line: ir.ptx_line,
            location: ir.location,
        });
    }

    /// Sets the frame offsets of the operands of IR instruction `index`.
    fn set_operands(&mut self, plan: &Plan, index: usize, inst: &mut Inst) {
        let ir = &self.insts[index];
        let offset_of = |register: &Register| plan.assignment.offsets[register.0 as usize];
        let rows = ir.operands.iter().map(offset_of);
        if ir.has_operand_list {
            inst.imm = self.program.operand_lists.len() as u64;
            self.program.operand_lists.push(rows.collect());
        } else {
            for (slot, row) in inst.operands.iter_mut().zip(rows) {
                *slot = row;
            }
        }
        for (n, register) in ir.operands.iter().enumerate().take(inst.operands.len()) {
            let literal = self.registers.infos[register.0 as usize].literal.is_some();
            if literal || plan.row_owners[register.0 as usize] != RowOwner::Warps {
                inst.uniform |= 1 << n;
            }
        }
    }

    /// Sets the target addresses of IR instruction `index`, which is in `block`.
    fn set_targets(&mut self, plan: &Plan, block: usize, index: usize, inst: &mut Inst) {
        let point = plan.cfg.reconvergence[block].map_or(NO_INDEX, |point| plan.address(point));
        match &self.insts[index].flow {
            Flow::Jump(there) => inst.arg0 = plan.address(there.0),
            Flow::Branch(there) => {
                (inst.arg0, inst.arg1) = (plan.address(there.0), point);
                inst.imm = self.exit_path(&plan.cfg, block, there.0) as u64;
            }
            Flow::Table(there) => {
                inst.imm = self.program.tables.len() as u64;
                inst.arg1 = point;
                let table = there.iter().map(|block| plan.address(block.0)).collect();
                self.program.tables.push(table);
            }
            Flow::Return => {
                inst.arg0 = self
                    .blocks
                    .return_block
                    .map_or(NO_INDEX, |end| plan.address(end.0));
            }
            Flow::Next | Flow::Exit | Flow::Stop => {}
        }
    }

    /// Appends the function's description for the interpreter.
    fn emit_function(self, plan: Plan, can_form_gangs: bool, reads_old: bool) {
        // A call always takes some stack, so that endless recursion overflows it.
        let caller_bytes = self.stack.local_bytes.next_multiple_of(16).max(16);
        let calls = !self.calls.sites.is_empty();
        for mut site in self.calls.sites {
            site.caller_bytes = caller_bytes;
            self.program.call_sites.push(site);
        }
        self.program.functions.push(Function {
            name: self.function.name.to_owned(),
            is_kernel: self.function.entry,
            entry: plan.base,
            end: self
                .blocks
                .return_block
                .map_or(NO_INDEX, |end| plan.address(end.0)),
            frame_bytes: plan.assignment.frame_bytes,
            local_bytes: if calls || !self.function.entry {
                caller_bytes
            } else {
                self.stack.local_bytes
            },
            variables_end: self.stack.variables_end,
            can_form_gangs,
            uniform: plan.assignment.common,
            literals: plan.assignment.literals,
            registers: plan.assignment.pressure,
            calls: self.calls.callees,
            calls_pointers: self.calls.through_pointers,
            ordered: self.effects.ordered || reads_old,
            volatile: self.effects.volatile,
            uses_heap: self.effects.uses_heap,
        });
    }

    /// Returns true if the warps of a block may run in lockstep as a gang: the order in which they print,
    /// exchange values or read the clock must not be observable, and calls would make them diverge.
    fn can_form_gangs(&self) -> bool {
        let is_order_dependent =
            !self.calls.sites.is_empty() || self.effects.ordered || self.effects.reads_clock;
        self.module.cpu.is_wide() && self.function.entry && !is_order_dependent
    }

    /// Returns which side of the branch at the end of a block only ends the thread.
    fn exit_path(&self, cfg: &Cfg, block: usize, target: usize) -> ExitPath {
        let only_exits = |block: usize| uniformity::only_exits(block, &self.insts, cfg);
        if only_exits(target) {
            ExitPath::Taken
        } else if only_exits(block + 1) {
            ExitPath::NotTaken
        } else {
            ExitPath::Neither
        }
    }

    /// Numbers the blocks in code order. Fails if a label is not defined.
    fn number_blocks(&mut self) -> Result<(), LoadError> {
        let mut numbers = vec![None; self.blocks.next];
        for (number, &(block, _)) in self.blocks.starts.iter().enumerate() {
            numbers[block.0] = Some(BlockId(number));
        }
        if let Some(name) = self.blocks.undefined_labels.keys().min() {
            return Err(self.error(format!("label `{name}` is not defined")));
        }
        let renumber = |block: &mut BlockId| {
            if let Some(number) = numbers[block.0] {
                *block = number;
            }
        };
        for IrInst { flow, .. } in &mut self.insts {
            match flow {
                Flow::Jump(block) | Flow::Branch(block) => renumber(block),
                Flow::Table(blocks) => blocks.iter_mut().for_each(renumber),
                Flow::Next | Flow::Return | Flow::Exit | Flow::Stop => {}
            }
        }
        self.blocks.return_block.iter_mut().for_each(renumber);
        Ok(())
    }
}

/// Returns the sanitizer event of a kernel's branch. `exit_path` is the side that only ends the thread.
fn exit_event(exit_path: u64, unless: bool) -> CheckEvent {
    let taken = exit_path == ExitPath::Taken as u64;
    if taken || exit_path == ExitPath::NotTaken as u64 {
        CheckEvent::ExitBranch(ExitBranch {
            when_true: taken != unless,
        })
    } else {
        CheckEvent::None
    }
}

/// The location of an instruction that may become a profiler site.
struct SiteLocation {
    address: u32,
    /// The number of the instruction's block.
    block: u32,
    /// The first free counter slot.
    slot: u32,
    /// True if a branch at the end of the block remains a branch in machine code.
    is_machine_branch: bool,
}

/// Creates the profiler site of an IR instruction. Returns `None` if it has no counters of its own, or if
/// another access of its group performs the access.
fn site(
    ir: &IrInst,
    inst: &Inst,
    role: MergeRole,
    SiteLocation {
        address,
        block,
        slot,
        is_machine_branch,
    }: SiteLocation,
) -> Option<Site> {
    let (kind, offset) = match (ir.site()?, role) {
        (_, MergeRole::Merged) => return None,
        (SiteKind::Access(access), MergeRole::Leader { offset, bytes }) => {
            (SiteKind::Access(Access { bytes, ..access }), offset)
        }
        (kind, _) => (kind, inst.imm),
    };
    Some(Site {
        kind,
        address,
        block,
        is_merged: matches!(role, MergeRole::Leader { .. }),
        is_machine_branch,
        offset,
        slot,
    })
}
