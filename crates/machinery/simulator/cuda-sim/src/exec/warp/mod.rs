//! Warps and their splits: the handling of divergence.
//!
//! At a divergent branch, a warp becomes several *splits*, each an active mask and a program counter. The
//! split that diverged becomes the parent of the new ones and waits at the branch's immediate post-dominator
//! until all of them have arrived there. On a SIMT stack only the top entry can run; here any split that is
//! not waiting can, so lanes that spin on something that other lanes of their warp must do yield to those
//! lanes.

pub mod async_groups;
pub mod gang_state;
pub mod window;

use super::fault::PendingBarrier;
use super::schedule::Sleep;
use super::schedule::SpinDetector;
use async_groups::AsyncCopies;
use async_groups::WgmmaGroups;
use std::collections::VecDeque;
use std::ops::Range;
use window::Window;

/// Number of warp instructions of a turn, after which a warp yields. The limit keeps a warp that spins on
/// another warp from running forever.
pub const QUANTUM: u64 = 1 << 16;

/// The absence of an index: no address and no split.
pub const NO_INDEX: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitState {
    /// Running.
    Running,
    /// In the warp's ready queue.
    Ready,
    /// A parent, some of whose children have not arrived.
    Waiting,
    /// Waiting at this barrier, `0..16`.
    Barrier(u32),
    /// Waiting at a `.sync` instruction for the lanes of this mask.
    Sync(u32),
    /// Waiting at a `bar.warp.sync` for the lanes of this mask. Those may wait at different instructions of
    /// this kind, if all name the same mask.
    WarpBarrier(u32),
    /// Unused slot.
    Free,
}

pub struct Split {
    pub mask: u32,
    /// Next instruction, an index into the program's code.
    pub pc: u32,
    /// Reconvergence point, at which it rejoins its parent.
    pub reconverge: u32,
    pub parent: u32,
    /// Number of children that have not arrived.
    pub waiting: u32,
    /// Index of its function's frame in [`Warp::frames`].
    pub frame: u32,
    pub state: SplitState,
    /// True if all lanes of its `.sync` mask have arrived at matching instructions elsewhere, so it need not
    /// wait.
    pub sync_completed: bool,
}

/// A warp's progress within its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Warp instructions left in the turn.
    pub remaining: u64,
    /// True if it has read memory that other threads may write.
    pub read: bool,
    /// True if only one split has run in the turn so far.
    pub single_split: bool,
}

impl Turn {
    /// A turn that has not started.
    pub const NEW: Turn = Turn {
        remaining: QUANTUM,
        read: false,
        single_split: true,
    };
}

/// Lanes that have found the phase of an mbarrier incomplete.
#[derive(Debug, Clone, Copy)]
pub struct BarrierWait {
    pub lanes: u32,
    pub barrier: PendingBarrier,
}

/// The registers and local memory of one function call.
pub struct Frame {
    pub registers: Window,
    /// The function's results, parameters and variables, as byte offsets in each lane's stack.
    pub local: Range<u32>,
    /// Number of splits in this call.
    users: u32,
}

pub struct Warp {
    /// Index in its block.
    pub index: u32,
    /// Mask of the lanes that have not exited.
    pub alive: u32,
    pub splits: Vec<Split>,
    pub frames: Vec<Frame>,
    /// Splits that can run, in first-in first-out order.
    pub ready: VecDeque<u32>,
    /// The running split.
    pub current: u32,
    /// Number of turns used up before the warp had to wait or ended.
    pub turns: u32,
    /// Number of instructions run so far.
    pub clock: u64,
    /// Nanoseconds slept so far.
    pub slept_ns: u64,
    /// The unfinished turn, if the warp runs it in slices.
    pub turn: Option<Turn>,
    /// Set while the warp sleeps under a random schedule.
    pub sleep: Option<Sleep>,
    /// Mask of the lanes that have arrived at the cluster's barrier in its current phase.
    pub cluster_arrived: u32,
    /// Detector of spin loops.
    pub spin_detector: SpinDetector,
    /// The mbarrier that lanes of the warp have tested last, if its phase was not complete.
    pub barrier_wait: Option<BarrierWait>,
    /// The clock read of the delay loop that the warp is in, by address, and the clock's value at its first run.
    pub delay: Option<(u32, u64)>,
    /// Local memory: one stack per lane.
    pub local: Option<Box<[u8]>>,
    /// Asynchronous copies to shared memory in flight.
    pub copies: AsyncCopies,
    /// State of the warpgroup's matrix multiplications.
    pub products: WgmmaGroups,
    /// The split that stops when all its children have arrived, so that a gang can form again, or [`NO_INDEX`].
    regrouping: u32,
}

impl Warp {
    pub fn new(index: u32, lanes: u32) -> Warp {
        Warp {
            index,
            alive: lanes,
            splits: Vec::new(),
            frames: Vec::new(),
            ready: VecDeque::new(),
            current: NO_INDEX,
            turns: 0,
            clock: 0,
            slept_ns: 0,
            turn: None,
            sleep: None,
            cluster_arrived: 0,
            spin_detector: SpinDetector::default(),
            barrier_wait: None,
            delay: None,
            local: None,
            copies: AsyncCopies::new(),
            products: WgmmaGroups::default(),
            regrouping: NO_INDEX,
        }
    }

    /// Resets the warp to warp `index` of a new block, with `lanes` live.
    pub fn reset(&mut self, index: u32, lanes: u32) {
        self.index = index;
        self.alive = lanes;
        self.clock = 0;
        self.slept_ns = 0;
        if !self.started() {
            return;
        }
        self.splits.clear();
        self.frames.clear();
        self.ready.clear();
        self.current = NO_INDEX;
        self.turns = 0;
        self.barrier_wait = None;
        self.delay = None;
        self.turn = None;
        self.sleep = None;
        self.cluster_arrived = 0;
        self.spin_detector = SpinDetector::default();
        self.local = None;
        self.copies.reset();
        self.products = WgmmaGroups::default();
        self.regrouping = NO_INDEX;
    }

    /// Returns the program counter if all live lanes are in one split that is ready.
    pub fn converged_pc(&self) -> Option<u32> {
        let split = &self.splits[*self.ready.front()? as usize];
        let mut live = self
            .splits
            .iter()
            .filter(|split| split.state != SplitState::Free);
        let is_single = live.next().is_some() && live.next().is_none();
        (is_single && split.mask == self.alive).then_some(split.pc)
    }

    /// Makes the running split, which holds all lanes, continue at `pc` in a later turn. It stops at
    /// `reconvergence` unless that is [`NO_INDEX`].
    pub fn resume_at(&mut self, pc: u32, reconvergence: u32) {
        let id = std::mem::replace(&mut self.current, NO_INDEX);
        let split = &mut self.splits[id as usize];
        if reconvergence == NO_INDEX {
            split.pc = pc;
            split.state = SplitState::Ready;
            self.ready.push_back(id);
            return;
        }
        split.pc = reconvergence;
        split.state = SplitState::Waiting;
        split.waiting = 1;
        let (mask, frame) = (split.mask, split.frame);
        let child = self.add(mask, pc, reconvergence, id, frame);
        self.ready.push_back(child);
        self.regrouping = id;
    }

    /// Ends a slice, after which the warp's turn is `turn`. All its lanes keep their positions.
    pub fn yield_turn(&mut self, turn: Turn) {
        if turn.remaining > 0 {
            self.turn = Some(turn);
        } else {
            self.turns += 1;
        }
    }

    /// Makes split `id`, whose children have all arrived, stop if a gang is to form again. Returns true if it
    /// does.
    pub fn stop_for_regroup(&mut self, id: u32) -> bool {
        if self.regrouping != id {
            return false;
        }
        self.regrouping = NO_INDEX;
        self.splits[id as usize].state = SplitState::Ready;
        self.ready.push_back(id);
        self.current = NO_INDEX;
        true
    }

    /// Starts the whole warp at the kernel's first instruction. The kernel's variables end at `local_end` in local memory.
    pub fn start(&mut self, pc: u32, registers: Window, local_end: u32) {
        self.frames.push(Frame {
            registers,
            local: 0..local_end,
            users: 0,
        });
        let id = self.add(self.alive, pc, NO_INDEX, NO_INDEX, 0);
        self.ready.push_back(id);
    }

    /// Returns true if the kernel's first frame exists.
    pub fn started(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Adds a split in `frame` and returns its index.
    pub fn add(&mut self, mask: u32, pc: u32, reconverge: u32, parent: u32, frame: u32) -> u32 {
        self.frames[frame as usize].users += 1;
        let split = Split {
            mask,
            pc,
            reconverge,
            parent,
            waiting: 0,
            frame,
            state: SplitState::Ready,
            sync_completed: false,
        };
        match self
            .splits
            .iter()
            .position(|old| old.state == SplitState::Free)
        {
            Some(slot) => {
                self.splits[slot] = split;
                slot as u32
            }
            None => {
                self.splits.push(split);
                self.splits.len() as u32 - 1
            }
        }
    }

    /// Adds the frame of a new call and returns its index.
    pub fn push_frame(&mut self, registers: Window, local: Range<u32>) -> u32 {
        let frame = Frame {
            registers,
            local,
            users: 0,
        };
        match self.frames.iter().position(|old| old.users == 0) {
            Some(slot) => {
                self.frames[slot] = frame;
                slot as u32
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }

    /// Returns true if `bytes` bytes at `address` are variables of a function that waits for a call of the running one.
    #[cold]
    pub fn is_callers_variable(&self, address: u64, bytes: u64) -> bool {
        let mut id = self.current;
        while id != NO_INDEX {
            let split = &self.splits[id as usize];
            let Range { start, end } = self.frames[split.frame as usize].local;
            if address >= start.into() && address.saturating_add(bytes) <= end.into() {
                return true;
            }
            id = split.parent;
        }
        false
    }

    /// Releases lanes that wait at a reconvergence point for lanes of split `id`, because those may be
    /// spinning until the waiting lanes do something. The released lanes stay separate up to their parent's
    /// reconvergence point. Returns true if there were any.
    pub fn release_arrived(&mut self, id: u32) -> bool {
        let mut any = false;
        let mut parent = self.splits[id as usize].parent;
        while parent != NO_INDEX {
            let expected = self
                .splits
                .iter()
                .filter(|split| split.state != SplitState::Free && split.parent == parent)
                .fold(0, |mask, split| mask | split.mask);
            let Split {
                mask,
                pc,
                reconverge,
                parent: above,
                frame,
                ..
            } = self.splits[parent as usize];
            let arrived = mask & self.alive & !expected;
            if arrived != 0 {
                self.splits[parent as usize].mask &= !arrived;
                if above != NO_INDEX {
                    self.splits[above as usize].waiting += 1;
                }
                let released = self.add(arrived, pc, reconverge, above, frame);
                self.ready.push_back(released);
                any = true;
            }
            parent = above;
        }
        any
    }

    /// Wakes splits that wait at a `.sync` instruction: lanes have ended, so their condition may hold now.
    pub fn wake_sync_waiters(&mut self) {
        for (id, split) in self.splits.iter_mut().enumerate() {
            if let SplitState::Sync(_) | SplitState::WarpBarrier(_) = split.state {
                split.state = SplitState::Ready;
                self.ready.push_back(id as u32);
            }
        }
    }

    /// Removes split `id`. Returns the registers of its call if it was the last split in it.
    pub fn remove(&mut self, id: u32) -> Option<Window> {
        if self.regrouping == id {
            self.regrouping = NO_INDEX;
        }
        let split = &mut self.splits[id as usize];
        split.state = SplitState::Free;
        let frame = &mut self.frames[split.frame as usize];
        frame.users -= 1;
        (frame.users == 0).then(|| std::mem::take(&mut frame.registers))
    }
}
