//! The shapes of lane operations that read or write predicates, the carry among them.

#[cfg(target_arch = "x86_64")]
use super::ScalarView;
use super::handlers::handlers;
use super::{Lane, GangView, View, WarpView};
use crate::exec::cpu::Cpu;
use crate::exec::sm::{Handlers, Inst, Next, Sm};
use crate::lanes::{BIT, LANES, expand};

/// The mask of those of `lanes` where `f` holds.
#[inline(always)]
pub fn where_true(lanes: impl Iterator<Item = usize>, f: impl Fn(usize) -> bool) -> u32 {
    let mut mask = 0;
    for lane in lanes {
        mask |= u32::from(f(lane)) << lane;
    }
    mask
}

#[inline(always)]
unsafe fn run_test1<V: View, A: Lane, F: Fn(A) -> bool>(view: V, sm: &mut Sm, inst: &Inst, f: F) {
    // SAFETY: as in run1.
    unsafe {
        let a = view.row::<A>(sm, inst, 1);
        view.set_predicate(sm, inst, 0, where_true(view.lanes(sm), |lane| f(a[lane])));
    }
}

#[inline(always)]
unsafe fn run_test2<V: View, A: Lane, B: Lane, F: Fn(A, B) -> bool>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: as in run1.
    unsafe {
        let (a, b) = (view.row::<A>(sm, inst, 1), view.row::<B>(sm, inst, 2));
        view.set_predicate(
            sm,
            inst,
            0,
            where_true(view.lanes(sm), |lane| f(a[lane], b[lane])),
        );
    }
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
unsafe fn run_relate<V: View, A: Lane, F: Fn(A, A) -> u8>(view: V, sm: &mut Sm, inst: &Inst, f: F) {
    let how = Relate::from_code(inst.imm);
    let first = 1 + usize::from(how.pair);
    // SAFETY: as in run1; the sources follow one destination or two, the third is a predicate.
    unsafe {
        let (a, b) = (
            view.row::<A>(sm, inst, first),
            view.row::<A>(sm, inst, first + 1),
        );
        let held = where_true(view.lanes(sm), |lane| {
            f(a[lane], b[lane]) & how.relation != 0
        });
        let other = if how.combine == 0 {
            0
        } else {
            view.predicate(sm, inst, first + 2)
        };
        view.set_predicate(sm, inst, 0, how.combined(held, other));
        if how.pair {
            view.set_predicate(sm, inst, 1, how.combined(!held, other));
        }
    }
}

#[inline(always)]
unsafe fn run_set<V: View, A: Lane, F: Fn(A, A) -> u8>(view: V, sm: &mut Sm, inst: &Inst, f: F) {
    let how = Relate::from_code(inst.imm);
    // SAFETY: as in run_relate, with a 32-bit row as the one destination.
    unsafe {
        let (a, b) = (view.row::<A>(sm, inst, 1), view.row::<A>(sm, inst, 2));
        let held = where_true(view.lanes(sm), |lane| {
            f(a[lane], b[lane]) & how.relation != 0
        });
        let other = if how.combine == 0 {
            0
        } else {
            view.predicate(sm, inst, 3)
        };
        let d = expand(how.combined(held, other)).map(|lane| lane & how.truth);
        view.write(sm, inst, 0, d);
    }
}

#[inline(always)]
unsafe fn run_relate_pairs<V: View, A: Lane, F: Fn(A, A) -> [u8; 2]>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    let how = Relate::from_code(inst.imm);
    // SAFETY: as in run_relate, with two destinations.
    unsafe {
        let held = held_by_halves(view, sm, inst, [2, 3], how, f);
        let other = match how.combine {
            0 => 0,
            _ => view.predicate(sm, inst, 4),
        };
        for (n, held) in held.into_iter().enumerate() {
            view.set_predicate(sm, inst, n, how.combined(held, other));
        }
    }
}

#[inline(always)]
unsafe fn run_set_pairs<V: View, A: Lane, F: Fn(A, A) -> [u8; 2]>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    let how = Relate::from_code(inst.imm);
    // SAFETY: as in run_set.
    unsafe {
        let held = held_by_halves(view, sm, inst, [1, 2], how, f);
        let other = match how.combine {
            0 => 0,
            _ => view.predicate(sm, inst, 3),
        };
        let [low, high] = held.map(|held| expand(how.combined(held, other)));
        let mut d = [0; LANES];
        for lane in 0..LANES {
            d[lane] = (low[lane] & how.truth) | (high[lane] & how.truth) << 16;
        }
        view.write(sm, inst, 0, d);
    }
}

/// For which lanes a comparison of the lower halves holds, and one of the upper.
///
/// # Safety
/// The operands `sources` are rows of `A`'s width.
#[inline(always)]
unsafe fn held_by_halves<V: View, A: Lane, F: Fn(A, A) -> [u8; 2]>(
    view: V,
    sm: &Sm,
    inst: &Inst,
    sources: [usize; 2],
    how: Relate,
    f: F,
) -> [u32; 2] {
    // SAFETY: the caller's promise.
    let [a, b] = sources.map(|n| unsafe { view.row::<A>(sm, inst, n) });
    [0, 1].map(|half: usize| {
        where_true(view.lanes(sm), |lane| {
            f(a[lane], b[lane])[half] & how.relation != 0
        })
    })
}

#[inline(always)]
unsafe fn run_masks<V: View, T: Lane, F: Fn(u32, u32, u32) -> u32>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    let _: Option<T> = None;
    // SAFETY: all operands are predicates, as the lowering checked; unused ones point at one.
    unsafe {
        let (a, b, c) = (
            view.predicate(sm, inst, 1),
            view.predicate(sm, inst, 2),
            view.predicate(sm, inst, 3),
        );
        view.set_predicate(sm, inst, 0, f(a, b, c));
    }
}

#[inline(always)]
unsafe fn run_carry<V: View, A: Lane, D: Lane, F: Fn(A, A, A, bool) -> (D, bool)>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: as in run1; operand 1 is the carry out, operand 2 the carry in, both predicates.
    unsafe {
        let carry = view.predicate(sm, inst, 2);
        let (a, b, c) = (
            view.row::<A>(sm, inst, 3),
            view.row::<A>(sm, inst, 4),
            view.row::<A>(sm, inst, 5),
        );
        let mut d = [D::default(); LANES];
        let mut out = 0;
        for lane in view.lanes(sm) {
            let (value, carried) = f(a[lane], b[lane], c[lane], carry & BIT[lane] != 0);
            d[lane] = value;
            out |= u32::from(carried) << lane;
        }
        view.write(sm, inst, 0, d);
        view.set_predicate(sm, inst, 1, out);
    }
}

#[inline(always)]
unsafe fn run_carry2<V: View, A: Lane, D: Lane, F: Fn(A, A, bool) -> (D, bool)>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: as in run_carry.
    unsafe {
        let carry = view.predicate(sm, inst, 2);
        let (a, b) = (view.row::<A>(sm, inst, 3), view.row::<A>(sm, inst, 4));
        let mut d = [D::default(); LANES];
        let mut out = 0;
        for lane in view.lanes(sm) {
            let (value, carried) = f(a[lane], b[lane], carry & BIT[lane] != 0);
            d[lane] = value;
            out |= u32::from(carried) << lane;
        }
        view.write(sm, inst, 0, d);
        view.set_predicate(sm, inst, 1, out);
    }
}

#[inline(always)]
unsafe fn run_choose<V: View, A: Lane, D: Lane, F: Fn(A, A, bool) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: as in run1; operand 3 is a predicate.
    unsafe {
        let (a, b) = (view.row::<A>(sm, inst, 1), view.row::<A>(sm, inst, 2));
        let which = expand(view.predicate(sm, inst, 3));
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane], b[lane], which[lane] != 0);
        }
        view.write(sm, inst, 0, d);
    }
}

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
    /// `setp` of two values a register: operands p, q, a, b, maybe c; `f` answers with the orderings of
    /// the lower halves and of the upper.
    relate_pairs<A> Fn(A, A) -> [u8; 2], run_relate_pairs);
handlers!(
    /// `set` of two values a register: operands d, a, b, maybe c; otherwise as [`relate_pairs`].
    set_pairs<A> Fn(A, A) -> [u8; 2], run_set_pairs);
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
