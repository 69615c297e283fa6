//! Lane operations: on values, by number of sources and destinations, and on predicates, including carries.

#[cfg(target_arch = "x86_64")]
use super::ScalarView;
use super::{GangView, Lane, View, WarpView, handlers};
use crate::exec::cpu::Cpu;
use crate::exec::sm::{Handlers, Inst, Next, Sm};
use crate::lanes::{BIT, LANES, expand};

/// Defines `$name`, which writes `f` of each lane's sources to operand 0. `$source` is the type and the variable of
/// operand `$n`. The instruction's immediate follows the sources if `imm` is given.
macro_rules! lane_map {
    ($name:ident($($source:ident $n:literal),+ $(; $imm:ident: $word:ty)?)) => {
        #[inline(always)]
        #[allow(non_snake_case)]
        unsafe fn $name<V: View, $($source: Lane,)+ D: Lane, F: Fn($($source),+ $(, $word)?) -> D>(
            view: V,
            sm: &mut Sm,
            inst: &Inst,
            f: F,
        ) {
            // SAFETY: the lowering checked the widths of the operands.
            unsafe {
                let ($($source,)+) = ($(view.row::<$source>(sm, inst, $n),)+);
                let mut d = [D::default(); LANES];
                for lane in view.lanes(sm) {
                    d[lane] = f($($source[lane]),+ $(, inst.$imm)?);
                }
                view.write(sm, inst, 0, d);
            }
        }
    };
}
lane_map!(run1(A 1));
lane_map!(run2(A 1, B 2));
lane_map!(run3(A 1, B 2, C 3));
lane_map!(run4(A 1, B 2, C 3, E 4));
lane_map!(run1_imm(A 1; imm: u64));
lane_map!(run2_imm(A 1, B 2; imm: u64));
lane_map!(run3_imm(A 1, B 2, C 3; imm: u64));

#[inline(always)]
unsafe fn run_split2<V: View, A: Lane, D: Lane, F: Fn(A) -> [D; 2]>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the widths of the operands: destinations 0 and 1, source 2. The source is
    // read before either destination is written.
    unsafe {
        let a = view.row::<A>(sm, inst, 2);
        let mut d = [[D::default(); LANES]; 2];
        for lane in view.lanes(sm) {
            [d[0][lane], d[1][lane]] = f(a[lane]);
        }
        view.write(sm, inst, 0, d[0]);
        view.write(sm, inst, 1, d[1]);
    }
}

#[inline(always)]
unsafe fn run_split4<V: View, A: Lane, D: Lane, F: Fn(A) -> [D; 4]>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the widths of the operands: destinations 0 to 3, source 4.
    unsafe {
        let a = view.row::<A>(sm, inst, 4);
        let mut d = [[D::default(); LANES]; 4];
        for lane in view.lanes(sm) {
            [d[0][lane], d[1][lane], d[2][lane], d[3][lane]] = f(a[lane]);
        }
        for (n, row) in d.into_iter().enumerate() {
            view.write(sm, inst, n, row);
        }
    }
}

#[inline(always)]
unsafe fn run_same<V: View, D: Lane, F: Fn(&Sm, &Inst, usize) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    for part in 0..inst.arg0 as usize {
        let value = f(sm, inst, part);
        // SAFETY: the lowering checked the widths of the `arg0` destinations.
        unsafe { view.write(sm, inst, part, [value; LANES]) };
    }
}

/// An operation on two or three sources and the instruction's immediate. Its code is inlined into the loop over the
/// lanes whatever its size, unlike that of a closure, and so can be vectorized.
pub trait InlinedOperation<D>: 'static {
    const SOURCES: usize;

    /// Returns one lane's result. The third source is the second one again if there are only two.
    fn apply(sources: [D; 3], imm: u64) -> D;
}

#[inline(always)]
unsafe fn run_inlined<V: View, D: Lane, F: InlinedOperation<D>>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    _: F,
) {
    // SAFETY: the lowering checked the widths of the operands: as many sources as the operation has.
    unsafe {
        let [a, b, c] = [1, 2, F::SOURCES].map(|n| view.row::<D>(sm, inst, n));
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = F::apply([a[lane], b[lane], c[lane]], inst.imm);
        }
        view.write(sm, inst, 0, d);
    }
}

handlers!(
    /// `d = F::apply([a, b, c], imm)`
    map_inlined<D> InlinedOperation<D>, run_inlined);
handlers!(
    /// Fills `arg0` rows with the values of `f`, called with each row's number, which are uniform over a block.
    same<D> Fn(&Sm, &Inst, usize) -> D, run_same);
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
    map3_imm<A, B, C, D> Fn(A, B, C, u64) -> D, run3_imm);
handlers!(
    /// `d = f(a, imm)`, for rare forms whose modifiers are in the immediate.
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

/// Returns the mask of those of `lanes` for which `f` is true.
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
    // SAFETY: the lowering checked the widths of the operands.
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
    // SAFETY: the lowering checked the widths of the operands.
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

/// The modifiers of a comparison, packed into its immediate: `setp` with a second destination or a source
/// predicate, and `set`.
#[derive(Debug, Clone, Copy)]
pub struct Relate {
    /// Bit mask of the orderings that count as true.
    pub relation: u8,
    /// Combination with a third source: 0 for none; 1, 2, 3 for `.and`, `.or`, `.xor`.
    pub combine: u8,
    /// True if there are two destinations, `p|q`.
    pub pair: bool,
    /// The value that `set` writes for true.
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

    fn combine_with(self, holds: u32, other: u32) -> u32 {
        match self.combine {
            1 => holds & other,
            2 => holds | other,
            3 => holds ^ other,
            _ => holds,
        }
    }
}

#[inline(always)]
unsafe fn run_relate<V: View, A: Lane, F: Fn(A, A) -> u8>(view: V, sm: &mut Sm, inst: &Inst, f: F) {
    let modifiers = Relate::from_code(inst.imm);
    let first = 1 + usize::from(modifiers.pair);
    // SAFETY: the lowering checked the operands: one or two predicates, two sources, and a predicate.
    unsafe {
        let (a, b) = (
            view.row::<A>(sm, inst, first),
            view.row::<A>(sm, inst, first + 1),
        );
        let holds = where_true(view.lanes(sm), |lane| {
            f(a[lane], b[lane]) & modifiers.relation != 0
        });
        let other = if modifiers.combine == 0 {
            0
        } else {
            view.predicate(sm, inst, first + 2)
        };
        view.set_predicate(sm, inst, 0, modifiers.combine_with(holds, other));
        if modifiers.pair {
            view.set_predicate(sm, inst, 1, modifiers.combine_with(!holds, other));
        }
    }
}

#[inline(always)]
unsafe fn run_set<V: View, A: Lane, F: Fn(A, A) -> u8>(view: V, sm: &mut Sm, inst: &Inst, f: F) {
    let modifiers = Relate::from_code(inst.imm);
    // SAFETY: the lowering checked the operands: a 32-bit destination, two sources, and a predicate.
    unsafe {
        let (a, b) = (view.row::<A>(sm, inst, 1), view.row::<A>(sm, inst, 2));
        let holds = where_true(view.lanes(sm), |lane| {
            f(a[lane], b[lane]) & modifiers.relation != 0
        });
        let other = if modifiers.combine == 0 {
            0
        } else {
            view.predicate(sm, inst, 3)
        };
        let d = expand(modifiers.combine_with(holds, other)).map(|lane| lane & modifiers.truth);
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
    let modifiers = Relate::from_code(inst.imm);
    // SAFETY: the lowering checked the operands: two predicates, two sources, and a predicate.
    unsafe {
        let holds = compare_halves(view, sm, inst, [2, 3], modifiers, f);
        let other = match modifiers.combine {
            0 => 0,
            _ => view.predicate(sm, inst, 4),
        };
        for (n, holds) in holds.into_iter().enumerate() {
            view.set_predicate(sm, inst, n, modifiers.combine_with(holds, other));
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
    let modifiers = Relate::from_code(inst.imm);
    // SAFETY: the lowering checked the operands: a 32-bit destination, two sources, and a predicate.
    unsafe {
        let holds = compare_halves(view, sm, inst, [1, 2], modifiers, f);
        let other = match modifiers.combine {
            0 => 0,
            _ => view.predicate(sm, inst, 3),
        };
        let [low, high] = holds.map(|holds| expand(modifiers.combine_with(holds, other)));
        let mut d = [0; LANES];
        for lane in 0..LANES {
            d[lane] = (low[lane] & modifiers.truth) | (high[lane] & modifiers.truth) << 16;
        }
        view.write(sm, inst, 0, d);
    }
}

/// Returns the masks of lanes for which a comparison of the lower halves and of the upper halves is true.
///
/// # Safety
/// The operands `sources` must be rows of `A`'s width.
#[inline(always)]
unsafe fn compare_halves<V: View, A: Lane, F: Fn(A, A) -> [u8; 2]>(
    view: V,
    sm: &Sm,
    inst: &Inst,
    sources: [usize; 2],
    modifiers: Relate,
    f: F,
) -> [u32; 2] {
    // SAFETY: the caller guarantees the width of the sources.
    let [a, b] = sources.map(|n| unsafe { view.row::<A>(sm, inst, n) });
    [0, 1].map(|half: usize| {
        where_true(view.lanes(sm), |lane| {
            f(a[lane], b[lane])[half] & modifiers.relation != 0
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
    // SAFETY: the lowering made all operands predicates, including unused ones.
    unsafe {
        let (a, b, c) = (
            view.predicate(sm, inst, 1),
            view.predicate(sm, inst, 2),
            view.predicate(sm, inst, 3),
        );
        view.set_predicate(sm, inst, 0, f(a, b, c));
    }
}

/// Defines `$name`, which computes lanes with a carry from the sources `$source` in operands `$n`.
macro_rules! carry_map {
    ($name:ident($($source:ident $n:literal),+), $operation:path) => {
        #[inline(always)]
        unsafe fn $name<V: View, A: Lane, D: Lane, F: $operation>(
            view: V,
            sm: &mut Sm,
            inst: &Inst,
            f: F,
        ) {
            // SAFETY: the lowering checked the operands: operand 1 is the carry out, operand 2 the carry in.
            unsafe {
                let carry = view.predicate(sm, inst, 2);
                let ($($source,)+) = ($(view.row::<A>(sm, inst, $n),)+);
                let mut d = [D::default(); LANES];
                let mut out = 0;
                for lane in view.lanes(sm) {
                    let (value, carried) = f($($source[lane],)+ carry & BIT[lane] != 0);
                    d[lane] = value;
                    out |= u32::from(carried) << lane;
                }
                view.write(sm, inst, 0, d);
                view.set_predicate(sm, inst, 1, out);
            }
        }
    };
}
carry_map!(run_carry(a 3, b 4, c 5), Fn(A, A, A, bool) -> (D, bool));
carry_map!(run_carry2(a 3, b 4), Fn(A, A, bool) -> (D, bool));

#[inline(always)]
unsafe fn run_choose<V: View, A: Lane, D: Lane, F: Fn(A, A, bool) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the operands: two sources and predicate 3.
    unsafe {
        let (a, b) = (view.row::<A>(sm, inst, 1), view.row::<A>(sm, inst, 2));
        let selected = expand(view.predicate(sm, inst, 3));
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane], b[lane], selected[lane] != 0);
        }
        view.write(sm, inst, 0, d);
    }
}

handlers!(
    /// Predicate `p = f(a)`.
    test1<A> Fn(A) -> bool, run_test1);
handlers!(
    /// Predicate `p = f(a, b)`.
    test2<A, B> Fn(A, B) -> bool, run_test2);
handlers!(
    /// Full `setp`. Operands: p, optionally q, a, b, optionally c. `f` returns the ordering of a and b as one
    /// bit; the immediate is a [`Relate`].
    relate<A> Fn(A, A) -> u8, run_relate);
handlers!(
    /// Full `set`. Operands: d, a, b, optionally c; otherwise as [`relate`].
    set<A> Fn(A, A) -> u8, run_set);
handlers!(
    /// `setp` on packed pairs. Operands: p, q, a, b, optionally c. `f` returns the orderings of the lower and
    /// the upper halves.
    relate_pairs<A> Fn(A, A) -> [u8; 2], run_relate_pairs);
handlers!(
    /// `set` on packed pairs. Operands: d, a, b, optionally c; otherwise as [`relate_pairs`].
    set_pairs<A> Fn(A, A) -> [u8; 2], run_set_pairs);
handlers!(
    /// Operation on predicates as masks of 32 lanes: `p = f(a, b, c)`. `T` is unused.
    masks<T> Fn(u32, u32, u32) -> u32, run_masks);
handlers!(
    /// `(d, carry out) = f(a, b, c, carry in)`; operands: d, carry out, carry in, a, b, c.
    carry<A, D> Fn(A, A, A, bool) -> (D, bool), run_carry);
handlers!(
    /// `(d, carry out) = f(a, b, carry in)`; operands: d, carry out, carry in, a, b.
    carry2<A, D> Fn(A, A, bool) -> (D, bool), run_carry2);
handlers!(
    /// `d = f(a, b, p)` with a predicate p, for `selp`.
    choose<A, D> Fn(A, A, bool) -> D, run_choose);
