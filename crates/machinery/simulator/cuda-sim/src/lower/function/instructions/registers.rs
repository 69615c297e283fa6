//! Instructions that only read and write registers, grouped by family.

use super::entry::{Entry, ptx, registers};
use crate::exec::ops::{self, bits, carry, compare, convert, float, functions, integer};
use crate::lower::ir::Arithmetic;

pub const ENTRIES: &[Entry] = &[
    // Arithmetic on integers and floating-point numbers.
    registers("abs", ptx(1, 0), ops::abs),
    registers("add", ptx(1, 0), ops::add)
        .flops(1)
        .aligned_by(Arithmetic::Sum),
    registers("div", ptx(1, 0), ops::div).flops(1),
    registers("fma", ptx(1, 4).sm(13), ops::fma).flops(2),
    registers("mad", ptx(1, 0), ops::mad)
        .flops(2)
        .aligned_by(Arithmetic::Product),
    registers("max", ptx(1, 0), ops::max)
        .lengths(&[&[1, 1, 1], &[1, 1, 1, 1]])
        .aligned_by(Arithmetic::Sum),
    registers("min", ptx(1, 0), ops::min)
        .lengths(&[&[1, 1, 1], &[1, 1, 1, 1]])
        .aligned_by(Arithmetic::Sum),
    registers("mul", ptx(1, 0), ops::mul)
        .flops(1)
        .aligned_by(Arithmetic::Product),
    registers("neg", ptx(1, 0), ops::neg).aligned_by(Arithmetic::Sum),
    registers("sub", ptx(1, 0), ops::sub)
        .flops(1)
        .aligned_by(Arithmetic::Sum),
    // Floating point only.
    registers("copysign", ptx(2, 0).sm(20), float::copysign),
    registers("rcp", ptx(1, 0), functions::rcp).flops(1),
    registers("rsqrt", ptx(1, 0), functions::rsqrt).flops(1),
    registers("sqrt", ptx(1, 0), functions::sqrt).flops(1),
    registers("testp", ptx(2, 0).sm(20), float::testp),
    registers("cos", ptx(1, 0), functions::cos),
    registers("ex2", ptx(1, 0), ops::ex2),
    registers("lg2", ptx(1, 0), functions::lg2),
    registers("sin", ptx(1, 0), functions::sin),
    registers("tanh", ptx(7, 0).sm(75), ops::tanh),
    // Integers.
    registers("dp2a", ptx(5, 0).sm(61), integer::dp2a).two_types(),
    registers("dp4a", ptx(5, 0).sm(61), integer::dp4a).two_types(),
    registers("mad24", ptx(1, 0), integer::mad24),
    registers("mul24", ptx(1, 0), integer::mul24),
    registers("rem", ptx(1, 0), integer::rem),
    registers("sad", ptx(1, 0), integer::sad),
    registers("addc", ptx(1, 2), carry::addc),
    registers("madc", ptx(3, 0).sm(20), carry::madc),
    registers("subc", ptx(1, 2), carry::subc),
    // Bits.
    registers("bfe", ptx(2, 0).sm(20), bits::bfe),
    registers("bfi", ptx(2, 0).sm(20), bits::bfi),
    registers("bfind", ptx(2, 0).sm(20), bits::bfind),
    registers("bmsk", ptx(7, 6).sm(70), bits::bmsk),
    registers("brev", ptx(2, 0).sm(20), bits::brev),
    registers("clz", ptx(2, 0).sm(20), bits::clz),
    registers("fns", ptx(6, 0).sm(30), bits::fns),
    registers("popc", ptx(2, 0).sm(20), bits::popc),
    registers("szext", ptx(7, 6).sm(70), bits::szext),
    registers("and", ptx(1, 0), bits::and).aligned_by(Arithmetic::Mask),
    registers("cnot", ptx(1, 0), bits::cnot),
    registers("lop3", ptx(4, 3).sm(50), bits::lop3),
    registers("not", ptx(1, 0), bits::not),
    registers("or", ptx(1, 0), bits::or).aligned_by(Arithmetic::Sum),
    registers("prmt", ptx(2, 0).sm(20), bits::prmt),
    registers("shf", ptx(3, 1).sm(32), bits::shf),
    registers("shl", ptx(1, 0), bits::shl).aligned_by(Arithmetic::Shift),
    registers("shr", ptx(1, 0), bits::shr),
    registers("xor", ptx(1, 0), bits::xor).aligned_by(Arithmetic::Sum),
    // Comparison, selection, conversion.
    registers("selp", ptx(1, 0), compare::selp).aligned_by(Arithmetic::Sum),
    registers("set", ptx(1, 0), compare::set).two_types(),
    registers("setp", ptx(1, 0), compare::setp).lengths(&[&[1, 1, 1], &[2, 1, 1]]),
    registers("slct", ptx(1, 0), compare::slct).two_types(),
    registers("cvt", ptx(1, 0), convert::cvt)
        .two_types()
        .wider_registers()
        .aligned_by(Arithmetic::Sum),
    registers("cvt.pack", ptx(6, 5).sm(72), convert::pack).two_types(),
    registers("mov", ptx(1, 0), bits::mov)
        .lengths(&[&[1, 1], &[2, 1], &[4, 1], &[1, 2], &[1, 4]])
        .takes_addresses()
        .aligned_by(Arithmetic::Sum),
];
