//! An order of warps and blocks that nobody can foretell, for launches that ask for one.
//!
//! A program has its code once more for it, in which each access of memory that other warps see comes to
//! [`pause`] first. There a warp may have to wait: it sleeps until no other warp of its block is awake,
//! and where the access is one of device memory its block may sleep, too, until no other block is awake.
//! Then one of the sleepers is woken. So whoever has read a value, and is about to write what becomes of
//! it, often waits until all others have read and written theirs.
//!
//! A warp that was woken mostly goes on carefully: it may fall asleep again before each access, and more
//! often before one that writes. At times it runs ahead instead, past many accesses, and overtakes
//! warps that it should have waited for. Lanes of a warp stay in step.

use super::checked;
use super::sm::{Handler, Inst, Next, Program, Sm};
use super::warp::{NOWHERE, SplitState, Warp};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Where the running warp may have to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// The instruction's address; that of its guard where it has one.
    pub address: u32,
    /// It writes.
    pub writes: bool,
    /// Other blocks may see the memory, and not only this one.
    pub device: bool,
}

/// How often, of 256 times, a careful warp falls asleep before an access that writes.
const BEFORE_WRITE: u32 = 192;
/// The same before an access that only reads.
const BEFORE_READ: u32 = 64;
/// How often a warp that begins or is woken runs ahead.
const RUNS_AHEAD: u32 = 48;
/// The most accesses that a warp which runs ahead passes, as a power of two.
const AHEAD: u32 = 8;
/// How often a block sleeps at once when one of its warps does before an access of device memory.
const BLOCK_AT_ONCE: u32 = 64;
/// How often it does when all of its warps sleep, one of them before such an access.
const BLOCK_AT_LAST: u32 = 240;

/// The order of a launch, as far as it has come.
pub struct Order {
    random: Pcg32,
    /// Accesses that the running warp passes before it may fall asleep.
    ahead: u32,
    /// The running block is to sleep.
    block_sleeps: bool,
}

impl Order {
    /// The order that a seed gives, at its beginning.
    pub fn new(seed: u64) -> Order {
        Order {
            random: Pcg32::seed_from_u64(seed),
            ahead: 0,
            block_sleeps: false,
        }
    }

    /// True so often of 256 times.
    fn happens(&mut self, often: u32) -> bool {
        self.random.next_u32() >> 24 < often
    }

    /// A number below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        (u64::from(self.random.next_u32()) * count as u64 >> 32) as usize
    }

    /// A warp goes on, which slept before an access or did not.
    fn go_on(&mut self, slept: bool) {
        self.ahead = match self.happens(RUNS_AHEAD) {
            true => 1 << self.below(AHEAD as usize + 1),
            false => u32::from(slept),
        };
    }

    /// Whether the running warp falls asleep before an access.
    fn falls_asleep(&mut self, writes: bool) -> bool {
        if self.ahead > 0 {
            self.ahead -= 1;
            return false;
        }
        self.happens(if writes { BEFORE_WRITE } else { BEFORE_READ })
    }
}

/// The program's code in which warps may have to wait; `checked`: the copy that is checked as well. It is
/// made when a launch first asks for it.
pub fn code(program: &Program, checked: bool) -> &[Inst] {
    let code = &program.code;
    let (copy, under) = match checked {
        false => (&code.pausing, code.plain.as_slice()),
        true => (&code.checked_pausing, checked::code(program, false)),
    };
    copy.get_or_init(|| {
        let mut pausing = under.to_vec();
        for pause in &code.pauses {
            pausing[pause.address as usize].run = handler(pause);
        }
        pausing
    })
}

fn handler(of: &Pause) -> Handler {
    match (of.writes, of.device) {
        (false, false) => pause::<false, false>,
        (false, true) => pause::<false, true>,
        (true, false) => pause::<true, false>,
        (true, true) => pause::<true, true>,
    }
}

/// The running warp may fall asleep before an instruction, to go on there when it is woken; else the
/// instruction is run.
///
/// # Safety
/// As for [`Handler`], in the code that [`code`] answers with.
unsafe fn pause<const WRITES: bool, const DEVICE: bool>(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    // Where its turn is over it gives way at the next basic block, as ever.
    if sm.clock < sm.deadline
        && let Some(order) = &mut sm.order
        && order.falls_asleep(WRITES)
    {
        order.block_sleeps |= DEVICE && order.happens(BLOCK_AT_ONCE);
        let first = order.happens(128);
        sm.suspend(here, SplitState::Ready);
        let turn = sm.turn_so_far();
        let warp = sm.block.warp_mut();
        warp.turn = Some(turn);
        warp.sleep = Some(Sleep { device: DEVICE });
        let id = std::mem::replace(&mut warp.current, NOWHERE);
        // Lanes that went another way in this warp may come first.
        match first {
            true => warp.ready.push_front(id),
            false => warp.ready.push_back(id),
        }
        return std::ptr::null();
    }
    // SAFETY: the code underneath is this one's, instruction for instruction.
    unsafe {
        let under = sm.unpausing.add(here as usize);
        ((*under).run)(sm, inst)
    }
}

/// Before what a warp sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sleep {
    /// An access of device memory.
    device: bool,
}

/// Whether a warp has anything to run.
fn runs(warp: &Warp) -> bool {
    warp.alive != 0 && (!warp.started() || !warp.ready.is_empty())
}

/// Whether a warp has anything to run and does not sleep.
fn awake(warp: &Warp) -> bool {
    runs(warp) && warp.sleep.is_none()
}

impl Sm {
    /// Runs any warp of the block that is awake, or, where none is, any that sleeps. Answers whether one
    /// could run.
    pub(super) fn run_any_warp(&mut self) -> bool {
        let Some(order) = &mut self.order else {
            return false;
        };
        let warps = &mut self.block.warps;
        let chosen = [awake, runs].into_iter().find_map(|may_run| {
            let found = || (0..warps.len()).filter(|&index| may_run(&warps[index]));
            let count = found().count();
            found().nth(order.below(count.max(1)))
        });
        let Some(index) = chosen else {
            return false;
        };
        order.go_on(warps[index].sleep.take().is_some());
        self.run_warp(index)
    }

    /// Whether the block is to sleep now, so that another goes on.
    pub(super) fn block_sleeps(&mut self) -> bool {
        let Some(order) = &mut self.order else {
            return false;
        };
        let warps = &self.block.warps;
        let asleep = |warp: &Warp| warp.sleep.is_some_and(|sleep| sleep.device);
        std::mem::take(&mut order.block_sleeps)
            || !warps.iter().any(awake) && warps.iter().any(asleep) && order.happens(BLOCK_AT_LAST)
    }
}
