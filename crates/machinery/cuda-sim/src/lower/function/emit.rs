//! Code emission: IR instructions with frame rows for registers and code addresses for blocks.

use super::Lowering;
use crate::exec::control;
use crate::exec::function::Function;
use crate::exec::gang::GangScope;
use crate::exec::sm::Inst;
use crate::exec::gang::{self, ExitPath};
use crate::exec::warp::NO_INDEX;
use crate::isa::check_event::{Array, Checked, Leaving};
use crate::isa::listing::{BlockInfo, LineInfo};
use crate::isa::sites::{Site, SiteKind};
use crate::isa::{Access, Class};
use crate::lower::analysis::uniformity::{self, Holder};
use crate::lower::analysis::vectorizer::{self, Role};
use crate::lower::analysis::{address_reuse, atomics, dependences, if_conversion, provenance, shuffles, spin_loops};
use crate::lower::ir::{BlockId, Draft, Flow};
use crate::lower::error::LoadError;
use crate::lower::register_allocation::{self, Assignment};
use crate::lower::cfg::Graph;
use crate::lower::register::Register;

/// The results of all analyses, used while code is emitted. Blocks and IR instructions are numbered within
/// the function.
struct Plan {
    graph: Graph,
    /// The index of the first IR instruction of each block.
    starts: Vec<usize>,
    /// For each block, whether diverged lanes reconverge at its start.
    meeting: Vec<bool>,
    /// For each predicated block, the block whose executions count how often it is issued.
    issued_by: Vec<Option<usize>>,
    /// For each block, whether a branch at its end remains a branch in machine code.
    branches: Vec<bool>,
    /// The shared-memory array that each IR instruction accesses.
    meant: Vec<Option<Array>>,
    /// The role of each load and store in merged accesses.
    roles: Vec<Role>,
    /// The frames that hold each register while a gang runs.
    holders: Vec<Holder>,
    assignment: Assignment,
    /// The address of the function's first instruction.
    /// The program-wide number of the function's first block.
    base: u32,
    first_block: usize,
}

impl Plan {
    /// Returns the address of a block. Every block is preceded by one `enter` instruction.
    fn address(&self, block: usize) -> u32 {
        self.base + (self.starts[block] + block) as u32
    }

    /// Returns the frames whose registers the instruction writes when a gang executes it.
    fn reach(&self, draft: &Draft) -> GangScope {
        let of = |def: &Register| self.holders[def.0 as usize];
        let everywhere = |holder: Holder| draft.defs.iter().all(|def| of(def) == holder);
        if everywhere(Holder::Warps) {
            GangScope::Warps
        } else if everywhere(Holder::Gang) {
            GangScope::Common
        } else {
            GangScope::Both
        }
    }
}

impl Lowering<'_, '_> {
    /// Finishes the function and appends its code to the program.
    pub fn finish(mut self) -> Result<(), LoadError> {
        // Falling off the end of the body is a return.
        self.give_back();
        if let Some(end) = self.end {
            self.begin_block(end);
            // Control never falls through here: lanes leave for their callers when they arrive at the block.
            self.draft(control::trap, Class::Control, &[], &[]);
            self.last().flow = Flow::Exit;
        }
        self.number_blocks()?;
        let reads_old = self
            .drafts
            .iter()
            .any(|draft| draft.uses.iter().any(|used| self.old_values.contains(used)));
        let in_step = self.in_step() && !reads_old;
        let plan = self.plan(in_step)?;
        spin_loops::note(&mut self.drafts, &plan.graph, self.function.entry);
        atomics::note(&mut self.drafts, &plan.graph, &self.registers);
        shuffles::note(&mut self.drafts, &plan.graph, &self.registers);
        for block in 0..plan.starts.len() {
            self.emit_block(&plan, block);
        }
        self.emit_function(plan, in_step, reads_old);
        Ok(())
    }

    fn plan(&self, in_step: bool) -> Result<Plan, LoadError> {
        let starts: Vec<usize> = self.starts.iter().map(|&(_, start)| start).collect();
        let graph = Graph::new(&self.drafts, &starts, self.end);
        let roles = vectorizer::roles(&self.drafts, &graph, &self.registers);
        let issued_by = if_conversion::issued_by(&self.drafts, &graph);
        let holders = if in_step {
            uniformity::holders(&self.drafts, &graph, &self.registers)
        } else {
            vec![Holder::Warps; self.registers.len()]
        };
        let assignment = register_allocation::assign(&self.registers, &holders, &self.drafts, &graph)
            .map_err(|message| LoadError::invalid(self.function.line, message))?;
        Ok(Plan {
            branches: if_conversion::branches(&issued_by, &self.drafts, &graph),
            meant: provenance::meant(&self.drafts, &self.registers, &self.arrays),
            meeting: self.meeting(&graph),
            graph,
            starts,
            issued_by,
            roles,
            holders,
            assignment,
            base: self.program.code.plain.len() as u32,
            first_block: self.program.listing.blocks.len(),
        })
    }

    /// Returns, for each block, whether diverged lanes, or the lanes of a returning function, reconverge at
    /// its start.
    fn meeting(&self, graph: &Graph) -> Vec<bool> {
        let mut meeting = vec![false; graph.ranges.len()];
        for (block, meet) in graph.meets.iter().enumerate() {
            let parts = self.drafts[graph.ranges[block].clone()]
                .last()
                .is_some_and(|draft| matches!(draft.flow, Flow::Branch(_) | Flow::Table(_)));
            if let (true, Some(meet)) = (parts, meet) {
                meeting[*meet] = true;
            }
        }
        if let Some(end) = self.end {
            meeting[end.0] = true;
        }
        meeting
    }

    /// Appends a basic block: its `enter` instruction and its own instructions.
    fn emit_block(&mut self, plan: &Plan, block: usize) {
        let range = plan.graph.ranges[block].clone();
        let number = self.program.listing.blocks.len();
        let info = self.block_info(plan, block);
        let drafts = &self.drafts[range.clone()];
        let first = drafts.first();
        let line = LineInfo {
            ptx_line: first.map_or(self.line, |draft| draft.ptx_line),
            location: first.and_then(|draft| draft.location),
        };
        let enter = Inst {
            run: if plan.meeting[block] {
                control::enter_meeting
            } else {
                control::enter
            },
            operands: [0; 6],
            arg0: number as u32,
            arg1: drafts.len() as u32,
            imm: 0,
            uniform: 0,
            gang_scope: GangScope::Warps,
            reuse_distance: 0,
        };
        let distances = address_reuse::distances(drafts);
        self.program.code.sites.push_none();
        self.program.code.push(enter, gang::enter);
        self.program.listing.checked.push(Checked::Nothing);
        self.program.listing.push_line(line);
        self.program.listing.blocks.push(info);
        for (place, back) in range.zip(distances) {
            self.emit_draft(plan, block, place, back);
        }
    }

    fn block_info(&self, plan: &Plan, block: usize) -> BlockInfo {
        let range = plan.graph.ranges[block].clone();
        let drafts = &self.drafts[range.clone()];
        let mut info = BlockInfo::default();
        for draft in drafts {
            info.classes[draft.class as usize] += 1;
            info.ptx_instructions += u32::from(draft.leads);
            info.operations += draft.operations;
            info.eights += draft.eights;
        }
        info.issued_by = plan.issued_by[block].map(|other| plan.first_block + other);
        let slots = self.program.listing.sites.slots();
        info.steps = dependences::of(drafts, &plan.roles[range], slots);
        info
    }

    /// Appends the code of IR instruction `place`, which is in `block`.
    fn emit_draft(&mut self, plan: &Plan, block: usize, place: usize, back: u16) {
        let draft = &self.drafts[place];
        let left = plan.graph.ranges[block].end - place;
        let mut inst = Inst {
            run: draft.run.warp,
            operands: [0; 6],
            arg0: draft.x,
            arg1: if draft.timed { left as u32 } else { draft.y },
            imm: draft.imm,
            uniform: 0,
            gang_scope: plan.reach(draft),
            reuse_distance: back,
        };
        self.place_operands(plan, place, &mut inst);
        self.place_targets(plan, block, place, &mut inst);
        let draft = &self.drafts[place];
        let together = draft.run.gang;
        let number = (plan.first_block + block) as u32;
        let program = &mut *self.program;
        if draft.leads {
            program.listing.push_leader(number, draft.class);
        }
        let address = program.code.plain.len() as u32;
        let slot = program.listing.sites.slots() as u32;
        let branches = plan.branches[block];
        let place_of = Placed {
            address,
            block: number,
            slot,
            branches,
        };
        match site(draft, &inst, plan.roles[place], place_of) {
            Some(site) => {
                program.listing.sites.push(site);
                program.code.sites.push(site, inst.run, together);
            }
            None => program.code.sites.push_none(),
        }
        program.code.yield_points.extend(draft.pause(address));
        let checked = match draft.checked() {
            Checked::Branch { unless } if self.function.entry => leaving(inst.imm, unless),
            checked => checked,
        };
        program.listing.checked.push(checked);
        if let Some(array) = plan.meant[place] {
            program.listing.checked.means(array);
        }
        let together = together.unwrap_or(match draft.barrier {
            true => gang::barrier,
            false => gang::warp_by_warp,
        });
        program.code.push(inst, together);
        program.listing.push_line(LineInfo {
            ptx_line: draft.ptx_line,
            location: draft.location,
        });
    }

    /// Sets the frame offsets of the operands of IR instruction `place`.
    fn place_operands(&mut self, plan: &Plan, place: usize, inst: &mut Inst) {
        let draft = &self.drafts[place];
        let rows = draft.operands.iter();
        let rows = rows.map(|register| plan.assignment.offsets[register.0 as usize]);
        if draft.listed {
            inst.imm = self.program.operand_lists.len() as u64;
            self.program.operand_lists.push(rows.collect());
        } else {
            for (slot, row) in inst.operands.iter_mut().zip(rows) {
                *slot = row;
            }
        }
        for (n, register) in draft.operands.iter().enumerate().take(inst.operands.len()) {
            let literal = self.registers[register.0 as usize].literal.is_some();
            if literal || plan.holders[register.0 as usize] != Holder::Warps {
                inst.uniform |= 1 << n;
            }
        }
    }

    /// Sets the target addresses of IR instruction `place`, which is in `block`.
    fn place_targets(&mut self, plan: &Plan, block: usize, place: usize, inst: &mut Inst) {
        let meet = plan.graph.meets[block].map_or(NO_INDEX, |meet| plan.address(meet));
        match &self.drafts[place].flow {
            Flow::Jump(there) => inst.arg0 = plan.address(there.0),
            Flow::Branch(there) => {
                (inst.arg0, inst.arg1) = (plan.address(there.0), meet);
                inst.imm = self.ends(&plan.graph, block, there.0) as u64;
            }
            Flow::Table(there) => {
                inst.imm = self.program.tables.len() as u64;
                inst.arg1 = meet;
                let table = there.iter().map(|block| plan.address(block.0)).collect();
                self.program.tables.push(table);
            }
            Flow::Return => {
                inst.arg0 = self.end.map_or(NO_INDEX, |end| plan.address(end.0));
            }
            Flow::Next | Flow::Exit | Flow::Stop => {}
        }
    }

    /// Appends the function's description for the interpreter.
    fn emit_function(self, plan: Plan, in_step: bool, reads_old: bool) {
        // A call always takes some stack, so that endless recursion overflows it.
        let caller_bytes = self.local_bytes.next_multiple_of(16).max(16);
        let calls = !self.sites.is_empty();
        for mut site in self.sites {
            site.caller_bytes = caller_bytes;
            self.program.call_sites.push(site);
        }
        self.program.functions.push(Function {
            name: self.function.name.to_owned(),
            is_kernel: self.function.entry,
            entry: plan.base,
            end: self.end.map_or(NO_INDEX, |end| plan.address(end.0)),
            frame_bytes: plan.assignment.frame_bytes,
            local_bytes: if calls || !self.function.entry {
                caller_bytes
            } else {
                self.local_bytes
            },
            in_step,
            common: plan.assignment.common,
            literals: plan.assignment.literals,
            registers: plan.assignment.pressure,
            calls: self.calls,
            calls_pointers: self.calls_pointers,
            ordered: self.ordered || reads_old,
            volatile: self.volatile,
        });
    }

    /// Returns true if the warps of a block may run in lockstep as a gang: the order in which they print,
    /// exchange values
    /// or read the clock must not be observable, and calls would make them diverge.
    fn in_step(&self) -> bool {
        let order_shows = !self.sites.is_empty() || self.ordered || self.reads_clock;
        self.cpu.is_wide() && self.function.entry && !order_shows
    }

    /// Returns which side of the branch at the end of a block only ends the thread.
    fn ends(&self, graph: &Graph, block: usize, target: usize) -> ExitPath {
        let ends = |block: usize| uniformity::only_ends(block, &self.drafts, graph);
        if ends(target) {
            ExitPath::NextBlock
        } else if ends(block + 1) {
            ExitPath::NotTaken
        } else {
            ExitPath::Neither
        }
    }

    /// Numbers the blocks in code order. Fails if a label is not defined.
    fn number_blocks(&mut self) -> Result<(), LoadError> {
        let mut numbers = vec![None; self.next_block];
        for (number, &(block, _)) in self.starts.iter().enumerate() {
            numbers[block.0] = Some(BlockId(number));
        }
        for (name, block) in &self.labels {
            if numbers[block.0].is_none() {
                return Err(self.error(format!("label `{name}` is not defined")));
            }
        }
        let renumber = |block: &mut BlockId| {
            if let Some(number) = numbers[block.0] {
                *block = number;
            }
        };
        for Draft { flow, .. } in &mut self.drafts {
            match flow {
                Flow::Jump(block) | Flow::Branch(block) => renumber(block),
                Flow::Table(blocks) => blocks.iter_mut().for_each(renumber),
                Flow::Next | Flow::Return | Flow::Exit | Flow::Stop => {}
            }
        }
        self.end.iter_mut().for_each(renumber);
        Ok(())
    }
}

/// Returns the sanitizer event of a kernel's branch. `ends` tells which side only ends the thread.
fn leaving(ends: u64, unless: bool) -> Checked {
    let taken = ends == ExitPath::NextBlock as u64;
    match taken || ends == ExitPath::NotTaken as u64 {
        true => Checked::Leave(Leaving {
            holds: taken != unless,
        }),
        false => Checked::Nothing,
    }
}

/// The location of an instruction that may become a profiler site.
struct Placed {
    address: u32,
    /// The number of the instruction's block.
    block: u32,
    /// The first free counter slot.
    slot: u32,
    /// True if a branch at the end of the block remains a branch in machine code.
    branches: bool,
}

/// Creates the profiler site of an IR instruction. Returns `None` if it has no counters of its own, or if
/// another access
/// of its group performs the access.
fn site(
    draft: &Draft,
    inst: &Inst,
    role: Role,
    Placed {
        address,
        block,
        slot,
        branches,
    }: Placed,
) -> Option<Site> {
    let (kind, offset) = match (draft.site()?, role) {
        (_, Role::Rides) => return None,
        (SiteKind::Access(access), Role::Leads { offset, bytes }) => {
            (SiteKind::Access(Access { bytes, ..access }), offset)
        }
        (kind, _) => (kind, inst.imm),
    };
    Some(Site {
        kind,
        address,
        block,
        leads: matches!(role, Role::Leads { .. }),
        branches,
        offset,
        slot,
    })
}
