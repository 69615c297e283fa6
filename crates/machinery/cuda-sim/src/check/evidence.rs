//! What was seen of a mistake: the bytes that were touched, the lanes that came.

use super::words::{allocation, count, lanes};
use crate::isa::checked::Array;
use crate::memory::global::Global;

/// What was seen of a mistake the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Bytes of shared memory.
    Shared { at: u64, bytes: u64 },
    /// Bytes of shared memory, and the array that was meant.
    OutsideArray { at: u64, bytes: u64, array: Array },
    /// Bytes of a thread's local memory.
    Local { at: u64, bytes: u64 },
    /// Bytes of device memory.
    Device { at: u64, bytes: u64 },
    /// Part of a warp came to a barrier. `came` and `alive` are masks of its lanes: those that
    /// came, and those that have not ended.
    Came {
        came: u32,
        alive: u32,
        /// The instruction at which one of the lanes was that did not come, if that is known.
        elsewhere: Option<u32>,
    },
    /// So many threads of the block had ended before a barrier. One of them did after this
    /// instruction.
    Ended { threads: u32, after: u32 },
    /// The mask that a warp-wide instruction was given, and the lanes that it names wrongly or lacks.
    Mask { mask: u32, wrong: u32 },
    /// There is nothing to say beside the kind of mistake.
    Nothing,
}

impl Evidence {
    /// The evidence in words; empty where there is nothing to say. An allocation is called by its
    /// name or size.
    pub fn describe(&self, global: &Global) -> String {
        match *self {
            Evidence::Shared { at, bytes } => {
                format!("{} at offset {at:#x} of shared memory", count(bytes))
            }
            Evidence::OutsideArray { at, bytes, array } => {
                let (start, end) = (u64::from(array.start), u64::from(array.end));
                let place = match at.checked_sub(start) {
                    Some(byte) => format!("byte {byte}"),
                    None => format!("{} before the start", count(start - at)),
                };
                format!(
                    "{} at offset {at:#x} of shared memory: {place} of an array of {}",
                    count(bytes),
                    count(end - start)
                )
            }
            Evidence::Local { at, bytes } => {
                format!("{} at offset {at:#x} of local memory", count(bytes))
            }
            Evidence::Device { at, bytes } => match global.known(at) {
                Some(known) if known.base == at && known.bytes == bytes => {
                    format!("{} at {at:#x}: all of {}", count(bytes), allocation(&known))
                }
                Some(known) => format!(
                    "{} at {at:#x}: byte {} of {}",
                    count(bytes),
                    at - known.base,
                    allocation(&known)
                ),
                None => format!("{} at {at:#x}", count(bytes)),
            },
            Evidence::Came { came, alive, .. } => {
                let (here, of) = (came.count_ones(), alive.count_ones());
                format!("{here} of the warp's {of} threads are here, the others are not")
            }
            Evidence::Ended { threads: 1, .. } => {
                "1 thread of the block has ended and does not come".to_owned()
            }
            Evidence::Ended { threads, .. } => {
                format!("{threads} threads of the block have ended and do not come")
            }
            Evidence::Mask { mask, wrong } => {
                format!("the mask is {mask:#010x}; lanes {}", lanes(wrong))
            }
            Evidence::Nothing => String::new(),
        }
    }
}
