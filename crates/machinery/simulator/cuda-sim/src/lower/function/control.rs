//! Lowering of branches, returns and barriers. Source: PTX ISA sections 9.7.12 and 9.7.13.1.

use super::FunctionLowering;
use super::operands::form_of;
use crate::exec::control::BarrierKind;
use crate::exec::memory::memory_order;
use crate::exec::sm::{Handler, Handlers};
use crate::exec::tensor::warpgroup;
use crate::exec::{control, gang};
use crate::isa::Class;
use crate::isa::check_event::{Aligned, CheckEvent, FenceScope, WarpSync};
use crate::isa::operation::Operation;
use crate::lower::error::LoadError;
use crate::lower::ir::{BlockId, Flow, Register};
use crate::lower::limits;
use crate::ptx::ast::{Instruction, Operand, Type};

impl<'a> FunctionLowering<'_, 'a> {
    /// Appends a branch to `target`, taken where `predicate` is true (or, with `unless`, false), and starts a
    /// new block.
    pub fn branch(&mut self, predicate: Register, unless: bool, target: BlockId) {
        let (warp, gang): (Handler, Handler) = if unless {
            (control::branch_unless, gang::branch_unless)
        } else {
            (control::branch_if, gang::branch_if)
        };
        let handler = Handlers {
            warp,
            gang: Some(gang),
            preserves_uniformity: false,
        };
        self.push_with_handlers(handler, Class::Control, &[], &[predicate]);
        self.last().flow = Flow::Branch(target);
        self.last().operation = Some(Operation::Branch { unless });
        self.last().sync_event = CheckEvent::Branch { unless };
        self.start_new_block();
    }

    fn push_jump(&mut self) {
        // The handler works for warps and gangs alike.
        let handler = Handlers {
            warp: control::jump,
            gang: Some(control::jump),
            preserves_uniformity: false,
        };
        self.push_with_handlers(handler, Class::Control, &[], &[]);
        self.last().operation = Some(Operation::Jump);
    }

    /// Lowers `bra`, whose guard is the branch condition.
    pub fn bra(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let guard = match instruction.guard {
            Some(guard) => Some((self.predicate(guard.register)?, guard.negated)),
            None => None,
        };
        let [Operand::Name { name, offset: 0 }] = instruction.operands[..] else {
            return Err(self.error("`bra` takes a label"));
        };
        let target = self.label(name);
        match guard {
            Some((predicate, negated)) => self.branch(predicate, negated, target),
            None => {
                self.push_jump();
                self.last().flow = Flow::Jump(target);
                self.start_new_block();
            }
        }
        Ok(())
    }

    /// Lowers `exit`.
    pub fn exit(&mut self) -> Result<(), LoadError> {
        self.push_exit();
        Ok(())
    }

    fn push_exit(&mut self) {
        let handler = Handlers {
            warp: control::exit,
            gang: Some(gang::exit),
            preserves_uniformity: false,
        };
        if self.effects.has_wgmma {
            self.push(warpgroup::end, Class::Move, &[], &[]);
        }
        self.push_with_handlers(handler, Class::Control, &[], &[]);
        self.last().flow = Flow::Exit;
    }

    /// Lowers `trap`.
    pub fn trap(&mut self) -> Result<(), LoadError> {
        self.push(control::trap, Class::Control, &[], &[]);
        self.last().flow = Flow::Stop;
        Ok(())
    }

    /// Lowers `brkpt`.
    pub fn breakpoint(&mut self) -> Result<(), LoadError> {
        self.push(control::breakpoint, Class::Control, &[], &[]);
        self.last().flow = Flow::Stop;
        Ok(())
    }

    /// Lowers `nanosleep`.
    pub fn sleep(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let [duration] = &instruction.operands[..] else {
            return Err(self.error("`nanosleep` takes a duration"));
        };
        let duration = self.source(duration, Type::U32)?;
        self.push(control::sleep, Class::Control, &[], &[duration]);
        Ok(())
    }

    /// Lowers `griddepcontrol`, which waits for the preceding launches or releases the following ones. It
    /// does nothing here, because each launch completes before the next one starts, which is one of the
    /// permitted orders.
    pub fn grid_dependency(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        match (&instruction.modifiers[..], &instruction.operands[..]) {
            (["wait"] | ["launch_dependents"], []) => self.nop(),
            _ => Err(self.unknown(instruction)),
        }
    }

    /// Lowers an instruction that has no effect in the simulator.
    pub fn nop(&mut self) -> Result<(), LoadError> {
        self.push_effect(control::no_op);
        Ok(())
    }

    /// Lowers `membar` and `fence`.
    pub fn fence(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.push_effect(memory_order::fence);
        let has = |scope| instruction.modifiers.contains(&scope);
        self.last().sync_event = CheckEvent::Fence(match () {
            () if has("cta") => FenceScope::Block,
            () if has("sys") => FenceScope::System,
            () => FenceScope::Device,
        });
        Ok(())
    }

    /// Lowers `fence.proxy.async`, which orders a thread's own generic accesses with asynchronous ones such
    /// as those of `wgmma`. It does nothing here, because all accesses reach memory in program order; it does
    /// not order threads.
    pub fn fence_proxy(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        match (&instruction.modifiers[2..], &instruction.operands[..]) {
            ([] | ["global" | "shared::cta" | "shared::cluster"], []) => self.nop(),
            _ => Err(self.unknown(instruction)),
        }
    }

    /// Lowers `ret`.
    pub fn ret(&mut self) -> Result<(), LoadError> {
        self.push_return();
        Ok(())
    }

    /// Appends a return. A kernel's thread ends; a device function jumps to the block where returns reconverge.
    pub fn push_return(&mut self) {
        match self.blocks.return_block {
            Some(_) => {
                self.store_results();
                self.push_jump();
                self.last().flow = Flow::Return;
            }
            None => self.push_exit(),
        }
    }

    /// Lowers `brx.idx`.
    pub fn branch_table(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let [index, Operand::Name { name, .. }] = &instruction.operands[..] else {
            return Err(self.error("`brx.idx` takes an index and a list of targets"));
        };
        let index = self.source(index, Type::U32)?;
        let Some(labels) = self.blocks.branch_tables.get(name) else {
            return Err(self.error(format!("`{name}` is not a list of branch targets")));
        };
        self.blocks.branch_targets += labels.len();
        if self.blocks.branch_targets > limits::BRANCH_TARGETS {
            return Err(self.error(format!(
                "the function's `brx.idx` instructions have more than {} targets in all",
                limits::BRANCH_TARGETS
            )));
        }
        let labels = labels.clone();
        let targets = labels.into_iter().map(|label| self.label(label)).collect();
        let handler = Handlers {
            warp: control::branch_table,
            gang: Some(gang::diverge),
            preserves_uniformity: false,
        };
        self.push_with_handlers(handler, Class::Control, &[], &[index]);
        self.last().flow = Flow::Table(targets);
        Ok(())
    }

    /// Lowers `bar`.
    pub fn aligned_barrier(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.lower_barrier(instruction, true)
    }

    /// Lowers `barrier`. Unlike for `bar`, the threads of a warp must arrive together only with `.aligned`.
    pub fn barrier(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.lower_barrier(instruction, false)
    }

    /// Lowers a barrier of the block, or `bar.warp.sync`.
    fn lower_barrier(
        &mut self,
        instruction: &Instruction<'a>,
        always_aligned: bool,
    ) -> Result<(), LoadError> {
        let form = form_of(instruction);
        let mut operands = instruction.operands.clone();
        if form.has("warp") {
            let members = match operands.first() {
                Some(operand) => self.source(operand, Type::B32)?,
                None => return Err(self.error("`bar.warp.sync` takes a member mask")),
            };
            self.push(
                crate::exec::sync::warp_sync,
                Class::Control,
                &[],
                &[members],
            );
            self.last().sync_event = CheckEvent::WarpSync(WarpSync {
                members: 0,
                any_instruction: true,
                shuffle: None,
            });
            return Ok(());
        }
        form.has("cta");
        let aligned = form.has("aligned") || always_aligned;
        let kind = match form.one_of(&["sync", "arrive", "red"]) {
            Some("sync") => BarrierKind::Sync,
            Some("arrive") => BarrierKind::Arrive,
            Some(_) => match form.one_of(&["popc", "and", "or"]) {
                Some("popc") => BarrierKind::Popc,
                Some("and") => BarrierKind::And,
                Some(_) => BarrierKind::Or,
                None => return Err(self.unknown(instruction)),
            },
            None => return Err(self.unknown(instruction)),
        };
        let ty = form.ty().ok();
        if form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        let always = self.literal(Type::Pred, 1);
        let (mut result, mut predicate, mut result_type) = (None, always, Type::Pred);
        if matches!(kind, BarrierKind::Popc | BarrierKind::And | BarrierKind::Or) {
            result_type = if kind == BarrierKind::Popc {
                Type::U32
            } else {
                Type::Pred
            };
            if operands.len() < 3 || ty != Some(result_type) {
                return Err(self.unknown(instruction));
            }
            let source = operands.pop();
            result = Some(operands.remove(0));
            predicate = match source {
                Some(source) => self.source(&source, Type::Pred)?,
                None => always,
            };
        }
        let barrier = match operands.first() {
            Some(operand) => self.source(operand, Type::U32)?,
            None => return Err(self.error("a barrier takes a barrier number")),
        };
        let count = match operands.get(1) {
            Some(operand) => self.source(operand, Type::U32)?,
            None if kind == BarrierKind::Arrive => {
                return Err(self.error("`bar.arrive` takes a thread count"));
            }
            None => self.literal(Type::U32, 0),
        };
        let destination = match result {
            Some(operand) => self.destination(&operand, result_type)?,
            None => self.temporary(Type::Pred),
        };
        self.push(control::barrier, Class::Control, &[], &[]);
        let inst = self.last();
        inst.operands = vec![barrier, count, destination, predicate];
        inst.uses = vec![barrier, count, predicate];
        inst.defs = vec![destination];
        inst.arg0 = kind as u32;
        inst.barrier = true;
        inst.sync_event = CheckEvent::Barrier(Aligned(aligned));
        Ok(())
    }

    /// Lowers `barrier.cluster.arrive` and `barrier.cluster.wait`. A wait polls, so that the warp yields to the other
    /// warps and blocks of the cluster.
    pub fn cluster_barrier(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        form.has("cluster");
        let arrives = form.has("arrive");
        let waits = form.has("wait");
        let order = form.one_of(match arrives {
            true => &["release", "relaxed"],
            false => &["acquire"],
        });
        form.has("aligned");
        if arrives == waits || form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        if !instruction.operands.is_empty() {
            return Err(self.operand_count_error(instruction, 0));
        }
        // The blocks of a cluster run on one host thread, so no order of memory accesses needs enforcing.
        let _ = order;
        if arrives {
            self.push(control::cluster_arrive, Class::Control, &[], &[]);
            return Ok(());
        }
        let poll = self.new_block();
        self.start_block(poll);
        let done = self.temporary(Type::Pred);
        self.push(control::cluster_has_completed, Class::Control, &[done], &[]);
        self.branch(done, true, poll);
        Ok(())
    }
}
