//! Special registers, for example `%tid` and `%clock`. Source: PTX ISA section 10.

use super::cpu::Cpu;
use super::lanewise::{GangView, View as _, same};
use super::sm::{Handler, Handlers, Inst, Next, Sm};
use crate::lanes::LANES;

/// Bit of a clock's immediate: the clock is read in a delay loop.
pub const IN_DELAY_LOOP: u64 = 1 << 32;

macro_rules! specials {
    ($($variant:ident $name:literal),* $(,)?) => {
        /// A special register.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Special {
            $($variant),*
        }

        impl Special {
            pub const ALL: &[Special] = &[$(Special::$variant),*];

            /// Returns the register's name in PTX.
            pub fn name(self) -> &'static str {
                match self {
                    $(Special::$variant => $name),*
                }
            }
        }
    };
}

specials! {
    TidX "%tid.x", TidY "%tid.y", TidZ "%tid.z",
    NtidX "%ntid.x", NtidY "%ntid.y", NtidZ "%ntid.z",
    CtaidX "%ctaid.x", CtaidY "%ctaid.y", CtaidZ "%ctaid.z",
    NctaidX "%nctaid.x", NctaidY "%nctaid.y", NctaidZ "%nctaid.z",
    LaneId "%laneid", WarpId "%warpid", NwarpId "%nwarpid",
    SmId "%smid", NsmId "%nsmid", GridId "%gridid",
    LanemaskEq "%lanemask_eq", LanemaskLe "%lanemask_le", LanemaskLt "%lanemask_lt",
    LanemaskGe "%lanemask_ge", LanemaskGt "%lanemask_gt",
    Clock "%clock", ClockHi "%clock_hi", Clock64 "%clock64",
    GlobalTimer "%globaltimer", GlobalTimerLo "%globaltimer_lo", GlobalTimerHi "%globaltimer_hi",
    ClusterIdX "%clusterid.x", ClusterIdY "%clusterid.y", ClusterIdZ "%clusterid.z",
    NclusterIdX "%nclusterid.x", NclusterIdY "%nclusterid.y", NclusterIdZ "%nclusterid.z",
    ClusterCtaidX "%cluster_ctaid.x", ClusterCtaidY "%cluster_ctaid.y",
    ClusterCtaidZ "%cluster_ctaid.z",
    ClusterNctaidX "%cluster_nctaid.x", ClusterNctaidY "%cluster_nctaid.y",
    ClusterNctaidZ "%cluster_nctaid.z",
    ClusterCtarank "%cluster_ctarank", ClusterNctarank "%cluster_nctarank",
    IsExplicitCluster "%is_explicit_cluster",
    TotalSmemSize "%total_smem_size", DynamicSmemSize "%dynamic_smem_size",
    // Driver-defined: the address of the grid barrier of a cooperative launch, upper half first.
    EnvReg1 "%envreg1", EnvReg2 "%envreg2",
}

impl Special {
    /// Returns true for clocks and timers.
    pub fn is_clock(self) -> bool {
        use Special::*;
        matches!(
            self,
            Clock | ClockHi | Clock64 | GlobalTimer | GlobalTimerLo | GlobalTimerHi
        )
    }

    /// Returns the handlers that read this register into operand 0, a row of 64 bits (`wide`) or 32 bits. The
    /// immediate is the register's number, `arg0` is 1.
    pub fn reader(self, cpu: Cpu, wide: bool) -> Handlers {
        use Special::*;
        let (warp, gang): (Handler, Option<Handler>) = match (self, wide) {
            (TidX | TidY | TidZ, false) => (read_thread, Some(read_threads)),
            (TidX | TidY | TidZ, true) => (read_thread_wide, None),
            (LaneId | LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe | LanemaskGt, _)
            | (WarpId, _) => {
                if wide {
                    (read_wide, None)
                } else {
                    (read_narrow, None)
                }
            }
            (_, false) if self.is_clock() => (read_clock, None),
            (_, true) if self.is_clock() => (read_clock_wide, None),
            (_, false) => return same(cpu, |sm: &Sm, inst: &Inst, _| common(sm, inst) as u32),
            (_, true) => return same(cpu, |sm: &Sm, inst: &Inst, _| common(sm, inst)),
        };
        Handlers {
            warp,
            gang,
            preserves_uniformity: false,
        }
    }
}

/// Returns true if a handler reads a clock.
pub fn reads_clock(handler: Handler) -> bool {
    let readers: [Handler; 2] = [read_clock, read_clock_wide];
    readers
        .iter()
        .any(|&reader| std::ptr::fn_addr_eq(handler, reader))
}

/// Returns true if an instruction reads the address of the grid barrier.
pub fn reads_grid_barrier(inst: &Inst) -> bool {
    [Special::EnvReg1, Special::EnvReg2].iter().any(|&special| {
        let reads = |wide| std::ptr::fn_addr_eq(inst.run, special.reader(Cpu::detect(), wide).warp);
        inst.imm == special as u64 && (reads(false) || reads(true))
    })
}

/// Returns the running warp's row of `%tid` along the axis given by the immediate.
#[inline(always)]
fn thread(sm: &Sm, inst: &Inst) -> [u32; LANES] {
    sm.threads.rows[sm.block.running][inst.imm as usize % 3]
}

/// Reads `%tid` into the 32-bit row 0.
///
/// # Safety
/// The requirements of [`Handler`]. All handlers in this file share them.
unsafe fn read_thread(sm: &mut Sm, inst: &Inst) -> Next {
    let row = thread(sm, inst);
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, row) };
    inst.next()
}

/// Reads `%tid` into the 32-bit row 0 of each warp of a gang.
///
/// # Safety
/// The requirements of [`read_thread`].
unsafe fn read_threads(sm: &mut Sm, inst: &Inst) -> Next {
    for turn in 0..sm.gang.count {
        sm.select_warp(turn);
        let row = thread(sm, inst);
        // SAFETY: operand 0 is a 32-bit row.
        unsafe { GangView::of(&sm.gang, turn).write(sm, inst, 0, row) };
    }
    inst.next()
}

/// Reads `%tid` into the 64-bit row 0.
///
/// # Safety
/// The requirements of [`read_thread`].
unsafe fn read_thread_wide(sm: &mut Sm, inst: &Inst) -> Next {
    let row = thread(sm, inst).map(u64::from);
    // SAFETY: operand 0 is a 64-bit row.
    unsafe { sm.write(inst, 0, row) };
    inst.next()
}

/// Reads a special register of a warp or its lanes into the 32-bit row 0.
///
/// # Safety
/// The requirements of [`read_thread`].
unsafe fn read_narrow(sm: &mut Sm, inst: &Inst) -> Next {
    let row = of_warp(sm, inst);
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, row) };
    inst.next()
}

/// Reads a special register of a warp or its lanes into the 64-bit row 0.
///
/// # Safety
/// The requirements of [`read_thread`].
unsafe fn read_wide(sm: &mut Sm, inst: &Inst) -> Next {
    let row = of_warp(sm, inst).map(u64::from);
    // SAFETY: operand 0 is a 64-bit row.
    unsafe { sm.write(inst, 0, row) };
    inst.next()
}

fn of_warp(sm: &Sm, inst: &Inst) -> [u32; LANES] {
    let per_lane = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32));
    match Special::ALL[inst.imm as usize] {
        Special::WarpId => [warp_id(sm); LANES],
        Special::LanemaskEq => per_lane(&|lane| 1 << lane),
        Special::LanemaskLe => per_lane(&|lane| u32::MAX >> (31 - lane)),
        Special::LanemaskLt => per_lane(&|lane| (1 << lane) - 1),
        Special::LanemaskGe => per_lane(&|lane| u32::MAX << lane),
        Special::LanemaskGt => per_lane(&|lane| (u32::MAX << lane) << 1),
        _ => per_lane(&|lane| lane),
    }
}

/// The warps that an SM can hold.
const WARPS_PER_SM: u32 = 64;

/// Returns the running warp's place on its SM: its number in the block, or with a random schedule a higher one, because
/// other blocks may have the first places.
fn warp_id(sm: &Sm) -> u32 {
    let index = sm.block.warp().index;
    let free = WARPS_PER_SM.saturating_sub(sm.block.warps.len() as u32);
    match sm.schedule {
        Some(_) if free > 0 => index + (1 + 5 * sm.block.number as u32 % free),
        _ => index,
    }
}

/// Returns the number of the running block's SM: SMs in turn, or with a random schedule any.
fn sm_id(sm: &Sm) -> u32 {
    let number = match sm.schedule {
        Some(_) => (sm.block.number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32,
        None => sm.block.number,
    };
    (number % u64::from(sm.grid.multiprocessors)) as u32
}

/// Reads a clock into the 32-bit row 0.
///
/// # Safety
/// The requirements of [`read_thread`].
unsafe fn read_clock(sm: &mut Sm, inst: &Inst) -> Next {
    let clock = clock(sm, inst) as u32;
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, [clock; LANES]) };
    inst.next()
}

/// Reads a clock into the 64-bit row 0.
///
/// # Safety
/// The requirements of [`read_thread`].
unsafe fn read_clock_wide(sm: &mut Sm, inst: &Inst) -> Next {
    let clock = clock(sm, inst);
    // SAFETY: operand 0 is a 64-bit row.
    unsafe { sm.write(inst, 0, [clock; LANES]) };
    inst.next()
}

/// Returns a clock or a timer. Simulated time advances by one per instruction, because it must not depend on the host.
/// The timers count the same steps as nanoseconds. In a delay loop, the clock runs faster the longer the warp waits,
/// because a program may wait for billions of cycles.
fn clock(sm: &mut Sm, inst: &Inst) -> u64 {
    // `clock` advances by a whole basic block on entry; `arg1` of its instructions have not run yet.
    let ran = sm
        .clock
        .wrapping_sub(sm.block_start)
        .wrapping_sub(u64::from(inst.arg1));
    let address = sm.address_of(inst);
    let now = ran + sm.block.delays.skipped;
    let is_delay = inst.imm & IN_DELAY_LOOP != 0;
    let block = &mut *sm.block;
    let entered = &mut block.warps[block.running].delay;
    let now = match *entered {
        Some((place, since)) if is_delay && place == address => {
            block
                .delays
                .advance(block.running, block.warps.len(), since, now)
        }
        _ => {
            *entered = is_delay.then_some((address, now));
            now
        }
    };
    if is_delay {
        // The other warps wait at the same time.
        sm.yield_after_others();
    }
    match Special::ALL[inst.imm as u32 as usize] {
        Special::ClockHi => (CLOCK_START + now) >> 32,
        Special::GlobalTimerHi => (TIMER_START + now) >> 32,
        Special::GlobalTimer | Special::GlobalTimerLo => TIMER_START + now,
        _ => CLOCK_START + now,
    }
}

/// The cycles of `%clock` at the start of a block: about an hour after a GPU was turned on.
const CLOCK_START: u64 = 0x0600_4000_0000;

/// The nanoseconds of `%globaltimer` at the start of a block, which on a GPU are those since 1970: a time in 2026.
const TIMER_START: u64 = 1_790_000_000 * 1_000_000_000;

/// Returns a special register that is uniform over the block.
fn common(sm: &Sm, inst: &Inst) -> u64 {
    let grid = &*sm.grid;
    let block = &*sm.block;
    u64::from(match Special::ALL[inst.imm as usize] {
        Special::NtidX => grid.dims.block[0],
        Special::NtidY => grid.dims.block[1],
        Special::NtidZ => grid.dims.block[2],
        Special::CtaidX => block.id[0],
        Special::CtaidY => block.id[1],
        Special::CtaidZ => block.id[2],
        Special::NctaidX => grid.dims.grid[0],
        Special::NctaidY => grid.dims.grid[1],
        Special::NctaidZ => grid.dims.grid[2],
        Special::ClusterIdX => block.id[0] / grid.cluster[0],
        Special::ClusterIdY => block.id[1] / grid.cluster[1],
        Special::ClusterIdZ => block.id[2] / grid.cluster[2],
        Special::NclusterIdX => grid.clusters()[0],
        Special::NclusterIdY => grid.clusters()[1],
        Special::NclusterIdZ => grid.clusters()[2],
        Special::ClusterCtaidX => block.id[0] % grid.cluster[0],
        Special::ClusterCtaidY => block.id[1] % grid.cluster[1],
        Special::ClusterCtaidZ => block.id[2] % grid.cluster[2],
        Special::ClusterNctaidX => grid.cluster[0],
        Special::ClusterNctaidY => grid.cluster[1],
        Special::ClusterNctaidZ => grid.cluster[2],
        Special::ClusterCtarank => block.cluster_rank,
        Special::ClusterNctarank => grid.blocks_per_cluster() as u32,
        Special::IsExplicitCluster => grid.is_explicit_cluster.into(),
        Special::NwarpId => WARPS_PER_SM,
        // Blocks are assigned to SMs in turn, so that the number does not depend on timing.
        Special::SmId => sm_id(sm),
        Special::NsmId => grid.multiprocessors,
        Special::GridId => return grid.id(),
        Special::TotalSmemSize => grid.shared_bytes,
        Special::EnvReg1 => (grid.cooperative >> 32) as u32,
        Special::EnvReg2 => grid.cooperative as u32,
        _ => grid.dynamic_shared,
    })
}
