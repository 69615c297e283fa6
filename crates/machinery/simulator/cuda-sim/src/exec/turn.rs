//! Turns: a block runs on an SM until its warps wait, have ended or have used up the block's turn, and each warp
//! until it waits or has used up its own.

use super::compiled;
use super::instrument::{random_schedule, sanitizing};
use super::memory::bulk;
use super::profiler::Profiler;
use super::schedule::{Depth, Probe, Sleep};
use super::sm::{Inst, Sm};
use super::warp::{QUANTUM, Turn, gang_state};
use crate::memory::footprint::EPOCHS;
use crate::profile::collect::{LaunchCounts, LaunchPart};
use crate::profile::shape::ShapeCache;

/// Number of warp instructions that a warp of a profiled block runs before the next one.
const SLICE: u64 = 256;

/// Number of warp instructions of a block's turn, after which other blocks may start.
const BLOCK_QUANTUM: u64 = 1 << 20;

/// Number of rounds in which all warps of a block only wait before another block runs.
const BLOCK_PATIENCE: u32 = 16;

impl Sm {
    /// Runs the block until all its threads have exited (true), or until its turn is over or it has faulted
    /// (false).
    pub(super) fn run_block(&mut self, part: LaunchPart, counted: &mut LaunchCounts) -> bool {
        let counts = counted.part(part);
        std::mem::swap(&mut self.counts, &mut counts.counts);
        self.memory.epoch =
            (self.block.number * u64::from(EPOCHS) / self.grid.progress.blocks) as u32;
        let code = &self.grid.program.code;
        match self.block.caches.take() {
            Some(caches) => {
                self.codes.warp = code.counting.as_ptr();
                self.codes.gang = code.counting_gang.as_ptr();
                self.slice.length = SLICE;
                let sites = std::mem::take(&mut counts.sites);
                let mut shapes = std::mem::take(&mut self.shapes);
                shapes.resize_with(sites.len(), ShapeCache::default);
                let deferred = std::mem::take(&mut self.deferred);
                let mut profiler = Profiler::new(sites, shapes, deferred, caches);
                profiler.trace = self.trace.take();
                if let Some(trace) = &mut profiler.trace {
                    trace.set_block(self.block.number);
                }
                self.profiler = Some(Box::new(profiler));
            }
            None => {
                self.codes.warp = code.plain.as_ptr();
                self.codes.gang = code.gang.as_ptr();
                self.slice.length = QUANTUM;
            }
        }
        let compilation = self.grid.compilation.as_ref();
        let compiled = compilation
            .filter(|_| self.profiler.is_none() && self.block.is_compiled != Some(false))
            .and_then(|compilation| compilation.code());
        self.block.is_compiled = Some(compiled.is_some());
        if let Some(compiled) = compiled {
            self.codes.warp = compiled;
            compiled::start_block(self);
        }
        if self.checker.is_some() {
            self.codes.sanitizing_base = self.codes.warp;
            let checked = sanitizing::code(&self.grid.program, self.profiler.is_some());
            self.codes.warp = checked.as_ptr();
        }
        if self.schedule.is_some() {
            self.codes.schedule_base = self.codes.warp;
            let pausing = random_schedule::code(&self.grid.program, self.checker.is_some());
            self.codes.warp = pausing.as_ptr();
        }
        self.code = self.codes.warp;
        let in_gangs = self.checker.is_none()
            && compiled.is_none()
            && self.schedule.is_none()
            && !self.grid.sample.traces()
            && !self
                .block
                .number
                .is_multiple_of(gang_state::SOLO_BLOCK_INTERVAL)
            && (self.block.warps.len() > 1 || self.profiler.is_some());
        self.gang_size = if in_gangs {
            gang_state::warps_per_gang(&self.grid.program.functions[self.grid.function()])
        } else {
            1
        };
        self.block_start = self.clock.wrapping_sub(self.block.clock);
        let accesses = self.counts.accesses();
        let finished = self.run_turn();
        self.block.accesses += self.counts.accesses() - accesses;
        self.block.clock = self.clock.wrapping_sub(self.block_start);
        if finished {
            let work = &mut self.counts.work;
            work.instructions.add_block(self.block.clock);
            work.accesses.add_block(self.block.accesses);
            work.delays.add_block(self.block.delays.waited);
            work.sleeps.add_block(self.block.longest_sleep());
            work.busiest_warps += self.block.busiest_warp();
            if let Some(compilation) = &self.grid.compilation
                && compilation.add_cost(self.block.clock)
            {
                let (program, function) = (&self.grid.program, self.grid.function());
                let block = self.grid.dims.block;
                compiled::compile_later(compilation, program, function, block);
            }
        }
        std::mem::swap(&mut self.counts, &mut counts.counts);
        if let Some(profiler) = self.profiler.take() {
            counts.sites = profiler.sites;
            self.shapes = profiler.shapes;
            self.deferred = profiler.deferred;
            self.block.caches = Some(profiler.caches);
            self.trace = profiler.trace;
        }
        finished
    }

    fn run_turn(&mut self) -> bool {
        self.block_deadline = self.clock + BLOCK_QUANTUM;
        let mut idle = 0;
        loop {
            let ran = match self.schedule {
                None => self.run_each_warp(),
                Some(_) => self.run_any_warp(),
            };
            if self.fault.is_some() {
                return false;
            }
            let opened = self.block.open_barriers();
            if opened && let Some(profiler) = &mut self.profiler {
                profiler.trace_barrier();
            }
            if self.block.alive == 0 {
                bulk::finish(self);
                return true;
            }
            if !ran && !opened && !self.block.release_for_sync() && !self.release_matching_syncs() {
                self.fault = Some(self.deadlock());
                return false;
            }
            if self.is_timed_out() {
                return false;
            }
            idle = if std::mem::take(&mut self.waiting.made_progress) || opened || !ran {
                0
            } else {
                idle + 1
            };
            let waits = idle >= BLOCK_PATIENCE;
            if self.clock >= self.block_deadline || waits || self.should_block_sleep() {
                return false;
            }
        }
    }

    /// Runs every runnable warp until it waits or has used up its turn. Returns true if any could run.
    fn run_each_warp(&mut self) -> bool {
        let mut ran = false;
        for group in 0..self.block.warps.len().div_ceil(self.gang_size) {
            ran |= match self.gang_size {
                1 => self.run_warp(group),
                _ => self.run_group(group),
            };
            if self.fault.is_some() {
                return false;
            }
        }
        ran
    }

    /// Starts a warp, unless it has started or has already ended as part of a gang.
    pub(super) fn start(&mut self, index: usize) {
        let warp = &mut self.block.warps[index];
        if !warp.started() && warp.alive != 0 {
            let program = &self.grid.program;
            let entry = program.functions[self.grid.function()].entry;
            let registers = self.windows.take_kernel(&program.functions);
            warp.start(entry, registers, self.grid.variables_end());
            warp.local = self.locals.take(self.block.number + index as u64);
        }
    }

    /// Runs a warp until it waits or has used up its turn. Returns true if it had anything to run.
    pub(super) fn run_warp(&mut self, index: usize) -> bool {
        self.start(index);
        self.block.running = index;
        if self.block.warp().ready.is_empty() {
            return false;
        }
        let turn = self.block.warp_mut().turn.take().unwrap_or(Turn::NEW);
        self.start_slice(turn);
        self.waiting.only_waits = false;
        self.run_slice();
        // Another split of the warp may have made progress, for example by releasing a lock that this one
        // awaits.
        let changed = std::mem::take(&mut self.waiting.atomic_changed_memory);
        self.waiting.made_progress |= !self.waiting.only_waits || changed;
        true
    }

    /// Runs the running warp from its current position until it waits or its slice is over.
    pub(super) fn run_slice(&mut self) {
        let start = self.clock;
        let mut pc = self.switch();
        self.slice.switches_before = self.slice.switches;
        while !pc.is_null() {
            // SAFETY: `pc` points into the program's code, which outlives the launch, and the instruction was
            // lowered for the frame that the running split is in.
            unsafe {
                let inst = &*pc;
                pc = (inst.run)(self, inst);
            }
        }
        let ran = self.clock.wrapping_sub(start);
        let warp = self.block.warp_mut();
        warp.clock += ran;
        if warp.alive == 0 {
            let local = warp.local.take();
            self.locals.recycle(local);
        }
    }
}

impl Sm {
    /// Starts a slice of `turn` for the running warp.
    pub fn start_slice(&mut self, turn: Turn) {
        self.slice.turn = turn;
        self.slice.start = self.clock;
        self.deadline = self.clock + turn.remaining.min(self.slice.length);
        self.slice.reads_before = self.counts.reads;
        self.slice.switches_before = self.slice.switches;
    }

    /// Returns the running warp's turn up to now.
    pub fn current_turn(&self) -> Turn {
        let ran = self.clock - self.slice.start;
        Turn {
            remaining: self.slice.turn.remaining.saturating_sub(ran),
            read: self.slice.turn.read || self.counts.reads > self.slice.reads_before,
            single_split: self.slice.turn.single_split
                && self.slice.switches == self.slice.switches_before,
        }
    }

    /// Records that the running warp changed nothing and found `value` at `address`, its first lane's. After
    /// `limit` such probes in a row, the warp gives up its turn.
    #[inline]
    pub fn record_probe(&mut self, inst: &Inst, address: u64, value: u64, limit: u32) {
        let probe = Probe {
            instruction: std::ptr::from_ref(inst).addr(),
            lanes: self.mask,
            address,
            value,
        };
        let warp = self.block.warp_mut();
        warp.barrier_wait = None;
        let repeats = warp.spin_detector.record(probe);
        self.waiting.spinning = repeats > 1;
        if repeats.is_multiple_of(limit) {
            self.end_turn_waiting();
        }
    }

    /// Lets the other blocks of the cluster run once the block's other warps have had a turn: the running warp waits at a
    /// barrier that one of them may complete.
    pub fn yield_to_cluster(&mut self) {
        if self.block.cluster.is_some() {
            self.block_deadline = self.clock;
        }
        if self.schedule.is_some() {
            // A random schedule prefers warps that are awake.
            self.block.warp_mut().sleep = Some(Sleep {
                depth: Depth::Spinning,
                device: true,
            });
        }
    }

    /// Lets the other warps run before the running warp continues its turn, from the next basic block on.
    pub fn yield_after_others(&mut self) {
        self.waiting.only_waits = true;
        self.deadline = self.clock;
    }

    /// Ends the turn of the running warp, which only waits, at the next basic block.
    fn end_turn_waiting(&mut self) {
        self.waiting.only_waits = true;
        self.end_turn();
    }

    /// Ends the running warp's turn at the next basic block.
    pub fn end_turn(&mut self) {
        self.slice.turn.remaining = 0;
        self.deadline = self.clock;
    }
}
