//! A gang: warps of a block that run in step, an instruction for all of them at once.
//!
//! Finding the next instruction costs as much as running it for 32 lanes. While several warps of a
//! block stand at the same instruction, with all their living lanes, one handler runs it for all of
//! them: a loop over the warps, and in it the loop over the lanes. What is the same in all warps, as
//! parameters, loop counters and everything computed from them are (see
//! [`crate::lower::analysis::common`]), is computed once, in a frame that belongs to the gang.
//!
//! A program has its code once more for gangs, instruction for instruction, so that warps change
//! from one to the other wherever they are:
//!
//! * At a branch where the gang's lanes do not agree every warp goes on alone, up to the place where
//!   the branch's ways meet. There the gang forms again, if all of its warps come there in this
//!   turn. Code on the way is known: what it reads is kept in the warps' own frames as well, and it
//!   writes nothing that the warps have in common.
//! * At a branch whose one way is the thread's end, as in `if (i >= n) return;`, some lanes end and
//!   the gang goes on.
//! * An instruction without a form for gangs is run warp by warp.
//! * A fault is not reported: the warps part before it and run alone, one after the other, as they
//!   would have without a gang. The first of them to fail is the one that is reported.
//! * At a barrier warps wait as ever, and those that come out of it in step are a gang again; but a
//!   gang that is all of its block goes on.
//!
//! Warps are never held back for a gang's sake, so that it makes no difference to what waits for
//! what. Kernels whose results depend on the order of their warps, because they print, use atomics
//! whose order shows, or read the clock, run warp by warp. So does the first of every sixteen blocks,
//! since results may depend on the order by mistake: in a gang no warp is ahead of the others, and a
//! barrier that is missing would not be missed.
//!
//! Warps of an observed block run a slice of their turn at a time, one after the other, and ask the
//! block's caches in that order (see [`super::observe`]). A gang runs one slice of all its warps. What
//! they ask meanwhile is noted, and asked warp by warp when the slice is over. Where the gang's lanes
//! do not agree every warp goes on alone to the end of its slice; those that stand at one place
//! then, and have as much left of their turns, are a gang again in the next.

use super::code::{Inst, Next, Reach};
use super::function::Function;
use super::lanewise::Lane;
use super::sm::{Codes, Sm};
use super::warp::{NOWHERE, State, Turn};
use super::window::Window;
use crate::lanes::{FULL, LANES, active};
use std::ops::Range;

/// The most warps of a gang: more bring nothing, but their registers need room in the first cache.
pub const MOST: usize = 8;

/// One block in so many runs its warps one by one.
pub const APART: u64 = 16;

/// Bytes of registers that a gang may have: what the first cache of most CPUs has room for, besides
/// what the instructions load.
const ROOM: u32 = 28 << 10;

/// The gang that is running.
pub struct Gang {
    /// The registers of each warp, and those that they have in common; behind the last the latter
    /// twice.
    pub frames: [[*mut u8; 2]; MOST + 1],
    /// The latter again.
    pub common: *mut u8,
    pub count: usize,
    /// Each warp's place in its block, and its living lanes.
    warps: [usize; MOST],
    masks: [u32; MOST],
    /// All of these masks are full.
    whole: bool,
    /// Living lanes of all warps.
    threads: u64,
    /// The warps know that they have begun, and have their registers. Most never need to.
    begun: bool,
    /// Registers for those that do not, and for what they have in common: the next gang's as well.
    windows: Vec<Window>,
    common_window: Option<Window>,
    /// The group it is of, and how many warps that had at first.
    group: usize,
    group_warps: u64,
    /// The warp whose turn it is, in an instruction that may fail.
    turn: usize,
    /// Where its warps stand, before it runs.
    place: u32,
    /// Which of its warps are where it meets again, after it has parted.
    there: [bool; MOST],
    /// Why the gang stopped.
    stopped: Stopped,
}

/// Why a gang stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopped {
    /// Its warps wait or have ended.
    Together,
    /// They have had their turn, or slice of it.
    GivingWay,
    /// They go on one by one until they meet again.
    Parted,
    /// One of them is about to fail.
    Failing,
}

/// What a block keeps of a gang of its warps.
#[derive(Default)]
pub struct Group {
    /// Its warps have run.
    begun: bool,
    /// What the warps have in common; none as long as they know nothing of having begun.
    window: Option<Window>,
    /// It is in there, and not in the warps' own frames.
    formed: bool,
}

/// How many warps of a kernel make a gang; one where it runs warp by warp.
pub fn size(function: &Function) -> usize {
    if !function.in_step {
        return 1;
    }
    let own = function.frame_bytes - function.common.bytes();
    ((ROOM / own.max(1)) as usize).clamp(2, MOST)
}

impl Gang {
    /// Nobody.
    pub fn none() -> Gang {
        Gang {
            frames: [[std::ptr::null_mut(); 2]; MOST + 1],
            common: std::ptr::null_mut(),
            count: 0,
            warps: [0; MOST],
            masks: [0; MOST],
            whole: false,
            threads: 0,
            begun: false,
            windows: Vec::new(),
            common_window: None,
            group: 0,
            group_warps: 0,
            turn: 0,
            place: NOWHERE,
            there: [false; MOST],
            stopped: Stopped::Together,
        }
    }

    /// The frames that an instruction writes, by their place in [`Gang::frames`]. What the warps
    /// have in common comes last: until then it is what the instruction reads.
    #[inline(always)]
    pub fn turns(&self, inst: &Inst) -> Range<usize> {
        let (first, end) = match inst.reach {
            Reach::Warps => (0, self.count),
            Reach::Common => (self.count, self.count + 1),
            Reach::Both => (0, self.count + 1),
        };
        // Never more than there are; the compiler need not check each.
        first..end.min(MOST + 1)
    }

    /// How many warps there are, if all their lanes live.
    #[inline(always)]
    pub fn whole_warps(&self) -> Option<usize> {
        // Never more than there are, nor none; the compiler need not check each.
        self.whole.then_some(self.count.clamp(1, MOST))
    }

    /// Instructions that each warp has left at `clock`, if the gang gives way at `deadline`; below
    /// zero, wrapping, where it has run more.
    fn left(&self, deadline: u64, clock: u64) -> u64 {
        let left = deadline.wrapping_sub(clock) as i64;
        (left / self.count.max(1) as i64) as u64
    }

    /// Where its warps are in their block.
    #[inline(always)]
    pub fn places(&self) -> &[usize] {
        &self.warps[..self.count]
    }

    /// The lanes of its warps.
    pub fn masks(&self) -> &[u32] {
        &self.masks[..self.count]
    }

    /// Living lanes of all warps.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// Adds a warp at `place` of its block, with these lanes and registers.
    #[inline(always)]
    fn add(&mut self, place: usize, lanes: u32, frame: *mut u8) {
        self.warps[self.count] = place;
        self.masks[self.count] = lanes;
        self.frames[self.count][0] = frame;
        self.count += 1;
    }

    /// These were all its warps; what they have in common is in `frame`.
    #[inline(always)]
    fn close(&mut self, frame: *mut u8) {
        self.common = frame;
        self.frames[self.count][0] = frame;
        for [_, common] in &mut self.frames[..=self.count] {
            *common = frame;
        }
        self.count_threads();
    }

    /// Counts the living lanes again.
    fn count_threads(&mut self) {
        let masks = &self.masks[..self.count];
        self.whole = masks.iter().all(|&mask| mask == FULL);
        self.threads = masks.iter().map(|mask| u64::from(mask.count_ones())).sum();
    }
}

impl Sm {
    /// Makes warp `turn` of the gang the running one.
    #[inline(always)]
    pub fn take_turn(&mut self, turn: usize) {
        self.gang.turn = turn;
        self.frame = self.gang.frames[turn][0];
        self.block.running = self.gang.warps[turn];
        if !self.gang.whole {
            self.run_lanes(self.gang.masks[turn]);
        }
    }

    /// Lets a group of warps run until they wait, end or have had their turn; whether there was
    /// anything to run.
    pub fn run_group(&mut self, number: usize) -> bool {
        let first = number * self.gang_size;
        let warps = first..(first + self.gang_size).min(self.block.warps.len());
        if self.observer.is_some() {
            return self.run_observed(number, warps);
        }
        let until = self.clock + self.slice * warps.len() as u64;
        let mut ran = false;
        while self.form(number, warps.clone()) {
            ran = true;
            self.deadline = until;
            match self.run_gang(number, warps.clone()) {
                Stopped::Together | Stopped::GivingWay => return true,
                Stopped::Parted => {
                    if !self.run_parted() {
                        return true;
                    }
                }
                Stopped::Failing => break,
            }
        }
        if !ran || self.gang.stopped == Stopped::Failing {
            return self.run_alone(warps) || ran;
        }
        true
    }

    /// Lets a group of warps of an observed block run a slice; whether there was anything to run.
    fn run_observed(&mut self, number: usize, warps: Range<usize>) -> bool {
        if !self.form(number, warps.clone()) {
            return self.run_alone(warps);
        }
        let turn = self.take_turns();
        let slice = turn.left.min(self.slice);
        let reads = self.counts.reads;
        self.deadline = self.clock + slice * self.gang.count as u64;
        self.note_asked(true);
        let stopped = self.run_gang(number, warps.clone());
        self.note_asked(false);
        let ran = slice.wrapping_sub(self.gang.left(self.deadline, self.clock));
        let read = self.counts.reads > reads;
        let after = Turn {
            left: turn.left.saturating_sub(ran),
            read: turn.read || read,
            ..turn
        };
        match stopped {
            Stopped::Together => self.ask_in_order(warps),
            Stopped::GivingWay => {
                for &place in &self.gang.warps[..self.gang.count] {
                    self.block.warps[place].give_way(after);
                }
                self.ask_in_order(warps);
            }
            Stopped::Parted => {
                self.fall_apart(number, warps.clone());
                for place in warps {
                    self.ask_for(place);
                    if self.gang.warps[..self.gang.count].contains(&place) {
                        self.block.running = place;
                        self.turn = turn;
                        self.slice_began = self.clock.wrapping_sub(ran);
                        self.deadline = self.clock.wrapping_add(slice).wrapping_sub(ran);
                        self.reads_before = self.counts.reads - u64::from(read);
                        self.run_slice();
                        if self.fault.is_some() {
                            break;
                        }
                    }
                }
            }
            Stopped::Failing => {
                // Nobody will look at what such a launch counted.
                self.run_alone(warps);
            }
        }
        true
    }

    /// How far the warps of the gang are in their turns, all of them as far: they are told later.
    fn take_turns(&mut self) -> Turn {
        let mut turn = Turn::NEW;
        for &place in &self.gang.warps[..self.gang.count] {
            turn = self.block.warps[place].turn.take().unwrap_or(Turn::NEW);
        }
        turn
    }

    /// Runs each warp by itself; false where nothing ran, or the launch is to stop.
    fn run_alone(&mut self, warps: Range<usize>) -> bool {
        let mut ran = false;
        for warp in warps {
            ran |= self.run_warp(warp);
            if self.fault.is_some() {
                return false;
            }
        }
        ran
    }

    /// Runs each warp of a gang that has parted, but for those that are where it meets again; false
    /// where nothing ran, or the launch is to stop.
    fn run_parted(&mut self) -> bool {
        let Gang {
            warps,
            count,
            there,
            ..
        } = self.gang;
        let mut ran = false;
        for (&place, there) in warps[..count].iter().zip(there) {
            ran |= there || self.run_warp(place);
            if self.fault.is_some() {
                return false;
            }
        }
        ran
    }

    /// Makes a group of warps the running gang, if they stand at one place with all their lanes and
    /// agree on what they have in common.
    fn form(&mut self, number: usize, warps: Range<usize>) -> bool {
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
            .get_or_insert_with(|| self.windows.take_kernel(&self.grid.program));
        self.gang.close(window.base());
        self.gang.place = place.unwrap_or(function.entry);
        group.formed = group.formed || self.gang.agrees(function);
        group.formed
    }

    /// The same of warps that have not run: there is nothing to look at, as they have no values yet.
    fn form_new(&mut self, warps: Range<usize>) {
        let program = &self.grid.program;
        let gang = &mut self.gang;
        while gang.windows.len() < warps.len() {
            gang.windows.push(self.windows.take_kernel(program));
        }
        gang.count = 0;
        gang.begun = false;
        for (turn, place) in warps.enumerate() {
            let frame = gang.windows[turn].base();
            gang.add(place, self.block.warps[place].alive, frame);
        }
        let window = gang
            .common_window
            .get_or_insert_with(|| self.windows.take_kernel(program));
        let common = window.base();
        gang.close(common);
        gang.place = program.functions[self.grid.function()].entry;
        self.block.groups[gang.group].formed = true;
    }

    /// Runs the gang from where its warps stand.
    fn run_gang(&mut self, number: usize, warps: Range<usize>) -> Stopped {
        if self.gang.begun {
            self.wake();
        }
        self.gang.stopped = Stopped::Together;
        self.reconverge = NOWHERE;
        self.local_base = 0;
        self.run_all_lanes();
        self.code = self.codes.together;
        let mut next = self.at(self.gang.place);
        while !next.is_null() {
            // SAFETY: `next` points into the program's code, which outlives the launch, and the
            // instruction was lowered for the frames that the gang has.
            unsafe {
                let inst = &*next;
                next = (inst.run)(self, inst);
            }
        }
        self.code = self.codes.alone;
        if self.gang.stopped == Stopped::Failing {
            self.fall_apart(number, warps.clone());
        }
        if self.gang.begun {
            self.end_group(number, warps);
        }
        self.gang.stopped
    }

    /// Makes the one split of each warp of the gang the running one.
    fn wake(&mut self) {
        for &place in &self.gang.warps[..self.gang.count] {
            let warp = &mut self.block.warps[place];
            if let Some(id) = warp.ready.pop_front() {
                warp.current = id;
                warp.splits[id as usize].state = State::Running;
            }
        }
    }

    /// Lets the warps know that they have begun: something is to be done with them one by one.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.gang.begun, true) {
            return;
        }
        let Gang {
            windows,
            warps,
            count,
            ..
        } = &mut self.gang;
        for (window, &place) in windows.drain(..*count).zip(&*warps) {
            let warp = &mut self.block.warps[place];
            warp.start(NOWHERE, window);
            warp.local = self.locals.take();
        }
        self.block.groups[self.gang.group].window = self.gang.common_window.take();
        self.wake();
    }

    /// Gives back what ended warps of a group no longer need.
    fn end_group(&mut self, number: usize, warps: Range<usize>) {
        let mut living = false;
        for warp in &mut self.block.warps[warps] {
            living |= warp.alive != 0;
            if warp.alive == 0 {
                self.locals.give_back(warp.local.take());
            }
        }
        if !living && let Some(window) = self.block.groups[number].window.take() {
            self.windows.give_back(window);
        }
    }

    /// Gives every warp of a group its own copy of what they have in common.
    fn fall_apart(&mut self, number: usize, warps: Range<usize>) {
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

    /// Fills operand `n` in all the frames that an instruction writes.
    ///
    /// # Safety
    /// As for [`Sm::write`].
    #[inline(always)]
    pub unsafe fn write_in_turn<T: Lane>(&mut self, inst: &Inst, n: usize, values: [T; LANES]) {
        for turn in self.gang.turns(inst) {
            let [frame, _] = self.gang.frames[turn];
            // SAFETY: the caller's promise.
            unsafe { *frame.add(inst.o[n] as usize).cast::<[T; LANES]>() = values };
        }
    }

    /// Every warp of the gang goes on alone from `place(turn)`; where the ways from there meet again
    /// at `meet` it stops, except in an observed block, where its slice goes on.
    fn go_alone(&mut self, meet: u32, place: impl Fn(usize) -> u32) -> Next {
        self.begin();
        let meet = match self.observer {
            Some(_) => NOWHERE,
            None => meet,
        };
        for turn in 0..self.gang.count {
            let warp = &mut self.block.warps[self.gang.warps[turn]];
            self.gang.there[turn] = false;
            if warp.current != NOWHERE {
                let place = place(turn);
                let there = place == meet;
                self.gang.there[turn] = there;
                warp.go_on_at(place, if there { NOWHERE } else { meet });
            }
        }
        std::ptr::null()
    }

    /// The warp whose turn it is failed at `inst`; those before it have run it.
    #[cold]
    pub fn fail_in_gang(&mut self, inst: &Inst) -> Next {
        let (here, failing) = (self.address_of(inst), self.gang.turn);
        self.fail_from(here, here + 1, failing)
    }

    /// Warps from `failing` on go on alone at `here`, where the first of them fails; those before it
    /// at `next`.
    fn fail_from(&mut self, here: u32, next: u32, failing: usize) -> Next {
        self.fault = None;
        self.gang.stopped = Stopped::Failing;
        self.go_alone(NOWHERE, |turn| if turn < failing { next } else { here })
    }
}

impl Gang {
    /// Whether the warps have the same values in what they should have in common; then the gang has
    /// them too.
    fn agrees(&self, function: &Function) -> bool {
        let rows = &function.common;
        // SAFETY: the frames are of this function, in which the rows lie.
        unsafe {
            self.agree::<u64>(rows.wide.clone())
                && self.agree::<u32>(rows.narrow.clone())
                && self.agree_on_predicates(rows.predicates.clone())
        }
    }

    /// # Safety
    /// In the range of all frames there are rows of `T`s.
    unsafe fn agree<T: Copy + PartialEq>(&self, rows: Range<u32>) -> bool {
        for row in rows.step_by(32 * size_of::<T>()) {
            // SAFETY: the caller's promise.
            let at = |frame: *mut u8| unsafe { &mut *frame.add(row as usize).cast::<[T; 32]>() };
            let first = at(self.frames[0][0])[self.masks[0].trailing_zeros() as usize % 32];
            for (&[frame, _], &mask) in self.frames.iter().zip(&self.masks[..self.count]) {
                let row = at(frame);
                if active(mask).any(|lane| row[lane] != first) {
                    return false;
                }
            }
            *at(self.common) = [first; 32];
        }
        true
    }

    /// # Safety
    /// In the range of all frames there are predicates.
    unsafe fn agree_on_predicates(&self, predicates: Range<u32>) -> bool {
        for place in predicates.step_by(4) {
            // SAFETY: the caller's promise.
            let at = |frame: *mut u8| unsafe { &mut *frame.add(place as usize).cast::<u32>() };
            let (mut any, mut all) = (false, true);
            for (&[frame, _], &mask) in self.frames.iter().zip(&self.masks[..self.count]) {
                any |= *at(frame) & mask != 0;
                all &= *at(frame) & mask == mask;
            }
            if any != all {
                return false;
            }
            *at(self.common) = if all { FULL } else { 0 };
        }
        true
    }
}

/// The first instruction of every basic block, as [`super::control::enter`].
///
/// # Safety
/// As for [`crate::exec::code::Handler`], where a gang is running; so for every handler here.
pub unsafe fn enter(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.clock >= sm.deadline {
        let here = sm.address_of(inst);
        sm.gang.stopped = Stopped::GivingWay;
        return sm.go_alone(NOWHERE, |_| here);
    }
    let warps = sm.gang.count as u64;
    sm.clock += u64::from(inst.y) * warps;
    let visit = &mut sm.counts.visits[inst.x as usize];
    visit.warps += warps;
    visit.threads += sm.gang.threads;
    inst.next()
}

/// `exit`, and `ret` from a kernel.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn exit(sm: &mut Sm, _: &Inst) -> Next {
    if sm.gang.begun {
        for turn in 0..sm.gang.count {
            end_lanes(sm, turn, sm.gang.masks[turn]);
        }
    } else {
        sm.block.alive -= sm.gang.threads as u32;
        for &place in sm.gang.places() {
            sm.block.warps[place].alive = 0;
        }
    }
    sm.gang.count = 0;
    std::ptr::null()
}

/// Lanes of a warp of the gang end.
fn end_lanes(sm: &mut Sm, turn: usize, lanes: u32) {
    let place = sm.gang.warps[turn];
    sm.block.running = place;
    sm.block.exit(lanes);
    let warp = &mut sm.block.warps[place];
    if warp.alive == 0 {
        let id = std::mem::replace(&mut warp.current, NOWHERE);
        if let Some(window) = warp.remove(id) {
            sm.windows.give_back(window);
        }
    }
}

/// Which way of a branch, if any, does nothing but end the thread: a branch's immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    Neither,
    Taken,
    NotTaken,
}

/// As [`super::control::branch_if`]; the immediate is an [`Ends`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_if(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the caller's promise.
    unsafe { branch(sm, inst, 0) }
}

/// As [`super::control::branch_unless`]; the immediate is an [`Ends`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_unless(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the caller's promise.
    unsafe { branch(sm, inst, FULL) }
}

/// # Safety
/// As for [`enter`]: operand 0 is a predicate. Its bits that `flip` has count the other way round.
#[inline(always)]
unsafe fn branch(sm: &mut Sm, inst: &Inst, flip: u32) -> Next {
    let at = inst.o[0] as usize;
    // SAFETY: the predicate is in every frame.
    let predicate = |frame: *mut u8| unsafe { *frame.add(at).cast::<u32>() } ^ flip;
    if inst.common & 1 == 1 {
        // All lanes of what the warps have in common are alike.
        return match predicate(sm.gang.common) & 1 {
            0 => inst.next(),
            _ => sm.at(inst.x),
        };
    }
    let mut taken = [0; MOST];
    let (mut any, mut missing) = (0, 0);
    for turn in 0..sm.gang.count {
        let mask = sm.gang.masks[turn];
        taken[turn] = predicate(sm.gang.frames[turn][0]) & mask;
        any |= taken[turn];
        missing |= mask & !taken[turn];
    }
    if any == 0 {
        inst.next()
    } else if missing == 0 {
        sm.at(inst.x)
    } else {
        disagree(sm, inst, taken)
    }
}

/// The lanes in `taken` want to go to `x`, the others to the next instruction.
fn disagree(sm: &mut Sm, inst: &Inst, mut taken: [u32; MOST]) -> Next {
    let here = sm.address_of(inst);
    // An observed warp, part of which ends, runs alone: it takes that part up in its own order.
    let in_part = taken
        .iter()
        .zip(sm.gang.masks)
        .any(|(&taken, mask)| taken != 0 && taken != mask);
    let (end, next) = if in_part && sm.observer.is_some() {
        sm.gang.stopped = Stopped::Parted;
        return sm.go_alone(inst.y, |_| here);
    } else if inst.imm == Ends::Taken as u64 {
        (inst.x, here + 1)
    } else if inst.imm == Ends::NotTaken as u64 {
        for (taken, mask) in taken.iter_mut().zip(sm.gang.masks) {
            *taken ^= mask;
        }
        (here + 1, inst.x)
    } else {
        sm.gang.stopped = Stopped::Parted;
        let masks = sm.gang.masks;
        let observed = sm.observer.is_some();
        return sm.go_alone(inst.y, |turn| match taken[turn] {
            // It is counted where the warp is alone.
            _ if observed => here,
            0 => here + 1,
            lanes if lanes == masks[turn] => inst.x,
            _ => here,
        });
    };
    leave(sm, end, taken);
    sm.at(next)
}

/// Lanes end in the block at `end`, in which there is nothing else to do; some lane stays.
fn leave(sm: &mut Sm, end: u32, leaving: [u32; MOST]) {
    sm.begin();
    // SAFETY: a branch's target is in the code.
    let block = unsafe { &*sm.at(end) };
    let mut stay = 0;
    let left = sm.gang.left(sm.deadline, sm.clock);
    for turn in 0..sm.gang.count {
        let (place, mask, leaves) = (sm.gang.warps[turn], sm.gang.masks[turn], leaving[turn]);
        if leaves != 0 {
            sm.clock += u64::from(block.y);
            let visit = &mut sm.counts.visits[block.x as usize];
            visit.warps += 1;
            visit.threads += u64::from(leaves.count_ones());
            sm.counts.divergent_branches += u64::from(leaves != mask);
            end_lanes(sm, turn, leaves);
        }
        if leaves != mask {
            let warp = &mut sm.block.warps[place];
            warp.splits[warp.current as usize].mask = mask & !leaves;
            sm.gang.frames[stay] = sm.gang.frames[turn];
            sm.gang.warps[stay] = place;
            sm.gang.masks[stay] = mask & !leaves;
            stay += 1;
        }
    }
    sm.gang.count = stay;
    sm.deadline = sm.clock.wrapping_add(left.wrapping_mul(stay as u64));
    sm.gang.close(sm.gang.common);
    sm.run_all_lanes();
}

/// An instruction at which the gang always parts: lanes go wherever they like.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn part(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    sm.gang.stopped = Stopped::Parted;
    sm.go_alone(inst.y, |_| here)
}

/// A barrier, as [`super::control::barrier`]. Where the gang is all that lives of its block, everybody
/// is there and goes on.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    // The barrier and the count are the same for all warps.
    let alike = inst.common & 0b11 == 0b11;
    // SAFETY: operands 0 and 1 are 32-bit rows, which the gang's own frame has as well.
    let [barrier, expected] =
        [0, 1].map(|n| unsafe { *sm.gang.common.add(inst.o[n] as usize).cast::<u32>() });
    let all = sm.gang.threads == u64::from(sm.block.alive);
    if !(alike && all && sm.passes_barrier(inst, barrier, expected)) {
        // SAFETY: the same instruction.
        return unsafe { each(sm, inst) };
    }
    sm.counts.barriers += sm.gang.count as u64;
    sm.deadline = sm.clock + sm.slice * sm.gang.group_warps;
    inst.next()
}

/// An instruction that has no form for gangs: runs it warp by warp.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn each(sm: &mut Sm, inst: &Inst) -> Next {
    sm.begin();
    let here = sm.address_of(inst);
    let Codes {
        together,
        alone: code,
    } = sm.codes;
    sm.code = code;
    let alone = sm.at(here);
    let mut next = std::ptr::null();
    for turn in 0..sm.gang.count {
        sm.take_turn(turn);
        // SAFETY: the same instruction, as it is for one warp.
        let after = unsafe { ((*alone).run)(sm, &*alone) };
        if sm.fault.is_some() {
            sm.code = together;
            return sm.fail_from(here, Sm::index(code, next), turn);
        }
        next = after;
    }
    sm.code = together;
    if next.is_null() {
        return next;
    }
    sm.at(Sm::index(code, next))
}
