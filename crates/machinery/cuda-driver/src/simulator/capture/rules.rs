//! The calls that are forbidden during a capture. A forbidden call returns an error and invalidates the
//! captures that
//! forbid it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::thread;

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};

use super::state::{CaptureId, Mode, any};

thread_local! {
    /// The calling thread's capture mode (`cuThreadExchangeStreamCaptureMode`).
    static MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

/// Sets the calling thread's mode; returns the previous one.
pub fn exchange(mode: Mode) -> Mode {
    MODE.replace(mode)
}

/// Rejects a potentially unsafe call, such as an allocation or a query of completion, if this thread is
/// capturing, or any
/// thread is capturing in global mode. An NVIDIA H200 behaves the same (driver 580.159.04).
pub fn safe() -> Result<(), CudaError> {
    let own = MODE.get();
    let Some(mut captures) = any() else {
        return Ok(());
    };
    if own == Mode::Relaxed {
        return Ok(());
    }
    let here = thread::current().id();
    let forbids = captures.captures.iter().filter(|(_, capture)| {
        let of_this_thread = capture.thread == here && capture.mode != Mode::Relaxed;
        of_this_thread || (own == Mode::Global && capture.mode == Mode::Global)
    });
    let found: BTreeSet<CaptureId> = forbids.map(|(id, _)| *id).collect();
    refuse(&mut captures, found, CudaError::StreamCaptureUnsupported)
}

/// Rejects waiting for, or querying, a capturing stream, or a default stream that waits for one.
pub fn may_wait(context: ContextId, stream: StreamId) -> Result<(), CudaError> {
    if stream == StreamId::LEGACY {
        return legacy(context);
    }
    let Some(mut captures) = any() else {
        return Ok(());
    };
    let found = captures.streams.get(&stream).map(|member| member.capture);
    let found = found.into_iter().collect();
    refuse(&mut captures, found, CudaError::StreamCaptureUnsupported)
}

/// Rejects waiting for a context in which a stream is capturing.
pub fn may_wait_for_all(context: ContextId) -> Result<(), CudaError> {
    let Some(mut captures) = any() else {
        return Ok(());
    };
    let members = captures.streams.values();
    let found = members.filter(|member| member.context == context);
    let found = found.map(|member| member.capture).collect();
    refuse(&mut captures, found, CudaError::StreamCaptureUnsupported)
}

/// Rejects operations in the legacy default stream if it would wait for a capturing stream.
pub fn legacy(context: ContextId) -> Result<(), CudaError> {
    let Some(mut captures) = any() else {
        return Ok(());
    };
    let members = captures.streams.values();
    let found = members.filter(|member| member.blocking && member.context == context);
    let found = found.map(|member| member.capture).collect();
    refuse(&mut captures, found, CudaError::StreamCaptureImplicit)
}

/// Rejects waiting for, or querying, an event recorded in a capture.
pub fn may_wait_for(event: EventId) -> Result<(), CudaError> {
    let Some(mut captures) = any() else {
        return Ok(());
    };
    let Some(mark) = captures.events.get(&event) else {
        return Ok(());
    };
    let found = BTreeSet::from([mark.capture]);
    if captures.captures.contains_key(&mark.capture) {
        captures.invalidate(&found, CudaError::CapturedEvent);
    }
    Err(CudaError::CapturedEvent)
}

/// Returns true if a stream is capturing.
pub fn is_captured(stream: StreamId) -> bool {
    any().is_some_and(|captures| captures.streams.contains_key(&stream))
}

/// Rejects an operation that cannot be captured, if its stream is capturing.
pub fn uncapturable(context: ContextId, stream: StreamId) -> Result<(), CudaError> {
    may_wait(context, stream)
}

fn refuse(
    captures: &mut super::state::Captures,
    found: BTreeSet<CaptureId>,
    error: CudaError,
) -> Result<(), CudaError> {
    match found.is_empty() {
        true => Ok(()),
        false => Err(captures.invalidate(&found, error)),
    }
}
