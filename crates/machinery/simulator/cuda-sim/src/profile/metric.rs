//! The counters under the names that NVIDIA's profiler, Nsight Compute, gives them.
//!
//! Source: Nsight Compute documentation, "Kernel Profiling Guide", "Metrics Reference".
//! `docs/results/counters-h200.md` compares them with an NVIDIA H200.

use super::{AccessCounts, LaunchProfile, Tally};
use crate::isa::Memory::{Constant, Global, Local, Shared};
use crate::isa::{AccessClass, AccessSet, Direction, Memory};

/// A counter: its names, and how to compute it.
#[derive(Clone, Copy)]
pub struct Metric {
    /// The name in Nsight Compute, as `ncu --metrics` takes it.
    pub name: &'static str,
    /// The English label.
    pub en: &'static str,
    /// The Chinese label.
    pub zh: &'static str,
    /// The part of the memory system that it belongs to. Tables are grouped by it.
    pub group: Group,
    /// The counts that it is computed from.
    pub source: MetricSource,
    /// The expected agreement with Nsight Compute.
    pub agreement: Agreement,
}

/// The counts of a tally that a metric is computed from.
#[derive(Clone, Copy)]
pub enum MetricSource {
    /// A count of the accesses of some classes, summed.
    Accesses(AccessSet, fn(&AccessCounts) -> u64),
    /// A count that is not of accesses: instructions, branches, barriers.
    Flow(fn(&Tally) -> u64),
}

/// A group of counters: a part of the memory system, or control flow.
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

/// The agreement of a counter with hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Equal: the counter depends on the addresses only.
    Equal,
    /// Hardware sometimes counts slightly more, because of contention between accesses or loads of kernel
    /// parameters.
    Close,
    /// The counter depends on a cache, which is modelled.
    Modelled,
    /// The simulator counts PTX instructions where hardware counts machine instructions.
    Ptx,
    /// Nsight Compute has no such counter; the name is the simulator's.
    Custom,
}

/// Returns the reads of a memory, without atomics. Load counters include matrix loads and the reads of
/// asynchronous copies, as hardware does.
const fn reads(memory: Memory) -> AccessSet {
    AccessSet::in_memory(memory).intersection(AccessSet::with_direction(Direction::Reads))
}

/// Returns the stores to a memory, without asynchronous copies to shared memory, which have their own counters.
const fn writes(memory: Memory) -> AccessSet {
    let writes =
        AccessSet::in_memory(memory).intersection(AccessSet::with_direction(Direction::Writes));
    writes.difference(AccessSet::ASYNC_COPIES)
}

/// Returns the atomics on a memory.
const fn updates(memory: Memory) -> AccessSet {
    AccessSet::in_memory(memory).intersection(AccessSet::with_direction(Direction::Updates))
}

/// Atomics on global memory whose old value is used, and those whose old value is unused.
const ATOMICS: AccessSet = AccessSet::of(AccessClass::GlobalAtomic);
const REDUCTIONS: AccessSet = AccessSet::of(AccessClass::GlobalReduction);

/// Matrix loads (`ldmatrix`), which have their own instruction counter.
const MATRICES: AccessSet = AccessSet::of(AccessClass::MatrixLoad);

/// Stores to local memory. Local memory is private to a thread, so an atomic there is an ordinary store.
const LOCAL_STORES: AccessSet = writes(Local).union(updates(Local));

/// The reads that go through the L1 cache, and on a miss to the L2 cache.
const L2_READS: AccessSet = reads(Global).union(reads(Local));

/// All counters, by group.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        en: "global load requests",
        zh: "全局内存读取请求数",
        group: Group::Global,
        source: MetricSource::Accesses(reads(Global), |counts| counts.requests),
        agreement: Agreement::Equal,
    },
    // For copies whose position within 32 bytes changes, this matches the instruction-level counters that ncu
    // adds to the machine code. The hardware unit of this name counts slightly fewer.
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        en: "global load sectors",
        zh: "全局内存读取扇区数",
        group: Group::Global,
        source: MetricSource::Accesses(reads(Global), |counts| counts.sectors),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        en: "global store requests",
        zh: "全局内存写入请求数",
        group: Group::Global,
        source: MetricSource::Accesses(writes(Global), |counts| counts.requests),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        en: "global store sectors",
        zh: "全局内存写入扇区数",
        group: Group::Global,
        source: MetricSource::Accesses(writes(Global), |counts| counts.sectors),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
        en: "global load sectors, L1 hits",
        zh: "L1 缓存命中的读取扇区数",
        group: Group::Caches,
        source: MetricSource::Accesses(reads(Global), |counts| counts.hits),
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "lts__t_sectors_srcunit_tex_op_read.sum",
        en: "sectors read from the L2 cache",
        zh: "从 L2 缓存读取的扇区数",
        group: Group::Caches,
        source: MetricSource::Accesses(L2_READS, AccessCounts::misses),
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "idc__requests.sum",
        en: "constant requests",
        zh: "常量内存请求数",
        group: Group::Constant,
        source: MetricSource::Accesses(reads(Constant), |counts| counts.addresses),
        agreement: Agreement::Close,
    },
    Metric {
        name: "idc__requests_lookup_hit.sum",
        en: "constant requests, cache hits",
        zh: "常量缓存命中的请求数",
        group: Group::Constant,
        source: MetricSource::Accesses(reads(Constant), |counts| counts.hits),
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_ld.sum",
        en: "shared load instructions",
        zh: "共享内存读取指令数",
        group: Group::Shared,
        source: MetricSource::Accesses(reads(Shared).difference(MATRICES), |counts| counts.issued),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        en: "shared load wavefronts",
        zh: "共享内存读取波前数",
        group: Group::Shared,
        source: MetricSource::Accesses(reads(Shared), |counts| counts.wavefronts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        en: "shared load bank conflicts",
        zh: "共享内存读取的存储体冲突数",
        group: Group::Shared,
        source: MetricSource::Accesses(reads(Shared), |counts| counts.conflicts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_st.sum",
        en: "shared store instructions",
        zh: "共享内存写入指令数",
        group: Group::Shared,
        source: MetricSource::Accesses(writes(Shared), |counts| counts.issued),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        en: "shared store wavefronts",
        zh: "共享内存写入波前数",
        group: Group::Shared,
        source: MetricSource::Accesses(writes(Shared), |counts| counts.wavefronts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        en: "shared store bank conflicts",
        zh: "共享内存写入的存储体冲突数",
        group: Group::Shared,
        source: MetricSource::Accesses(writes(Shared), |counts| counts.conflicts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "smsp__inst_executed_op_ldsm.sum",
        en: "matrix load requests",
        zh: "矩阵读取请求数",
        group: Group::Shared,
        source: MetricSource::Accesses(MATRICES, |counts| counts.requests),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "smsp__inst_executed_op_ldgsts.sum",
        en: "asynchronous copy requests",
        zh: "异步复制请求数",
        group: Group::Shared,
        source: MetricSource::Accesses(AccessSet::of(AccessClass::CopyWrite), |counts| {
            counts.issued
        }),
        agreement: Agreement::Equal,
    },
    // Hardware includes HFMA2.MMA, with which the assembler loads constants into registers. `wgmma` counts
    // here like `mma`, and in no counter of shared memory; that has not been compared with an H200 yet.
    Metric {
        name: "smsp__inst_executed_pipe_tensor_op_hmma.sum",
        en: "tensor core instructions",
        zh: "矩阵乘法指令数",
        group: Group::Flow,
        source: MetricSource::Flow(|tally| tally.tensor_instructions),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
        en: "local load requests",
        zh: "局部内存读取请求数",
        group: Group::Local,
        source: MetricSource::Accesses(reads(Local), |counts| counts.requests),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        en: "local load sectors",
        zh: "局部内存读取扇区数",
        group: Group::Local,
        source: MetricSource::Accesses(reads(Local), |counts| counts.sectors),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
        en: "local store requests",
        zh: "局部内存写入请求数",
        group: Group::Local,
        source: MetricSource::Accesses(LOCAL_STORES, |counts| counts.requests),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        en: "local store sectors",
        zh: "局部内存写入扇区数",
        group: Group::Local,
        source: MetricSource::Accesses(LOCAL_STORES, |counts| counts.sectors),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        en: "global atomic requests",
        zh: "全局内存原子操作请求数",
        group: Group::Atomics,
        source: MetricSource::Accesses(ATOMICS, |counts| counts.requests),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        en: "global atomic sectors",
        zh: "全局内存原子操作扇区数",
        group: Group::Atomics,
        source: MetricSource::Accesses(ATOMICS, |counts| counts.sectors),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum",
        en: "global atomic output wavefronts",
        zh: "全局内存原子操作输出波前数",
        group: Group::Atomics,
        source: MetricSource::Accesses(ATOMICS, |counts| counts.output_wavefronts),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        en: "global reduction requests",
        zh: "全局内存归约请求数",
        group: Group::Atomics,
        source: MetricSource::Accesses(REDUCTIONS, |counts| counts.requests),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
        en: "global reduction sectors",
        zh: "全局内存归约扇区数",
        group: Group::Atomics,
        source: MetricSource::Accesses(REDUCTIONS, |counts| counts.sectors),
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum",
        en: "global reduction output wavefronts",
        zh: "全局内存归约输出波前数",
        group: Group::Atomics,
        source: MetricSource::Accesses(REDUCTIONS, |counts| counts.output_wavefronts),
        agreement: Agreement::Equal,
    },
    // On hardware, loops of loads and compare-and-swaps iterate more often if warps interfere.
    Metric {
        name: "smsp__inst_executed_op_shared_atom.sum",
        en: "shared atomic requests",
        zh: "共享内存原子操作请求数",
        group: Group::Atomics,
        source: MetricSource::Accesses(updates(Shared), |counts| counts.requests),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
        en: "shared atomic wavefronts",
        zh: "共享内存原子操作波前数",
        group: Group::Atomics,
        source: MetricSource::Accesses(updates(Shared), |counts| counts.wavefronts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
        en: "shared atomic bank conflicts",
        zh: "共享内存原子操作的存储体冲突数",
        group: Group::Atomics,
        source: MetricSource::Accesses(updates(Shared), |counts| counts.conflicts),
        agreement: Agreement::Close,
    },
    Metric {
        name: "smsp__inst_executed.sum",
        en: "warp instructions",
        zh: "线程束指令数",
        group: Group::Flow,
        source: MetricSource::Flow(|tally| tally.instructions),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__thread_inst_executed.sum",
        en: "thread instructions",
        zh: "线程指令数",
        group: Group::Flow,
        source: MetricSource::Flow(|tally| tally.thread_instructions),
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__inst_executed_op_branch.sum",
        en: "branches",
        zh: "分支数",
        group: Group::Flow,
        source: MetricSource::Flow(|tally| tally.branches),
        agreement: Agreement::Ptx,
    },
    // The counters differ if the assembler does not compile a branch as the simulator expects.
    Metric {
        name: "smsp__sass_branch_targets_threads_divergent.sum",
        en: "divergent branches",
        zh: "发散的分支数",
        group: Group::Flow,
        source: MetricSource::Flow(|tally| tally.divergent_branches),
        agreement: Agreement::Close,
    },
    Metric {
        name: "warps_at_barriers",
        en: "warps arriving at barriers",
        zh: "到达屏障的线程束数",
        group: Group::Flow,
        source: MetricSource::Flow(|tally| tally.barriers),
        agreement: Agreement::Custom,
    },
];

impl Metric {
    /// Returns the metric's value for a launch's or a line's tally.
    pub fn value(&self, tally: &Tally) -> u64 {
        match self.source {
            MetricSource::Accesses(classes, count) => count(&tally.sum(classes)),
            MetricSource::Flow(count) => count(tally),
        }
    }
}

impl LaunchProfile {
    /// Returns a metric of the whole launch by its Nsight Compute name; `None` if there is no such metric.
    pub fn metric(&self, name: &str) -> Option<u64> {
        let metric = METRICS.iter().find(|metric| metric.name == name)?;
        Some(metric.value(&self.total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns counts in which each field is positive.
    fn ones() -> AccessCounts {
        AccessCounts {
            requests: 1,
            issued: 1,
            threads: 1,
            bytes: 1,
            sectors: 2,
            addresses: 1,
            hits: 1,
            output_wavefronts: 1,
            wavefronts: 1,
            conflicts: 1,
        }
    }

    #[test]
    fn every_access_class_has_a_metric() {
        for &class in AccessClass::ALL {
            let tally = Tally::of([(class, ones())]);
            let counted = METRICS.iter().any(|metric| metric.value(&tally) > 0);
            assert!(counted, "{}", class.row().name);
        }
    }

    #[test]
    fn matrix_loads_count_only_as_shared_load_wavefronts() {
        let loads = AccessCounts {
            wavefronts: 12,
            ..AccessCounts::default()
        };
        let tally = Tally::of([(AccessClass::MatrixLoad, loads)]);
        let counted = METRICS.iter().filter(|metric| metric.value(&tally) == 12);
        let names: Vec<&str> = counted.map(|metric| metric.en).collect();
        assert_eq!(names, ["shared load wavefronts"]);
    }

    #[test]
    fn metric_names_are_unique_in_both_languages() {
        for (number, metric) in METRICS.iter().enumerate() {
            assert!(metric.en.is_ascii() && !metric.en.is_empty());
            assert!(!metric.zh.is_ascii(), "{}", metric.en);
            for other in &METRICS[..number] {
                assert_ne!(metric.name, other.name);
                assert_ne!(metric.en, other.en);
                assert_ne!(metric.zh, other.zh);
            }
        }
    }
}
