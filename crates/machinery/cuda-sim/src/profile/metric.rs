//! Counters by the names that NVIDIA's profiler, Nsight Compute, has for them.
//!
//! Source: Nsight Compute's documentation, "Kernel Profiling Guide", "Metrics Reference"; which
//! of them come out equal on an NVIDIA H200 is in `docs/results/counters-h200.md`.

use super::{LaunchProfile, Tally};

/// A counter: what it is called and how to read it off.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Nsight Compute's name, as `ncu --metrics` takes it.
    pub name: &'static str,
    /// The same in plain words.
    pub plain: &'static str,
    /// Which part of the memory system it is of; tables are grouped by it.
    pub group: Group,
    /// Reads it off a tally: of a launch or of a line.
    pub of: fn(&Tally) -> u64,
    /// How far Nsight Compute's own figure is the same.
    pub agreement: Agreement,
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

/// Every counter, group by group.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        plain: "global load requests",
        group: Group::Global,
        of: |tally| tally.global_loads.requests + tally.async_copies.requests,
        agreement: Agreement::Equal,
    },
    // Of copies that change their place within 32 bytes as the instructions count them that ncu adds to
    // the machine code; the unit that has this name counts some fewer.
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        plain: "global load sectors",
        group: Group::Global,
        of: |tally| tally.global_loads.sectors + tally.async_copies.sectors,
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        plain: "global store requests",
        group: Group::Global,
        of: |tally| tally.global_stores.requests,
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        plain: "global store sectors",
        group: Group::Global,
        of: |tally| tally.global_stores.sectors,
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
        plain: "global load sectors in the first cache",
        group: Group::Caches,
        of: |tally| tally.global_loads.hits + tally.async_copies.hits,
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "lts__t_sectors_srcunit_tex_op_read.sum",
        plain: "sectors read from the second cache",
        group: Group::Caches,
        of: |tally| tally.l2.read_sectors,
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "idc__requests.sum",
        plain: "constant requests",
        group: Group::Constant,
        of: |tally| tally.constant.requests,
        agreement: Agreement::Close,
    },
    Metric {
        name: "idc__requests_lookup_hit.sum",
        plain: "constant requests in the constant cache",
        group: Group::Constant,
        of: |tally| tally.constant.hits,
        agreement: Agreement::Modelled,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_ld.sum",
        plain: "shared load instructions",
        group: Group::Shared,
        of: |tally| tally.shared_loads.issued,
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        plain: "shared load wavefronts",
        group: Group::Shared,
        of: |tally| tally.shared_loads.wavefronts + tally.matrix_loads.wavefronts,
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        plain: "shared load bank conflicts",
        group: Group::Shared,
        of: |tally| tally.shared_loads.conflicts + tally.matrix_loads.conflicts,
        agreement: Agreement::Close,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_st.sum",
        plain: "shared store instructions",
        group: Group::Shared,
        of: |tally| tally.shared_stores.issued,
        agreement: Agreement::Equal,
    },
    Metric {
        name: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        plain: "shared store wavefronts",
        group: Group::Shared,
        of: |tally| tally.shared_stores.wavefronts,
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        plain: "shared store bank conflicts",
        group: Group::Shared,
        of: |tally| tally.shared_stores.conflicts,
        agreement: Agreement::Close,
    },
    Metric {
        name: "smsp__inst_executed_op_ldsm.sum",
        plain: "matrix load requests",
        group: Group::Shared,
        of: |tally| tally.matrix_loads.requests,
        agreement: Agreement::Equal,
    },
    Metric {
        name: "smsp__inst_executed_op_ldgsts.sum",
        plain: "asynchronous copy requests",
        group: Group::Shared,
        of: |tally| tally.copied_to_shared.issued,
        agreement: Agreement::Equal,
    },
    // Hardware counts HFMA2.MMA with them, by which the assembler puts constants into registers.
    Metric {
        name: "smsp__inst_executed_pipe_tensor_op_hmma.sum",
        plain: "products of matrices",
        group: Group::Flow,
        of: |tally| tally.products,
        agreement: Agreement::Close,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
        plain: "local load requests",
        group: Group::Local,
        of: |tally| tally.local_loads.requests,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        plain: "local load sectors",
        group: Group::Local,
        of: |tally| tally.local_loads.sectors,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
        plain: "local store requests",
        group: Group::Local,
        of: |tally| tally.local_stores.requests,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        plain: "local store sectors",
        group: Group::Local,
        of: |tally| tally.local_stores.sectors,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__sass_inst_executed_op_global_atom.sum",
        plain: "global atomic requests",
        group: Group::Atomics,
        of: |tally| tally.global_atomics.requests,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_atom.sum",
        plain: "shared atomic requests",
        group: Group::Atomics,
        of: |tally| tally.shared_atomics.requests,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__inst_executed.sum",
        plain: "warp instructions",
        group: Group::Flow,
        of: |tally| tally.instructions,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__thread_inst_executed.sum",
        plain: "thread instructions",
        group: Group::Flow,
        of: |tally| tally.thread_instructions,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__inst_executed_op_branch.sum",
        plain: "branches",
        group: Group::Flow,
        of: |tally| tally.branches,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "smsp__sass_branch_targets_threads_divergent.sum",
        plain: "divergent branches",
        group: Group::Flow,
        of: |tally| tally.divergent_branches,
        agreement: Agreement::Ptx,
    },
    Metric {
        name: "warps_at_barriers",
        plain: "warps at a barrier",
        group: Group::Flow,
        of: |tally| tally.barriers,
        agreement: Agreement::Ours,
    },
];

impl LaunchProfile {
    /// A counter of the whole launch by its name.
    pub fn metric(&self, name: &str) -> Option<u64> {
        let metric = METRICS.iter().find(|metric| metric.name == name)?;
        Some((metric.of)(&self.total))
    }
}
