//! Streams. Work is done at the call, so a stream is always idle; when its work would have ended on a
//! GPU is kept on the context's timeline.

use super::timeline::TimePoint;
use super::{ContextId, CudaError, Driver, StreamId};

/// `CU_STREAM_NON_BLOCKING`: work in the stream and work in the legacy default stream do not wait for
/// each other.
const NON_BLOCKING: u32 = 1;

/// The lowest and the highest priority (`cuCtxGetStreamPriorityRange`), as the H200's driver gives
/// them. The smaller number is the higher priority.
pub const PRIORITIES: (i32, i32) = (0, -5);

/// What a `CUstream` stands for, other than the default stream.
pub(super) struct Stream {
    pub(super) context: ContextId,
    flags: u32,
    priority: i32,
}

impl Driver {
    /// `cuStreamCreateWithPriority`: a new stream. `flags` is 0 or `CU_STREAM_NON_BLOCKING`,
    /// otherwise [`CudaError::InvalidValue`]. A priority above or below [`PRIORITIES`] becomes the
    /// nearest of them; priorities do not change modelled time.
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
        };
        self.streams.insert(id, stream);
        Ok(id)
    }

    /// `cuStreamDestroy`: destroys a stream made by [`Driver::create_stream`].
    /// [`CudaError::InvalidHandle`] for any other.
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

    /// `cuStreamGetCtx`: the context that a stream made by [`Driver::create_stream`] belongs to. What
    /// is asked of the stream is done there, whatever context is current.
    /// [`CudaError::InvalidHandle`] for any other stream.
    pub fn stream_context(&self, stream: StreamId) -> Result<ContextId, CudaError> {
        let found = self.streams.get(&stream);
        Ok(found.ok_or(CudaError::InvalidHandle)?.context)
    }

    /// `cuStreamGetFlags`: the flags `stream` was made with. [`CudaError::InvalidHandle`] for a
    /// stream that `context` does not have.
    pub fn stream_flags(&self, context: ContextId, stream: StreamId) -> Result<u32, CudaError> {
        Ok(self
            .stream(context, stream)?
            .map_or(0, |stream| stream.flags))
    }

    /// `cuStreamGetPriority`: the priority of `stream`. [`CudaError::InvalidHandle`] for a stream that
    /// `context` does not have.
    pub fn stream_priority(&self, context: ContextId, stream: StreamId) -> Result<i32, CudaError> {
        let stream = self.stream(context, stream)?;
        Ok(stream.map_or(PRIORITIES.0, |stream| stream.priority))
    }

    /// `cuStreamQuery`: whether all work in `stream` is done. The simulator does all work at the
    /// call, so the answer is always yes, and in modelled time the host then is where it would be if
    /// it had waited. [`CudaError::InvalidHandle`] for a stream that `context` does not have.
    pub fn query_stream(&mut self, context: ContextId, stream: StreamId) -> Result<(), CudaError> {
        self.synchronize_stream(context, stream)
    }

    /// `cuStreamSynchronize`: in modelled time the host waits for all work in `stream`.
    /// [`CudaError::InvalidHandle`] for a stream that `context` does not have.
    pub fn synchronize_stream(
        &mut self,
        context: ContextId,
        stream: StreamId,
    ) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.synchronize(stream)
    }

    /// When everything in `stream` so far is done, in modelled time. [`CudaError::InvalidHandle`], here and
    /// below, for a stream that `context` does not have.
    pub fn stream_time(
        &mut self,
        context: ContextId,
        stream: StreamId,
    ) -> Result<TimePoint, CudaError> {
        self.context_mut(context)?.timeline.record(stream)
    }

    /// Has what `stream` does next start at `time`; see [`Timeline::place`](super::timeline::Timeline::place).
    pub fn place_stream(
        &mut self,
        context: ContextId,
        stream: StreamId,
        time: TimePoint,
    ) -> Result<(), CudaError> {
        self.context_mut(context)?.timeline.place(stream, time)
    }

    /// A stream of `context`: `None` for the legacy default stream, [`CudaError::InvalidHandle`] for
    /// one that `context` does not have.
    fn stream(&self, context: ContextId, id: StreamId) -> Result<Option<&Stream>, CudaError> {
        self.context(context)?;
        if id == StreamId::LEGACY {
            return Ok(None);
        }
        let found = self.streams.get(&id);
        let found = found.filter(|stream| stream.context == context);
        found.map(Some).ok_or(CudaError::InvalidHandle)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;

    #[test]
    fn a_stream_is_made_asked_and_destroyed() {
        let (mut driver, context) = driver();
        let stream = driver.create_stream(context, NON_BLOCKING, -99).unwrap();
        assert_eq!(driver.stream_flags(context, stream), Ok(NON_BLOCKING));
        assert_eq!(driver.stream_priority(context, stream), Ok(-5));
        assert_eq!(driver.query_stream(context, stream), Ok(()));
        assert_eq!(driver.synchronize_stream(context, stream), Ok(()));
        driver.destroy_stream(context, stream).unwrap();
        let gone = Err(CudaError::InvalidHandle);
        assert_eq!(driver.query_stream(context, stream), gone);
        assert_eq!(driver.synchronize_stream(context, stream), gone);
        assert_eq!(driver.destroy_stream(context, stream), gone);
    }

    #[test]
    fn the_default_stream_is_always_there() {
        let (mut driver, context) = driver();
        assert_eq!(driver.stream_flags(context, StreamId::LEGACY), Ok(0));
        assert_eq!(driver.stream_priority(context, StreamId::LEGACY), Ok(0));
        assert_eq!(
            driver.destroy_stream(context, StreamId::LEGACY),
            Err(CudaError::InvalidHandle)
        );
    }

    #[test]
    fn flags_owners_and_kinds_are_checked() {
        let (mut driver, context) = driver();
        assert_eq!(
            driver.create_stream(context, 2, 0),
            Err(CudaError::InvalidValue)
        );
        let stream = driver.create_stream(context, 0, 0).unwrap();
        let other = driver.create_context(0, 0).unwrap();
        assert_eq!(driver.stream_context(stream), Ok(context));
        let none = driver.stream_context(StreamId::LEGACY);
        assert_eq!(none, Err(CudaError::InvalidHandle));
        let wrong = Err(CudaError::InvalidHandle);
        assert_eq!(driver.query_stream(other, stream), wrong);
        assert_eq!(driver.synchronize_stream(other, stream), wrong);
        let event = driver.create_event(context, 0).unwrap();
        assert_eq!(driver.query_stream(context, StreamId(event.0)), wrong);
        assert_eq!(driver.query_stream(context, StreamId(context.0)), wrong);
    }
}
