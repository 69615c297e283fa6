//! Diagnosis of faults: the allocation that an invalid address missed, and the likely cause.

use super::FaultKind;
use crate::check::FindingKind;
use crate::check::finding::{allocation, count};
use crate::memory::global::{AllocationRecord, Global};
use crate::memory::{FUNCTION_BASE, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};

/// An explanation of a fault in addition to its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The kind of finding that the fault corresponds to.
    pub kind: FindingKind,
    /// The object that was missed and the distance; may be empty.
    pub details: String,
    /// The likely cause; may be empty.
    pub likely_cause: &'static str,
}

/// Sizes of a thread's memory other than device memory.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Bytes of shared memory that the kernel declares.
    pub shared: u32,
    pub dynamic: u32,
    pub local: u32,
    pub params: u32,
    pub constants: u64,
}

/// Addresses below this are taken for a null pointer plus an offset.
const NEAR_NULL: u64 = 1 << 20;

/// Highest user-space address on supported hosts.
const LAST_OF_HOST: u64 = 0x7fff_ffff_ffff;

/// Distance before an allocation from which a negative index is taken for an integer overflow.
const OVERFLOWED: u64 = 1 << 30;

/// Distance in bytes past an allocation that threads without an element may reach.
const SOME_THREADS: u64 = 4096;

const NO_GUARD: &str =
    "`<=` instead of `<`, or a missing `if (i < n)` for the threads past the end";
const BELOW_ZERO: &str = "a negative index: the neighbour of the first element, or a halo to \
                          the left";
const WRAPPED: &str = "an unsigned index that wrapped below zero, such as `i - 1` for `i == 0`";
const OVERFLOW: &str = "an `int` that overflowed and became negative: `blockIdx.x * blockDim.x`, or \
                        row times width, in a large array";
const FAR: &str = "an index in other units than the array's: bytes for elements, a pitch for a \
                   width, rows for columns, or one that overflowed";

impl Diagnosis {
    /// Diagnoses a fault. Returns `None` if there is nothing to add to its kind.
    pub fn of(fault: &FaultKind, global: &Global, sizes: Sizes) -> Option<Diagnosis> {
        let diagnosis = |kind, details: String, likely_cause| {
            Some(Diagnosis {
                kind,
                details,
                likely_cause,
            })
        };
        match *fault {
            FaultKind::IllegalAddress {
                address,
                bytes,
                space,
                ..
            } => match space {
                "shared memory" => Some(diagnose_shared(address, sizes)),
                "local memory" => Some(diagnose_local(address, sizes.local)),
                "constant memory" => {
                    let bank = sizes.constants;
                    diagnosis(
                        FindingKind::OutOfBounds,
                        format!("the module's constants take {}", count(bank)),
                        "an index past the end of a `__constant__` array",
                    )
                }
                "kernel parameters" => diagnosis(
                    FindingKind::OutOfBounds,
                    format!("the parameters take {}", count(sizes.params.into())),
                    "an index past the end of an array in a parameter",
                ),
                _ => Some(diagnose_device(address, bytes.into(), space, global, sizes)),
            },
            FaultKind::MisalignedAddress { address, bytes } => diagnosis(
                FindingKind::Misaligned,
                format!(
                    "it is {} past an aligned address",
                    count(address % u64::from(bytes.max(1)))
                ),
                "a pointer cast to a wider type, such as `float4` from a `float` that is not the first \
                 of four, or rows whose pitch is not a multiple of the type's size",
            ),
            FaultKind::StackOverflow { .. } | FaultKind::CallsTooDeep => diagnosis(
                FindingKind::StackOverflow,
                String::new(),
                "unbounded or too deep recursion; `cuCtxSetLimit` sets a \
                 larger stack",
            ),
            FaultKind::InvalidCall { .. } => diagnosis(
                FindingKind::InvalidCall,
                String::new(),
                "a function pointer taken on the host, or one never set",
            ),
            FaultKind::BarrierNeverOpens { .. } => diagnose_sync(FindingKind::BarrierNeverOpens),
            FaultKind::WarpSyncNeverOpens { .. } => diagnose_sync(FindingKind::AbsentLanes),
            FaultKind::WarpIncomplete { .. } => diagnose_sync(FindingKind::WarpIncomplete),
            FaultKind::InvalidBarrier { .. } => diagnose_sync(FindingKind::InvalidBarrier),
            _ => None,
        }
    }
}

fn diagnose_sync(kind: FindingKind) -> Option<Diagnosis> {
    Some(Diagnosis {
        kind,
        details: String::new(),
        likely_cause: kind.likely_cause(),
    })
}

fn diagnose_shared(at: u64, sizes: Sizes) -> Diagnosis {
    let total = u64::from(sizes.shared) + u64::from(sizes.dynamic);
    let past = at.wrapping_sub(total);
    let negative = past > u64::MAX / 2;
    let (kind, details, likely_cause) =
        if in_window(at, LOCAL_WINDOW) || in_window(at, PARAM_WINDOW) {
            let details = "it is an address of the thread's own memory";
            return wrong_space(
                details.to_owned(),
                "a pointer to a local variable, used as shared",
            );
        } else if total == 0 {
            (
                FindingKind::OutOfBounds,
                "the block has no shared memory".to_owned(),
                "an `extern __shared__` array, but a launch without dynamic shared memory",
            )
        } else if negative || at > u64::from(u32::MAX / 2) {
            let before = (at as u32).wrapping_neg();
            (
                FindingKind::OutOfBounds,
                format!("{} before the block's shared memory", count(before.into())),
                BELOW_ZERO,
            )
        } else {
            let likely_cause = match sizes.dynamic {
                0 => "an index past the end of a `__shared__` array",
                _ => {
                    "an index past the end of a `__shared__` array, or a launch with too little \
                  dynamic shared memory for an `extern` array"
                }
            };
            (
                FindingKind::OutOfBounds,
                format!(
                    "{} the block's {} of shared memory",
                    past_end(past),
                    count(total)
                ),
                likely_cause,
            )
        };
    Diagnosis {
        kind,
        details,
        likely_cause,
    }
}

fn diagnose_local(at: u64, local: u32) -> Diagnosis {
    let past = at.saturating_sub(local.into());
    let details = if at < 1 << 31 {
        format!(
            "{} the thread's {} of local memory",
            past_end(past),
            count(local.into())
        )
    } else {
        "before the thread's local memory".to_owned()
    };
    Diagnosis {
        kind: FindingKind::OutOfBounds,
        details,
        likely_cause: "an index past the end of an array declared in the kernel",
    }
}

fn diagnose_device(at: u64, bytes: u64, space: &str, global: &Global, sizes: Sizes) -> Diagnosis {
    let generic = space == "memory";
    if in_window(at, SHARED_WINDOW) {
        return if generic {
            diagnose_shared(at - SHARED_WINDOW, sizes)
        } else {
            wrong_space(
                "it is an address of shared memory".to_owned(),
                "a pointer to a `__shared__` array, used as one to device memory",
            )
        };
    }
    if in_window(at, LOCAL_WINDOW) {
        return if generic {
            diagnose_local(at - LOCAL_WINDOW, sizes.local)
        } else {
            wrong_space(
                "it is an address of the thread's own memory".to_owned(),
                "a pointer to a local variable, used by another thread or kernel",
            )
        };
    }
    if (FUNCTION_BASE..FUNCTION_BASE + NEAR_NULL).contains(&at) || in_window(at, PARAM_WINDOW) {
        let details = "it is an address of code or of parameters";
        return wrong_space(
            details.to_owned(),
            "a function pointer, used as one to data",
        );
    }
    if let Some(home) = global.inaccessible_owner(at) {
        return wrong_space(
            format!("it is memory of device {home}, to which this device has no access"),
            "a kernel that follows a pointer to another GPU's memory without `cuCtxEnablePeerAccess`, or, for memory \
             of a pool or that is mapped, without its `SetAccess`",
        );
    }
    if global.host(at, bytes).is_some() {
        let details = "it is an address of constant memory, which a kernel may only read";
        return wrong_space(
            details.to_owned(),
            "a store or an atomic through a pointer to a `__constant__` variable",
        );
    }
    if let Some(freed) = global.freed(at) {
        return Diagnosis {
            kind: FindingKind::UseAfterFree,
            details: format!(
                "byte {} of {}, which has been freed",
                at - freed.base,
                allocation(&freed)
            ),
            likely_cause: "a pointer used after its buffer was dropped or freed, for example one in a `__device__` \
                      variable",
        };
    }
    let (below, above) = global.neighbours(at);
    let past = below
        .as_ref()
        .map(|below| at - (below.base + below.bytes).min(at));
    let before = above.as_ref().map(|above| above.base - at);
    // A 32-bit index that wrapped around is off by four billion elements.
    let wrapped_size = |record: &AllocationRecord| {
        let distance = at.wrapping_sub(record.base);
        [1, 2, 4, 8, 16].into_iter().find(|size| {
            let round = size << 32;
            *size <= bytes && distance < round && round - distance <= NEAR_NULL
        })
    };
    if !(NEAR_NULL..=u64::MAX - NEAR_NULL).contains(&at) {
        return Diagnosis {
            kind: FindingKind::NullPointer,
            details: match at {
                0 => "the address is null".to_owned(),
                _ if at < NEAR_NULL => format!("the address is null plus {}", count(at)),
                _ => format!("the address is null minus {}", count(at.wrapping_neg())),
            },
            likely_cause: "a pointer that was never set: a buffer that was not allocated, or a symbol \
                      that the host did not initialize",
        };
    }
    if at <= LAST_OF_HOST {
        return wrong_space(
            "it is an address of the host's memory".to_owned(),
            "a host pointer passed to the kernel instead of a device pointer",
        );
    }
    if let Some((record, _)) = global.records().find_map(|record| {
        Some((wrapped_size(&record)?, record)).map(|(size, record)| (record, size))
    }) {
        return Diagnosis {
            kind: FindingKind::OutOfBounds,
            details: format!("almost 2^32 elements past {}", allocation(&record)),
            likely_cause: WRAPPED,
        };
    }
    let (details, likely_cause) = match (past, before, &below, &above) {
        (Some(past), before, Some(below), _) if before.is_none_or(|before| past <= before) => (
            format!("{} {}", past_end(past), allocation(below)),
            if past < SOME_THREADS.max(below.bytes / 16) {
                NO_GUARD
            } else {
                FAR
            },
        ),
        (_, Some(before), _, Some(above)) => (
            format!("{} before {}", count(before), allocation(above)),
            match before {
                ..=SOME_THREADS => BELOW_ZERO,
                OVERFLOWED.. => OVERFLOW,
                _ => FAR,
            },
        ),
        _ => ("nothing is allocated".to_owned(), ""),
    };
    Diagnosis {
        kind: FindingKind::OutOfBounds,
        details,
        likely_cause,
    }
}

fn wrong_space(details: String, likely_cause: &'static str) -> Diagnosis {
    Diagnosis {
        kind: FindingKind::WrongSpace,
        details: format!("wrong space: {details}"),
        likely_cause,
    }
}

/// Describes a distance past the end; the object's name follows.
fn past_end(past: u64) -> String {
    match past {
        0 => "right past the end of".to_owned(),
        past => format!("{} past the end of", count(past)),
    }
}
