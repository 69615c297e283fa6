"""The counters of kernels and source lines, by their names in Nsight Compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

from warpbook.errors import RecordError


class Counter:
    """A counter as an attribute: an `int` of a kernel or line, the sum over all launches."""

    def __init__(self, metric: str, label: str) -> None:
        #: The name in Nsight Compute.
        self.metric = metric
        #: The name in reports.
        self.label = label
        self.__doc__ = f"Number of {label}: `{metric}` in Nsight Compute."

    @overload
    def __get__(self, instance: None, owner: type) -> Counter: ...

    @overload
    def __get__(self, instance: Counted, owner: type) -> int: ...

    def __get__(self, instance: Counted | None, owner: type) -> Counter | int:
        if instance is None:
            return self
        try:
            return instance.counters[self.metric]
        except KeyError:
            raise RecordError(
                f"{instance} has no counter {self.metric}. Likely cause: it ran on a GPU, where only the time is "
                "measured, or the record is of another version. CUDA_BACKEND=sim selects the simulator."
            ) from None


class Counted:
    """The counters of a kernel or of a line, by name. Sums are over all launches; a sector is 32 bytes.

    An attribute raises `RecordError` if the record does not contain its counter, as on a GPU.
    """

    #: All counters by their names in Nsight Compute.
    counters: Mapping[str, int]

    global_load_requests = Counter("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global load requests")
    global_load_sectors = Counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global load sectors")
    global_store_requests = Counter("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global store requests")
    global_store_sectors = Counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global store sectors")
    global_load_l1_hits = Counter(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "global load sectors, L1 hits"
    )
    l2_read_sectors = Counter("lts__t_sectors_srcunit_tex_op_read.sum", "sectors read from the L2 cache")
    l2_read_misses = Counter("lts__t_sectors_srcunit_tex_lookup_miss.sum", "misses of a cold L2 cache")
    constant_requests = Counter("idc__requests.sum", "constant requests")
    constant_hits = Counter("idc__requests_lookup_hit.sum", "constant requests, cache hits")
    shared_load_instructions = Counter("smsp__inst_executed_op_shared_ld.sum", "shared load instructions")
    shared_load_wavefronts = Counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "shared load wavefronts")
    shared_load_bank_conflicts = Counter(
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "shared load bank conflicts"
    )
    shared_store_instructions = Counter("smsp__inst_executed_op_shared_st.sum", "shared store instructions")
    shared_store_wavefronts = Counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "shared store wavefronts")
    shared_store_bank_conflicts = Counter(
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "shared store bank conflicts"
    )
    matrix_load_requests = Counter("smsp__inst_executed_op_ldsm.sum", "matrix load requests")
    async_copy_requests = Counter("smsp__inst_executed_op_ldgsts.sum", "asynchronous copy requests")
    tensor_instructions = Counter("smsp__inst_executed_pipe_tensor_op_hmma.sum", "tensor core instructions")
    local_load_requests = Counter("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "local load requests")
    local_load_sectors = Counter("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "local load sectors")
    local_store_requests = Counter("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "local store requests")
    local_store_sectors = Counter("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "local store sectors")
    global_atomic_requests = Counter("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "global atomic requests")
    global_atomic_sectors = Counter("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "global atomic sectors")
    global_atomic_wavefronts = Counter(
        "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum", "global atomic output wavefronts"
    )
    global_reduction_requests = Counter("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "global reduction requests")
    global_reduction_sectors = Counter("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "global reduction sectors")
    global_reduction_wavefronts = Counter(
        "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum", "global reduction output wavefronts"
    )
    shared_atomic_requests = Counter("smsp__inst_executed_op_shared_atom.sum", "shared atomic requests")
    shared_atomic_wavefronts = Counter(
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "shared atomic wavefronts"
    )
    shared_atomic_bank_conflicts = Counter(
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", "shared atomic bank conflicts"
    )
    warp_instructions = Counter("smsp__inst_executed.sum", "warp instructions")
    thread_instructions = Counter("smsp__thread_inst_executed.sum", "thread instructions")
    branches = Counter("smsp__inst_executed_op_branch.sum", "branches")
    divergent_branches = Counter("smsp__sass_branch_targets_threads_divergent.sum", "divergent branches")
    barrier_arrivals = Counter("warps_at_barriers", "warps arriving at barriers")

    @property
    def sectors_per_load_request(self) -> float:
        """Sectors of global memory per load request: 4 if 32 threads load adjacent floats; 0 without loads."""
        return ratio(self.global_load_sectors, self.global_load_requests)

    @property
    def sectors_per_store_request(self) -> float:
        """Sectors of global memory per store request: 4 if 32 threads store adjacent floats; 0 without stores."""
        return ratio(self.global_store_sectors, self.global_store_requests)

    @property
    def l1_hit_rate(self) -> float:
        """Share of the global load sectors that the L1 cache held, from 0 to 1; 0 without loads."""
        return ratio(self.global_load_l1_hits, self.global_load_sectors)

    @property
    def shared_wavefronts(self) -> int:
        """Number of wavefronts of shared memory: loads, stores and atomics."""
        return self.shared_load_wavefronts + self.shared_store_wavefronts + self.shared_atomic_wavefronts

    @property
    def bank_conflicts(self) -> int:
        """Number of bank conflicts of shared memory: loads, stores and atomics."""
        return self.shared_load_bank_conflicts + self.shared_store_bank_conflicts + self.shared_atomic_bank_conflicts

    @property
    def local_sectors(self) -> int:
        """Number of sectors of local memory that were loaded or stored: the traffic of spilled registers."""
        return self.local_load_sectors + self.local_store_sectors

    @property
    def active_threads_per_warp(self) -> float:
        """Mean number of active threads per warp instruction: 32 without divergence; 0 without instructions."""
        return ratio(self.thread_instructions, self.warp_instructions)


#: The counters, in the order of the tables, by the names of their attributes.
COUNTERS: Mapping[str, Counter] = {name: value for name, value in vars(Counted).items() if isinstance(value, Counter)}


def ratio(part: float, whole: float) -> float:
    """Returns the quotient; 0 if the second number is 0."""
    return part / whole if whole else 0.0
