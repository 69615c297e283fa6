//! The calls that are forbidden during a capture. A forbidden call returns an error and invalidates the
//! captures that forbid it.

use std::collections::BTreeSet;
use std::thread;

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};

use super::{CaptureId, Mode, try_captures};
use crate::simulator::thread::capture_mode;

/// Rejects a potentially unsafe call, such as an allocation or a query of completion, if this thread is
/// capturing, or any thread is capturing in global mode. An NVIDIA H200 behaves the same (driver 580.159.04).
pub fn check_safe() -> Result<(), CudaError> {
    let mode = capture_mode();
    let Some(mut captures) = try_captures() else {
        return Ok(());
    };
    if mode == Mode::Relaxed {
        return Ok(());
    }
    let this_thread = thread::current().id();
    let forbidding = captures.captures.iter().filter(|(_, capture)| {
        let of_this_thread = capture.thread == this_thread && capture.mode != Mode::Relaxed;
        of_this_thread || (mode == Mode::Global && capture.mode == Mode::Global)
    });
    let affected: BTreeSet<CaptureId> = forbidding.map(|(id, _)| *id).collect();
    reject(&mut captures, affected, CudaError::StreamCaptureUnsupported)
}

/// Rejects waiting for, or querying, a capturing stream, or a default stream that waits for one.
pub fn check_stream_wait(context: ContextId, stream: StreamId) -> Result<(), CudaError> {
    if stream == StreamId::LEGACY {
        return check_legacy_stream(context);
    }
    let Some(mut captures) = try_captures() else {
        return Ok(());
    };
    let affected = captures.streams.get(&stream).map(|member| member.capture);
    let affected = affected.into_iter().collect();
    reject(&mut captures, affected, CudaError::StreamCaptureUnsupported)
}

/// Rejects waiting for a context in which a stream is capturing.
pub fn check_context_wait(context: ContextId) -> Result<(), CudaError> {
    let Some(mut captures) = try_captures() else {
        return Ok(());
    };
    let members = captures.streams.values();
    let affected = members.filter(|member| member.context == context);
    let affected = affected.map(|member| member.capture).collect();
    reject(&mut captures, affected, CudaError::StreamCaptureUnsupported)
}

/// Rejects operations in the legacy default stream if it would wait for a capturing stream.
pub fn check_legacy_stream(context: ContextId) -> Result<(), CudaError> {
    let Some(mut captures) = try_captures() else {
        return Ok(());
    };
    let members = captures.streams.values();
    let affected = members.filter(|member| member.blocking && member.context == context);
    let affected = affected.map(|member| member.capture).collect();
    reject(&mut captures, affected, CudaError::StreamCaptureImplicit)
}

/// Rejects waiting for, or querying, an event recorded in a capture.
pub fn check_event_wait(event: EventId) -> Result<(), CudaError> {
    let Some(mut captures) = try_captures() else {
        return Ok(());
    };
    let Some(mark) = captures.events.get(&event) else {
        return Ok(());
    };
    let affected = BTreeSet::from([mark.capture]);
    if captures.captures.contains_key(&mark.capture) {
        captures.invalidate(&affected, CudaError::CapturedEvent);
    }
    Err(CudaError::CapturedEvent)
}

/// Returns true if a stream is capturing.
pub fn is_captured(stream: StreamId) -> bool {
    try_captures().is_some_and(|captures| captures.streams.contains_key(&stream))
}

/// Rejects an operation that cannot be captured, if its stream is capturing.
pub fn check_uncapturable(context: ContextId, stream: StreamId) -> Result<(), CudaError> {
    check_stream_wait(context, stream)
}

fn reject(
    captures: &mut super::Captures,
    affected: BTreeSet<CaptureId>,
    error: CudaError,
) -> Result<(), CudaError> {
    match affected.is_empty() {
        true => Ok(()),
        false => Err(captures.invalidate(&affected, error)),
    }
}
