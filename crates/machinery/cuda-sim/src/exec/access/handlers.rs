//! The handlers of loads and stores, one for each space, element and number of elements.

use super::element::Element;
use super::gang::{run_gang_load, run_gang_store};
use super::load::{load_operands, run_load, run_load_scalar};
use super::store::{StoreOperands, run_store, run_store_scalar, store_operands};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::WarpView;
use crate::exec::sm::{Handler, Handlers, Inst, Next, Sm};
use crate::exec::state_space::SpaceAccess;
use crate::lanes::LANES;

/// Makes `$name(cpu)`: the handlers of an access. `$run` is what a warp does on a CPU with wide
/// registers, compiled once for each type: a warp alone calls it, and a gang where it goes warp by
/// warp. `$plainly` is for other CPUs, and for memory where an address means something else in each
/// thread, for which there is no form for gangs.
macro_rules! access_handlers {
    ($(#[$doc:meta])* $name:ident, $operands:ident -> $read:ty, $run:ident, $plainly:ident, $gang:ident) => {
        $(#[$doc])*
        pub fn $name<S: SpaceAccess + 'static, M: Element, const N: usize>(cpu: Cpu) -> Handlers {
            unsafe fn plain<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: the lowering gave the operands the types the body asks for.
                unsafe {
                    let operands = $operands::<M, N>(WarpView, sm, inst);
                    next_or_null(inst, $plainly::<S, M, N>(sm, inst, operands))
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
                    let operands = $operands::<M, N>(WarpView, sm, inst);
                    next_or_null(inst, one_warp::<S, M, N>(sm, inst, operands))
                }
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide_gang<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: as in `one_warp`. A gang's warp has all its living lanes running, so that
                // its registers are written as those of a warp alone.
                unsafe {
                    $gang::<S, M, N>(sm, inst, |sm, operands| {
                        one_warp::<S, M, N>(sm, inst, operands)
                    })
                }
            }
            let (warp, gang): (Handler, Option<Handler>) = if !S::COMMON {
                (plain::<S, M, N>, None)
            } else if cpu.is_wide() {
                (wide::<S, M, N>, Some(wide_gang::<S, M, N>))
            } else {
                (plain::<S, M, N>, None)
            };
            Handlers {
                warp,
                gang,
                preserves_uniformity: S::COMMON,
            }
        }
    };
}

/// The next instruction, or nowhere if the access could not be done.
#[inline(always)]
fn next_or_null(inst: &Inst, done: bool) -> Next {
    match done {
        true => inst.next(),
        false => std::ptr::null(),
    }
}

access_handlers!(
    /// A load from `S` of `N` elements `M`.
    load, load_operands -> &[u64; LANES], run_load, run_load_scalar, run_gang_load);
access_handlers!(
    /// A store to `S` of `N` elements `M`.
    store, store_operands -> StoreOperands<M::Row, N>, run_store, run_store_scalar, run_gang_store);
