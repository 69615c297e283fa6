//! The device runtime, which a GPU's driver or NVIDIA's library `cudadevrt` provides: `printf`, `assert`, `malloc`
//! and `free`, launches by kernels, and the functions for graphs.
//!
//! Source: CUDA C++ Programming Guide, "Formatted Output" and "Assertion"; PTX ISA section 7.3
//! (`vprintf`).

mod launches;
mod printf;

use super::memory::state_space::{GenericSpace, SpaceAccess};
use super::sm::{Handler, Inst, Next, Sm};
use crate::check::{AddressedMemory, FaultKind};
use crate::isa::listing::RuntimeCall;
use crate::lanes::{LANES, active};

/// Maximum length in bytes of a string that a kernel passes.
const MAX_STRING: u64 = 64 * 1024;

/// A function of the device runtime.
pub struct DeviceFunction {
    pub run: Handler,
    /// Number of arguments.
    pub arguments: usize,
    /// The size of the result in bytes; 0 if there is none.
    pub result_bytes: u32,
    /// True if it allocates or frees memory of the device heap.
    pub uses_heap: bool,
}

/// Returns a function of the device runtime by name.
pub fn find(name: &str) -> Option<DeviceFunction> {
    let (run, arguments, result_bytes): (Handler, usize, u32) = match name {
        "vprintf" => (vprintf, 2, 4),
        "__assertfail" => (assert_fail, 5, 4),
        "malloc" => (malloc, 1, 8),
        "free" => (free, 1, 0),
        "cudaGraphSetConditional" => (set_graph_condition, 2, 0),
        "cudaGetParameterBuffer" => (launches::parameter_buffer, 2, 8),
        "cudaGetParameterBufferV2" => (launches::parameter_buffer_v2, 4, 8),
        "cudaLaunchDevice" | "cudaLaunchDevice_ptsz" => (launches::launch, 6, 4),
        "cudaLaunchDeviceV2" | "cudaLaunchDeviceV2_ptsz" => (launches::launch_v2, 2, 4),
        "cudaDeviceSynchronize" | "__cudaDeviceSynchronizeDeprecationAvoidance" => {
            (launches::synchronize, 0, 4)
        }
        "cudaGetLastError" => (launches::take_last_error, 0, 4),
        "cudaPeekAtLastError" => (launches::peek_last_error, 0, 4),
        "cudaStreamCreateWithFlags" => (launches::create_stream, 2, 4),
        "cudaEventCreateWithFlags" => (launches::create_event, 2, 4),
        "cudaStreamDestroy" | "cudaEventDestroy" => (launches::succeed, 1, 4),
        "cudaEventRecord" | "cudaEventRecord_ptsz" => (launches::succeed, 2, 4),
        "cudaStreamWaitEvent" | "cudaStreamWaitEvent_ptsz" => (launches::succeed, 3, 4),
        "cudaMemcpyAsync" | "cudaMemcpyAsync_ptsz" => (launches::copy, 5, 4),
        "cudaMemsetAsync" | "cudaMemsetAsync_ptsz" => (launches::fill, 4, 4),
        _ => return None,
    };
    Some(DeviceFunction {
        run,
        arguments,
        result_bytes,
        uses_heap: matches!(name, "malloc" | "free") || name.contains("ParameterBuffer"),
    })
}

/// Returns the kind of call that a handler executes, if it takes the device a long time.
pub fn long_call(handler: Handler) -> Option<RuntimeCall> {
    let is = |function: Handler| std::ptr::fn_addr_eq(handler, function);
    match () {
        () if is(vprintf) => Some(RuntimeCall::Print),
        () if is(malloc) || is(free) => Some(RuntimeCall::Heap),
        () => None,
    }
}

/// Returns true if the device runtime has a function of this name.
pub fn is_device_function(name: &str) -> bool {
    find(name).is_some()
}

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
        u64::from_le_bytes(self.argument_bytes(inst, n, lane))
    }

    /// Returns the first `N` bytes of a lane's argument `n` of call site `imm`.
    fn argument_bytes<const N: usize>(&self, inst: &Inst, n: usize, lane: usize) -> [u8; N] {
        let offset = self.grid.program.call_sites[inst.imm as usize].arguments[n].0;
        let at = lane * self.locals.bytes as usize + (self.local.start + offset) as usize;
        let mut bytes = [0; N];
        if let Some(local) = &self.block.warp().local {
            // The last argument may be narrower and end at the end of local memory.
            let end = (at + N).min(local.len());
            bytes[..end - at].copy_from_slice(&local[at..end]);
        }
        bytes
    }

    /// Appends to the output of the running block.
    fn print(&mut self, mut text: Vec<u8>) {
        let block = self.block.number;
        if self.printed.last().is_none_or(|(last, _)| *last != block) {
            self.printed.push((block, Vec::new()));
        }
        if let Some((_, printed)) = self.printed.last_mut() {
            text.truncate(MAX_OUTPUT.saturating_sub(printed.len()));
            printed.extend(text);
        }
    }

    /// Stores a call's result for one lane, if the caller uses it.
    fn return_value(&mut self, inst: &Inst, lane: usize, result: &[u8]) {
        let results = &self.grid.program.call_sites[inst.imm as usize].results;
        let Some(&(_, to, _)) = results.first() else {
            return;
        };
        let at = lane * self.locals.bytes as usize + (self.local.start + to) as usize;
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
unsafe fn vprintf(sm: &mut Sm, inst: &Inst) -> Next {
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
    sm.print(text);
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
unsafe fn assert_fail(sm: &mut Sm, inst: &Inst) -> Next {
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
unsafe fn malloc(sm: &mut Sm, inst: &Inst) -> Next {
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
unsafe fn free(sm: &mut Sm, inst: &Inst) -> Next {
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

/// Runs `cudaGraphSetConditional(handle, value)`.
///
/// # Safety
/// As for [`vprintf`].
unsafe fn set_graph_condition(sm: &mut Sm, inst: &Inst) -> Next {
    for lane in active(sm.mask) {
        let (handle, value) = (sm.argument(inst, 0, lane), sm.argument(inst, 1, lane));
        if !sm.grid.graph_conditions.change(handle, value as u32) {
            return sm.fail(inst, lane, FaultKind::NoGraphCondition { handle });
        }
    }
    inst.next()
}
