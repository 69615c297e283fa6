//! The IR builder: appends instructions and starts basic blocks.

use super::Lowering;
use crate::exec::sm::{Handler, Handlers};
use crate::isa::Class;
use crate::isa::check_event::{Checked, Waiting};
use crate::lower::ir::{BlockId, Draft, Flow};
use crate::lower::register::Register;

impl<'a> Lowering<'_, 'a> {
    /// Appends an instruction without operands whose handler works for warps and gangs alike.
    pub fn effect(&mut self, run: Handler) {
        let run = Handlers {
            warp: run,
            gang: Some(run),
            preserves_uniformity: false,
        };
        self.draft_run(run, Class::Control, &[], &[]);
    }

    /// Appends a fall-through instruction that a gang executes warp by warp.
    pub fn draft(&mut self, run: Handler, class: Class, defs: &[Register], uses: &[Register]) {
        self.draft_run(run.into(), class, defs, uses);
    }

    /// Appends a fall-through instruction.
    pub fn draft_run(&mut self, run: Handlers, class: Class, defs: &[Register], uses: &[Register]) {
        self.drafts.push(Draft {
            run,
            class,
            operands: defs.iter().chain(uses).copied().collect(),
            defs: defs.to_vec(),
            uses: uses.to_vec(),
            partial: false,
            timed: false,
            x: 0,
            y: 0,
            imm: 0,
            flow: Flow::Next,
            access: None,
            barrier: false,
            orders: Checked::Nothing,
            waiting: Waiting::No,
            listed: false,
            operations: 0,
            eights: 0,
            arithmetic: None,
            leads: std::mem::take(&mut self.begins),
            ptx_line: self.line,
            location: self.location,
        });
    }

    /// Returns the instruction just appended, so that further fields can be set.
    pub fn last(&mut self) -> &mut Draft {
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }

    pub fn new_block(&mut self) -> BlockId {
        self.next_block += 1;
        BlockId(self.next_block - 1)
    }

    pub fn begin_block(&mut self, block: BlockId) {
        self.starts.push((block, self.drafts.len()));
    }

    pub fn begin_block_here(&mut self) {
        let block = self.new_block();
        self.begin_block(block);
    }

    pub fn label(&mut self, name: &'a str) -> BlockId {
        match self.labels.get(name) {
            Some(&block) => block,
            None => {
                let block = self.new_block();
                self.labels.insert(name, block);
                block
            }
        }
    }
}
