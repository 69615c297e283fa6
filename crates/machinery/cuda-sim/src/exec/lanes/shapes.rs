//! The shapes of lane operations: how many sources, of which kind, and what they answer.

use super::{BIT, LANES, Lane, expand};
use crate::exec::cpu::Cpu;
use crate::exec::sm::Sm;
use crate::program::code::{Handler, Inst, Next};

/// Makes `$name(cpu, f)`: the handler that applies `f` to every active lane. `$run` is the body,
/// generic over the closure's type; it is inlined into one function for each [`Cpu`].
macro_rules! handlers {
    ($(#[$doc:meta])* $name:ident <$($t:ident),+> $f:path, $run:ident) => {
        $(#[$doc])*
        pub fn $name<$($t: Lane,)+ F: $f + Copy + 'static>(cpu: Cpu, _: F) -> Handler {
            const {
                assert!(size_of::<F>() == 0, "a lane operation captures nothing");
            }
            unsafe fn plain<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: F has no fields, so any (empty) bit pattern is a value of it; the
                // operands are as the lowering checked.
                unsafe { $run::<$($t,)+ F>(sm, inst, std::mem::zeroed()) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: as in `plain`; the handler is chosen only where the CPU has AVX2.
                unsafe { $run::<$($t,)+ F>(sm, inst, std::mem::zeroed()) }
            }
            match cpu {
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2 => avx2::<$($t,)+ F>,
                _ => plain::<$($t,)+ F>,
            }
        }
    };
}

#[inline(always)]
unsafe fn run1<A: Lane, D: Lane, F: Fn(A) -> D>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    // SAFETY: operand types are checked when the instruction is lowered.
    unsafe {
        let a = sm.row::<A>(inst, 1);
        let mut d = [D::default(); LANES];
        for lane in 0..LANES {
            d[lane] = f(a[lane]);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run2<A: Lane, B: Lane, D: Lane, F: Fn(A, B) -> D>(
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) -> Next {
    // SAFETY: as in run1.
    unsafe {
        let (a, b) = (sm.row::<A>(inst, 1), sm.row::<B>(inst, 2));
        let mut d = [D::default(); LANES];
        for lane in 0..LANES {
            d[lane] = f(a[lane], b[lane]);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run3<A: Lane, B: Lane, C: Lane, D: Lane, F: Fn(A, B, C) -> D>(
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) -> Next {
    // SAFETY: as in run1.
    unsafe {
        let (a, b, c) = (
            sm.row::<A>(inst, 1),
            sm.row::<B>(inst, 2),
            sm.row::<C>(inst, 3),
        );
        let mut d = [D::default(); LANES];
        for lane in 0..LANES {
            d[lane] = f(a[lane], b[lane], c[lane]);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run4<A: Lane, B: Lane, C: Lane, E: Lane, D: Lane, F: Fn(A, B, C, E) -> D>(
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) -> Next {
    // SAFETY: as in run1.
    unsafe {
        let (a, b) = (sm.row::<A>(inst, 1), sm.row::<B>(inst, 2));
        let (c, e) = (sm.row::<C>(inst, 3), sm.row::<E>(inst, 4));
        let mut d = [D::default(); LANES];
        for lane in 0..LANES {
            d[lane] = f(a[lane], b[lane], c[lane], e[lane]);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_imm<A: Lane, B: Lane, C: Lane, D: Lane, F: Fn(A, B, C, u64) -> D>(
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) -> Next {
    // SAFETY: as in run1.
    unsafe {
        let (a, b, c) = (
            sm.row::<A>(inst, 1),
            sm.row::<B>(inst, 2),
            sm.row::<C>(inst, 3),
        );
        let mut d = [D::default(); LANES];
        for lane in 0..LANES {
            d[lane] = f(a[lane], b[lane], c[lane], inst.imm);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run1_imm<A: Lane, D: Lane, F: Fn(A, u64) -> D>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    // SAFETY: as in run1.
    unsafe {
        let a = sm.row::<A>(inst, 1);
        let mut d = [D::default(); LANES];
        for lane in 0..LANES {
            d[lane] = f(a[lane], inst.imm);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run2_imm<A: Lane, B: Lane, D: Lane, F: Fn(A, B, u64) -> D>(
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) -> Next {
    // SAFETY: as in run1.
    unsafe {
        let (a, b) = (sm.row::<A>(inst, 1), sm.row::<B>(inst, 2));
        let mut d = [D::default(); LANES];
        for lane in 0..LANES {
            d[lane] = f(a[lane], b[lane], inst.imm);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_split2<A: Lane, D: Lane, F: Fn(A) -> [D; 2]>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    // SAFETY: as in run1; operands 0 and 1 are destinations, 2 is the source, read before
    // either is written.
    unsafe {
        let a = sm.row::<A>(inst, 2);
        let mut d = [[D::default(); LANES]; 2];
        for lane in 0..LANES {
            [d[0][lane], d[1][lane]] = f(a[lane]);
        }
        sm.write(inst, 0, d[0]);
        sm.write(inst, 1, d[1]);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_split4<A: Lane, D: Lane, F: Fn(A) -> [D; 4]>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    // SAFETY: as in run_split2, with four destinations.
    unsafe {
        let a = sm.row::<A>(inst, 4);
        let mut d = [[D::default(); LANES]; 4];
        for lane in 0..LANES {
            [d[0][lane], d[1][lane], d[2][lane], d[3][lane]] = f(a[lane]);
        }
        for (n, row) in d.into_iter().enumerate() {
            sm.write(inst, n, row);
        }
    }
    inst.next()
}

/// The mask of the lanes where `f` holds.
#[inline(always)]
pub fn where_true(f: impl Fn(usize) -> bool) -> u32 {
    let mut mask = 0;
    for lane in 0..LANES {
        mask |= u32::from(f(lane)) << lane;
    }
    mask
}

#[inline(always)]
unsafe fn run_test1<A: Lane, F: Fn(A) -> bool>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    // SAFETY: as in run1.
    unsafe {
        let a = sm.row::<A>(inst, 1);
        sm.set_predicate(inst, 0, where_true(|lane| f(a[lane])));
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_test2<A: Lane, B: Lane, F: Fn(A, B) -> bool>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    // SAFETY: as in run1.
    unsafe {
        let (a, b) = (sm.row::<A>(inst, 1), sm.row::<B>(inst, 2));
        sm.set_predicate(inst, 0, where_true(|lane| f(a[lane], b[lane])));
    }
    inst.next()
}

/// How a comparison's immediate says what to do with its result: `setp` with a second destination
/// or a further predicate, and `set`.
#[derive(Debug, Clone, Copy)]
pub struct Relate {
    /// The orderings that count as true, as the bits the comparison answers with.
    pub relation: u8,
    /// 0: the result alone; 1, 2, 3: `.and`, `.or`, `.xor` with a third source.
    pub combine: u8,
    /// `p|q`: two destinations.
    pub pair: bool,
    /// What `set` writes for true.
    pub truth: u32,
}

impl Relate {
    pub fn code(self) -> u64 {
        u64::from(self.relation)
            | u64::from(self.combine) << 8
            | u64::from(self.pair) << 16
            | u64::from(self.truth) << 32
    }

    fn from_code(code: u64) -> Relate {
        Relate {
            relation: code as u8,
            combine: (code >> 8) as u8,
            pair: code & 1 << 16 != 0,
            truth: (code >> 32) as u32,
        }
    }

    fn combined(self, held: u32, other: u32) -> u32 {
        match self.combine {
            1 => held & other,
            2 => held | other,
            3 => held ^ other,
            _ => held,
        }
    }
}

#[inline(always)]
unsafe fn run_relate<A: Lane, F: Fn(A, A) -> u8>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    let how = Relate::from_code(inst.imm);
    let first = 1 + usize::from(how.pair);
    // SAFETY: as in run1; the sources follow one destination or two, the third is a predicate.
    unsafe {
        let (a, b) = (sm.row::<A>(inst, first), sm.row::<A>(inst, first + 1));
        let held = where_true(|lane| f(a[lane], b[lane]) & how.relation != 0);
        let other = if how.combine == 0 {
            0
        } else {
            sm.predicate(inst, first + 2)
        };
        sm.set_predicate(inst, 0, how.combined(held, other));
        if how.pair {
            sm.set_predicate(inst, 1, how.combined(!held, other));
        }
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_set<A: Lane, F: Fn(A, A) -> u8>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    let how = Relate::from_code(inst.imm);
    // SAFETY: as in run_relate, with a 32-bit row as the one destination.
    unsafe {
        let (a, b) = (sm.row::<A>(inst, 1), sm.row::<A>(inst, 2));
        let held = where_true(|lane| f(a[lane], b[lane]) & how.relation != 0);
        let other = if how.combine == 0 {
            0
        } else {
            sm.predicate(inst, 3)
        };
        let d = expand(how.combined(held, other)).map(|lane| lane & how.truth);
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_masks<T: Lane, F: Fn(u32, u32, u32) -> u32>(sm: &mut Sm, inst: &Inst, f: F) -> Next {
    let _: Option<T> = None;
    // SAFETY: all operands are predicates, as the lowering checked; unused ones point at one.
    unsafe {
        let (a, b, c) = (
            sm.predicate(inst, 1),
            sm.predicate(inst, 2),
            sm.predicate(inst, 3),
        );
        sm.set_predicate(inst, 0, f(a, b, c));
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_carry<A: Lane, D: Lane, F: Fn(A, A, A, bool) -> (D, bool)>(
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) -> Next {
    // SAFETY: as in run1; operand 1 is the carry out, operand 2 the carry in, both predicates.
    unsafe {
        let carry = sm.predicate(inst, 2);
        let (a, b, c) = (
            sm.row::<A>(inst, 3),
            sm.row::<A>(inst, 4),
            sm.row::<A>(inst, 5),
        );
        let mut d = [D::default(); LANES];
        let mut out = 0;
        for lane in 0..LANES {
            let (value, carried) = f(a[lane], b[lane], c[lane], carry & BIT[lane] != 0);
            d[lane] = value;
            out |= u32::from(carried) << lane;
        }
        sm.write(inst, 0, d);
        sm.set_predicate(inst, 1, out);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_carry2<A: Lane, D: Lane, F: Fn(A, A, bool) -> (D, bool)>(
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) -> Next {
    // SAFETY: as in run_carry.
    unsafe {
        let carry = sm.predicate(inst, 2);
        let (a, b) = (sm.row::<A>(inst, 3), sm.row::<A>(inst, 4));
        let mut d = [D::default(); LANES];
        let mut out = 0;
        for lane in 0..LANES {
            let (value, carried) = f(a[lane], b[lane], carry & BIT[lane] != 0);
            d[lane] = value;
            out |= u32::from(carried) << lane;
        }
        sm.write(inst, 0, d);
        sm.set_predicate(inst, 1, out);
    }
    inst.next()
}

#[inline(always)]
unsafe fn run_choose<A: Lane, D: Lane, F: Fn(A, A, bool) -> D>(
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) -> Next {
    // SAFETY: as in run1; operand 3 is a predicate.
    unsafe {
        let (a, b) = (sm.row::<A>(inst, 1), sm.row::<A>(inst, 2));
        let which = expand(sm.predicate(inst, 3));
        let mut d = [D::default(); LANES];
        for lane in 0..LANES {
            d[lane] = f(a[lane], b[lane], which[lane] != 0);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

handlers!(
    /// `d = f(a)`
    map1<A, D> Fn(A) -> D, run1);
handlers!(
    /// `d = f(a, b)`
    map2<A, B, D> Fn(A, B) -> D, run2);
handlers!(
    /// `d = f(a, b, c)`
    map3<A, B, C, D> Fn(A, B, C) -> D, run3);
handlers!(
    /// `d = f(a, b, c, e)`
    map4<A, B, C, E, D> Fn(A, B, C, E) -> D, run4);
handlers!(
    /// `d = f(a, b, c, imm)`, with the instruction's immediate: `lop3`.
    map3_imm<A, B, C, D> Fn(A, B, C, u64) -> D, run_imm);
handlers!(
    /// `d = f(a, imm)`: rarely used forms, whose modifiers are read from the immediate.
    map1_imm<A, D> Fn(A, u64) -> D, run1_imm);
handlers!(
    /// `d = f(a, b, imm)`
    map2_imm<A, B, D> Fn(A, B, u64) -> D, run2_imm);
handlers!(
    /// `(d0, d1) = f(a)`: a vector `mov`.
    split2<A, D> Fn(A) -> [D; 2], run_split2);
handlers!(
    /// `(d0, d1, d2, d3) = f(a)`
    split4<A, D> Fn(A) -> [D; 4], run_split4);
handlers!(
    /// predicate `p = f(a)`
    test1<A> Fn(A) -> bool, run_test1);
handlers!(
    /// predicate `p = f(a, b)`
    test2<A, B> Fn(A, B) -> bool, run_test2);
handlers!(
    /// `setp` in full: operands p, maybe q, a, b, maybe c; `f` answers with one bit, the ordering
    /// of a and b; the immediate is a [`Relate`].
    relate<A> Fn(A, A) -> u8, run_relate);
handlers!(
    /// `set`: operands d, a, b, maybe c; otherwise as [`relate`].
    set<A> Fn(A, A) -> u8, run_set);
handlers!(
    /// Predicates as masks, 32 lanes at once: `p = f(a, b, c)`. `T` is not used.
    masks<T> Fn(u32, u32, u32) -> u32, run_masks);
handlers!(
    /// `(d, carry out) = f(a, b, c, carry in)`; operands: d, carry out, carry in, a, b, c.
    carry<A, D> Fn(A, A, A, bool) -> (D, bool), run_carry);
handlers!(
    /// `(d, carry out) = f(a, b, carry in)`; operands: d, carry out, carry in, a, b.
    carry2<A, D> Fn(A, A, bool) -> (D, bool), run_carry2);
handlers!(
    /// `d = f(a, b, p)` with a predicate p: `selp`.
    choose<A, D> Fn(A, A, bool) -> D, run_choose);
