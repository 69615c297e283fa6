//! Drafts to code: rows for registers, addresses for branches.

use super::Lowering;
use crate::exec::control;
use crate::exec::gang::{self, Ends};
use crate::exec::ops::Class;
use crate::exec::warp::NOWHERE;
use crate::program::code::{Inst, Reach};
use crate::program::common::{self, Holder};
use crate::program::error::LoadError;
use crate::program::flow::{BlockId, Draft, Flow, Graph};
use crate::program::function::Function;
use crate::program::predicated;
use crate::program::registers::{self, Register};
use crate::program::repeated;
use crate::program::steps;
use crate::program::wide::{self, Role};
use crate::program::{BlockInfo, Leader, LineInfo};

/// Whose registers an instruction writes when a gang runs it.
fn reach(draft: &Draft, holders: &[Holder]) -> Reach {
    let of = |def: &Register| holders[def.0 as usize];
    let everywhere = |holder: Holder| draft.defs.iter().all(|def| of(def) == holder);
    if everywhere(Holder::Warps) {
        Reach::Warps
    } else if everywhere(Holder::Gang) {
        Reach::Common
    } else {
        Reach::Both
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
        let starts: Vec<usize> = self.starts.iter().map(|&(_, start)| start).collect();
        let graph = Graph::new(&self.drafts, &starts, self.end);
        let reads_old = self
            .drafts
            .iter()
            .any(|draft| draft.uses.iter().any(|used| self.old_values.contains(used)));
        let roles = wide::roles(&self.drafts, &graph, &self.registers);
        let issued_by = predicated::issued_by(&self.drafts, &graph);
        let in_step = self.in_step() && !reads_old;
        let holders = if in_step {
            common::holders(&self.drafts, &graph, &self.registers)
        } else {
            vec![Holder::Warps; self.registers.len()]
        };
        let assignment = registers::assign(&self.registers, &holders, &self.drafts, &graph)
            .map_err(|message| LoadError::invalid(self.function.line, message))?;

        let base = self.program.code.len() as u32;
        let first_block = self.program.blocks.len();
        // Every block begins with one instruction more than it has drafts.
        let address = |block: usize| base + (starts[block] + block) as u32;
        let mut meeting = vec![false; starts.len()];
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
        for (block, range) in graph.ranges.iter().enumerate() {
            let drafts = &self.drafts[range.clone()];
            let mut info = BlockInfo::default();
            for draft in drafts {
                info.classes[draft.class as usize] += 1;
                info.ptx_instructions += u32::from(draft.leads);
                info.operations += draft.operations;
            }
            info.issued_by = issued_by[block].map(|other| first_block + other);
            info.steps = steps::of(drafts, &roles[range.clone()], self.program.sites.slots());
            let first = drafts.first();
            let number = self.program.blocks.len();
            let enter = Inst {
                run: if meeting[block] {
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
            self.program
                .sites
                .push(&enter, number, None, Role::Alone, None);
            self.program.checked.push(None);
            self.program.code.push(enter);
            self.program.together.push(Inst {
                run: gang::enter,
                ..enter
            });
            self.program.lines.push(LineInfo {
                ptx_line: first.map_or(self.line, |draft| draft.ptx_line),
                location: first.and_then(|draft| draft.location),
            });
            self.program.blocks.push(info);
            let meet = graph.meets[block].map_or(NOWHERE, address);
            let distances = repeated::distances(drafts);
            for (place, draft) in drafts.iter().enumerate() {
                let left = drafts.len() - place;
                let mut inst = Inst {
                    run: draft.run.alone,
                    o: [0; 6],
                    x: draft.x,
                    y: if draft.timed { left as u32 } else { draft.y },
                    imm: draft.imm,
                    common: 0,
                    reach: reach(draft, &holders),
                    back: distances[place],
                };
                let places = draft.operands.iter();
                let places = places.map(|register| assignment.offsets[register.0 as usize]);
                if draft.listed {
                    inst.imm = self.program.operand_lists.len() as u64;
                    self.program.operand_lists.push(places.collect());
                } else {
                    for (slot, place) in inst.o.iter_mut().zip(places) {
                        *slot = place;
                    }
                }
                for (n, register) in draft.operands.iter().enumerate().take(inst.o.len()) {
                    let literal = self.registers[register.0 as usize].literal.is_some();
                    if literal || holders[register.0 as usize] != Holder::Warps {
                        inst.common |= 1 << n;
                    }
                }
                match &draft.flow {
                    Flow::Jump(there) => inst.x = address(there.0),
                    Flow::Branch(there) => {
                        (inst.x, inst.y) = (address(there.0), meet);
                        inst.imm = self.ends(&graph, block, there.0) as u64;
                    }
                    Flow::Table(there) => {
                        inst.imm = self.program.tables.len() as u64;
                        inst.y = meet;
                        let table = there.iter().map(|block| address(block.0)).collect();
                        self.program.tables.push(table);
                    }
                    Flow::Return => {
                        inst.x = self.end.map_or(NOWHERE, |end| address(end.0));
                    }
                    Flow::Next | Flow::Exit | Flow::Stop => {}
                }
                if draft.leads {
                    self.program.leaders.push(Leader {
                        address: self.program.code.len() as u32,
                        block: number as u32,
                        class: draft.class,
                    });
                }
                let role = roles[range.start + place];
                let together = draft.run.together;
                self.program
                    .sites
                    .push(&inst, number, draft.site(), role, together);
                self.program.checked.push(Some(draft));
                self.program.code.push(inst);
                self.program.together.push(Inst {
                    run: together.unwrap_or(match draft.barrier {
                        true => gang::barrier,
                        false => gang::each,
                    }),
                    ..inst
                });
                self.program.lines.push(LineInfo {
                    ptx_line: draft.ptx_line,
                    location: draft.location,
                });
            }
        }
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
            entry: base,
            end: self.end.map_or(NOWHERE, |end| address(end.0)),
            frame_bytes: assignment.frame_bytes,
            local_bytes: if calls || !self.function.entry {
                caller_bytes
            } else {
                self.local_bytes
            },
            in_step,
            common: assignment.common,
            literals: assignment.literals,
            registers: assignment.pressure,
            calls: self.calls,
            calls_pointers: self.calls_pointers,
            ordered: self.ordered || reads_old,
        });
        Ok(())
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
