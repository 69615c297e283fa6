//! Counters by the names that NVIDIA's profiler, Nsight Compute, has for them.
//!
//! Source: Nsight Compute's documentation, "Kernel Profiling Guide", "Metrics Reference"; which
//! of them come out equal on an NVIDIA H200 is in `docs/results/counters-h200.md`.

use super::{AccessCounts, LaunchProfile, Tally};
use crate::isa::Memory::{Constant, Global, Local, Shared};
use crate::isa::{AccessClass, AccessSet, Direction, Memory};

/// A counter: what it is called and how to read it off.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Nsight Compute's name, as `ncu --metrics` takes it.
    pub name: &'static str,
    /// The same in plain words.
    pub plain: &'static str,
    /// And in Chinese.
    pub chinese: &'static str,
    /// Which part of the memory system it is of; tables are grouped by it.
    pub group: Group,
    /// What of a tally it is.
    pub of: Figure,
    /// How far Nsight Compute's own figure is the same.
    pub agreement: Agreement,
}

/// A figure of a tally.
#[derive(Clone, Copy)]
pub enum Figure {
    /// A count of the accesses of some classes, all together.
    Accesses(AccessSet, fn(&AccessCounts) -> u64),
    /// What is no access: instructions, branches, barriers.
    Flow(fn(&Tally) -> u64),
}

/// Parts of the memory system and of what surrounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Global,
    Caches,
    Constant,
    Shared,
    Local,
    Atomics,
    Flow,
}

/// How a counter compares to that of hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It follows from the addresses alone: the same number.
    Equal,
    /// Hardware counts some more now and then: turns that two accesses contend for, or the
    /// kernel's parameters.
    Close,
    /// Depends on a cache, which is modelled.
    Modelled,
    /// Counts PTX instructions, where hardware counts those of its own machine code.
    Ptx,
    /// Nsight Compute has no such counter; the name is ours.
    Ours,
}

/// Accesses of a memory that read it alone. The counters of loads are of them: those of matrices
/// and what asynchronous copies read are loads to the hardware.
const fn reads(memory: Memory) -> AccessSet {
    AccessSet::to(memory).and(AccessSet::that(Direction::Reads))
}

/// Stores to a memory. Asynchronous copies to shared memory have counters of their own.
const fn writes(memory: Memory) -> AccessSet {
    let writes = AccessSet::to(memory).and(AccessSet::that(Direction::Writes));
    writes.without(AccessSet::COPIES)
}

/// Atomics on a memory.
const fn updates(memory: Memory) -> AccessSet {
    AccessSet::to(memory).and(AccessSet::that(Direction::Updates))
}

/// Atomics on global memory whose old value is used, and those of which it is not.
const ATOMICS: AccessSet = AccessSet::one(AccessClass::GlobalAtomic);
const REDUCTIONS: AccessSet = AccessSet::one(AccessClass::GlobalReduction);

/// Loads of matrices, which are instructions of their own.
const MATRICES: AccessSet = AccessSet::one(AccessClass::MatrixLoad);

/// Stores to local memory. It is a thread's own, so that an atomic there is a store like others.
const LOCAL_STORES: AccessSet = writes(Local).or(updates(Local));

/// What reads through the L1 cache, and so from the L2 cache what that does not have.
const L2_READS: AccessSet = reads(Global).or(reads(Local));

/// Every counter, group by group.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        plain: "global load requests",
        chinese: "全局内存读取请求数",
        group: Group::Global,
        of: Figure::Accesses(reads(Global), |them| them.requests),
        agreement: Agreement::Equal,
    },
    // Of copies that change their place within 32 bytes as the instructions count them that ncu adds to
    // the machine code; the unit that has this name counts some fewer.
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        plain: "global load sectors",
        chinese: "全局内存读取扇区数",
        group: Group::Global,
        of: Figure::Accesses(reads(Global), |them| them.sectors),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        plain: "global store requests",
        chinese: "全局内存写入请求数",
        group: Group::Global,
        of: Figure::Accesses(writes(Global), |them| them.requests),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        plain: "global store sectors",
        chinese: "全局内存写入扇区数",
        group: Group::Global,
        of: Figure::Accesses(writes(Global), |them| them.sectors),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
        plain: "global load sectors in the L1 cache",
        chinese: "L1 缓存命中的读取扇区数",
        group: Group::Caches,
        of: Figure::Accesses(reads(Global), |them| them.hits),
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "lts__t_sectors_srcunit_tex_op_read.sum",
        plain: "sectors read from the L2 cache",
        chinese: "从 L2 缓存读取的扇区数",
        group: Group::Caches,
        of: Figure::Accesses(L2_READS, AccessCounts::misses),
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "idc__requests.sum",
        plain: "constant requests",
        chinese: "常量内存请求数",
        group: Group::Constant,
        of: Figure::Accesses(reads(Constant), |them| them.addresses),
        agreement: Agreement::Close,
    },
    Metric {
        name: "idc__requests_lookup_hit.sum",
        plain: "constant requests in the constant cache",
        chinese: "常量缓存命中的请求数",
        group: Group::Constant,
        of: Figure::Accesses(reads(Constant), |them| them.hits),
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_ld.sum",
        plain: "shared load instructions",
        chinese: "共享内存读取指令数",
        group: Group::Shared,
        of: Figure::Accesses(reads(Shared).without(MATRICES), |them| them.issued),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        plain: "shared load wavefronts",
        chinese: "共享内存读取波前数",
        group: Group::Shared,
        of: Figure::Accesses(reads(Shared), |them| them.wavefronts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        plain: "shared load bank conflicts",
        chinese: "共享内存读取的存储体冲突数",
        group: Group::Shared,
        of: Figure::Accesses(reads(Shared), |them| them.conflicts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_st.sum",
        plain: "shared store instructions",
        chinese: "共享内存写入指令数",
        group: Group::Shared,
        of: Figure::Accesses(writes(Shared), |them| them.issued),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        plain: "shared store wavefronts",
        chinese: "共享内存写入波前数",
        group: Group::Shared,
        of: Figure::Accesses(writes(Shared), |them| them.wavefronts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        plain: "shared store bank conflicts",
        chinese: "共享内存写入的存储体冲突数",
        group: Group::Shared,
        of: Figure::Accesses(writes(Shared), |them| them.conflicts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "smsp__inst_executed_op_ldsm.sum",
        plain: "matrix load requests",
        chinese: "矩阵读取请求数",
        group: Group::Shared,
        of: Figure::Accesses(MATRICES, |them| them.requests),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "smsp__inst_executed_op_ldgsts.sum",
        plain: "asynchronous copy requests",
        chinese: "异步复制请求数",
        group: Group::Shared,
        of: Figure::Accesses(AccessSet::one(AccessClass::CopyWrite), |them| them.issued),
        agreement: Agreement::Equal,
    },
    // Hardware counts HFMA2.MMA with them, by which the assembler puts constants into registers. `wgmma` counts
    // here as `mma` does, and in no counter of shared memory: that is not compared with an H200 yet.
    Metric {
        name: "smsp__inst_executed_pipe_tensor_op_hmma.sum",
        plain: "products of matrices",
        chinese: "矩阵乘法指令数",
        group: Group::Flow,
        of: Figure::Flow(|tally| tally.products),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
        plain: "local load requests",
        chinese: "局部内存读取请求数",
        group: Group::Local,
        of: Figure::Accesses(reads(Local), |them| them.requests),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        plain: "local load sectors",
        chinese: "局部内存读取扇区数",
        group: Group::Local,
        of: Figure::Accesses(reads(Local), |them| them.sectors),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
        plain: "local store requests",
        chinese: "局部内存写入请求数",
        group: Group::Local,
        of: Figure::Accesses(LOCAL_STORES, |them| them.requests),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        plain: "local store sectors",
        chinese: "局部内存写入扇区数",
        group: Group::Local,
        of: Figure::Accesses(LOCAL_STORES, |them| them.sectors),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        plain: "global atomic requests",
        chinese: "全局内存原子操作请求数",
        group: Group::Atomics,
        of: Figure::Accesses(ATOMICS, |them| them.requests),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        plain: "global atomic sectors",
        chinese: "全局内存原子操作扇区数",
        group: Group::Atomics,
        of: Figure::Accesses(ATOMICS, |them| them.sectors),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum",
        plain: "global atomic turns",
        chinese: "全局内存原子操作轮数",
        group: Group::Atomics,
        of: Figure::Accesses(ATOMICS, |them| them.turns),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        plain: "global reduction requests",
        chinese: "全局内存归约请求数",
        group: Group::Atomics,
        of: Figure::Accesses(REDUCTIONS, |them| them.requests),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
        plain: "global reduction sectors",
        chinese: "全局内存归约扇区数",
        group: Group::Atomics,
        of: Figure::Accesses(REDUCTIONS, |them| them.sectors),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum",
        plain: "global reduction turns",
        chinese: "全局内存归约轮数",
        group: Group::Atomics,
        of: Figure::Accesses(REDUCTIONS, |them| them.turns),
        agreement: Agreement::Equal,
    },
    // Loops of loads and compare-and-swaps go round more often on hardware where warps are in each
    // other's way.
    Metric {
        name: "smsp__inst_executed_op_shared_atom.sum",
        plain: "shared atomic requests",
        chinese: "共享内存原子操作请求数",
        group: Group::Atomics,
        of: Figure::Accesses(updates(Shared), |them| them.requests),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
        plain: "shared atomic wavefronts",
        chinese: "共享内存原子操作波前数",
        group: Group::Atomics,
        of: Figure::Accesses(updates(Shared), |them| them.wavefronts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
        plain: "shared atomic bank conflicts",
        chinese: "共享内存原子操作的存储体冲突数",
        group: Group::Atomics,
        of: Figure::Accesses(updates(Shared), |them| them.conflicts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "smsp__inst_executed.sum",
        plain: "warp instructions",
        chinese: "线程束指令数",
        group: Group::Flow,
        of: Figure::Flow(|tally| tally.instructions),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__thread_inst_executed.sum",
        plain: "thread instructions",
        chinese: "线程指令数",
        group: Group::Flow,
        of: Figure::Flow(|tally| tally.thread_instructions),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__inst_executed_op_branch.sum",
        plain: "branches",
        chinese: "分支数",
        group: Group::Flow,
        of: Figure::Flow(|tally| tally.branches),
        agreement: Agreement::Ptx,
    },
    // Where the assembler makes something else of a branch than the simulator expects, they differ.
    Metric {
        name: "smsp__sass_branch_targets_threads_divergent.sum",
        plain: "divergent branches",
        chinese: "发散的分支数",
        group: Group::Flow,
        of: Figure::Flow(|tally| tally.divergent_branches),
        agreement: Agreement::Close,
    },
    Metric {
        name: "warps_at_barriers",
        plain: "warps at a barrier",
        chinese: "到达同步的线程束数",
        group: Group::Flow,
        of: Figure::Flow(|tally| tally.barriers),
        agreement: Agreement::Ours,
    },
];

impl Metric {
    /// Reads it off a tally: of a launch or of a line.
    pub fn value(&self, tally: &Tally) -> u64 {
        match self.of {
            Figure::Accesses(classes, count) => count(&tally.sum(classes)),
            Figure::Flow(count) => count(tally),
        }
    }
}

impl LaunchProfile {
    /// A counter of the whole launch by its name.
    pub fn metric(&self, name: &str) -> Option<u64> {
        let metric = METRICS.iter().find(|metric| metric.name == name)?;
        Some(metric.value(&self.total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of everything.
    fn ones() -> AccessCounts {
        AccessCounts {
            requests: 1,
            issued: 1,
            threads: 1,
            bytes: 1,
            sectors: 2,
            addresses: 1,
            hits: 1,
            turns: 1,
            wavefronts: 1,
            conflicts: 1,
        }
    }

    #[test]
    fn every_class_of_accesses_is_counted() {
        for &class in AccessClass::ALL {
            let tally = Tally::of([(class, ones())]);
            let counted = METRICS.iter().any(|metric| metric.value(&tally) > 0);
            assert!(counted, "{}", class.row().name);
        }
    }

    #[test]
    fn wavefronts_of_matrix_loads_are_those_of_shared_loads() {
        let loads = AccessCounts {
            wavefronts: 12,
            ..AccessCounts::default()
        };
        let tally = Tally::of([(AccessClass::MatrixLoad, loads)]);
        let counted = METRICS.iter().filter(|metric| metric.value(&tally) == 12);
        let names: Vec<&str> = counted.map(|metric| metric.plain).collect();
        assert_eq!(names, ["shared load wavefronts"]);
    }

    #[test]
    fn every_counter_has_a_name_in_both_languages() {
        for (number, metric) in METRICS.iter().enumerate() {
            assert!(metric.plain.is_ascii() && !metric.plain.is_empty());
            assert!(!metric.chinese.is_ascii(), "{}", metric.plain);
            for other in &METRICS[..number] {
                assert_ne!(metric.name, other.name);
                assert_ne!(metric.plain, other.plain);
                assert_ne!(metric.chinese, other.chinese);
            }
        }
    }
}
