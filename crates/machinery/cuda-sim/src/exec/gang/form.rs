//! Making warps a gang, and letting them fall apart again.

use crate::exec::sm::Sm;
use std::ops::Range;

impl Sm {
    /// Makes a group of warps the running gang. Answers false if that can not be: they do not all stand
    /// at one instruction with all their lanes, or differ in values that they should have in common.
    pub fn form(&mut self, number: usize, warps: Range<usize>) -> bool {
        self.gang.group = number;
        self.gang.group_warps = warps.len() as u64;
        if !std::mem::replace(&mut self.block.groups[number].begun, true) {
            self.form_new(warps);
            return true;
        }
        let observed = self.observer.is_some();
        let (mut place, mut turn) = (None, None);
        let (mut ready, mut in_step) = (false, true);
        for warp in &self.block.warps[warps.clone()] {
            ready |= !warp.ready.is_empty();
            if warp.alive != 0 {
                let here = warp.stands_at();
                in_step &= here.is_some() && place.is_none_or(|place| Some(place) == here);
                // In an observed block their slices have to end together as well.
                in_step &= !observed || *turn.get_or_insert(warp.turn) == warp.turn;
                place = here;
            }
        }
        if !ready {
            return false;
        }
        if !in_step {
            self.fall_apart(number, warps);
            return false;
        }
        self.gang.count = 0;
        self.gang.begun = true;
        for place in warps {
            let warp = &mut self.block.warps[place];
            if warp.alive != 0 {
                self.gang
                    .add(place, warp.alive, warp.frames[0].registers.base());
            }
        }
        let function = &self.grid.program.functions[self.grid.function()];
        let group = &mut self.block.groups[number];
        let window = group
            .window
            .get_or_insert_with(|| self.windows.take_kernel(&self.grid.program.functions));
        self.gang.close(window.base());
        self.gang.place = place.unwrap_or(function.entry);
        group.formed = group.formed || self.gang.agrees(function);
        group.formed
    }

    /// Makes warps that have not run yet the running gang, which can always be.
    pub fn form_new(&mut self, warps: Range<usize>) {
        let program = &self.grid.program;
        let gang = &mut self.gang;
        while gang.windows.len() < warps.len() {
            gang.windows
                .push(self.windows.take_kernel(&program.functions));
        }
        gang.count = 0;
        gang.begun = false;
        for (turn, place) in warps.enumerate() {
            let frame = gang.windows[turn].base();
            gang.add(place, self.block.warps[place].alive, frame);
        }
        let window = gang
            .common_window
            .get_or_insert_with(|| self.windows.take_kernel(&program.functions));
        let common = window.base();
        gang.close(common);
        gang.place = program.functions[self.grid.function()].entry;
        self.block.groups[gang.group].formed = true;
    }

    /// Gives every warp of a group its own copy of what they have in common.
    pub fn fall_apart(&mut self, number: usize, warps: Range<usize>) {
        let rows = &self.grid.program.functions[self.grid.function()].common;
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
                    // SAFETY: both are windows of one function, in which the rows lie.
                    unsafe { to.add(from).copy_from(window.base().add(from), bytes) };
                }
            }
        }
    }
}
