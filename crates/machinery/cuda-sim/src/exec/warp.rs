//! A warp and the splits its lanes are in.
//!
//! Where lanes branch apart the warp becomes several *splits*, each a mask and a place. A split
//! waits, as a parent, at the branch's immediate post-dominator until its children have come
//! there. Unlike a stack, any split that is not waiting may run next: so lanes that spin on
//! something other lanes of the warp must do give way to them.

use super::cp_async_groups::Copies;
use super::random_schedule::Sleep;
use super::spin::SpinDetector;
use super::wgmma_groups::Products;
use super::window::Window;
use std::collections::VecDeque;

/// Warp instructions a warp may run before it gives way, so that one that waits for another
/// does not wait for ever.
pub const QUANTUM: u64 = 1 << 16;

/// No place, no split: the absence of an index.
pub const NO_INDEX: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitState {
    /// Its instructions are being run.
    Running,
    /// In the warp's queue.
    Ready,
    /// A parent: its children have not all arrived.
    Waiting,
    /// At barrier number `0..16`.
    Barrier(u32),
    /// At a `.sync` instruction that names these lanes.
    Sync(u32),
    /// At a `bar.warp.sync` that names these lanes. They may be at different such instructions, if all
    /// name the same lanes.
    WarpBarrier(u32),
    /// Not in use.
    Free,
}

pub struct Split {
    pub mask: u32,
    /// Where it goes on: an index into the program's code.
    pub pc: u32,
    /// Where it rejoins its parent.
    pub reconverge: u32,
    pub parent: u32,
    /// Children that have not arrived.
    pub waiting: u32,
    /// Its function's frame, an index into [`Warp::frames`].
    pub frame: u32,
    pub state: SplitState,
    /// All that its `.sync` instruction names have come to one like it, elsewhere: it waits no more.
    pub sync_completed: bool,
}

/// How far a warp is in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Warp instructions it may still run.
    pub left: u64,
    /// It has read memory that other threads may write.
    pub read: bool,
    /// One split alone has run in it so far.
    pub single_split: bool,
}

impl Turn {
    /// One that has not begun.
    pub const NEW: Turn = Turn {
        left: QUANTUM,
        read: false,
        single_split: true,
    };
}

/// The registers and the place in local memory of one function call.
pub struct Frame {
    pub registers: Window,
    pub local_base: u32,
    /// Splits in this call.
    users: u32,
}

pub struct Warp {
    /// In its block.
    pub index: u32,
    /// Lanes that have not exited.
    pub alive: u32,
    pub splits: Vec<Split>,
    pub frames: Vec<Frame>,
    /// Splits that can run, first come first.
    pub ready: VecDeque<u32>,
    /// The split that is running.
    pub current: u32,
    /// How many turns were used up before the warp had to wait or had ended.
    pub turns: u32,
    /// The turn it is in the middle of, where it runs a slice at a time.
    pub turn: Option<Turn>,
    /// It sleeps, in an order that nobody can foretell.
    pub sleep: Option<Sleep>,
    /// What it asked memory last.
    pub spin_detector: SpinDetector,
    /// Local memory, one stack a lane.
    pub local: Option<Box<[u8]>>,
    /// Copies to shared memory that are on their way.
    pub copies: Copies,
    /// What it has done about products of its warpgroup.
    pub products: Products,
    /// The split that stops once all its children have arrived, so that the gang may form again;
    /// [`NO_INDEX`] if there is none.
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
            turn: None,
            sleep: None,
            spin_detector: SpinDetector::default(),
            local: None,
            copies: Copies::new(),
            products: Products::default(),
            regrouping: NO_INDEX,
        }
    }

    /// Becomes warp `index` of a block, with `lanes`, that has not begun.
    pub fn reset(&mut self, index: u32, lanes: u32) {
        self.index = index;
        self.alive = lanes;
        if !self.started() {
            return;
        }
        self.splits.clear();
        self.frames.clear();
        self.ready.clear();
        self.current = NO_INDEX;
        self.turns = 0;
        self.turn = None;
        self.sleep = None;
        self.spin_detector = SpinDetector::default();
        self.local = None;
        self.copies.reset();
        self.products = Products::default();
        self.regrouping = NO_INDEX;
    }

    /// Where it goes on, if all its living lanes do so together.
    pub fn converged_pc(&self) -> Option<u32> {
        let split = &self.splits[*self.ready.front()? as usize];
        let mut live = self
            .splits
            .iter()
            .filter(|split| split.state != SplitState::Free);
        let whole = live.next().is_some() && live.next().is_none();
        (whole && split.mask == self.alive).then_some(split.pc)
    }

    /// The running split, in which all lanes are, is to go on at `pc` in a later turn, and to stop at
    /// `meet`, if that is a place.
    pub fn resume_at(&mut self, pc: u32, meet: u32) {
        let id = std::mem::replace(&mut self.current, NO_INDEX);
        let split = &mut self.splits[id as usize];
        if meet == NO_INDEX {
            split.pc = pc;
            split.state = SplitState::Ready;
            self.ready.push_back(id);
            return;
        }
        split.pc = meet;
        split.state = SplitState::Waiting;
        split.waiting = 1;
        let (mask, frame) = (split.mask, split.frame);
        let child = self.add(mask, pc, meet, id, frame);
        self.ready.push_back(child);
        self.regrouping = id;
    }

    /// A slice of its turn is over, after which it is that far: all its lanes wait where they stand.
    pub fn yield_turn(&mut self, turn: Turn) {
        if turn.left > 0 {
            self.turn = Some(turn);
        } else {
            self.turns += 1;
        }
    }

    /// All children of split `id` have arrived: whether it is to stop here.
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

    /// The whole warp at the kernel's first instruction.
    pub fn start(&mut self, pc: u32, registers: Window) {
        self.frames.push(Frame {
            registers,
            local_base: 0,
            users: 0,
        });
        let id = self.add(self.alive, pc, NO_INDEX, NO_INDEX, 0);
        self.ready.push_back(id);
    }

    /// Whether the kernel's first frame exists yet.
    pub fn started(&self) -> bool {
        !self.frames.is_empty()
    }

    /// A new split in `frame`; its index.
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

    /// A new call's frame; its index.
    pub fn push_frame(&mut self, registers: Window, local_base: u32) -> u32 {
        let frame = Frame {
            registers,
            local_base,
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

    /// Lets lanes go on that wait, at a meeting place, for lanes of split `id`: those may be
    /// spinning until the waiting ones do something. They part for good, up to the next place
    /// where their parent's lanes meet. Whether there were any.
    pub fn release_arrived(&mut self, id: u32) -> bool {
        let mut any = false;
        let mut parent = self.splits[id as usize].parent;
        while parent != NO_INDEX {
            let coming = self
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
            let arrived = mask & self.alive & !coming;
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

    /// Lanes have ended: splits that wait for them at a `.sync` instruction look again.
    pub fn wake_sync_waiters(&mut self) {
        for (id, split) in self.splits.iter_mut().enumerate() {
            if let SplitState::Sync(_) | SplitState::WarpBarrier(_) = split.state {
                split.state = SplitState::Ready;
                self.ready.push_back(id as u32);
            }
        }
    }

    /// Removes split `id`; the registers of its call when it was the last split in it.
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
