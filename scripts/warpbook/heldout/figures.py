"""The counters to compare, by short names and Nsight Compute's names."""

from ..counters.names import CONFLICTS, DIVERGENT, EQUAL, EXACT, HITS, REQUESTS, SECTORS

TURNS = "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_{}.sum"
ATOMIC = "smsp__inst_executed_op_shared_atom.sum"
ATOMIC_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"
ATOMIC_CONFLICTS = CONFLICTS.format("atom")
LOCAL = "l1tex__t_{}_pipe_lsu_mem_local_op_{}.sum"

FIGURES = {
    **EQUAL,
    "local sectors loaded": LOCAL.format("sectors", "ld"),
    "local sectors stored": LOCAL.format("sectors", "st"),
    "load conflicts": CONFLICTS.format("ld"),
    "store conflicts": CONFLICTS.format("st"),
    "atomic requests": REQUESTS.format("atom"),
    "atomic sectors": SECTORS.format("atom"),
    "atomic turns": TURNS.format("atom"),
    "reduction requests": REQUESTS.format("red"),
    "reduction sectors": SECTORS.format("red"),
    "reduction turns": TURNS.format("red"),
    "shared atomic requests": ATOMIC,
    "shared atomic wavefronts": ATOMIC_WAVEFRONTS,
    "shared atomic conflicts": ATOMIC_CONFLICTS,
    "divergent branches": DIVERGENT,
    "L1 hits": HITS,
}

# The metrics to request from Nsight Compute.
METRICS = [*FIGURES.values(), *(twin for twins in EXACT.values() for twin in twins)]
