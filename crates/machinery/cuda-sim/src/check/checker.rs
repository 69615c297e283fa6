//! What checks a launch, and what checks the blocks of one multiprocessor.

use super::blocks::Use;
use super::device::Device;
use super::finding::{Finding, Kind, Severity};
use super::ledger::{Key, Ledger, NOWHERE, OtherSeen, Seen, What};
use super::runs::{Run, runs};
use super::shadow::{Come, Held, Shadow};
use super::shared::{Conflict, Now, PENDING, Who};
use super::{Checks, describe};
use crate::exec::grid::Grid;
use crate::exec::lanes::LANES;
use crate::memory::global::Global;
use crate::program::Program;
use crate::program::checked::Checked;
use crate::program::flow::{Access, AccessKind};
use std::sync::Arc;

/// What the checks of a launch share.
pub struct Launched {
    pub checks: Checks,
    /// Bytes of a block's shared memory, and those it is looked at by.
    pub shared_bytes: u32,
    pub granule: u32,
    device: Device,
    /// Whether device memory is looked at.
    watches_device: bool,
}

impl Launched {
    /// Of a launch of a kernel of `program`, whose blocks have so many bytes of shared memory; none
    /// where nothing is to be looked at.
    pub fn new(
        checks: Checks,
        program: &Program,
        global: &Global,
        shared_bytes: u32,
        blocks: u64,
    ) -> Option<Arc<Launched>> {
        // With fences a kernel may order its blocks by itself.
        let between = checks.race && blocks > 1 && !program.checked.has_fences();
        checks.watches().then(|| {
            Arc::new(Launched {
                checks,
                shared_bytes,
                granule: program.checked.granule(),
                device: Device::of(global, between),
                watches_device: between || checks.init,
            })
        })
    }

    /// What is known of a block that has not begun.
    pub fn shadow(&self) -> Box<Shadow> {
        Box::new(Shadow::new(self))
    }

    /// What was found, errors first. `whole`: the launch has run to its end.
    pub fn findings(
        &self,
        mut ledger: Ledger,
        grid: &Grid,
        global: &Global,
        whole: bool,
    ) -> Vec<Finding> {
        if whole {
            // Of blocks after one that failed some ran, and some did not.
            self.find_shared(&mut ledger, &grid.program);
        }
        ledger.findings(grid, |what| describe::touched(global, what))
    }

    /// Notes the device memory that several blocks used.
    fn find_shared(&self, ledger: &mut Ledger, program: &Program) {
        for tracked in self.device.iter() {
            let shared = tracked.lines.iter().flat_map(|lines| lines.shared());
            for word in shared {
                let site = |bits| program.checked.first_device_site(bits);
                let writer = site((word.writers, true));
                let other = match word.user_writes {
                    true => writer,
                    false => site((word.readers, false)),
                };
                let key = Key {
                    severity: Severity::Warning,
                    kind: Kind::BetweenBlocks,
                    site: writer,
                    other,
                };
                ledger.note(key, word.writer, 1, || Seen {
                    block: word.writer,
                    thread: 0,
                    other: Some(OtherSeen {
                        block: word.user,
                        thread: 0,
                        write: word.user_writes,
                    }),
                    what: What::Device {
                        at: tracked.base + word.offset,
                        bytes: 4,
                    },
                });
            }
        }
    }
}

/// Reads of one block that are held back, at most; what is more is noted at once.
const MOST_HELD: usize = 1 << 16;

/// Checks the blocks that a multiprocessor runs.
pub struct Checker {
    pub launched: Arc<Launched>,
    pub ledger: Ledger,
    /// Numbers of allocations used lately, by some bits of the address.
    recent: [usize; 16],
}

/// Who does what, as a check sees it.
#[derive(Clone, Copy)]
pub struct Doing {
    /// The block's number, and the warp's in it.
    pub block: u64,
    pub warp: usize,
    /// The instruction's address.
    pub site: u32,
    pub access: Access,
    /// It reads; it writes. Most atomics do both.
    pub reads: bool,
    pub writes: bool,
}

/// The lanes of an access of shared memory.
#[derive(Clone, Copy)]
pub struct Lanes<'a> {
    pub at: &'a [u64; LANES],
    pub mask: u32,
    /// That each accesses.
    pub bytes: u64,
    /// The memory before the access.
    pub memory: &'a [u64],
}

impl Doing {
    fn thread(&self, lane: usize) -> u32 {
        (self.warp * LANES + lane) as u32
    }

    fn key(&self, kind: Kind, severity: Severity) -> Key {
        Key {
            severity,
            kind,
            site: self.site,
            other: NOWHERE,
        }
    }
}

impl Checker {
    pub fn new(launched: Arc<Launched>) -> Checker {
        Checker {
            launched,
            ledger: Ledger::default(),
            recent: [usize::MAX; 16],
        }
    }

    /// The lanes in `mask` access device memory.
    #[inline(always)]
    pub fn device(
        &mut self,
        program: &Program,
        doing: Doing,
        at: &[u64; LANES],
        mask: u32,
        bytes: u64,
    ) {
        if !self.launched.watches_device {
            return;
        }
        let launched = self.launched.clone();
        runs(at, mask, bytes, |run| {
            let place = (run.start >> 20) as usize % 16;
            let known = launched.device.at(self.recent[place]);
            let span = run.span(bytes);
            let found = match known.and_then(|known| Some((known, known.offset(run.start, span)?)))
            {
                Some(found) => found,
                None => {
                    // What lies outside is about to fail.
                    let Some(number) = launched.device.find(run.start) else {
                        return;
                    };
                    self.recent[place] = number;
                    let Some(known) = launched.device.at(number) else {
                        return;
                    };
                    match known.offset(run.start, span) {
                        Some(offset) => (known, offset),
                        None => return,
                    }
                }
            };
            let (known, offset) = found;
            if let Some(written) = &known.written {
                if doing.reads && !written.has(offset, span) {
                    let has = |at| written.has(at - known.base, bytes);
                    for held in self.unwritten(doing, &run, bytes, has) {
                        self.note_unwritten(Kind::UnwrittenDevice, doing.block, held);
                    }
                }
                if doing.writes {
                    written.set(offset, span);
                }
            }
            if let Some(lines) = &known.lines
                && doing.access.kind != AccessKind::Atomic
                && !doing.access.ordered
            {
                let by = Use {
                    block: doing.block,
                    site: program.checked.device_number(doing.site),
                    write: doing.writes,
                };
                lines.touch(offset, span, by);
            }
        });
    }

    /// Lanes access shared memory. `stored`: what a lane stores.
    #[inline(always)]
    pub fn shared(
        &mut self,
        shadow: &mut Shadow,
        program: &Program,
        doing: Doing,
        lanes: Lanes,
        stored: impl Fn(usize) -> [u8; 16],
    ) {
        let Lanes {
            at,
            mask,
            bytes,
            memory,
        } = lanes;
        let checks = self.launched.checks;
        let Shadow {
            order,
            shared,
            held,
            unwritten,
            ..
        } = shadow;
        if doing.access.ordered && doing.reads {
            order.acquire(doing.warp);
        }
        runs(at, mask, bytes, |run| {
            let span = run.span(bytes);
            if !shared.holds(run.start, span) || !run.start.is_multiple_of(bytes) {
                // It is about to fail.
                return;
            }
            if checks.init {
                if doing.reads && !shared.written.has(run.start, span) {
                    let has = |at| shared.written.has(at, bytes);
                    let new = self.unwritten(doing, &run, bytes, has);
                    // What somebody writes yet before the next barrier is told as a race.
                    match checks.race && held.len() < MOST_HELD {
                        true => held.extend(new),
                        false => unwritten.extend(new),
                    }
                }
                if doing.writes {
                    shared.written.set(run.start, span);
                }
            }
            if !checks.race {
                return;
            }
            let now = Now {
                warp: doing.warp,
                site: doing.site,
                write: doing.writes,
            };
            let store = doing.access.kind == AccessKind::Store;
            if store && !run.apart && run.lanes > 1 {
                self.one_store(doing, &run, bytes, &stored);
            }
            shared.access(order, now, &run, bytes, &mut |conflict| {
                let other = conflict.other;
                let address = at[conflict.lane];
                let together = other.warp() == doing.warp
                    && other.site() == doing.site
                    && mask >> other.lane() & 1 == 1
                    && at[other.lane()] == address;
                let width = bytes as usize;
                if conflict.other_wrote && store && !conflict.pending {
                    let new = stored(conflict.lane);
                    let same = match together {
                        true => stored(other.lane())[..width] == new[..width],
                        false => bytes_of(memory, address, width)[..width] == new[..width],
                    };
                    if same {
                        return;
                    }
                    if together {
                        let pair = (conflict.lane, other.lane());
                        self.note_one_store(doing, pair, address, bytes);
                        return;
                    }
                }
                if together && conflict.other_wrote {
                    return;
                }
                self.conflict(program, doing, conflict, address, bytes);
            });
        });
    }

    /// Lanes of one store write to one place: finds two with different values.
    #[inline(always)]
    fn one_store(
        &mut self,
        doing: Doing,
        run: &Run,
        bytes: u64,
        stored: &impl Fn(usize) -> [u8; 16],
    ) {
        let width = bytes as usize;
        let first = stored(run.first);
        let mut lanes = run.first + 1..run.first + run.lanes;
        if let Some(other) = lanes.find(|&lane| stored(lane)[..width] != first[..width]) {
            self.note_one_store(doing, (other, run.first), run.start, bytes);
        }
    }

    fn note_one_store(&mut self, doing: Doing, (lane, other): (usize, usize), at: u64, bytes: u64) {
        let key = Key {
            other: doing.site,
            ..doing.key(Kind::OneStore, Severity::Error)
        };
        self.ledger.note(key, doing.block, 1, || Seen {
            block: doing.block,
            thread: doing.thread(lane),
            other: Some(OtherSeen {
                block: doing.block,
                thread: doing.thread(other),
                write: true,
            }),
            what: What::Shared { at, bytes },
        });
    }

    #[cold]
    fn conflict(
        &mut self,
        program: &Program,
        doing: Doing,
        conflict: Conflict,
        at: u64,
        bytes: u64,
    ) {
        let Conflict { other, .. } = conflict;
        let within = other.warp() == doing.warp;
        if let Checked::Access(access) = program.checked.at(other.site()) {
            let atomic = |access: Access| access.kind == AccessKind::Atomic;
            let both_atomic = atomic(access) && atomic(doing.access);
            let both_ordered = access.ordered && doing.access.ordered && !within;
            if both_atomic || both_ordered {
                return;
            }
        }
        let kind = match (conflict.pending, doing.writes, conflict.other_wrote) {
            (true, ..) => Kind::CopyNotAwaited,
            (_, true, true) => Kind::WriteAfterWrite,
            (_, true, false) => Kind::WriteAfterRead,
            (_, false, _) => Kind::ReadAfterWrite,
        };
        let severity = match within && !conflict.pending {
            true => Severity::Warning,
            false => Severity::Error,
        };
        let key = Key {
            other: other.site(),
            ..doing.key(kind, severity)
        };
        self.ledger.note(key, doing.block, 1, || Seen {
            block: doing.block,
            thread: doing.thread(conflict.lane),
            other: Some(OtherSeen {
                block: doing.block,
                thread: other.thread(),
                write: conflict.other_wrote,
            }),
            what: What::Shared { at, bytes },
        });
    }

    /// The lanes of a run that read what was not `written`, which it tells of an address.
    #[cold]
    fn unwritten(
        &mut self,
        doing: Doing,
        run: &Run,
        bytes: u64,
        written: impl Fn(u64) -> bool,
    ) -> Vec<Held> {
        let lanes = (0..run.lanes).map(|nth| {
            let step = if run.apart { nth as u64 * bytes } else { 0 };
            Held {
                site: doing.site,
                thread: doing.thread(run.first + nth),
                at: run.start + step,
                bytes,
            }
        });
        lanes.filter(|held| !written(held.at)).collect()
    }

    /// A lane begins a copy to shared memory: until it has waited nobody may use what is there.
    pub fn copy_begins(
        &mut self,
        shadow: &mut Shadow,
        program: &Program,
        doing: Doing,
        lane: usize,
        at: u64,
        bytes: u64,
    ) {
        let Shadow { order, shared, .. } = shadow;
        if !shared.holds(at, bytes) || !at.is_multiple_of(bytes) {
            return;
        }
        if self.launched.checks.init {
            shared.written.set(at, bytes);
        }
        if self.launched.checks.race {
            let now = Now {
                warp: doing.warp,
                site: doing.site,
                write: true,
            };
            let run = Run {
                start: at,
                first: lane,
                lanes: 1,
                apart: true,
            };
            let doing = Doing {
                writes: true,
                ..doing
            };
            shared.access(order, now, &run, bytes, &mut |conflict| {
                self.conflict(program, doing, conflict, at, bytes);
            });
            shared.copied(PENDING, Who::new(doing.warp, lane, doing.site), at, bytes);
        }
    }

    /// A block ends, or fails: notes what was held back until then. `stuck`: its threads wait for
    /// each other at barriers; `elsewhere` tells where some lanes of a warp are.
    pub fn close(
        &mut self,
        shadow: &mut Shadow,
        block: u64,
        stuck: bool,
        elsewhere: impl Fn(usize, u32) -> Option<u32>,
    ) {
        shadow.release_held();
        for held in shadow.unwritten.drain(..) {
            self.note_unwritten(Kind::UnwrittenShared, block, held);
        }
        let parts = std::mem::take(&mut shadow.parts);
        let waiting = parts.into_iter().filter(|_| stuck);
        for part in shadow.divergent.drain(..).chain(waiting) {
            let key = Key {
                severity: Severity::Error,
                kind: Kind::DivergentBarrier,
                site: part.site,
                other: NOWHERE,
            };
            let count = part.mask.count_ones().into();
            self.ledger.note(key, block, count, || Seen {
                block,
                thread: part.warp as u32 * 32 + part.mask.trailing_zeros(),
                other: None,
                what: What::Came {
                    came: part.mask,
                    alive: part.alive,
                    elsewhere: elsewhere(part.warp, part.alive & !part.mask),
                },
            });
        }
    }

    fn note_unwritten(&mut self, kind: Kind, block: u64, held: Held) {
        let key = Key {
            severity: Severity::Error,
            kind,
            site: held.site,
            other: NOWHERE,
        };
        let Held {
            thread, at, bytes, ..
        } = held;
        self.ledger.note(key, block, 1, || Seen {
            block,
            thread,
            other: None,
            what: match kind {
                Kind::UnwrittenShared => What::Shared { at, bytes },
                _ => What::Device { at, bytes },
            },
        });
    }

    /// A warp comes to a barrier at which others wait that have come from another place.
    pub fn mixed(&mut self, doing: (u64, usize, u32), first: Come) {
        let (block, warp, site) = doing;
        let key = Key {
            severity: Severity::Error,
            kind: Kind::MixedBarriers,
            site,
            other: first.site,
        };
        self.ledger.note(key, block, 1, || Seen {
            block,
            thread: warp as u32 * 32,
            other: Some(OtherSeen {
                block,
                thread: first.thread,
                write: false,
            }),
            what: What::Nothing,
        });
    }

    /// A warp-wide instruction's mask is wrong: it lacks lanes that are here, or names some that do
    /// not come.
    pub fn mask(&mut self, doing: (u64, usize, u32), kind: Kind, lane: u32, mask: u32, wrong: u32) {
        let (block, warp, site) = doing;
        let key = Key {
            severity: Severity::Error,
            kind,
            site,
            other: NOWHERE,
        };
        let count = wrong.count_ones().into();
        self.ledger.note(key, block, count, || Seen {
            block,
            thread: warp as u32 * 32 + lane,
            other: None,
            what: What::Mask { mask, wrong },
        });
    }
}

/// Bytes of shared memory, which are inside.
fn bytes_of(memory: &[u64], at: u64, count: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (nth, byte) in bytes[..count].iter_mut().enumerate() {
        let at = at as usize + nth;
        *byte = memory[at / 8].to_ne_bytes()[at % 8];
    }
    bytes
}
