//! The device runtime, which a GPU's driver provides: `printf`, `assert`, `malloc` and `free`.
//!
//! Source: CUDA C++ Programming Guide, "Formatted Output" and "Assertion"; PTX ISA section 7.3
//! (`vprintf`).

mod printf;

use super::memory::state_space::{GenericSpace, SpaceAccess};
use super::sm::{Inst, Next, Sm};
use crate::check::{AddressedMemory, FaultKind};
use crate::lanes::{LANES, active};

/// Maximum length in bytes of a string that a kernel passes.
const MAX_STRING: u64 = 64 * 1024;

impl Sm {
    /// Returns `N` bytes at a lane's generic address, or `None` if the address is invalid.
    pub fn bytes_at<const N: usize>(&mut self, lane: usize, address: u64) -> Option<[u8; N]> {
        let host = GenericSpace::host(self, lane, address, N as u64);
        // SAFETY: `host` is not null, so `N` bytes are valid there.
        (!host.is_null()).then(|| unsafe { host.cast::<[u8; N]>().read() })
    }

    /// Returns the string at a lane's generic address, or `None` if it leaves valid memory.
    pub fn string_at(&mut self, lane: usize, address: u64) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        if let Some(checker) = &self.checker {
            checker.use_memory(address);
        }
        for offset in 0..MAX_STRING {
            match self.bytes_at::<1>(lane, address.wrapping_add(offset))? {
                [0] => return Some(text),
                [byte] => text.push(byte),
            }
        }
        Some(text)
    }

    /// Returns a lane's argument `n` of call site `imm`: 8 bytes of the caller's local memory.
    pub fn argument(&self, inst: &Inst, n: usize, lane: usize) -> u64 {
        let offset = self.grid.program.call_sites[inst.imm as usize].arguments[n].0;
        let at = lane * self.locals.bytes as usize + (self.local_base + offset) as usize;
        let mut bytes = [0; 8];
        if let Some(local) = &self.block.warp().local {
            // The last argument may be narrower than 8 bytes and end at the end of local memory.
            let end = (at + 8).min(local.len());
            bytes[..end - at].copy_from_slice(&local[at..end]);
        }
        u64::from_le_bytes(bytes)
    }

    /// Stores a call's result for one lane, if the caller uses it.
    fn return_value(&mut self, inst: &Inst, lane: usize, result: &[u8]) {
        let results = &self.grid.program.call_sites[inst.imm as usize].results;
        let Some(&(_, to, _)) = results.first() else {
            return;
        };
        let at = lane * self.locals.bytes as usize + (self.local_base + to) as usize;
        if let Some(local) = self.block.warp_mut().local.as_mut() {
            local[at..at + result.len()].copy_from_slice(result);
        }
    }
}

/// Maximum bytes of output kept per block; later output is dropped. (A GPU keeps this amount for all blocks
/// together, and drops earlier output.)
const MAX_OUTPUT: usize = 1 << 20;

/// Runs `printf`. The arguments are pointers to the format string and to the arguments, promoted as in C.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn vprintf(sm: &mut Sm, inst: &Inst) -> Next {
    let mut text = Vec::new();
    for lane in active(sm.mask) {
        let (format, arguments) = (sm.argument(inst, 0, lane), sm.argument(inst, 1, lane));
        let Some(format_text) = sm.string_at(lane, format) else {
            return sm.fail(inst, lane, unreadable(format));
        };
        let mut list = printf::Arguments::new(sm, lane, arguments);
        let written = printf::format(&format_text, &mut list, &mut text);
        let count = match written {
            Ok(count) => count,
            Err(address) => return sm.fail(inst, lane, unreadable(address)),
        };
        sm.return_value(inst, lane, &count.to_le_bytes());
    }
    let block = sm.block.number;
    if sm.printed.last().is_none_or(|(last, _)| *last != block) {
        sm.printed.push((block, Vec::new()));
    }
    if let Some((_, printed)) = sm.printed.last_mut() {
        text.truncate(MAX_OUTPUT.saturating_sub(printed.len()));
        printed.extend(text);
    }
    inst.next()
}

fn unreadable(address: u64) -> FaultKind {
    FaultKind::IllegalAddress {
        address,
        bytes: 1,
        write: false,
        memory: AddressedMemory::Generic,
    }
}

/// Runs `__assertfail(message, file, line, function, character size)`.
///
/// # Safety
/// As for [`vprintf`].
pub unsafe fn assert_fail(sm: &mut Sm, inst: &Inst) -> Next {
    let lane = sm.mask.trailing_zeros() as usize & (LANES - 1);
    let mut string = |n: usize| {
        let address = sm.argument(inst, n, lane);
        let text = sm.string_at(lane, address).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    };
    let (message, file, function) = (string(0), string(1), string(3));
    let line = sm.argument(inst, 2, lane) as u32;
    let [bx, by, bz] = sm.block.id;
    let [tx, ty, tz] = sm
        .grid
        .dims
        .thread_index(sm.block.warp().index * LANES as u32 + lane as u32);
    let message = format!(
        "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] Assertion `{message}` failed."
    );
    sm.fail(inst, lane, FaultKind::Assert { message })
}

/// Runs `malloc(bytes)`: returns an address, or 0 if there is not enough memory.
///
/// # Safety
/// As for [`vprintf`].
pub unsafe fn malloc(sm: &mut Sm, inst: &Inst) -> Next {
    let requests = active(sm.mask).map(|lane| (lane, sm.argument(inst, 0, lane)));
    let requests: Vec<(usize, u64)> = requests.collect();
    let addresses: Vec<(usize, u64)> = match &sm.grid.heap {
        Some(heap) => {
            let mut state = heap.state();
            let requests = requests.iter();
            requests
                .map(|&(lane, bytes)| (lane, state.allocate(bytes)))
                .collect()
        }
        None => requests.iter().map(|&(lane, _)| (lane, 0)).collect(),
    };
    for (lane, address) in addresses {
        sm.return_value(inst, lane, &address.to_le_bytes());
    }
    inst.next()
}

/// Runs `free(address)`; address 0 is ignored.
///
/// # Safety
/// As for [`vprintf`].
pub unsafe fn free(sm: &mut Sm, inst: &Inst) -> Next {
    let heap = sm.grid.heap.clone();
    for lane in active(sm.mask) {
        let address = sm.argument(inst, 0, lane);
        let freed = heap.as_ref().is_some_and(|heap| heap.state().free(address));
        if address != 0 && !freed {
            return sm.fail(inst, lane, FaultKind::InvalidFree { address });
        }
    }
    inst.next()
}
