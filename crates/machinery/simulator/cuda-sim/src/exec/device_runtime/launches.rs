//! Launches, copies and fills by kernels. They start when the grid is complete, in the order in which each block has
//! submitted them, or when a thread calls `cudaDeviceSynchronize`. This order satisfies all streams and events, so that
//! streams other than the tail stream only have handles.
//!
//! Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"; section "Device-side Launch from PTX".

use super::unreadable;
use crate::exec::memory::state_space::{GenericSpace, SpaceAccess};
use crate::exec::sm::launch_spec::LaunchSpec;
use crate::exec::sm::launch_spec::{DeviceOperation, Submission};
use crate::exec::sm::runtime::{PreparedLaunch, error};
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};
use crate::memory::{FUNCTION_BASE, FUNCTION_STEP, LOCAL_WINDOW, in_window};
use std::time::Instant;

/// `cudaStreamTailLaunch`.
const TAIL_LAUNCH: u64 = 3;

impl Sm {
    /// Returns the number in the running block of a lane's thread.
    fn thread_of(&self, lane: usize) -> u32 {
        self.block.warp().index * LANES as u32 + lane as u32
    }

    /// Returns a call's result of the type `cudaError_t` to a lane.
    fn return_error(&mut self, inst: &Inst, lane: usize, result: Result<(), u32>) {
        self.keep_error(lane, result);
        let code = result.err().unwrap_or(0);
        self.return_value(inst, lane, &code.to_le_bytes());
    }

    /// Returns the address of a buffer to a lane: null after an error.
    fn return_buffer(&mut self, inst: &Inst, lane: usize, buffer: Result<u64, u32>) {
        self.keep_error(lane, buffer);
        self.return_value(inst, lane, &buffer.unwrap_or(0).to_le_bytes());
    }

    /// Keeps the error of a call as the last one of a lane's thread.
    fn keep_error<T>(&mut self, lane: usize, result: Result<T, u32>) {
        if let Err(code) = result {
            let thread = self.thread_of(lane);
            self.block.last_errors.insert(thread, code);
        }
    }

    /// Returns a lane's argument `n` of the type `dim3`.
    fn dim3_argument(&self, inst: &Inst, n: usize, lane: usize) -> [u32; 3] {
        let bytes: [u8; 12] = self.argument_bytes(inst, n, lane);
        let (words, _) = bytes.as_chunks::<4>();
        [0, 1, 2].map(|axis| u32::from_le_bytes(words[axis]))
    }

    /// Returns the kernel at a function's address.
    fn kernel_at(&self, address: u64) -> Result<usize, u32> {
        let offset = address.wrapping_sub(FUNCTION_BASE);
        let mut kernels = self.grid.program.listing.kernels.iter();
        let is_at = |function: usize| function as u64 * FUNCTION_STEP == offset;
        let kernel = kernels.position(|kernel| is_at(kernel.function));
        kernel.ok_or(error::INVALID_DEVICE_FUNCTION)
    }

    /// Allocates a buffer of the device heap for a launch's arguments.
    fn allocate_buffer(&self, bytes: u64) -> Result<u64, u32> {
        let heap = self.grid.heap.as_ref();
        let address = heap.map_or(0, |heap| heap.state().allocate(bytes.max(1)));
        match address {
            0 => Err(error::LAUNCH_OUT_OF_RESOURCES),
            address => Ok(address),
        }
    }

    /// Submits a launch with the arguments at `buffer`, and frees the buffer.
    fn submit_launch(
        &mut self,
        lane: usize,
        buffer: u64,
        stream: u64,
        prepared: PreparedLaunch,
    ) -> Result<(), u32> {
        let kernel = &self.grid.program.listing.kernels[prepared.kernel];
        let mut parameters = vec![0; kernel.param_bytes as usize];
        let host = GenericSpace::host(self, lane, buffer, parameters.len() as u64);
        if !parameters.is_empty() {
            if host.is_null() {
                return Err(error::INVALID_VALUE);
            }
            // SAFETY: `host` is not null, so all bytes of the parameters are valid there.
            unsafe { host.copy_to(parameters.as_mut_ptr(), parameters.len()) };
        }
        let heap = self.grid.heap.clone();
        if !heap.is_some_and(|heap| heap.state().free(buffer)) {
            return Err(error::INVALID_VALUE);
        }
        let spec = LaunchSpec {
            dynamic_shared: prepared.dynamic_shared,
            ..LaunchSpec::new(prepared.grid, prepared.block, &parameters)
        };
        self.check_launch(prepared.kernel, &spec)?;
        self.submit(DeviceOperation::Launch(prepared.kernel, spec), stream)
    }

    fn check_launch(&self, kernel: usize, spec: &LaunchSpec) -> Result<(), u32> {
        let submitter = self.grid.submitter();
        submitter.map_or(Err(error::LAUNCH_OUT_OF_RESOURCES), |submitter| {
            submitter.check(kernel, spec)
        })
    }

    /// Submits an operation of the running block to a stream.
    fn submit(&mut self, operation: DeviceOperation, stream: u64) -> Result<(), u32> {
        let is_tail = stream == TAIL_LAUNCH;
        let wave = self.block.number / self.grid.resident.max(1) as u64;
        let submitter = self.grid.submitter();
        let slot = submitter.and_then(|submitter| submitter.take_slot(wave, is_tail));
        let slot = slot.ok_or(error::LAUNCH_PENDING_COUNT_EXCEEDED)?;
        if !is_tail {
            let slots = self.block.slots.entry(self.block.running).or_default();
            slots.push(slot.clone());
        }
        self.submissions.push(Submission {
            block: self.block.number,
            launcher: self.grid.kernel,
            slot,
            is_tail,
            operation,
        });
        Ok(())
    }

    /// Releases the slots of the running warp's last launch: on a GPU, a grid that can start is complete before the warp
    /// launches the next one.
    fn release_slots(&mut self) {
        let slots = self.block.slots.remove(&self.block.running);
        slots.iter().flatten().for_each(|slot| slot.release());
    }

    /// Writes a new handle at a lane's generic address. Returns false if the address is invalid.
    fn write_handle(&mut self, lane: usize, address: u64) -> bool {
        let runtime = self.grid.runtime.as_ref();
        let handle = runtime.map_or(0, |runtime| runtime.next_handle());
        let host = GenericSpace::host(self, lane, address, 8);
        if host.is_null() || !GenericSpace::writable(self, address) {
            return false;
        }
        // SAFETY: `host` is not null, so 8 bytes are valid there, and kernels may write them.
        unsafe { host.cast::<[u8; 8]>().write(handle.to_le_bytes()) };
        let warp = self.block.running;
        if let (true, Some(shadow)) = (in_window(address, LOCAL_WINDOW), &mut self.block.shadow) {
            shadow.local.write(warp, lane, address - LOCAL_WINDOW, 8);
        }
        true
    }
}

/// Runs `cudaGetParameterBuffer(alignment, bytes)`. Buffers have the alignment of the device heap.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn parameter_buffer(sm: &mut Sm, inst: &Inst) -> Next {
    for lane in active(sm.mask) {
        let buffer = sm.allocate_buffer(sm.argument(inst, 1, lane));
        sm.return_buffer(inst, lane, buffer);
    }
    inst.next()
}

/// Runs `cudaGetParameterBufferV2(kernel, grid, block, dynamic shared bytes)`.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn parameter_buffer_v2(sm: &mut Sm, inst: &Inst) -> Next {
    for lane in active(sm.mask) {
        let buffer = sm.kernel_at(sm.argument(inst, 0, lane)).and_then(|kernel| {
            let prepared = PreparedLaunch {
                kernel,
                grid: sm.dim3_argument(inst, 1, lane),
                block: sm.dim3_argument(inst, 2, lane),
                dynamic_shared: sm.argument(inst, 3, lane) as u32,
            };
            let bytes = sm.grid.program.listing.kernels[kernel].param_bytes;
            let spec = LaunchSpec {
                dynamic_shared: prepared.dynamic_shared,
                ..LaunchSpec::new(prepared.grid, prepared.block, &vec![0; bytes as usize])
            };
            sm.check_launch(kernel, &spec)?;
            let buffer = sm.allocate_buffer(bytes.into())?;
            if let Some(runtime) = &sm.grid.runtime {
                runtime.prepare(buffer, prepared);
            }
            Ok(buffer)
        });
        sm.return_buffer(inst, lane, buffer);
    }
    inst.next()
}

/// Runs `cudaLaunchDevice(kernel, buffer, grid, block, dynamic shared bytes, stream)`.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn launch(sm: &mut Sm, inst: &Inst) -> Next {
    sm.release_slots();
    for lane in active(sm.mask) {
        let buffer = sm.argument(inst, 1, lane);
        let stream = sm.argument(inst, 5, lane);
        let result = sm.kernel_at(sm.argument(inst, 0, lane)).and_then(|kernel| {
            let prepared = PreparedLaunch {
                kernel,
                grid: sm.dim3_argument(inst, 2, lane),
                block: sm.dim3_argument(inst, 3, lane),
                dynamic_shared: sm.argument(inst, 4, lane) as u32,
            };
            sm.submit_launch(lane, buffer, stream, prepared)
        });
        sm.return_error(inst, lane, result);
    }
    inst.next()
}

/// Runs `cudaLaunchDeviceV2(buffer, stream)`.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn launch_v2(sm: &mut Sm, inst: &Inst) -> Next {
    sm.release_slots();
    for lane in active(sm.mask) {
        let (buffer, stream) = (sm.argument(inst, 0, lane), sm.argument(inst, 1, lane));
        let runtime = sm.grid.runtime.as_ref();
        let prepared = runtime.and_then(|runtime| runtime.take_prepared(buffer));
        let result = match prepared {
            Some(prepared) => sm.submit_launch(lane, buffer, stream, prepared),
            None => Err(error::INVALID_VALUE),
        };
        sm.return_error(inst, lane, result);
    }
    inst.next()
}

/// Runs `cudaDeviceSynchronize()`: runs all that the block has submitted, except for tail launches.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn synchronize(sm: &mut Sm, inst: &Inst) -> Next {
    let grid = sm.grid.clone();
    let mut result = Err(error::SYNC_DEPTH_EXCEEDED);
    if let Some(submitter) = grid.submitter().filter(|submitter| submitter.can_wait()) {
        let block = sm.block.number;
        let is_awaited = |submission: &Submission| submission.block == block && !submission.is_tail;
        let all = std::mem::take(&mut sm.submissions);
        let (awaited, rest) = all.into_iter().partition(is_awaited);
        sm.submissions = rest;
        match submitter.run(block, awaited) {
            Err(fault) => {
                sm.fault = Some(fault);
                return std::ptr::null();
            }
            Ok(text) if !text.is_empty() => sm.print(text),
            Ok(_) => {}
        }
        // The time limit for a block that does not end excludes the launches that it has waited for.
        if let Some((_, since)) = &mut sm.watchdog.last_change {
            *since = Instant::now();
        }
        result = Ok(());
    }
    for lane in active(sm.mask) {
        sm.return_error(inst, lane, result);
    }
    inst.next()
}

/// Runs `cudaGetLastError()`.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn take_last_error(sm: &mut Sm, inst: &Inst) -> Next {
    for lane in active(sm.mask) {
        let thread = sm.thread_of(lane);
        let code = sm.block.last_errors.remove(&thread).unwrap_or(0);
        sm.return_value(inst, lane, &code.to_le_bytes());
    }
    inst.next()
}

/// Runs `cudaPeekAtLastError()`.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn peek_last_error(sm: &mut Sm, inst: &Inst) -> Next {
    for lane in active(sm.mask) {
        let code = sm.block.last_errors.get(&sm.thread_of(lane));
        let code = code.copied().unwrap_or(0);
        sm.return_value(inst, lane, &code.to_le_bytes());
    }
    inst.next()
}

/// Runs `cudaStreamCreateWithFlags(stream, flags)`. The manual requires a flag, and an NVIDIA H200 (driver 580) does not.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn create_stream(sm: &mut Sm, inst: &Inst) -> Next {
    create(sm, inst, 0)
}

/// Runs `cudaEventCreateWithFlags(event, flags)`.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn create_event(sm: &mut Sm, inst: &Inst) -> Next {
    /// `cudaEventDisableTiming`, which is required.
    const DISABLE_TIMING: u32 = 2;
    create(sm, inst, DISABLE_TIMING)
}

/// Stores a handle at the address in argument 0 if argument 1 contains the required flags.
fn create(sm: &mut Sm, inst: &Inst, required_flags: u32) -> Next {
    for lane in active(sm.mask) {
        let address = sm.argument(inst, 0, lane);
        let flags = sm.argument(inst, 1, lane) as u32;
        let result = match flags & required_flags == required_flags {
            true if !sm.write_handle(lane, address) => {
                return sm.fail(inst, lane, unreadable(address));
            }
            true => Ok(()),
            false => Err(error::INVALID_VALUE),
        };
        sm.return_error(inst, lane, result);
    }
    inst.next()
}

/// Runs a function that has no effect, because submissions run in order.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn succeed(sm: &mut Sm, inst: &Inst) -> Next {
    for lane in active(sm.mask) {
        sm.return_error(inst, lane, Ok(()));
    }
    inst.next()
}

/// Runs `cudaMemcpyAsync(to, from, bytes, kind, stream)`.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn copy(sm: &mut Sm, inst: &Inst) -> Next {
    sm.release_slots();
    for lane in active(sm.mask) {
        let [to, from, bytes] = [0, 1, 2].map(|n| sm.argument(inst, n, lane));
        let stream = sm.argument(inst, 4, lane);
        let operation = DeviceOperation::Copy { to, from, bytes };
        let result = submit_access(sm, operation, &[to, from], bytes, stream);
        sm.return_error(inst, lane, result);
    }
    inst.next()
}

/// Runs `cudaMemsetAsync(address, value, bytes, stream)`.
///
/// # Safety
/// As for [`parameter_buffer`].
pub unsafe fn fill(sm: &mut Sm, inst: &Inst) -> Next {
    sm.release_slots();
    for lane in active(sm.mask) {
        let [address, value, bytes, stream] = [0, 1, 2, 3].map(|n| sm.argument(inst, n, lane));
        let operation = DeviceOperation::Fill {
            address,
            value: value as u8,
            bytes,
        };
        let result = submit_access(sm, operation, &[address], bytes, stream);
        sm.return_error(inst, lane, result);
    }
    inst.next()
}

/// Submits a copy or fill of `bytes` bytes of device memory at each of the addresses.
fn submit_access(
    sm: &mut Sm,
    operation: DeviceOperation,
    addresses: &[u64],
    bytes: u64,
    stream: u64,
) -> Result<(), u32> {
    let regions = &sm.grid.regions;
    let is_valid = |&address: &u64| !regions.find(address).host(address, bytes).is_null();
    match addresses.iter().all(is_valid) {
        true => sm.submit(operation, stream),
        false => Err(error::INVALID_VALUE),
    }
}
