//! Modelled time: when each piece of work would start and end on the GPU.
//!
//! The simulator performs work when it is submitted. On a GPU, work in one stream overlaps with work in other
//! streams and with the host; the timeline tracks the resulting times. Each stream, each engine and the host
//! has a clock. Work starts at the latest of the clocks of its stream, its engine and the host, and advances
//! the clocks of stream and engine to its end. Waiting for a stream advances the host's clock to the
//! stream's.

use std::collections::BTreeMap;

use super::StreamId;
use super::error::CudaError;

/// A point in modelled time, in picoseconds since the context was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimePoint(u64);

impl TimePoint {
    /// Returns the milliseconds from `start` to `self`; negative if `start` is later.
    pub fn milliseconds_since(self, start: Self) -> f32 {
        ((self.0 as i128 - start.0 as i128) as f64 / 1e9) as f32
    }

    /// Returns the point in time `seconds` later, or the same point for a negative number or NaN.
    fn after(self, seconds: f64) -> Self {
        // The `as` cast saturates: NaN and negative numbers become 0, and large numbers the maximum.
        Self(self.0.saturating_add((seconds * 1e12).round() as u64))
    }
}

/// A part of the GPU or the driver that processes one piece of work at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Kernels and fills.
    Compute,
    /// Copies from the host.
    HostToDevice,
    /// Copies to the host.
    DeviceToHost,
    /// Copies within the device.
    DeviceToDevice,
    /// Copies within the host, which the driver performs itself.
    Host,
}

/// The clock of a stream.
struct StreamClock {
    /// The completion time of all work in the stream so far.
    now: TimePoint,
    /// True if the stream synchronizes implicitly with the legacy default stream.
    blocking: bool,
}

/// The clocks of one context.
pub struct Timeline {
    /// The host's current time.
    host: TimePoint,
    /// The completion time of each engine's work so far, indexed by [`Engine`].
    engines: [TimePoint; 5],
    streams: BTreeMap<StreamId, StreamClock>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Timeline {
    /// Creates a timeline with only the legacy default stream.
    pub fn new() -> Self {
        let mut timeline = Self {
            host: TimePoint::default(),
            engines: [TimePoint::default(); 5],
            streams: BTreeMap::new(),
        };
        timeline.add_stream(StreamId::LEGACY, true);
        timeline
    }

    /// Adds a stream. A `blocking` stream synchronizes implicitly with the legacy default stream.
    pub fn add_stream(&mut self, stream: StreamId, blocking: bool) {
        let now = self.host;
        self.streams.insert(stream, StreamClock { now, blocking });
    }

    /// Removes a stream. The engines of its work stay busy until that work ends.
    pub fn remove_stream(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
    }

    /// Appends `seconds` of work on `engine` to `stream` and returns its end. This and the functions below
    /// fail with [`CudaError::InvalidHandle`] for an unknown stream.
    pub fn run(
        &mut self,
        stream: StreamId,
        engine: Engine,
        seconds: f64,
    ) -> Result<TimePoint, CudaError> {
        let start = self.ready(stream)?.max(self.engines[engine as usize]);
        let end = start.after(seconds);
        self.engines[engine as usize] = end;
        self.set_time(stream, end)?;
        Ok(end)
    }

    /// Appends `seconds` to `stream` in which no engine works, and returns their end.
    pub fn delay(&mut self, stream: StreamId, seconds: f64) -> Result<TimePoint, CudaError> {
        let end = self.ready(stream)?.after(seconds);
        self.set_time(stream, end)?;
        Ok(end)
    }

    /// Returns the time at which all work in `stream` so far completes: the time of an event that is recorded
    /// now (`cuEventRecord`).
    pub fn record(&mut self, stream: StreamId) -> Result<TimePoint, CudaError> {
        let at = self.ready(stream)?;
        self.set_time(stream, at)?;
        Ok(at)
    }

    /// Makes the next work of `stream` start no earlier than `time` (`cuStreamWaitEvent`).
    pub fn wait(&mut self, stream: StreamId, time: TimePoint) -> Result<(), CudaError> {
        let at = self.ready(stream)?.max(time);
        self.set_time(stream, at)
    }

    /// Makes the next work of `stream` start at `time`, which may be before the end of its earlier work:
    /// parallel branches of a graph start at the same time.
    pub fn set_time(&mut self, stream: StreamId, time: TimePoint) -> Result<(), CudaError> {
        let clock = self.streams.get_mut(&stream);
        clock.ok_or(CudaError::InvalidHandle)?.now = time;
        Ok(())
    }

    /// Makes the host wait for all work in `stream` (`cuStreamSynchronize`).
    pub fn synchronize(&mut self, stream: StreamId) -> Result<(), CudaError> {
        self.host = self.ready(stream)?;
        Ok(())
    }

    /// Makes the host wait until `time` (`cuEventSynchronize`).
    pub fn synchronize_until(&mut self, time: TimePoint) {
        self.host = self.host.max(time);
    }

    /// Returns true if the host has waited until `time` or longer.
    pub fn is_past(&self, time: TimePoint) -> bool {
        time <= self.host
    }

    /// Makes the host wait for all work (`cuCtxSynchronize`).
    pub fn synchronize_all(&mut self) {
        let streams = self.streams.values().map(|clock| clock.now);
        self.host = streams.chain(self.engines).fold(self.host, TimePoint::max);
    }

    /// Returns the earliest time at which the next work of `stream` can start, if its engine is free.
    fn ready(&self, stream: StreamId) -> Result<TimePoint, CudaError> {
        let clock = self.streams.get(&stream).ok_or(CudaError::InvalidHandle)?;
        let earliest = clock.now.max(self.host);
        if !clock.blocking {
            return Ok(earliest);
        }
        // The legacy default stream waits for all blocking streams, and each of them waits for it.
        let others = self.streams.iter().filter(|(id, clock)| {
            clock.blocking && (stream == StreamId::LEGACY || **id == StreamId::LEGACY)
        });
        Ok(others
            .map(|(_, clock)| clock.now)
            .fold(earliest, TimePoint::max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::CudaError::*;
    use Engine::*;

    const MS: f64 = 1e-3;
    const A: StreamId = StreamId(0x10);
    const B: StreamId = StreamId(0x20);

    fn with_streams(blocking: bool) -> Timeline {
        let mut timeline = Timeline::new();
        timeline.add_stream(A, blocking);
        timeline.add_stream(B, blocking);
        timeline
    }

    fn ms(time: TimePoint) -> f32 {
        time.milliseconds_since(TimePoint::default())
    }

    #[test]
    fn work_in_one_stream_is_in_order() {
        let mut timeline = with_streams(true);
        timeline.run(A, HostToDevice, 2.0 * MS).unwrap();
        let end = timeline.run(A, Compute, 3.0 * MS).unwrap();
        assert_eq!(ms(end), 5.0);
    }

    #[test]
    fn streams_overlap_on_different_engines_and_queue_on_the_same() {
        let mut timeline = with_streams(true);
        timeline.run(A, Compute, 4.0 * MS).unwrap();
        let copy = timeline.run(B, HostToDevice, MS).unwrap();
        assert_eq!(ms(copy), 1.0);
        let kernel = timeline.run(B, Compute, MS).unwrap();
        assert_eq!(ms(kernel), 5.0);
    }

    #[test]
    fn the_default_stream_synchronizes_with_blocking_streams() {
        let mut timeline = with_streams(true);
        timeline.run(A, HostToDevice, 4.0 * MS).unwrap();
        let default = timeline.run(StreamId::LEGACY, Compute, MS).unwrap();
        assert_eq!(ms(default), 5.0);
        let after = timeline.run(B, DeviceToHost, MS).unwrap();
        assert_eq!(ms(after), 6.0);
    }

    #[test]
    fn the_default_stream_overlaps_non_blocking_streams() {
        let mut timeline = with_streams(false);
        timeline.run(A, HostToDevice, 4.0 * MS).unwrap();
        let default = timeline.run(StreamId::LEGACY, Compute, MS).unwrap();
        assert_eq!(ms(default), 1.0);
        let other = timeline.run(B, DeviceToHost, MS).unwrap();
        assert_eq!(ms(other), 1.0);
    }

    #[test]
    fn a_wait_joins_two_streams() {
        let mut timeline = with_streams(true);
        timeline.run(A, HostToDevice, 4.0 * MS).unwrap();
        let event = timeline.record(A).unwrap();
        timeline.wait(B, event).unwrap();
        let end = timeline.run(B, Compute, MS).unwrap();
        assert_eq!(ms(end), 5.0);
    }

    #[test]
    fn work_after_a_synchronization_starts_after_it() {
        let mut timeline = with_streams(false);
        timeline.run(A, HostToDevice, 4.0 * MS).unwrap();
        timeline.synchronize(A).unwrap();
        let end = timeline.run(B, Compute, MS).unwrap();
        assert_eq!(ms(end), 5.0);
        timeline.synchronize_all();
        assert_eq!(ms(timeline.record(A).unwrap()), 5.0);
        timeline.synchronize_until(TimePoint(9_000_000_000));
        assert_eq!(ms(timeline.record(B).unwrap()), 9.0);
    }

    #[test]
    fn graph_branches_start_at_the_same_time() {
        let mut timeline = with_streams(true);
        let start = timeline.record(A).unwrap();
        let copy_end = timeline.run(A, HostToDevice, 4.0 * MS).unwrap();
        timeline.set_time(A, start).unwrap();
        let compute_end = timeline.run(A, Compute, MS).unwrap();
        assert_eq!([ms(copy_end), ms(compute_end)], [4.0, 1.0]);
        assert_eq!(timeline.set_time(StreamId(7), start), Err(InvalidHandle));
    }

    #[test]
    fn a_removed_stream_is_an_invalid_handle() {
        let mut timeline = with_streams(true);
        timeline.remove_stream(A);
        assert_eq!(timeline.run(A, Compute, MS), Err(InvalidHandle));
        assert_eq!(timeline.synchronize(A), Err(InvalidHandle));
        assert_eq!(timeline.wait(A, TimePoint(1)), Err(InvalidHandle));
    }

    #[test]
    fn negative_nan_and_infinite_durations_are_handled() {
        let mut timeline = with_streams(true);
        let start = timeline.record(A).unwrap();
        let end = timeline.run(A, Compute, 0.25 * MS).unwrap();
        assert_eq!(end.milliseconds_since(start), 0.25);
        assert_eq!(start.milliseconds_since(end), -0.25);
        assert_eq!(timeline.run(A, Compute, f64::NAN), Ok(end));
        assert_eq!(timeline.run(A, Compute, -1.0), Ok(end));
        let last = timeline.run(A, Compute, f64::INFINITY).unwrap();
        assert_eq!(timeline.run(A, Compute, 1.0), Ok(last));
    }
}
