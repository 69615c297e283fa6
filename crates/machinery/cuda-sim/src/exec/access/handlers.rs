//! The handlers of loads and stores, one for each space, element and number of elements.

use super::element::Element;
use super::gang::{run_load_together, run_store_together};
use super::load::{load_operands, run_load, run_load_plainly};
use super::store::{Stored, run_store, run_store_plainly, store_operands};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::Alone;
use crate::exec::sm::{Handler, Handlers, Inst, Next, Sm};
use crate::exec::state_space::SpaceAccess;
use crate::lanes::LANES;

/// Makes `$name(cpu)`: the handlers of an access. `$run` is what a warp does on a CPU with wide
/// registers, compiled once for each type: a warp alone calls it, and a gang where it goes warp by
/// warp. `$plainly` is for other CPUs, and for memory where an address means something else in each
/// thread, for which there is no form for gangs.
macro_rules! access_handlers {
    ($(#[$doc:meta])* $name:ident, $operands:ident -> $read:ty, $run:ident, $plainly:ident, $together:ident) => {
        $(#[$doc])*
        pub fn $name<S: SpaceAccess + 'static, M: Element, const N: usize>(cpu: Cpu) -> Handlers {
            unsafe fn plain<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: the lowering gave the operands the types the body asks for.
                unsafe {
                    let operands = $operands::<M, N>(Alone, sm, inst);
                    go_on(inst, $plainly::<S, M, N>(sm, inst, operands))
                }
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            #[inline(never)]
            unsafe fn one_warp<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
                operands: $read,
            ) -> bool {
                // SAFETY: as in `plain`; chosen only where the CPU has AVX2, if it is for that.
                unsafe { $run::<S, M, N>(sm, inst, operands) }
            }
            unsafe fn wide<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: as in `one_warp`.
                unsafe {
                    let operands = $operands::<M, N>(Alone, sm, inst);
                    go_on(inst, one_warp::<S, M, N>(sm, inst, operands))
                }
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide_together<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: as in `one_warp`. A gang's warp has all its living lanes running, so that
                // its registers are written as those of a warp alone.
                unsafe {
                    $together::<S, M, N>(sm, inst, |sm, operands| {
                        one_warp::<S, M, N>(sm, inst, operands)
                    })
                }
            }
            let (alone, together): (Handler, Option<Handler>) = if !S::COMMON {
                (plain::<S, M, N>, None)
            } else if cpu.is_wide() {
                (wide::<S, M, N>, Some(wide_together::<S, M, N>))
            } else {
                (plain::<S, M, N>, None)
            };
            Handlers {
                alone,
                together,
                repeats: S::COMMON,
            }
        }
    };
}

/// The next instruction, or nowhere if the access could not be done.
#[inline(always)]
fn go_on(inst: &Inst, done: bool) -> Next {
    match done {
        true => inst.next(),
        false => std::ptr::null(),
    }
}

access_handlers!(
    /// A load from `S` of `N` elements `M`.
    load, load_operands -> &[u64; LANES], run_load, run_load_plainly, run_load_together);
access_handlers!(
    /// A store to `S` of `N` elements `M`.
    store, store_operands -> Stored<M::Row, N>, run_store, run_store_plainly, run_store_together);
