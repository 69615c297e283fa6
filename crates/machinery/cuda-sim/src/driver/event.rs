//! Events: marks in a stream, and the modelled time between two of them.

use super::timeline::Instant;
use super::{ContextId, CudaError, Driver, EventId, StreamId};

/// All the flag bits an event knows: blocking wait, no timing, sharing between processes.
const FLAGS: u32 = 0x7;
const DISABLE_TIMING: u32 = 0x2;

/// A created event.
pub(super) struct Event {
    pub(super) context: ContextId,
    timed: bool,
    recorded: Option<Instant>,
}

impl Driver {
    /// A new event.
    pub fn create_event(&mut self, context: ContextId, flags: u32) -> Result<EventId, CudaError> {
        self.context(context)?;
        if flags & !FLAGS != 0 {
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

    /// Destroys an event made by [`Driver::create_event`].
    pub fn destroy_event(&mut self, event: EventId) -> Result<(), CudaError> {
        self.event(event)?;
        self.events.remove(&event);
        Ok(())
    }

    /// Marks what `stream` has done so far. The event must be of the same context.
    pub fn record(
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

    /// Makes what `stream` does next wait for `event`. One never recorded holds nothing up.
    pub fn wait(
        &mut self,
        context: ContextId,
        stream: StreamId,
        event: EventId,
    ) -> Result<(), CudaError> {
        let instant = self.event(event)?.recorded.unwrap_or_default();
        self.context_mut(context)?.timeline.wait(stream, instant)
    }

    /// Whether `event` has happened. The simulator has done all work, so the answer is yes: the
    /// host has come as far as if it had waited.
    pub fn query_event(&mut self, event: EventId) -> Result<(), CudaError> {
        self.synchronize_event(event)
    }

    /// The host waits for `event`.
    pub fn synchronize_event(&mut self, event: EventId) -> Result<(), CudaError> {
        let found = self.event(event)?;
        let (context, instant) = (found.context, found.recorded.unwrap_or_default());
        let timeline = &mut self.context_mut(context)?.timeline;
        timeline.synchronize_until(instant);
        Ok(())
    }

    /// Modelled milliseconds from `start` to `end`. [`CudaError::InvalidHandle`] for an event that
    /// was never recorded, takes no time stamps, or is of another context than the other one;
    /// [`CudaError::NotReady`] before the host has waited for both.
    pub fn elapsed(&self, start: EventId, end: EventId) -> Result<f32, CudaError> {
        let (start, end) = (self.event(start)?, self.event(end)?);
        if start.context != end.context || !start.timed || !end.timed {
            return Err(CudaError::InvalidHandle);
        }
        let (Some(from), Some(to)) = (start.recorded, end.recorded) else {
            return Err(CudaError::InvalidHandle);
        };
        let timeline = &self.context(start.context)?.timeline;
        if !(timeline.is_past(from) && timeline.is_past(to)) {
            return Err(CudaError::NotReady);
        }
        Ok(to.milliseconds_since(from))
    }

    /// A live event of a context that has not faulted.
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
        driver.record(context, start, StreamId::LEGACY).unwrap();
        driver.record(context, untimed, StreamId::LEGACY).unwrap();
        assert_eq!(driver.elapsed(start, end), refused);
        assert_eq!(driver.elapsed(start, untimed), refused);
        assert_eq!(driver.query_event(end), Ok(()));
        driver.record(context, end, StreamId::LEGACY).unwrap();
        assert_eq!(driver.elapsed(start, end), Ok(0.0));
        driver.destroy_event(end).unwrap();
        assert_eq!(driver.elapsed(start, end), refused);
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
        driver.wait(context, second, done).unwrap();
        driver.record(context, before, second).unwrap();
        let fill = super::super::Fill {
            address: driver.allocate(context, 4800).unwrap(),
            pitch: 0,
            value: super::super::Value::U8(1),
            width: 4800,
            height: 1,
        };
        driver.fill(context, first, &fill).unwrap();
        driver.record(context, done, first).unwrap();
        driver.wait(context, second, done).unwrap();
        driver.record(context, after, second).unwrap();
        assert_eq!(driver.elapsed(before, after), Err(CudaError::NotReady));
        driver.synchronize_event(done).unwrap();
        // 4800 bytes at 4.8 TB/s, and 2.8 µs before them.
        assert_eq!(driver.elapsed(before, after), Ok(0.002801));
    }

    #[test]
    fn flags_streams_and_contexts_are_checked() {
        let (mut driver, context) = driver();
        assert_eq!(
            driver.create_event(context, 8),
            Err(CudaError::InvalidValue)
        );
        let event = driver.create_event(context, 0).unwrap();
        let other = driver.create_context(0).unwrap();
        let wrong = Err(CudaError::InvalidHandle);
        assert_eq!(driver.record(other, event, StreamId::LEGACY), wrong);
        assert_eq!(driver.record(context, event, StreamId(7)), wrong);
        assert_eq!(driver.wait(context, StreamId(7), event), wrong);
        assert_eq!(driver.wait(context, StreamId::LEGACY, EventId(7)), wrong);
        assert_eq!(driver.synchronize_event(EventId(7)), wrong);
    }
}
