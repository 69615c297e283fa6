//! The counters under the names that NVIDIA's profiler, Nsight Compute, gives them.
//!
//! Source: Nsight Compute documentation, "Kernel Profiling Guide", "Metrics Reference".
//! `docs/results/counters-h200.md` compares them with an NVIDIA H200.

use super::{AccessCounts, LaunchProfile, Tally};
use crate::isa::Memory::{Constant, Global, Local, Shared};
use crate::isa::{AccessClass, AccessSet};

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

/// The counts that a metric is computed from.
#[derive(Clone, Copy)]
pub enum MetricSource {
    /// A count of the accesses of some classes, summed.
    Accesses(AccessSet, fn(&AccessCounts) -> u64),
    /// A count that is not of accesses: instructions, branches, barriers.
    Flow(fn(&Tally) -> u64),
    /// A count of a whole launch that source lines do not have.
    Launch(fn(&LaunchProfile) -> u64),
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

/// Atomics on global memory whose old value is used, and those whose old value is unused.
const ATOMICS: AccessSet = AccessSet::of(AccessClass::GlobalAtomic);
const REDUCTIONS: AccessSet = AccessSet::of(AccessClass::GlobalReduction);

/// Matrix loads (`ldmatrix`), which have their own instruction counter.
const MATRICES: AccessSet = AccessSet::of(AccessClass::MatrixLoad);

/// Stores to local memory. Local memory is private to a thread, so an atomic there is an ordinary store.
const LOCAL_STORES: AccessSet = AccessSet::stores(Local).union(AccessSet::atomics(Local));

/// The loads that go through the L1 cache, and on a miss to the L2 cache.
const DEVICE_LOADS: AccessSet = AccessSet::loads(Global).union(AccessSet::loads(Local));

/// Generates a constant per counter and the list of all counters from a table, so that others can refer to a
/// counter by value.
macro_rules! metrics {
    ($($(#[$doc:meta])* $metric:ident: $group:ident $agreement:ident
        $source:ident($($of:expr),*), $name:literal, $en:literal, $zh:literal;)*) => {
        impl Metric {
            $($(#[$doc])* pub const $metric: Metric = Metric {
                name: $name,
                en: $en,
                zh: $zh,
                group: Group::$group,
                source: MetricSource::$source($($of),*),
                agreement: Agreement::$agreement,
            };)*
        }

        /// All counters, by group.
        pub const METRICS: &[Metric] = &[$(Metric::$metric),*];
    };
}

// Columns: constant, group, agreement and source; name in Nsight Compute; English and Chinese label.
metrics! {
    GLOBAL_LOAD_REQUESTS: Global Equal Accesses(AccessSet::loads(Global), |counts| counts.requests),
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "global load requests", "全局内存读取请求数";
    /// For copies whose position within 32 bytes changes, this matches the instruction-level counters that ncu
    /// adds to the machine code. The hardware unit of this name counts slightly fewer.
    GLOBAL_LOAD_SECTORS: Global Equal Accesses(AccessSet::loads(Global), |counts| counts.sectors),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "global load sectors", "全局内存读取扇区数";
    GLOBAL_STORE_REQUESTS: Global Equal Accesses(AccessSet::stores(Global), |counts| counts.requests),
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        "global store requests", "全局内存写入请求数";
    GLOBAL_STORE_SECTORS: Global Equal Accesses(AccessSet::stores(Global), |counts| counts.sectors),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "global store sectors", "全局内存写入扇区数";
    GLOBAL_LOAD_L1_HITS: Caches Modelled Accesses(AccessSet::loads(Global), |counts| counts.hits),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
        "global load sectors, L1 hits", "L1 缓存命中的读取扇区数";
    L2_READS: Caches Modelled Accesses(DEVICE_LOADS, AccessCounts::misses),
        "lts__t_sectors_srcunit_tex_op_read.sum",
        "sectors read from the L2 cache", "从 L2 缓存读取的扇区数";
    /// The L2 cache is cold when a launch starts. Its misses are known for a launch, not for a line.
    L2_MISSES: Caches Modelled Launch(|profile| profile.l2_read_misses),
        "lts__t_sectors_srcunit_tex_lookup_miss.sum",
        "misses of a cold L2 cache", "冷 L2 缓存未命中的扇区数";
    CONSTANT_REQUESTS: Constant Close Accesses(AccessSet::loads(Constant), |counts| counts.addresses),
        "idc__requests.sum",
        "constant requests", "常量内存请求数";
    CONSTANT_HITS: Constant Modelled Accesses(AccessSet::loads(Constant), |counts| counts.hits),
        "idc__requests_lookup_hit.sum",
        "constant requests, cache hits", "常量缓存命中的请求数";
    SHARED_LOADS: Shared Equal Accesses(AccessSet::loads(Shared).difference(MATRICES), |counts| counts.issued),
        "smsp__inst_executed_op_shared_ld.sum",
        "shared load instructions", "共享内存读取指令数";
    SHARED_LOAD_WAVEFRONTS: Shared Close Accesses(AccessSet::loads(Shared), |counts| counts.wavefronts),
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "shared load wavefronts", "共享内存读取波前数";
    SHARED_LOAD_CONFLICTS: Shared Close Accesses(AccessSet::loads(Shared), |counts| counts.conflicts),
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "shared load bank conflicts", "共享内存读取的存储体冲突数";
    SHARED_STORES: Shared Equal Accesses(AccessSet::stores(Shared), |counts| counts.issued),
        "smsp__inst_executed_op_shared_st.sum",
        "shared store instructions", "共享内存写入指令数";
    SHARED_STORE_WAVEFRONTS: Shared Close Accesses(AccessSet::stores(Shared), |counts| counts.wavefronts),
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "shared store wavefronts", "共享内存写入波前数";
    SHARED_STORE_CONFLICTS: Shared Close Accesses(AccessSet::stores(Shared), |counts| counts.conflicts),
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        "shared store bank conflicts", "共享内存写入的存储体冲突数";
    MATRIX_LOADS: Shared Equal Accesses(MATRICES, |counts| counts.requests),
        "smsp__inst_executed_op_ldsm.sum",
        "matrix load requests", "矩阵读取请求数";
    ASYNC_COPIES: Shared Equal Accesses(AccessSet::of(AccessClass::CopyWrite), |counts| counts.issued),
        "smsp__inst_executed_op_ldgsts.sum",
        "asynchronous copy requests", "异步复制请求数";
    /// Hardware includes HFMA2.MMA, with which the assembler loads constants into registers. `wgmma` counts
    /// here like `mma`, and in no counter of shared memory; that has not been compared with an H200 yet.
    TENSOR_INSTRUCTIONS: Flow Close Flow(|tally| tally.tensor_instructions),
        "smsp__inst_executed_pipe_tensor_op_hmma.sum",
        "tensor core instructions", "矩阵乘法指令数";
    LOCAL_LOAD_REQUESTS: Local Ptx Accesses(AccessSet::loads(Local), |counts| counts.requests),
        "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
        "local load requests", "局部内存读取请求数";
    LOCAL_LOAD_SECTORS: Local Ptx Accesses(AccessSet::loads(Local), |counts| counts.sectors),
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        "local load sectors", "局部内存读取扇区数";
    LOCAL_STORE_REQUESTS: Local Ptx Accesses(LOCAL_STORES, |counts| counts.requests),
        "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
        "local store requests", "局部内存写入请求数";
    LOCAL_STORE_SECTORS: Local Ptx Accesses(LOCAL_STORES, |counts| counts.sectors),
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        "local store sectors", "局部内存写入扇区数";
    GLOBAL_ATOMIC_REQUESTS: Atomics Equal Accesses(ATOMICS, |counts| counts.requests),
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "global atomic requests", "全局内存原子操作请求数";
    GLOBAL_ATOMIC_SECTORS: Atomics Equal Accesses(ATOMICS, |counts| counts.sectors),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        "global atomic sectors", "全局内存原子操作扇区数";
    GLOBAL_ATOMIC_WAVEFRONTS: Atomics Equal Accesses(ATOMICS, |counts| counts.output_wavefronts),
        "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum",
        "global atomic output wavefronts", "全局内存原子操作输出波前数";
    GLOBAL_REDUCTION_REQUESTS: Atomics Equal Accesses(REDUCTIONS, |counts| counts.requests),
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        "global reduction requests", "全局内存归约请求数";
    GLOBAL_REDUCTION_SECTORS: Atomics Equal Accesses(REDUCTIONS, |counts| counts.sectors),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
        "global reduction sectors", "全局内存归约扇区数";
    GLOBAL_REDUCTION_WAVEFRONTS: Atomics Equal Accesses(REDUCTIONS, |counts| counts.output_wavefronts),
        "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum",
        "global reduction output wavefronts", "全局内存归约输出波前数";
    /// On hardware, loops of loads and compare-and-swaps iterate more often if warps interfere.
    SHARED_ATOMIC_REQUESTS: Atomics Close Accesses(AccessSet::atomics(Shared), |counts| counts.requests),
        "smsp__inst_executed_op_shared_atom.sum",
        "shared atomic requests", "共享内存原子操作请求数";
    SHARED_ATOMIC_WAVEFRONTS: Atomics Close Accesses(AccessSet::atomics(Shared), |counts| counts.wavefronts),
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
        "shared atomic wavefronts", "共享内存原子操作波前数";
    SHARED_ATOMIC_CONFLICTS: Atomics Close Accesses(AccessSet::atomics(Shared), |counts| counts.conflicts),
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
        "shared atomic bank conflicts", "共享内存原子操作的存储体冲突数";
    WARP_INSTRUCTIONS: Flow Ptx Flow(|tally| tally.instructions),
        "smsp__inst_executed.sum",
        "warp instructions", "线程束指令数";
    THREAD_INSTRUCTIONS: Flow Ptx Flow(|tally| tally.thread_instructions),
        "smsp__thread_inst_executed.sum",
        "thread instructions", "线程指令数";
    BRANCHES: Flow Ptx Flow(|tally| tally.branches),
        "smsp__inst_executed_op_branch.sum",
        "branches", "分支数";
    /// The counters differ if the assembler does not compile a branch as the simulator expects.
    DIVERGENT_BRANCHES: Flow Close Flow(|tally| tally.divergent_branches),
        "smsp__sass_branch_targets_threads_divergent.sum",
        "divergent branches", "发散的分支数";
    BARRIER_ARRIVALS: Flow Custom Flow(|tally| tally.barriers),
        "warps_at_barriers",
        "warps arriving at barriers", "到达同步屏障的线程束数";
}

impl Metric {
    /// Returns true if source lines have the counter, and not only the launch as a whole.
    pub fn counts_lines(&self) -> bool {
        !matches!(self.source, MetricSource::Launch(_))
    }

    /// Returns the metric's value for a launch's or a line's tally; 0 if only the launch as a whole has it.
    pub fn value(&self, tally: &Tally) -> u64 {
        match self.source {
            MetricSource::Accesses(classes, count) => count(&tally.sum(classes)),
            MetricSource::Flow(count) => count(tally),
            MetricSource::Launch(_) => 0,
        }
    }

    /// Returns the metric's value for a whole launch.
    pub fn launch_value(&self, profile: &LaunchProfile) -> u64 {
        match self.source {
            MetricSource::Launch(count) => count(profile),
            MetricSource::Accesses(..) | MetricSource::Flow(_) => self.value(&profile.total),
        }
    }
}

impl LaunchProfile {
    /// Returns a metric of the whole launch by its Nsight Compute name; `None` if there is no such metric.
    pub fn metric(&self, name: &str) -> Option<u64> {
        let metric = METRICS.iter().find(|metric| metric.name == name)?;
        Some(metric.launch_value(self))
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
