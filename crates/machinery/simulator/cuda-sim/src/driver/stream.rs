//! Streams. Work is performed when it is submitted, so a stream is always idle; the time at which its work
//! would end on a GPU is tracked on the context's timeline.

use super::timeline::TimePoint;
use super::{ContextId, CudaError, Driver, StreamId};

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
}
