//! Evidence of a finding: the accessed bytes, or the lanes that arrived.

use super::display::{allocation as display_allocation, count, lanes};
use crate::isa::check_event::SharedArray;
use crate::memory::global::Global;

/// The evidence of the first occurrence of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Bytes of shared memory.
    Shared { at: u64, bytes: u64 },
    /// Bytes of shared memory outside `array`, the array that the address was computed from.
    OutsideArray {
        at: u64,
        bytes: u64,
        array: SharedArray,
    },
    /// Bytes of a thread's local memory.
    Local { at: u64, bytes: u64 },
    /// Bytes of device memory.
    Device { at: u64, bytes: u64 },
    /// Part of a warp arrived at a barrier. `arrived` and `live` are lane masks: the lanes that arrived, and
    /// the lanes that have not exited.
    PartialArrival {
        arrived: u32,
        live: u32,
        /// The current instruction of one of the absent lanes, if it is known.
        elsewhere: Option<u32>,
    },
    /// `threads` threads of the block exited before a barrier, one of them after the instruction `after`.
    ExitedThreads { threads: u32, after: u32 },
    /// The mask operand of a warp-wide instruction, and the lanes that it includes or omits by mistake.
    Mask { mask: u32, wrong: u32 },
    /// No evidence beyond the kind of finding.
    None,
}

impl Evidence {
    /// Formats the evidence; empty for [`Evidence::None`]. Allocations in `global` are named.
    pub fn describe(&self, global: &Global) -> String {
        match *self {
            Evidence::Shared { at, bytes } => {
                format!("{} at offset {at:#x} of shared memory", count(bytes))
            }
            Evidence::OutsideArray { at, bytes, array } => {
                let (start, end) = (u64::from(array.start), u64::from(array.end));
                let position = match at.checked_sub(start) {
                    Some(byte) => format!("byte {byte}"),
                    None => format!("{} before the start", count(start - at)),
                };
                format!(
                    "{} at offset {at:#x} of shared memory: {position} of an array of {}",
                    count(bytes),
                    count(end - start)
                )
            }
            Evidence::Local { at, bytes } => {
                format!("{} at offset {at:#x} of local memory", count(bytes))
            }
            Evidence::Device { at, bytes } => match global.record(at) {
                Some(allocation) if allocation.base == at && allocation.bytes == bytes => {
                    format!(
                        "{} at {at:#x}: all of {}",
                        count(bytes),
                        display_allocation(&allocation)
                    )
                }
                Some(allocation) => format!(
                    "{} at {at:#x}: byte {} of {}",
                    count(bytes),
                    at - allocation.base,
                    display_allocation(&allocation)
                ),
                None => format!("{} at {at:#x}", count(bytes)),
            },
            Evidence::PartialArrival { arrived, live, .. } => {
                let (arrived, live) = (arrived.count_ones(), live.count_ones());
                format!("{arrived} of the warp's {live} threads are here, the others are not")
            }
            Evidence::ExitedThreads { threads: 1, .. } => {
                "1 thread of the block has exited and will not arrive".to_owned()
            }
            Evidence::ExitedThreads { threads, .. } => {
                format!("{threads} threads of the block have exited and will not arrive")
            }
            Evidence::Mask { mask, wrong } => {
                format!("the mask is {mask:#010x}; lanes {}", lanes(wrong))
            }
            Evidence::None => String::new(),
        }
    }
}
