//! What was seen of a mistake: the bytes that were touched, the lanes that came.

use super::words::{allocation, count, lanes};
use crate::memory::global::Global;

/// What was touched, or who was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Bytes of shared memory.
    Shared { at: u64, bytes: u64 },
    /// Bytes of device memory.
    Device { at: u64, bytes: u64 },
    /// Lanes of a warp that came to a barrier, of those that live.
    Came {
        came: u32,
        alive: u32,
        /// Where one of the others was.
        elsewhere: Option<u32>,
    },
    /// A mask, and the lanes of it, or of the warp, that are wrong.
    Mask { mask: u32, wrong: u32 },
    /// Nothing more.
    Nothing,
}

impl Evidence {
    /// In words; empty where there is nothing to say.
    pub fn describe(&self, global: &Global) -> String {
        match *self {
            Evidence::Shared { at, bytes } => {
                format!("{} at offset {at:#x} of shared memory", count(bytes))
            }
            Evidence::Device { at, bytes } => match global.known(at) {
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
            Evidence::Mask { mask, wrong } => {
                format!("the mask is {mask:#010x}; lanes {}", lanes(wrong))
            }
            Evidence::Nothing => String::new(),
        }
    }
}
