//! Drafts to code: rows for registers, addresses for branches.

use super::Lowering;
use crate::exec::control;
use crate::exec::function::Function;
use crate::exec::gang::Reach;
use crate::exec::sm::Inst;
use crate::exec::gang::{self, Ends};
use crate::exec::warp::NOWHERE;
use crate::isa::checked::{Array, Checked, Leaving};
use crate::isa::listing::{BlockInfo, LineInfo};
use crate::isa::sites::{Site, SiteKind};
use crate::isa::{Access, Class};
use crate::lower::analysis::common::{self, Holder};
use crate::lower::analysis::wide::{self, Role};
use crate::lower::analysis::{arrays, polls, predicated, repeated, shuffles, steps, updates};
use crate::lower::draft::{BlockId, Draft, Flow};
use crate::lower::error::LoadError;
use crate::lower::frame::{self, Assignment};
use crate::lower::graph::Graph;
use crate::lower::register::Register;

/// What is known of a function when its code is laid out. Blocks and drafts have the function's own
/// numbers.
struct Plan {
    graph: Graph,
    /// The first draft of each block.
    starts: Vec<usize>,
    /// Blocks at which lanes that parted meet again.
    meeting: Vec<bool>,
    /// The block that says how often each is issued, where that is not itself.
    issued_by: Vec<Option<usize>>,
    /// For each block whether it ends in a branch of machine code, if in any.
    branches: Vec<bool>,
    /// The array in shared memory that each draft means.
    meant: Vec<Option<Array>>,
    /// What becomes of each draft that loads or stores.
    roles: Vec<Role>,
    /// Where each register's value is while a gang runs.
    holders: Vec<Holder>,
    assignment: Assignment,
    /// Address of the first instruction, and number of the first block in the program.
    base: u32,
    first_block: usize,
}

impl Plan {
    /// Where a block begins. Every block begins with one instruction more than it has drafts.
    fn address(&self, block: usize) -> u32 {
        self.base + (self.starts[block] + block) as u32
    }

    /// Whose registers an instruction writes when a gang runs it.
    fn reach(&self, draft: &Draft) -> Reach {
        let of = |def: &Register| self.holders[def.0 as usize];
        let everywhere = |holder: Holder| draft.defs.iter().all(|def| of(def) == holder);
        if everywhere(Holder::Warps) {
            Reach::Warps
        } else if everywhere(Holder::Gang) {
            Reach::Common
        } else {
            Reach::Both
        }
    }
}

impl Lowering<'_, '_> {
    /// Closes the function and appends its code.
    pub fn finish(mut self) -> Result<(), LoadError> {
        // The end of the body is a return.
        self.give_back();
        if let Some(end) = self.end {
            self.begin_block(end);
            // Lanes leave for their caller as they come; nothing goes on here.
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
        polls::note(&mut self.drafts, &plan.graph, self.function.entry);
        updates::note(&mut self.drafts, &plan.graph, &self.registers);
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
        let roles = wide::roles(&self.drafts, &graph, &self.registers);
        let issued_by = predicated::issued_by(&self.drafts, &graph);
        let holders = if in_step {
            common::holders(&self.drafts, &graph, &self.registers)
        } else {
            vec![Holder::Warps; self.registers.len()]
        };
        let assignment = frame::assign(&self.registers, &holders, &self.drafts, &graph)
            .map_err(|message| LoadError::invalid(self.function.line, message))?;
        Ok(Plan {
            branches: predicated::branches(&issued_by, &self.drafts, &graph),
            meant: arrays::meant(&self.drafts, &self.registers, &self.arrays),
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

    /// The blocks at which lanes that parted meet again, and the one where returns do.
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

    /// Appends a basic block: the instruction that enters it, and its own.
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
            o: [0; 6],
            x: number as u32,
            y: drafts.len() as u32,
            imm: 0,
            common: 0,
            reach: Reach::Warps,
            back: 0,
        };
        let distances = repeated::distances(drafts);
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
        info.steps = steps::of(drafts, &plan.roles[range], slots);
        info
    }

    /// Appends the instruction of the draft at `place`, which is in `block`.
    fn emit_draft(&mut self, plan: &Plan, block: usize, place: usize, back: u16) {
        let draft = &self.drafts[place];
        let left = plan.graph.ranges[block].end - place;
        let mut inst = Inst {
            run: draft.run.alone,
            o: [0; 6],
            x: draft.x,
            y: if draft.timed { left as u32 } else { draft.y },
            imm: draft.imm,
            common: 0,
            reach: plan.reach(draft),
            back,
        };
        self.place_operands(plan, place, &mut inst);
        self.place_targets(plan, block, place, &mut inst);
        let draft = &self.drafts[place];
        let together = draft.run.together;
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
        program.code.pauses.extend(draft.pause(address));
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
            false => gang::each,
        });
        program.code.push(inst, together);
        program.listing.push_line(LineInfo {
            ptx_line: draft.ptx_line,
            location: draft.location,
        });
    }

    /// Where the frame has the operands of the draft at `place`.
    fn place_operands(&mut self, plan: &Plan, place: usize, inst: &mut Inst) {
        let draft = &self.drafts[place];
        let rows = draft.operands.iter();
        let rows = rows.map(|register| plan.assignment.offsets[register.0 as usize]);
        if draft.listed {
            inst.imm = self.program.operand_lists.len() as u64;
            self.program.operand_lists.push(rows.collect());
        } else {
            for (slot, row) in inst.o.iter_mut().zip(rows) {
                *slot = row;
            }
        }
        for (n, register) in draft.operands.iter().enumerate().take(inst.o.len()) {
            let literal = self.registers[register.0 as usize].literal.is_some();
            if literal || plan.holders[register.0 as usize] != Holder::Warps {
                inst.common |= 1 << n;
            }
        }
    }

    /// Where the draft at `place`, which is in `block`, leads.
    fn place_targets(&mut self, plan: &Plan, block: usize, place: usize, inst: &mut Inst) {
        let meet = plan.graph.meets[block].map_or(NOWHERE, |meet| plan.address(meet));
        match &self.drafts[place].flow {
            Flow::Jump(there) => inst.x = plan.address(there.0),
            Flow::Branch(there) => {
                (inst.x, inst.y) = (plan.address(there.0), meet);
                inst.imm = self.ends(&plan.graph, block, there.0) as u64;
            }
            Flow::Table(there) => {
                inst.imm = self.program.tables.len() as u64;
                inst.y = meet;
                let table = there.iter().map(|block| plan.address(block.0)).collect();
                self.program.tables.push(table);
            }
            Flow::Return => {
                inst.x = self.end.map_or(NOWHERE, |end| plan.address(end.0));
            }
            Flow::Next | Flow::Exit | Flow::Stop => {}
        }
    }

    /// Appends what the executor knows of the function besides its code.
    fn emit_function(self, plan: Plan, in_step: bool, reads_old: bool) {
        // A call always takes some stack, so that endless recursion ends.
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
            end: self.end.map_or(NOWHERE, |end| plan.address(end.0)),
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

    /// Whether warps of a block may run in step: it must not matter in which order they print,
    /// exchange values or read the clock, and in a call they go their own ways.
    fn in_step(&self) -> bool {
        let order_shows = !self.sites.is_empty() || self.ordered || self.reads_clock;
        self.cpu.is_wide() && self.function.entry && !order_shows
    }

    /// Which way of the branch at the end of a block only ends the thread.
    fn ends(&self, graph: &Graph, block: usize, target: usize) -> Ends {
        let ends = |block: usize| common::only_ends(block, &self.drafts, graph);
        if ends(target) {
            Ends::Taken
        } else if ends(block + 1) {
            Ends::NotTaken
        } else {
            Ends::Neither
        }
    }

    /// Numbers blocks by their place in the code, and checks that every label was defined.
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

/// What checks look at in a branch of a kernel: where one of its ways only ends the thread, `ends`,
/// which lanes go that way.
fn leaving(ends: u64, unless: bool) -> Checked {
    let taken = ends == Ends::Taken as u64;
    match taken || ends == Ends::NotTaken as u64 {
        true => Checked::Leave(Leaving {
            holds: taken != unless,
        }),
        false => Checked::Nothing,
    }
}

/// Where an instruction is that is counted.
struct Placed {
    address: u32,
    /// Its block's number.
    block: u32,
    /// The first of its counts.
    slot: u32,
    /// Its block ends in a branch of machine code, if in any.
    branches: bool,
}

/// A draft as an instruction that is counted; none where it is not counted by itself, or where it is a
/// load that comes along with another.
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
