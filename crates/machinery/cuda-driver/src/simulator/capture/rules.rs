//! Which calls are not allowed while something is captured. One that is made all the same answers an error
//! and ends what the captures that forbid it collect.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::thread;

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};

use super::state::{CaptureId, Mode, any};

thread_local! {
    /// The calling thread's own mode (`cuThreadExchangeStreamCaptureMode`).
    static MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

/// Sets the calling thread's mode; returns the one before.
pub fn exchange(mode: Mode) -> Mode {
    MODE.replace(mode)
}

/// Refuses a call that could do what a capture cannot collect, such as an allocation or a question whether work
/// is done, where this thread captures a stream, or any thread does so globally. An NVIDIA H200 answered so
/// (driver 580.159.04).
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

/// Refuses what waits for, or asks about, a stream that is captured, or the default stream that waits for
/// such a one.
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

/// Refuses what waits for a whole context in which a stream is captured.
pub fn may_wait_for_all(context: ContextId) -> Result<(), CudaError> {
    let Some(mut captures) = any() else {
        return Ok(());
    };
    let members = captures.streams.values();
    let found = members.filter(|member| member.context == context);
    let found = found.map(|member| member.capture).collect();
    refuse(&mut captures, found, CudaError::StreamCaptureUnsupported)
}

/// Refuses work in the legacy default stream, where it would wait for a stream that is captured.
pub fn legacy(context: ContextId) -> Result<(), CudaError> {
    let Some(mut captures) = any() else {
        return Ok(());
    };
    let members = captures.streams.values();
    let found = members.filter(|member| member.blocking && member.context == context);
    let found = found.map(|member| member.capture).collect();
    refuse(&mut captures, found, CudaError::StreamCaptureImplicit)
}

/// Refuses to wait for, or ask about, an event that was recorded in a capture.
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

/// Whether a stream is captured.
pub fn is_captured(stream: StreamId) -> bool {
    any().is_some_and(|captures| captures.streams.contains_key(&stream))
}

/// Refuses a function that no capture can collect, in a stream that is captured.
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
