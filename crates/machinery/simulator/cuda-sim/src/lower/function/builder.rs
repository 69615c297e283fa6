//! The IR builder: appends instructions and starts basic blocks.

use super::FunctionLowering;
use crate::exec::sm::{Handler, Handlers};
use crate::isa::Class;
use crate::isa::check_event::{CheckEvent, CopyGroupOp};
use crate::lower::ir::{BlockId, Flow, IrInst};
use crate::lower::register::Register;

impl<'a> FunctionLowering<'_, 'a> {
    /// Appends an instruction without operands whose handler works for warps and gangs alike.
    pub fn push_effect(&mut self, handler: Handler) {
        let handler = Handlers {
            warp: handler,
            gang: Some(handler),
            preserves_uniformity: false,
        };
        self.push_with_handlers(handler, Class::Control, &[], &[]);
    }

    /// Appends a fall-through instruction that a gang executes warp by warp.
    pub fn push(&mut self, handler: Handler, class: Class, defs: &[Register], uses: &[Register]) {
        self.push_with_handlers(handler.into(), class, defs, uses);
    }

    /// Appends a fall-through instruction.
    pub fn push_with_handlers(
        &mut self,
        handler: Handlers,
        class: Class,
        defs: &[Register],
        uses: &[Register],
    ) {
        self.insts.push(IrInst {
            handlers: handler,
            class,
            operands: defs.iter().chain(uses).copied().collect(),
            defs: defs.to_vec(),
            uses: uses.to_vec(),
            predicated: false,
            arg1_is_remaining_count: false,
            arg0: 0,
            arg1: 0,
            imm: 0,
            flow: Flow::Next,
            access: None,
            barrier: false,
            sync_event: CheckEvent::None,
            copy_group_op: CopyGroupOp::None,
            has_operand_list: false,
            flops: 0,
            n8_tiles: 0,
            arithmetic: None,
            starts_ptx_inst: std::mem::take(&mut self.starts_ptx_inst),
            ptx_line: self.line,
            location: self.location,
        });
    }

    /// Returns the instruction just appended, so that further fields can be set.
    pub fn last(&mut self) -> &mut IrInst {
        let last = self.insts.len() - 1;
        &mut self.insts[last]
    }

    pub fn new_block(&mut self) -> BlockId {
        self.next_block += 1;
        BlockId(self.next_block - 1)
    }

    pub fn start_block(&mut self, block: BlockId) {
        self.starts.push((block, self.insts.len()));
    }

    pub fn start_new_block(&mut self) {
        let block = self.new_block();
        self.start_block(block);
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
