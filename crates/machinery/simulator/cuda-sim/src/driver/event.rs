//! Events: markers in a stream, and the modelled time between two of them.

use super::timeline::TimePoint;
use super::{ContextId, CudaError, Driver, EventId, StreamId};
use crate::check::Reason;

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
