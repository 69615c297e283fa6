"""Counters by Nsight Compute's names, and those of them that must be equal."""

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
HITS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"
SHARED = "smsp__inst_executed_op_shared_{}.sum"
INSTRUCTIONS = "smsp__inst_executed_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONSTANT = "idc__requests.sum"
CONSTANT_HITS = "idc__requests_lookup_hit.sum"
L2_READS = "lts__t_sectors_srcunit_tex_op_read.sum"
L2_MISSES = "lts__t_sectors_srcunit_tex_lookup_miss.sum"
WARPS = "smsp__inst_executed.sum"
BRANCHES = "smsp__inst_executed_op_branch.sum"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"
CONSTANT_MISSES = "idc__requests_lookup_miss_tag_miss.sum"
REGISTERS = "launch__registers_per_thread"
LIMITS = "launch__occupancy_limit_{}"
LIMITED = {
    "warps": "threads",
    "blocks": "blocks",
    "shared_mem": "shared memory",
    "registers": "registers",
}
OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"

PRODUCTS = INSTRUCTIONS.format("pipe_tensor_op_hmma")

# The counters that must be equal, by their names in the tables.
EQUAL = {
    "load requests": REQUESTS.format("ld"),
    "sectors loaded": SECTORS.format("ld"),
    "store requests": REQUESTS.format("st"),
    "sectors stored": SECTORS.format("st"),
    "constant requests": CONSTANT,
    "shared load requests": SHARED.format("ld"),
    "wavefronts loaded": WAVEFRONTS.format("ld"),
    "shared store requests": SHARED.format("st"),
    "wavefronts stored": WAVEFRONTS.format("st"),
    "local load requests": "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "local store requests": "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "asynchronous copies": INSTRUCTIONS.format("op_ldgsts"),
    "matrix loads": INSTRUCTIONS.format("op_ldsm"),
    "products of matrices": PRODUCTS,
}

# Nsight Compute offers some counters twice: as counted by the hardware's units, and as counted by instructions
# that it adds to the machine code. The latter have no noise, and they separate what is a load to the hardware:
# loads, asynchronous copies (LDGSTS) and matrix loads (LDSM).
SASS_SECTORS = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{}.sum"
SASS_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
EXACT = {
    name.format(kind): [twin.format(part) for part in parts]
    for name, twin, kind, parts in [
        (SECTORS, SASS_SECTORS, "ld", ["ld", "ldgsts"]),
        (SECTORS, SASS_SECTORS, "st", ["st"]),
        (WAVEFRONTS, SASS_WAVEFRONTS, "ld", ["ld", "ldsm"]),
        (WAVEFRONTS, SASS_WAVEFRONTS, "st", ["st"]),
    ]
}

# Metrics to request from Nsight Compute in addition to the names for which the simulator has counters.
ADDITIONAL = [
    *(twin for twins in EXACT.values() for twin in twins), REGISTERS, OCCUPANCY, CONSTANT_MISSES,
    *(LIMITS.format(limit) for limit in LIMITED),
]  # fmt: skip
