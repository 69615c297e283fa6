//! Events: marks in a stream, and the modelled time between two of them.

use super::timeline::TimePoint;
use super::{ContextId, CudaError, Driver, EventId, StreamId};

/// All flag bits that `cuEventCreate` knows: the host sleeps while it waits for the event, the event
/// takes no time, it is shared between processes.
const EVENT_FLAGS: u32 = 0x7;
/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 0x2;

/// What a `CUevent` stands for.
pub(super) struct Event {
    pub(super) context: ContextId,
    /// Whether it takes the time when it is recorded.
    timed: bool,
    /// When all work before it is done, by its latest recording.
    recorded: Option<TimePoint>,
}

impl Driver {
    /// `cuEventCreate`: a new event. [`CudaError::InvalidValue`] for unknown flags.
    pub fn create_event(&mut self, context: ContextId, flags: u32) -> Result<EventId, CudaError> {
        self.context(context)?;
        if flags & !EVENT_FLAGS != 0 {
            return Err(CudaError::InvalidValue);
        }
        let id = EventId(self.handles.next());
        let event = Event {
            context,
            timed: flags & DISABLE_TIMING == 0,
            recorded: None,
        };
        self.events.insert(id, event);
        Ok(id)
    }

    /// `cuEventDestroy`: destroys an event. [`CudaError::InvalidHandle`] for one that is not there.
    pub fn destroy_event(&mut self, event: EventId) -> Result<(), CudaError> {
        self.event(event)?;
        self.events.remove(&event);
        Ok(())
    }

    /// `cuEventRecord`: from now on `event` stands for the end of all work that is in `stream` so
    /// far. [`CudaError::InvalidHandle`] for an event of another context or an unknown stream.
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

    /// `cuStreamWaitEvent`: what `stream` is given next starts when `event` has happened. An event
    /// that was never recorded makes nothing wait. [`CudaError::InvalidHandle`] for an unknown
    /// stream or event.
    pub fn wait_event(
        &mut self,
        context: ContextId,
        stream: StreamId,
        event: EventId,
    ) -> Result<(), CudaError> {
        let time = self.event(event)?.recorded.unwrap_or_default();
        self.context_mut(context)?.timeline.wait(stream, time)
    }

    /// `cuEventQuery`: whether `event` has happened. The simulator does all work at the call, so the
    /// answer is always yes, and in modelled time the host then is where it would be if it had
    /// waited. [`CudaError::InvalidHandle`] for an unknown event.
    pub fn query_event(&mut self, event: EventId) -> Result<(), CudaError> {
        self.synchronize_event(event)
    }

    /// `cuEventSynchronize`: in modelled time the host waits for `event`; not at all if it was never
    /// recorded. [`CudaError::InvalidHandle`] for an unknown event.
    pub fn synchronize_event(&mut self, event: EventId) -> Result<(), CudaError> {
        let found = self.event(event)?;
        let (context, time) = (found.context, found.recorded.unwrap_or_default());
        let timeline = &mut self.context_mut(context)?.timeline;
        timeline.synchronize_until(time);
        Ok(())
    }

    /// The context that an event was made in. [`CudaError::InvalidHandle`] for an unknown event.
    pub fn event_context(&self, event: EventId) -> Result<ContextId, CudaError> {
        Ok(self.event(event)?.context)
    }

    /// Refuses events that [`Driver::elapsed_time`] would refuse whenever they are recorded.
    pub fn check_elapsed(&self, start: EventId, end: EventId) -> Result<(), CudaError> {
        let (start, end) = (self.event(start)?, self.event(end)?);
        match start.context == end.context && start.timed && end.timed {
            true => Ok(()),
            false => Err(CudaError::InvalidHandle),
        }
    }

    /// `cuEventElapsedTime`: modelled milliseconds from `start` to `end`. [`CudaError::InvalidHandle`] for an event that
    /// was never recorded, was made not to take the time, or is of another context than the other
    /// one; [`CudaError::NotReady`] before the host has waited for both.
    pub fn elapsed_time(&self, start: EventId, end: EventId) -> Result<f32, CudaError> {
        self.check_elapsed(start, end)?;
        let (start, end) = (self.event(start)?, self.event(end)?);
        let (Some(from), Some(to)) = (start.recorded, end.recorded) else {
            return Err(CudaError::InvalidHandle);
        };
        let timeline = &self.context(start.context)?.timeline;
        if !(timeline.is_past(from) && timeline.is_past(to)) {
            return Err(CudaError::NotReady);
        }
        Ok(to.milliseconds_since(from))
    }

    /// An event that is not destroyed. [`CudaError::InvalidHandle`] where there is none, or the fault
    /// that ended its context.
    fn event(&self, event: EventId) -> Result<&Event, CudaError> {
        let found = self.events.get(&event).ok_or(CudaError::InvalidHandle)?;
        self.context(found.context)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;

    #[test]
    fn an_event_needs_recording_and_timing_to_be_read() {
        let (mut driver, context) = driver();
        let start = driver.create_event(context, 0).unwrap();
        let end = driver.create_event(context, 0).unwrap();
        let untimed = driver.create_event(context, DISABLE_TIMING).unwrap();
        let refused = Err(CudaError::InvalidHandle);
        driver
            .record_event(context, start, StreamId::LEGACY)
            .unwrap();
        driver
            .record_event(context, untimed, StreamId::LEGACY)
            .unwrap();
        assert_eq!(driver.elapsed_time(start, end), refused);
        assert_eq!(driver.elapsed_time(start, untimed), refused);
        assert_eq!(driver.query_event(end), Ok(()));
        driver.record_event(context, end, StreamId::LEGACY).unwrap();
        assert_eq!(driver.elapsed_time(start, end), Ok(0.0));
        driver.destroy_event(end).unwrap();
        assert_eq!(driver.elapsed_time(start, end), refused);
        assert_eq!(driver.query_event(end), Err(CudaError::InvalidHandle));
        assert_eq!(driver.destroy_event(end), Err(CudaError::InvalidHandle));
    }

    #[test]
    fn events_order_streams() {
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
        assert_eq!(driver.elapsed_time(before, after), Err(CudaError::NotReady));
        driver.synchronize_event(done).unwrap();
        // 4800 bytes at 4.8 TB/s, and 2.8 µs before them.
        assert_eq!(driver.elapsed_time(before, after), Ok(0.002801));
    }

    #[test]
    fn flags_streams_and_contexts_are_checked() {
        let (mut driver, context) = driver();
        assert_eq!(
            driver.create_event(context, 8),
            Err(CudaError::InvalidValue)
        );
        let event = driver.create_event(context, 0).unwrap();
        let other = driver.create_context(0, 0).unwrap();
        let wrong = Err(CudaError::InvalidHandle);
        assert_eq!(driver.record_event(other, event, StreamId::LEGACY), wrong);
        assert_eq!(driver.record_event(context, event, StreamId(7)), wrong);
        assert_eq!(driver.wait_event(context, StreamId(7), event), wrong);
        assert_eq!(
            driver.wait_event(context, StreamId::LEGACY, EventId(7)),
            wrong
        );
        assert_eq!(driver.synchronize_event(EventId(7)), wrong);
    }
}
