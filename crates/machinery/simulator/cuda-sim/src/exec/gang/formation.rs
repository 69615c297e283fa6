//! Formation of a gang from the warps of a group, and the reverse.

use crate::exec::sm::Sm;
use std::ops::Range;

impl Sm {
    /// Makes a group of warps the running gang. Returns false if the warps are not at one instruction with all
    /// their live lanes, or disagree on a value that should be uniform.
    pub fn form_gang(&mut self, number: usize, warps: Range<usize>) -> bool {
        self.gang.group = number;
        self.gang.group_warps = warps.len() as u64;
        if !std::mem::replace(&mut self.block.groups[number].started, true) {
            self.form_new_gang(warps);
            return true;
        }
        let profiled = self.profiler.is_some();
        let (mut pc, mut turn) = (None, None);
        let (mut ready, mut in_step) = (false, true);
        for warp in &self.block.warps[warps.clone()] {
            ready |= !warp.ready.is_empty();
            if warp.alive != 0 {
                let here = warp.converged_pc();
                in_step &= here.is_some() && pc.is_none_or(|pc| Some(pc) == here);
                // In a profiled block, the warps' slices must also end together.
                in_step &= !profiled || *turn.get_or_insert(warp.turn) == warp.turn;
                pc = here;
            }
        }
        if !ready {
            return false;
        }
        if !in_step {
            self.scatter_uniform(number, warps);
            return false;
        }
        self.gang.count = 0;
        self.gang.started = true;
        for index in warps {
            let warp = &mut self.block.warps[index];
            if warp.alive != 0 {
                self.gang
                    .add(index, warp.alive, warp.frames[0].registers.base());
            }
        }
        let function = &self.grid.program.functions[self.grid.function()];
        let group = &mut self.block.groups[number];
        let window = group
            .window
            .get_or_insert_with(|| self.windows.take_kernel(&self.grid.program.functions));
        self.gang.seal(window.base());
        self.gang.pc = pc.unwrap_or(function.entry);
        group.formed = group.formed || self.gang.uniform_values_agree(function);
        group.formed
    }

    /// Makes warps that have not run yet the running gang, which is always possible.
    pub fn form_new_gang(&mut self, warps: Range<usize>) {
        let program = &self.grid.program;
        let gang = &mut self.gang;
        while gang.windows.len() < warps.len() {
            gang.windows
                .push(self.windows.take_kernel(&program.functions));
        }
        gang.count = 0;
        gang.started = false;
        for (member, index) in warps.enumerate() {
            let frame = gang.windows[member].base();
            gang.add(index, self.block.warps[index].alive, frame);
        }
        let window = gang
            .uniform_window
            .get_or_insert_with(|| self.windows.take_kernel(&program.functions));
        let common = window.base();
        gang.seal(common);
        gang.pc = program.functions[self.grid.function()].entry;
        self.block.groups[gang.group].formed = true;
    }

    /// Copies the group's uniform values to the frame of every live warp.
    pub fn scatter_uniform(&mut self, number: usize, warps: Range<usize>) {
        let rows = &self.grid.program.functions[self.grid.function()].uniform;
        let group = &mut self.block.groups[number];
        if !std::mem::take(&mut group.formed) {
            return;
        }
        let Some(window) = &mut group.window else {
            return;
        };
        for warp in &mut self.block.warps[warps] {
            if warp.alive != 0 {
                for range in [&rows.wide, &rows.narrow, &rows.predicates] {
                    let (from, bytes) = (range.start as usize, range.len());
                    let to = warp.frames[0].registers.base();
                    // SAFETY: both windows are frames of the kernel's function, which contains these rows.
                    unsafe { to.add(from).copy_from(window.base().add(from), bytes) };
                }
            }
        }
    }
}
