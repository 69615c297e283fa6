//! Lane operations on values, by number of sources and destinations.

#[cfg(target_arch = "x86_64")]
use super::ScalarView;
use super::handlers;
use super::{GangView, Lane, View, WarpView};
use crate::exec::cpu::Cpu;
use crate::exec::sm::{Handlers, Inst, Next, Sm};
use crate::lanes::LANES;

#[inline(always)]
unsafe fn run1<V: View, A: Lane, D: Lane, F: Fn(A) -> D>(view: V, sm: &mut Sm, inst: &Inst, f: F) {
    // SAFETY: the lowering checked the widths of the operands.
    unsafe {
        let a = view.row::<A>(sm, inst, 1);
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane]);
        }
        view.write(sm, inst, 0, d);
    }
}

#[inline(always)]
unsafe fn run2<V: View, A: Lane, B: Lane, D: Lane, F: Fn(A, B) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the widths of the operands.
    unsafe {
        let (a, b) = (view.row::<A>(sm, inst, 1), view.row::<B>(sm, inst, 2));
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane], b[lane]);
        }
        view.write(sm, inst, 0, d);
    }
}

#[inline(always)]
unsafe fn run3<V: View, A: Lane, B: Lane, C: Lane, D: Lane, F: Fn(A, B, C) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the widths of the operands.
    unsafe {
        let (a, b, c) = (
            view.row::<A>(sm, inst, 1),
            view.row::<B>(sm, inst, 2),
            view.row::<C>(sm, inst, 3),
        );
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane], b[lane], c[lane]);
        }
        view.write(sm, inst, 0, d);
    }
}

#[inline(always)]
unsafe fn run4<V: View, A: Lane, B: Lane, C: Lane, E: Lane, D: Lane, F: Fn(A, B, C, E) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the widths of the operands.
    unsafe {
        let (a, b) = (view.row::<A>(sm, inst, 1), view.row::<B>(sm, inst, 2));
        let (c, e) = (view.row::<C>(sm, inst, 3), view.row::<E>(sm, inst, 4));
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane], b[lane], c[lane], e[lane]);
        }
        view.write(sm, inst, 0, d);
    }
}

#[inline(always)]
unsafe fn run_imm<V: View, A: Lane, B: Lane, C: Lane, D: Lane, F: Fn(A, B, C, u64) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the widths of the operands.
    unsafe {
        let (a, b, c) = (
            view.row::<A>(sm, inst, 1),
            view.row::<B>(sm, inst, 2),
            view.row::<C>(sm, inst, 3),
        );
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane], b[lane], c[lane], inst.imm);
        }
        view.write(sm, inst, 0, d);
    }
}

#[inline(always)]
unsafe fn run1_imm<V: View, A: Lane, D: Lane, F: Fn(A, u64) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the widths of the operands.
    unsafe {
        let a = view.row::<A>(sm, inst, 1);
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane], inst.imm);
        }
        view.write(sm, inst, 0, d);
    }
}

#[inline(always)]
unsafe fn run2_imm<V: View, A: Lane, B: Lane, D: Lane, F: Fn(A, B, u64) -> D>(
    view: V,
    sm: &mut Sm,
    inst: &Inst,
    f: F,
) {
    // SAFETY: the lowering checked the widths of the operands.
    unsafe {
        let (a, b) = (view.row::<A>(sm, inst, 1), view.row::<B>(sm, inst, 2));
        let mut d = [D::default(); LANES];
        for lane in view.lanes(sm) {
            d[lane] = f(a[lane], b[lane], inst.imm);
        }
        view.write(sm, inst, 0, d);
    }
}

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
    map3_imm<A, B, C, D> Fn(A, B, C, u64) -> D, run_imm);
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
