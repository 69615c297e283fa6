//! The entries of the instruction table, by what the instructions access or control.

use super::GuardKind::{BranchAround, Condition};
use super::{Entry, Requirements, lowered, not_simulated, ptx, registers};
use crate::exec::ops::{self, bits, carry, compare, convert, float, functions, integer};
use crate::lower::ir::{Arithmetic, ByteFlow};

/// Instructions that only read and write registers, grouped by family.
pub const REGISTERS: &[Entry] = &[
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
    registers("and", ptx(1, 0), bits::and)
        .aligned_by(Arithmetic::Mask)
        .moves(ByteFlow::Masked),
    registers("cnot", ptx(1, 0), bits::cnot),
    registers("lop3", ptx(4, 3).sm(50), bits::lop3),
    registers("not", ptx(1, 0), bits::not).moves(ByteFlow::InPlace),
    registers("or", ptx(1, 0), bits::or)
        .aligned_by(Arithmetic::Sum)
        .moves(ByteFlow::InPlace),
    registers("prmt", ptx(2, 0).sm(20), bits::prmt),
    registers("shf", ptx(3, 1).sm(32), bits::shf),
    registers("shl", ptx(1, 0), bits::shl)
        .aligned_by(Arithmetic::Shift)
        .moves(ByteFlow::ShiftedLeft),
    registers("shr", ptx(1, 0), bits::shr).moves(ByteFlow::ShiftedRight),
    registers("xor", ptx(1, 0), bits::xor)
        .aligned_by(Arithmetic::Sum)
        .moves(ByteFlow::InPlace),
    // Comparison, selection, conversion.
    registers("selp", ptx(1, 0), compare::selp)
        .aligned_by(Arithmetic::Sum)
        .moves(ByteFlow::InPlace),
    registers("set", ptx(1, 0), compare::set).two_types(),
    registers("setp", ptx(1, 0), compare::setp).lengths(&[&[1, 1, 1], &[2, 1, 1]]),
    registers("slct", ptx(1, 0), compare::slct).two_types(),
    registers("cvt", ptx(1, 0), convert::cvt)
        .two_types()
        .wider_registers()
        .aligned_by(Arithmetic::Sum)
        .moves(ByteFlow::Converted(8)),
    registers("cvt.pack", ptx(6, 5).sm(72), convert::pack).two_types(),
    registers("mov", ptx(1, 0), bits::mov)
        .lengths(&[&[1, 1], &[2, 1], &[4, 1], &[1, 2], &[1, 4]])
        .takes_addresses()
        .aligned_by(Arithmetic::Sum)
        .moves(ByteFlow::Moved),
];

/// Moves of several registers at once.
pub const VECTOR_MOVES: &[Entry] = &[
    lowered("mov.v2", ptx(1, 0), |l, i| l.move_vector(i, 2)),
    lowered("mov.v4", ptx(1, 0), |l, i| l.move_vector(i, 4)),
];

/// Memory accesses, address conversions, fences, and cache control.
pub const MEMORY: &[Entry] = &[
    lowered("ld", ptx(1, 0), |l, i| l.load(i)),
    lowered("ldu", ptx(2, 0), |l, i| l.load(i)),
    lowered("st", ptx(1, 0), |l, i| l.store(i)),
    lowered("atom", ptx(1, 1).sm(11), |l, i| l.atomic(i)).also_requires(atomic_requirements),
    lowered("red", ptx(1, 2).sm(11), |l, i| l.reduction(i)).also_requires(atomic_requirements),
    lowered("cp.async", ptx(7, 0).sm(80), |l, i| l.async_copy(i))
        .also_requires(cp_async_requirements)
        .refuses_older(),
    lowered("createpolicy", ptx(7, 4).sm(80), |l, i| l.create_policy(i)),
    lowered("cp.async.mbarrier", ptx(7, 0).sm(80), |l, i| {
        l.cp_async_mbarrier_arrive(i)
    })
    .refuses_older(),
    lowered("cp.async.bulk", ptx(8, 0).sm(90), |l, i| l.bulk_copy(i)).refuses_older(),
    lowered("cp.reduce.async.bulk", ptx(8, 0).sm(90), |l, i| {
        l.bulk_reduction(i)
    })
    .refuses_older(),
    lowered("st.async", ptx(8, 1).sm(90), |l, i| l.store_async(i)).refuses_older(),
    lowered("red.async", ptx(8, 1).sm(90), |l, i| l.reduction_async(i)).refuses_older(),
    lowered("tensormap.replace", ptx(8, 3).sm(90), |l, i| {
        l.replace_tensor_map(i)
    })
    .only_for(SM_90A_ONLY),
    lowered("tensormap.cp_fenceproxy", ptx(8, 3).sm(90), |l, i| {
        l.copy_tensor_map(i)
    })
    .refuses_older(),
    lowered("cvta", ptx(2, 0).sm(20), |l, i| l.cvta(i)),
    lowered("isspacep", ptx(2, 0).sm(20), |l, i| l.isspacep(i)),
    lowered("getctarank", ptx(7, 8).sm(90), |l, i| l.cluster_rank(i)).refuses_older(),
    lowered("mapa", ptx(7, 8).sm(90), |l, i| l.map_cluster_address(i)).refuses_older(),
    lowered("fence", ptx(6, 0).sm(70), |l, i| l.fence(i)),
    lowered("fence.proxy.async", ptx(8, 0).sm(90), |l, i| {
        l.fence_proxy(i)
    })
    .refuses_older(),
    lowered("membar", ptx(1, 4), |l, i| l.fence(i)),
    // Textures and surfaces, through a handle in a register, as compilers emit them.
    lowered("tex", ptx(3, 1).sm(20), |l, i| l.texture(i)),
    lowered("tld4", ptx(3, 1).sm(20), |l, i| l.gather(i)),
    lowered("txq", ptx(3, 1).sm(20), |l, i| l.texture_size(i)),
    lowered("suld", ptx(3, 1).sm(20), |l, i| l.surface_load(i)),
    lowered("sust", ptx(3, 1).sm(20), |l, i| l.surface_store(i)),
    lowered("sured", ptx(3, 1).sm(20), |l, i| l.surface_reduction(i)),
    lowered("suq", ptx(3, 1).sm(20), |l, i| l.surface_size(i)),
    // Cache hints, which affect neither results nor counters.
    lowered("applypriority", ptx(7, 4).sm(80), |l, _| l.nop()),
    lowered("discard", ptx(7, 4).sm(80), |l, _| l.nop()),
    lowered("prefetch", ptx(2, 0).sm(20), |l, _| l.nop()),
    lowered("prefetchu", ptx(2, 0).sm(20), |l, _| l.nop()),
];

/// Returns the requirements of an atomic, which may be one of vectors.
fn atomic_requirements(modifiers: &[&str]) -> Requirements {
    match modifiers
        .iter()
        .any(|text| ["v2", "v4", "v8"].contains(text))
    {
        true => ptx(8, 1).sm(90),
        false => ptx(1, 1),
    }
}

/// Returns the requirements of a `cp.async`, which may also prefetch into the L2 cache.
fn cp_async_requirements(modifiers: &[&str]) -> Requirements {
    match modifiers.last() {
        Some(&("L2::64B" | "L2::128B" | "L2::256B")) => ptx(7, 4),
        _ => ptx(7, 0),
    }
}

/// Branches, calls, returns, and instructions that end or delay a thread.
pub const CONTROL: &[Entry] = &[
    lowered("bra", ptx(1, 0), |l, i| l.bra(i)).guarded(Condition),
    lowered("brx", ptx(6, 0).sm(30), |l, i| l.branch_table(i))
        .guarded(BranchAround)
        .ends_block(),
    lowered("call", ptx(1, 0), |l, i| l.call(i)).guarded(BranchAround),
    lowered("ret", ptx(1, 0), |l, _| l.ret())
        .guarded(BranchAround)
        .ends_block(),
    lowered("exit", ptx(1, 0), |l, _| l.exit())
        .guarded(BranchAround)
        .ends_block(),
    lowered("trap", ptx(1, 0), |l, _| l.trap())
        .guarded(BranchAround)
        .ends_block(),
    lowered("brkpt", ptx(1, 0).sm(11), |l, _| l.breakpoint())
        .guarded(BranchAround)
        .ends_block(),
    lowered("griddepcontrol", ptx(7, 8).sm(90), |l, i| {
        l.grid_dependency(i)
    })
    .refuses_older(),
    // Performance-monitor events have no effect that a program can observe.
    lowered("nanosleep", ptx(6, 3).sm(70), |l, i| l.sleep(i)),
    lowered("pmevent", ptx(1, 4), |l, _| l.nop()),
];

/// The requirements of `wgmma`.
const HOPPER: Requirements = ptx(8, 0).sm(90);
/// The only target that has `wgmma` and `tensormap.replace`, which are specific to the architecture.
const SM_90A_ONLY: &str = "sm_90a";

/// Instructions executed by several threads together: barriers, warp-level exchange and matrix multiplication.
pub const WARPS: &[Entry] = &[
    lowered("bar", ptx(1, 0), |l, i| l.aligned_barrier(i)).guarded(BranchAround),
    lowered("barrier", ptx(6, 0).sm(30), |l, i| l.barrier(i)).guarded(BranchAround),
    lowered("barrier.cluster", ptx(7, 8).sm(90), |l, i| {
        l.cluster_barrier(i)
    })
    .guarded(BranchAround)
    .refuses_older(),
    lowered("activemask", ptx(6, 2).sm(30), |l, i| l.active_mask(i)),
    lowered("elect", ptx(8, 0).sm(90), |l, i| l.elect(i)).guarded(BranchAround),
    lowered("match", ptx(6, 0).sm(70), |l, i| l.find_match(i)).guarded(BranchAround),
    lowered("redux", ptx(7, 0).sm(80), |l, i| l.redux(i)).guarded(BranchAround),
    lowered("shfl", ptx(3, 0).sm(30), |l, i| l.shuffle(i)).guarded(BranchAround),
    lowered("vote", ptx(1, 2).sm(12), |l, i| l.vote(i)).guarded(BranchAround),
    lowered("ldmatrix", ptx(6, 5).sm(75), |l, i| l.ldmatrix(i))
        .guarded(BranchAround)
        .refuses_older(),
    lowered("stmatrix", ptx(7, 8).sm(90), |l, i| l.stmatrix(i))
        .guarded(BranchAround)
        .refuses_older(),
    lowered("mbarrier", ptx(7, 0).sm(80), |l, i| l.mbarrier(i))
        .also_requires(arrival_requirements)
        .refuses_older(),
    lowered("mbarrier.complete_tx", ptx(8, 0).sm(90), |l, i| {
        l.mbarrier(i)
    })
    .refuses_older(),
    lowered("mbarrier.expect_tx", ptx(8, 0).sm(90), |l, i| l.mbarrier(i)).refuses_older(),
    lowered("mbarrier.try_wait", ptx(7, 8).sm(90), |l, i| l.mbarrier(i)).refuses_older(),
    lowered("mma", ptx(6, 4).sm(70), |l, i| l.mma(i))
        .guarded(BranchAround)
        .also_requires(mma_requirements)
        .refuses_older(),
    lowered("wgmma.fence", HOPPER, |l, i| l.wgmma_sync(i))
        .guarded(BranchAround)
        .only_for(SM_90A_ONLY),
    lowered("wgmma.commit_group", HOPPER, |l, i| l.wgmma_sync(i))
        .guarded(BranchAround)
        .only_for(SM_90A_ONLY),
    lowered("wgmma.wait_group", HOPPER, |l, i| l.wgmma_sync(i))
        .guarded(BranchAround)
        .only_for(SM_90A_ONLY),
    lowered("wgmma.mma_async", HOPPER, |l, i| l.wgmma_mma_async(i))
        .guarded(BranchAround)
        .only_for(SM_90A_ONLY),
    not_simulated("wgmma.mma_async.sp", ptx(8, 2).sm(90)),
    not_simulated("mma.sp", ptx(7, 1).sm(80)).also_requires(mma_requirements),
    not_simulated("wmma", ptx(6, 0).sm(70)).also_requires(mma_requirements),
];

/// Returns the requirements of an arrival, which may also set a transaction count (`expect_tx`).
fn arrival_requirements(modifiers: &[&str]) -> Requirements {
    if modifiers.contains(&"expect_tx") {
        ptx(8, 0).sm(90)
    } else {
        ptx(7, 0)
    }
}

/// Returns the requirements of a matrix multiplication from its shape and element types.
fn mma_requirements(modifiers: &[&str]) -> Requirements {
    if modifiers.contains(&"f64") && !modifiers.contains(&"m8n8k4") {
        return ptx(7, 8).sm(90);
    }
    modifiers
        .iter()
        .map(|modifier| match *modifier {
            "m8n8k16" | "m16n8k8" | "s4" | "u4" | "s8" | "u8" | "b1" => ptx(6, 5).sm(75),
            "m16n8k4" | "m16n8k16" | "m16n8k32" | "m16n8k64" | "bf16" | "tf32" | "f64" => {
                ptx(7, 0).sm(80)
            }
            "e4m3" | "e5m2" => ptx(8, 4).sm(89),
            _ => ptx(6, 0),
        })
        .fold(ptx(6, 0), Requirements::and)
}

/// Instructions on parts of a register, and on two or four elements of it.
pub const VIDEO: &[Entry] = &[
    lowered("vabsdiff", ptx(2, 0).sm(20), |l, i| l.scalar_video(i)),
    lowered("vadd", ptx(2, 0).sm(20), |l, i| l.scalar_video(i)),
    lowered("vmad", ptx(2, 0).sm(20), |l, i| l.video_multiply_add(i)),
    lowered("vmax", ptx(2, 0).sm(20), |l, i| l.scalar_video(i)),
    lowered("vmin", ptx(2, 0).sm(20), |l, i| l.scalar_video(i)),
    lowered("vset", ptx(2, 0).sm(20), |l, i| l.scalar_video(i)),
    lowered("vshl", ptx(2, 0).sm(20), |l, i| l.scalar_video(i)),
    lowered("vshr", ptx(2, 0).sm(20), |l, i| l.scalar_video(i)),
    lowered("vsub", ptx(2, 0).sm(20), |l, i| l.scalar_video(i)),
    lowered("vabsdiff2", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vabsdiff4", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vadd2", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vadd4", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vavrg2", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vavrg4", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vmax2", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vmax4", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vmin2", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vmin4", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vset2", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vset4", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vsub2", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
    lowered("vsub4", ptx(3, 0).sm(30), |l, i| l.simd_video(i)),
];

/// Instructions that exist but are not simulated, so that the error can name their requirements. Unsupported
/// variants of simulated instructions are listed next to those.
pub const NOT_SIMULATED: &[Entry] = &[
    // Textures and surfaces.
    not_simulated("istypep", ptx(4, 0).sm(30)),
    // The stack.
    not_simulated("alloca", ptx(7, 3).sm(52)),
    not_simulated("stackrestore", ptx(7, 3).sm(52)),
    not_simulated("stacksave", ptx(7, 3).sm(52)),
    // Matrices.
    not_simulated("movmatrix", ptx(7, 8).sm(75)),
    not_simulated("setmaxnreg", ptx(8, 0).sm(90)),
    not_simulated("tcgen05", ptx(8, 6).sm(100)),
    // Memory.
    not_simulated("multimem", ptx(8, 1).sm(90)),
    // Clusters of blocks.
    not_simulated("clusterlaunchcontrol", ptx(8, 6).sm(100)),
];
