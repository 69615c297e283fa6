//! The handlers of loads and stores: one for each state space, element type and number of elements.

use super::element::Element;
use super::gang::{run_gang_load, run_gang_store};
use super::load::{load_operands, run_load, run_load_scalar};
use super::store::{StoreOperands, run_store, run_store_scalar, store_operands};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::WarpView;
use crate::exec::memory::state_space::SpaceAccess;
use crate::exec::sm::{Handler, Handlers, Inst, Next, Sm};
use crate::lanes::LANES;

/// Defines `$name(cpu)`, which returns the handlers of an access. `$run` executes one warp on a CPU with wide
/// registers; it is compiled once per type, for single warps and for gangs that go warp by warp. `$plainly` is
/// for other CPUs and for memory in which an address means something else in each thread; such memory has no
/// gang handler.
macro_rules! access_handlers {
    ($(#[$doc:meta])* $name:ident, $operands:ident -> $read:ty, $run:ident, $plainly:ident, $gang:ident) => {
        $(#[$doc])*
        pub fn $name<S: SpaceAccess + 'static, M: Element, const N: usize>(cpu: Cpu) -> Handlers {
            unsafe fn plain<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: the lowering gave the operands the types that the handler reads.
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
                // SAFETY: the operands have the lowered types; this version is chosen only on CPUs with AVX2.
                unsafe { $run::<S, M, N>(sm, inst, operands) }
            }
            unsafe fn wide<S: SpaceAccess, M: Element, const N: usize>(
                sm: &mut Sm,
                inst: &Inst,
            ) -> Next {
                // SAFETY: `wide` is chosen only where `one_warp` can run, and the operands have the lowered
                // types.
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
                // SAFETY: the operands have the lowered types. All live lanes of a gang's warp are active, so
                // its registers can be written as those of a single warp.
                unsafe {
                    $gang::<S, M, N>(sm, inst, |sm, operands| {
                        one_warp::<S, M, N>(sm, inst, operands)
                    })
                }
            }
            let (warp, gang): (Handler, Option<Handler>) = if !S::UNIFORM_ADDRESSES {
                (plain::<S, M, N>, None)
            } else if cpu.is_wide() {
                (wide::<S, M, N>, Some(wide_gang::<S, M, N>))
            } else {
                (plain::<S, M, N>, None)
            };
            Handlers {
                warp,
                gang,
                preserves_uniformity: S::UNIFORM_ADDRESSES,
            }
        }
    };
}

/// Returns the next instruction, or null if the access faulted.
#[inline(always)]
fn next_or_null(inst: &Inst, done: bool) -> Next {
    match done {
        true => inst.next(),
        false => std::ptr::null(),
    }
}

access_handlers!(
    /// Returns the handlers of a load of `N` elements of type `M` from space `S`.
    load, load_operands -> &[u64; LANES], run_load, run_load_scalar, run_gang_load);
access_handlers!(
    /// Returns the handlers of a store of `N` elements of type `M` to space `S`.
    store, store_operands -> StoreOperands<M::Row, N>, run_store, run_store_scalar, run_gang_store);
