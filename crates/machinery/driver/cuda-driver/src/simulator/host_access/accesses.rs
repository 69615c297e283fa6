//! The host memory that an operation accesses.

use cuda_sim::check::Severity;
use cuda_sim::driver::{CheckedLaunch, Driver, Memcpy};
use cuda_sim::memory::global::AllocationKind;

use super::{HostAccess, HostAccesses, Source, hash};
use crate::names;
use crate::simulator::stream_op::StreamOp;

/// Adds the page-locked and managed allocations that `op` accesses, and for a graph's copies the pageable
/// memory that they read.
pub fn add_accesses(driver: &Driver, op: &StreamOp, in_graph: bool, accesses: &mut HostAccesses) {
    match op {
        StreamOp::Memcpy(copy) => add_copy(driver, copy, in_graph, accesses),
        StreamOp::Memset(memset) => {
            let value = match memset.value {
                cuda_sim::driver::MemsetValue::U8(_) => 1,
                cuda_sim::driver::MemsetValue::U16(_) => 2,
                cuda_sim::driver::MemsetValue::U32(_) => 4,
            };
            let row = memset.width * value;
            let bytes = memset.pitch * memset.height.saturating_sub(1) + row;
            if host_accessible(driver, memset.address).is_some() {
                accesses.ranges.push(HostAccess {
                    start: memset.address,
                    end: memset.address + bytes,
                    read_only: false,
                    severity: Severity::Error,
                    description: format!("a fill of {bytes} bytes writes"),
                });
            }
        }
        StreamOp::Kernel(kernel) => add_kernel(driver, &kernel.launch, accesses),
        StreamOp::Graph(body) => {
            for node in body.nodes.values().filter(|node| node.enabled) {
                add_accesses(driver, &node.op, true, accesses);
            }
        }
        StreamOp::Empty
        | StreamOp::Host(_)
        | StreamOp::RecordEvent(_)
        | StreamOp::WaitEvent(_)
        | StreamOp::Allocate(_)
        | StreamOp::Free(_) => {}
    }
}

/// Returns the kind of the allocation at an address if the host can access it; `None` for memory not
/// allocated by the driver.
fn host_accessible(driver: &Driver, address: u64) -> Option<AllocationKind> {
    let kind = driver.allocation(address).ok()?.kind;
    matches!(kind, AllocationKind::Host | AllocationKind::Managed).then_some(kind)
}

fn add_copy(driver: &Driver, copy: &Memcpy, in_graph: bool, accesses: &mut HostAccesses) {
    let Some([dst, src]) = driver.copy_spans(copy) else {
        return;
    };
    let bytes = copy.width * copy.height * copy.depth;
    for ((start, span), read_only, verb) in [(dst, false, "writes"), (src, true, "reads")] {
        if host_accessible(driver, start).is_some() {
            accesses.ranges.push(HostAccess {
                start,
                end: start + span,
                read_only,
                severity: Severity::Error,
                description: format!("a copy of {bytes} bytes {verb}"),
            });
        }
    }
    let (start, span) = src;
    if in_graph && span == bytes && driver.allocation(start).is_err() {
        accesses.sources.push(Source {
            start,
            bytes,
            // SAFETY: the source of a graph's copy must be readable when the graph is launched.
            hash: unsafe { hash(start, bytes) },
        });
    }
}

/// Adds the allocations whose addresses are in a kernel's arguments: the kernel may access all of their memory.
fn add_kernel(driver: &Driver, launch: &CheckedLaunch, accesses: &mut HostAccesses) {
    let name = driver.function_name(launch.function()).unwrap_or_default();
    let words = launch.spec().parameters.chunks_exact(8);
    for word in words.filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?))) {
        let Some(kind) = host_accessible(driver, word) else {
            continue;
        };
        let Ok(allocation) = driver.allocation(word) else {
            continue;
        };
        accesses.ranges.push(HostAccess {
            start: allocation.base,
            end: allocation.base + allocation.size,
            read_only: false,
            // Only a warning: kernel and host may communicate through page-locked memory.
            severity: match kind {
                AllocationKind::Managed => Severity::Error,
                _ => Severity::Warning,
            },
            description: format!("kernel {} may use", names::short(name)),
        });
    }
}
