//! Who a thread is and where: the special registers. Source: PTX ISA section 10.

use super::lanes::LANES;
use super::sm::Sm;
use crate::program::code::{Inst, Next};

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

            /// As PTX writes it.
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
    TotalSmemSize "%total_smem_size", DynamicSmemSize "%dynamic_smem_size",
}

/// Reads special register `x` into the 64-bit row 0.
///
/// # Safety
/// As for [`crate::program::code::Handler`].
pub unsafe fn read_wide(sm: &mut Sm, inst: &Inst) -> Next {
    let values = values(sm, inst);
    // SAFETY: operand 0 is a 64-bit row.
    unsafe { sm.write(inst, 0, values) };
    inst.next()
}

/// Reads special register `x` into the 32-bit row 0.
///
/// # Safety
/// As for [`crate::program::code::Handler`].
pub unsafe fn read_narrow(sm: &mut Sm, inst: &Inst) -> Next {
    let values = values(sm, inst).map(|value| value as u32);
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, values) };
    inst.next()
}

fn values(sm: &Sm, inst: &Inst) -> [u64; LANES] {
    // The clock has been moved on by the whole basic block; `y` instructions are still to come.
    let clock = sm
        .clock
        .wrapping_sub(sm.began)
        .wrapping_sub(u64::from(inst.y));
    let grid = &*sm.grid;
    let block = &*sm.block;
    let warp = block.warp().index;
    let same = |value: u32| [u64::from(value); LANES];
    let each = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| u64::from(f(lane as u32)));
    let thread = |axis: usize| {
        let mut at = grid.thread(warp * LANES as u32);
        let size = grid.block;
        // Step through the warp instead of dividing for every lane.
        std::array::from_fn(|_| {
            let value = at[axis];
            at[0] += 1;
            if at[0] == size[0] {
                at[0] = 0;
                at[1] += 1;
                if at[1] == size[1] {
                    at[1] = 0;
                    at[2] += 1;
                }
            }
            u64::from(value)
        })
    };
    match Special::ALL[inst.x as usize] {
        Special::TidX => thread(0),
        Special::TidY => thread(1),
        Special::TidZ => thread(2),
        Special::NtidX => same(grid.block[0]),
        Special::NtidY => same(grid.block[1]),
        Special::NtidZ => same(grid.block[2]),
        Special::CtaidX => same(block.id[0]),
        Special::CtaidY => same(block.id[1]),
        Special::CtaidZ => same(block.id[2]),
        Special::NctaidX => same(grid.grid[0]),
        Special::NctaidY => same(grid.grid[1]),
        Special::NctaidZ => same(grid.grid[2]),
        Special::LaneId => each(&|lane| lane),
        Special::WarpId => same(warp),
        Special::NwarpId => same(64),
        // Blocks are dealt out in turn, so that the number does not depend on timing.
        Special::SmId => same((block.number % u64::from(grid.multiprocessors)) as u32),
        Special::NsmId => same(grid.multiprocessors),
        Special::GridId => [grid.id(); LANES],
        Special::LanemaskEq => each(&|lane| 1 << lane),
        Special::LanemaskLe => each(&|lane| u32::MAX >> (31 - lane)),
        Special::LanemaskLt => each(&|lane| (1 << lane) - 1),
        Special::LanemaskGe => each(&|lane| u32::MAX << lane),
        Special::LanemaskGt => each(&|lane| (u32::MAX << lane) << 1),
        // Time stands still inside an instruction and goes on by one each: it must not depend
        // on the host. The timers count the same steps, as nanoseconds.
        Special::Clock | Special::GlobalTimerLo => same(clock as u32),
        Special::ClockHi | Special::GlobalTimerHi => same((clock >> 32) as u32),
        Special::Clock64 | Special::GlobalTimer => [clock; LANES],
        Special::TotalSmemSize => same(grid.shared_bytes),
        Special::DynamicSmemSize => same(grid.dynamic_shared),
    }
}
