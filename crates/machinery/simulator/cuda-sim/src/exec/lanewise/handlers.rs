//! The macro that turns a lane operation into handlers.

/// Defines `$name(cpu, f)`, which returns the handlers that apply `f` to every active lane. `$run` is the
/// body, generic over the closure's type. It is inlined into one function for a single warp and one that
/// loops over the warps of a gang, both for wide registers. On x86-64 a third function handles CPUs without
/// them and processes lanes one by one (see [`super::ScalarView`]). Users of the macro import the names in
/// it.
macro_rules! handlers {
    ($(#[$doc:meta])* $name:ident <$($t:ident),+> $f:path, $run:ident) => {
        $(#[$doc])*
        pub fn $name<$($t: Lane,)+ F: $f + Copy + 'static>(cpu: Cpu, _: F) -> Handlers {
            const {
                assert!(size_of::<F>() == 0, "a lane operation captures nothing");
            }
            #[cfg(target_arch = "x86_64")]
            unsafe fn plain<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: F has no fields, so any (empty) bit pattern is a value of it; the lowering checked
                // the widths of the operands.
                unsafe { $run::<_, $($t,)+ F>(ScalarView, sm, inst, std::mem::zeroed()) };
                inst.next()
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: F has no fields, and the lowering checked the operands; on x86-64 the handler is
                // chosen only if the CPU has AVX2.
                unsafe { $run::<_, $($t,)+ F>(WarpView, sm, inst, std::mem::zeroed()) };
                inst.next()
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide_gang<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                for member in sm.gang.members_written(inst.gang_scope) {
                    let view = GangView::of(&sm.gang, member);
                    // SAFETY: F has no fields, and the lowering checked the operands; chosen only with AVX2.
                    unsafe { $run::<_, $($t,)+ F>(view, sm, inst, std::mem::zeroed()) };
                }
                inst.next()
            }
            #[cfg(target_arch = "x86_64")]
            if !cpu.is_wide() {
                return Handlers {
                    warp: plain::<$($t,)+ F>,
                    gang: None,
                    preserves_uniformity: true,
                };
            }
            let _ = cpu;
            Handlers {
                warp: wide::<$($t,)+ F>,
                gang: Some(wide_gang::<$($t,)+ F>),
                preserves_uniformity: true,
            }
        }
    };
}
pub(super) use handlers;
