//! From a lane operation to the handlers that run it.

/// Makes `$name(cpu, f)`: the handlers that apply `f` to every active lane. `$run` is the body,
/// generic over the closure's type; it is inlined into one function for a warp alone, and into one
/// that goes through the warps of a gang. Both are for wide registers. x86-64 without them has one
/// more function, which takes the lanes one by one (see [`super::ScalarView`]). Whoever uses it imports the
/// names in it.
macro_rules! handlers {
    ($(#[$doc:meta])* $name:ident <$($t:ident),+> $f:path, $run:ident) => {
        $(#[$doc])*
        pub fn $name<$($t: Lane,)+ F: $f + Copy + 'static>(cpu: Cpu, _: F) -> Handlers {
            const {
                assert!(size_of::<F>() == 0, "a lane operation captures nothing");
            }
            #[cfg(target_arch = "x86_64")]
            unsafe fn plain<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: F has no fields, so any (empty) bit pattern is a value of it; the
                // operands are as the lowering checked.
                unsafe { $run::<_, $($t,)+ F>(ScalarView, sm, inst, std::mem::zeroed()) };
                inst.next()
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: as in `plain`; the handler is chosen only where the CPU has AVX2, if it
                // is for that.
                unsafe { $run::<_, $($t,)+ F>(WarpView, sm, inst, std::mem::zeroed()) };
                inst.next()
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide_gang<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                for turn in sm.gang.members_written(inst.gang_scope) {
                    let view = GangView::of(&sm.gang, turn);
                    // SAFETY: as in `wide`.
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
