//! Streams, and events, which are markers in a stream. Work is performed when it is submitted, so a stream is always idle; the
//! time at which its work would end on a GPU is tracked on the context's timeline, which also gives the time between two
//! events.

use super::timeline::TimePoint;
use super::{ContextId, CudaError, Driver, EventId, StreamId};
use crate::check::Reason;

/// `CU_STREAM_NON_BLOCKING`: the stream does not synchronize implicitly with the legacy default stream.
const NON_BLOCKING: u32 = 1;

/// The lowest and the highest priority (`cuCtxGetStreamPriorityRange`), as the H200's driver reports them. A
/// smaller number is a higher priority.
pub const PRIORITIES: (i32, i32) = (0, -5);

/// The state of a `CUstream` other than the default stream.
pub(super) struct Stream {
    pub(super) context: ContextId,
    flags: u32,
    priority: i32,
    /// True if the program has destroyed the stream while operations were pending in it.
    is_destroyed: bool,
}

impl Driver {
    /// `cuStreamCreateWithPriority`: creates a stream. `flags` is 0 or `CU_STREAM_NON_BLOCKING`; other values
    /// fail with [`CudaError::InvalidValue`]. The priority is clamped to [`PRIORITIES`]; priorities do not
    /// affect modelled time.
    pub fn create_stream(
        &mut self,
        context: ContextId,
        flags: u32,
        priority: i32,
    ) -> Result<StreamId, CudaError> {
        if flags & !NON_BLOCKING != 0 {
            return Err(CudaError::InvalidValue);
        }
        self.context(context)?;
        let id = StreamId(self.handles.next());
        let blocking = flags & NON_BLOCKING == 0;
        let timeline = &mut self.context_mut(context)?.timeline;
        timeline.add_stream(id, blocking);
        let stream = Stream {
            context,
            flags,
            priority: priority.clamp(PRIORITIES.1, PRIORITIES.0),
            is_destroyed: false,
        };
        self.streams.insert(id, stream);
        Ok(id)
    }

    /// `cuStreamDestroy`: destroys a stream created by [`Driver::create_stream`]. Fails with
    /// [`CudaError::InvalidHandle`] for any other stream.
    pub fn destroy_stream(
        &mut self,
        context: ContextId,
        stream: StreamId,
    ) -> Result<(), CudaError> {
        self.context(context)?;
        let removed = self.streams.remove(&stream);
        let owner = removed.ok_or(CudaError::InvalidHandle)?.context;
        if let Some(owner) = self.contexts.get_mut(&owner) {
            owner.timeline.remove_stream(stream);
        }
        Ok(())
    }

    /// Makes the handle of a stream invalid. The stream itself remains, for its pending operations, until
    /// [`Driver::destroy_stream`].
    pub fn invalidate_stream(
        &mut self,
        context: ContextId,
        stream: StreamId,
    ) -> Result<(), CudaError> {
        self.context(context)?;
        let stream = self.streams.get_mut(&stream);
        stream.ok_or(CudaError::InvalidHandle)?.is_destroyed = true;
        Ok(())
    }

    /// `cuStreamGetCtx`: returns the context of a stream created by [`Driver::create_stream`]. Operations on
    /// the stream act in that context, whichever context is current. Fails with [`CudaError::InvalidHandle`]
    /// for any other stream.
    pub fn stream_context(&self, stream: StreamId) -> Result<ContextId, CudaError> {
        let state = self.streams.get(&stream);
        let state = state.filter(|stream| !stream.is_destroyed);
        Ok(state.ok_or(CudaError::InvalidHandle)?.context)
    }

    /// `cuStreamGetFlags`: returns the flags of `stream`. Fails with [`CudaError::InvalidHandle`] for a
    /// stream of another context.
    pub fn stream_flags(&self, context: ContextId, stream: StreamId) -> Result<u32, CudaError> {
        Ok(self
            .stream(context, stream)?
            .map_or(0, |stream| stream.flags))
    }

    /// `cuStreamGetPriority`: returns the priority of `stream`. Fails with [`CudaError::InvalidHandle`] for a
    /// stream of another context.
    pub fn stream_priority(&self, context: ContextId, stream: StreamId) -> Result<i32, CudaError> {
        let stream = self.stream(context, stream)?;
        Ok(stream.map_or(PRIORITIES.0, |stream| stream.priority))
    }

    /// `cuStreamQuery`: succeeds if all work in `stream` has completed. All work is performed when it is
    /// submitted, so this always succeeds; in modelled time the host advances as if it had waited. Fails with
    /// [`CudaError::InvalidHandle`] for a stream of another context.
    pub fn query_stream(&mut self, context: ContextId, stream: StreamId) -> Result<(), CudaError> {
        self.synchronize_stream(context, stream)
    }

    /// `cuStreamSynchronize`: the host waits, in modelled time, for all work in `stream`. Fails with
    /// [`CudaError::InvalidHandle`] for a stream of another context.
    pub fn synchronize_stream(
        &mut self,
        context: ContextId,
        stream: StreamId,
    ) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.synchronize(stream)
    }

    /// Returns the modelled time at which all work in `stream` so far completes. This and the functions below
    /// fail with [`CudaError::InvalidHandle`] for a stream of another context.
    pub fn stream_time(
        &mut self,
        context: ContextId,
        stream: StreamId,
    ) -> Result<TimePoint, CudaError> {
        self.context_mut(context)?.timeline.record(stream)
    }

    /// Adds the duration of a host function to the modelled time of `stream`.
    pub fn host_function_ran(
        &mut self,
        context: ContextId,
        stream: StreamId,
        seconds: f64,
    ) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.delay(stream, seconds)?;
        Ok(())
    }

    /// Makes the next work of `stream` start at `time`; see
    /// [`Timeline::set_time`](super::timeline::Timeline::set_time).
    pub fn set_stream_time(
        &mut self,
        context: ContextId,
        stream: StreamId,
        time: TimePoint,
    ) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.set_time(stream, time)
    }

    /// Returns a stream of `context`; `None` for the legacy default stream. Fails with
    /// [`CudaError::InvalidHandle`] for a stream of another context.
    fn stream(&self, context: ContextId, id: StreamId) -> Result<Option<&Stream>, CudaError> {
        self.context(context)?;
        if id == StreamId::LEGACY {
            return Ok(None);
        }
        let state = self
            .streams
            .get(&id)
            .filter(|stream| stream.context == context);
        state.map(Some).ok_or(CudaError::InvalidHandle)
    }
}

/// The flag bits that `cuEventCreate` accepts: blocking synchronization, disabled timing, interprocess.
const EVENT_FLAGS: u32 = 0x7;
/// `CU_EVENT_DISABLE_TIMING`.
pub const DISABLE_TIMING: u32 = 0x2;
/// `CU_EVENT_INTERPROCESS`.
const INTERPROCESS: u32 = 0x4;

/// The state of a `CUevent`.
pub(super) struct Event {
    pub(super) context: ContextId,
    /// True if recording the event takes a timestamp.
    timed: bool,
    /// True if other processes may open the event.
    is_interprocess: bool,
    /// The completion time of all work before the event's latest recording.
    recorded: Option<TimePoint>,
    /// True if the program has destroyed the event while operations with it were pending.
    is_destroyed: bool,
}

impl Driver {
    /// `cuEventCreate`: creates an event. Fails with [`CudaError::InvalidValue`] for unknown flags, and for an
    /// interprocess event with timing.
    pub fn create_event(&mut self, context: ContextId, flags: u32) -> Result<EventId, CudaError> {
        self.context(context)?;
        let is_interprocess_with_timing = flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS;
        if flags & !EVENT_FLAGS != 0 || is_interprocess_with_timing {
            return Err(CudaError::InvalidValue);
        }
        let id = EventId(self.handles.next());
        let event = Event {
            context,
            timed: flags & DISABLE_TIMING == 0,
            is_interprocess: flags & INTERPROCESS != 0,
            recorded: None,
            is_destroyed: false,
        };
        self.events.insert(id, event);
        Ok(id)
    }

    /// `cuEventDestroy`: destroys an event. Fails with [`CudaError::InvalidHandle`] for an unknown event.
    pub fn destroy_event(&mut self, event: EventId) -> Result<(), CudaError> {
        self.event(event)?;
        self.events.remove(&event);
        Ok(())
    }

    /// Makes the handle of an event invalid. The event itself remains, for pending operations, until
    /// [`Driver::destroy_event`].
    pub fn invalidate_event(&mut self, event: EventId) -> Result<(), CudaError> {
        self.event_context(event)?;
        let event = self.events.get_mut(&event);
        event.ok_or(CudaError::InvalidHandle)?.is_destroyed = true;
        Ok(())
    }

    /// `cuEventRecord`: makes `event` mark the end of all work submitted to `stream` so far. Fails with
    /// [`CudaError::InvalidHandle`] for an event of another context or an unknown stream.
    pub fn record_event(
        &mut self,
        context: ContextId,
        event: EventId,
        stream: StreamId,
    ) -> Result<(), CudaError> {
        if self.event(event)?.context != context {
            return Err(CudaError::InvalidHandle);
        }
        let at = self.context_mut(context)?.timeline.record(stream)?;
        let event = self.events.get_mut(&event);
        event.ok_or(CudaError::InvalidHandle)?.recorded = Some(at);
        Ok(())
    }

    /// `cuStreamWaitEvent`: delays later work in `stream` until `event` has completed. An event that was
    /// never recorded delays nothing. Fails with [`CudaError::InvalidHandle`] for an unknown stream or event.
    pub fn wait_event(
        &mut self,
        context: ContextId,
        stream: StreamId,
        event: EventId,
    ) -> Result<(), CudaError> {
        let time = self.event(event)?.recorded.unwrap_or_default();
        self.context_mut(context)?.timeline.wait(stream, time)
    }

    /// `cuEventQuery`: succeeds if `event` has completed. All work is performed when it is submitted, so this
    /// always succeeds; in modelled time the host advances as if it had waited. Fails with
    /// [`CudaError::InvalidHandle`] for an unknown event.
    pub fn query_event(&mut self, event: EventId) -> Result<(), CudaError> {
        self.synchronize_event(event)
    }

    /// `cuEventSynchronize`: the host waits, in modelled time, for `event`, if it was ever recorded. Fails with
    /// [`CudaError::InvalidHandle`] for an unknown event.
    pub fn synchronize_event(&mut self, event: EventId) -> Result<(), CudaError> {
        let event_state = self.event(event)?;
        let (context, time) = (
            event_state.context,
            event_state.recorded.unwrap_or_default(),
        );
        let timeline = &mut self.context_mut(context)?.timeline;
        timeline.synchronize_until(time);
        Ok(())
    }

    /// Returns the context of an event. Fails with [`CudaError::InvalidHandle`] for an unknown event.
    pub fn event_context(&self, event: EventId) -> Result<ContextId, CudaError> {
        let event = self.event(event)?;
        match event.is_destroyed {
            true => Err(CudaError::InvalidHandle),
            false => Ok(event.context),
        }
    }

    /// Returns true if other processes may open an event. Fails with [`CudaError::InvalidHandle`] for an unknown event.
    pub fn is_interprocess(&self, event: EventId) -> Result<bool, CudaError> {
        self.event_context(event)?;
        Ok(self.event(event)?.is_interprocess)
    }

    /// Fails for events that [`Driver::elapsed_time`] rejects whenever they are recorded.
    pub fn check_elapsed(&self, start: EventId, end: EventId) -> Result<(), CudaError> {
        self.event_context(start)?;
        self.event_context(end)?;
        let (start, end) = (self.event(start)?, self.event(end)?);
        if !start.timed || !end.timed {
            return Err(CudaError::InvalidHandle.because(Reason::EventWithoutTiming));
        }
        if start.context != end.context {
            return Err(CudaError::InvalidHandle);
        }
        Ok(())
    }

    /// Returns true if an event was recorded.
    pub fn is_recorded(&self, event: EventId) -> Result<bool, CudaError> {
        Ok(self.event(event)?.recorded.is_some())
    }

    /// `cuEventElapsedTime`: returns the modelled milliseconds from `start` to `end`. Fails with
    /// [`CudaError::InvalidHandle`] for events that were never recorded, have timing disabled, or belong to
    /// different contexts, and with [`CudaError::NotReady`] before the host has waited for both.
    pub fn elapsed_time(&self, start: EventId, end: EventId) -> Result<f32, CudaError> {
        self.check_elapsed(start, end)?;
        let (start, end) = (self.event(start)?, self.event(end)?);
        let (Some(from), Some(to)) = (start.recorded, end.recorded) else {
            return Err(CudaError::InvalidHandle.because(Reason::EventNotRecorded));
        };
        let timeline = &self.context(start.context)?.timeline;
        if !(timeline.is_past(from) && timeline.is_past(to)) {
            return Err(CudaError::NotReady.because(Reason::EventNotCompleted));
        }
        Ok(to.milliseconds_since(from))
    }

    /// Returns a live event. Fails with [`CudaError::InvalidHandle`] if there is none, or with the sticky
    /// error of its context.
    fn event(&self, event: EventId) -> Result<&Event, CudaError> {
        let event_state = self.events.get(&event).ok_or(CudaError::InvalidHandle)?;
        self.context(event_state.context)?;
        Ok(event_state)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;
    use crate::driver::CudaError::*;

    #[test]
    fn a_stream_is_created_queried_and_destroyed() {
        let (mut driver, context) = driver();
        let stream = driver.create_stream(context, NON_BLOCKING, -99).unwrap();
        assert_eq!(driver.stream_flags(context, stream), Ok(NON_BLOCKING));
        assert_eq!(driver.stream_priority(context, stream), Ok(-5));
        assert_eq!(driver.query_stream(context, stream), Ok(()));
        assert_eq!(driver.synchronize_stream(context, stream), Ok(()));
        driver.destroy_stream(context, stream).unwrap();
        let invalid = Err(InvalidHandle);
        assert_eq!(driver.query_stream(context, stream), invalid);
        assert_eq!(driver.synchronize_stream(context, stream), invalid);
        assert_eq!(driver.destroy_stream(context, stream), invalid);
    }

    #[test]
    fn the_default_stream_always_exists() {
        let (mut driver, context) = driver();
        assert_eq!(driver.stream_flags(context, StreamId::LEGACY), Ok(0));
        assert_eq!(driver.stream_priority(context, StreamId::LEGACY), Ok(0));
        assert_eq!(
            driver.destroy_stream(context, StreamId::LEGACY),
            Err(InvalidHandle)
        );
    }

    #[test]
    fn invalid_flags_and_foreign_handles_are_rejected() {
        let (mut driver, context) = driver();
        assert_eq!(driver.create_stream(context, 2, 0), Err(InvalidValue));
        let stream = driver.create_stream(context, 0, 0).unwrap();
        let other = driver.create_context(0, 0).unwrap();
        assert_eq!(driver.stream_context(stream), Ok(context));
        let default_stream = driver.stream_context(StreamId::LEGACY);
        assert_eq!(default_stream, Err(InvalidHandle));
        let rejected = Err(InvalidHandle);
        assert_eq!(driver.query_stream(other, stream), rejected);
        assert_eq!(driver.synchronize_stream(other, stream), rejected);
        let event = driver.create_event(context, 0).unwrap();
        assert_eq!(driver.query_stream(context, StreamId(event.0)), rejected);
        assert_eq!(driver.query_stream(context, StreamId(context.0)), rejected);
    }

    #[test]
    fn elapsed_time_needs_recorded_timed_events() {
        let (mut driver, context) = driver();
        let start = driver.create_event(context, 0).unwrap();
        let end = driver.create_event(context, 0).unwrap();
        let untimed = driver.create_event(context, DISABLE_TIMING).unwrap();
        let rejected = Err(InvalidHandle);
        driver
            .record_event(context, start, StreamId::LEGACY)
            .unwrap();
        driver
            .record_event(context, untimed, StreamId::LEGACY)
            .unwrap();
        assert_eq!(driver.elapsed_time(start, end), rejected);
        assert_eq!(driver.elapsed_time(start, untimed), rejected);
        assert_eq!(driver.query_event(end), Ok(()));
        driver.record_event(context, end, StreamId::LEGACY).unwrap();
        assert_eq!(driver.elapsed_time(start, end), Ok(0.0));
        driver.destroy_event(end).unwrap();
        assert_eq!(driver.elapsed_time(start, end), rejected);
        assert_eq!(driver.query_event(end), Err(InvalidHandle));
        assert_eq!(driver.destroy_event(end), Err(InvalidHandle));
    }

    #[test]
    fn events_order_work_in_streams() {
        let (mut driver, context) = driver();
        let first = driver.create_stream(context, 1, 0).unwrap();
        let second = driver.create_stream(context, 1, 0).unwrap();
        let before = driver.create_event(context, 0).unwrap();
        let done = driver.create_event(context, 0).unwrap();
        let after = driver.create_event(context, 0).unwrap();
        driver.wait_event(context, second, done).unwrap();
        driver.record_event(context, before, second).unwrap();
        let memset = super::super::Memset {
            address: driver.allocate(context, 4800).unwrap(),
            pitch: 0,
            value: super::super::MemsetValue::U8(1),
            width: 4800,
            height: 1,
        };
        driver.memset(context, first, &memset).unwrap();
        driver.record_event(context, done, first).unwrap();
        driver.wait_event(context, second, done).unwrap();
        driver.record_event(context, after, second).unwrap();
        assert_eq!(driver.elapsed_time(before, after), Err(NotReady));
        driver.synchronize_event(done).unwrap();
        // 4800 bytes at 4.8 TB/s, and 2.8 µs before them.
        assert_eq!(driver.elapsed_time(before, after), Ok(0.002801));
    }

    #[test]
    fn invalid_flags_streams_and_contexts_are_rejected() {
        let (mut driver, context) = driver();
        assert_eq!(driver.create_event(context, 8), Err(InvalidValue));
        let event = driver.create_event(context, 0).unwrap();
        let other = driver.create_context(0, 0).unwrap();
        let rejected = Err(InvalidHandle);
        assert_eq!(
            driver.record_event(other, event, StreamId::LEGACY),
            rejected
        );
        assert_eq!(driver.record_event(context, event, StreamId(7)), rejected);
        assert_eq!(driver.wait_event(context, StreamId(7), event), rejected);
        assert_eq!(
            driver.wait_event(context, StreamId::LEGACY, EventId(7)),
            rejected
        );
        assert_eq!(driver.synchronize_event(EventId(7)), rejected);
    }
}
