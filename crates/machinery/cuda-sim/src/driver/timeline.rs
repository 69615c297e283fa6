//! Modelled time: when each piece of work would start and end on the GPU.
//!
//! The simulator does all work at the call. What it would have overlapped with is kept here: every
//! stream has a clock, and so has the host, which falls behind none that it waited for. Work starts
//! when its stream, the host and the engine it needs are all ready.

use std::collections::BTreeMap;

use super::error::CudaError;
use super::handle::StreamId;

/// A point in modelled time, in picoseconds since the context began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// Milliseconds from `start` to `self`, below zero if `start` is the later one.
    pub fn milliseconds_since(self, start: Self) -> f32 {
        ((self.0 as i128 - start.0 as i128) as f64 / 1e9) as f32
    }

    /// The instant `seconds` later; a negative or unknown length counts as none.
    fn after(self, seconds: f64) -> Self {
        // `as` takes NaN and negative numbers to zero and everything too large to the last instant.
        Self(self.0.saturating_add((seconds * 1e12).round() as u64))
    }
}

/// A part of the GPU, or of the driver, that does one thing at a time.
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
    /// Copies within the host, which the driver does itself.
    Host,
}

struct Clock {
    now: Instant,
    /// Whether the stream takes turns with the legacy default stream.
    blocking: bool,
}

/// The clocks of one context.
pub struct Timeline {
    host: Instant,
    engines: [Instant; 5],
    streams: BTreeMap<StreamId, Clock>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Timeline {
    /// A timeline with the legacy default stream alone.
    pub fn new() -> Self {
        let mut timeline = Self {
            host: Instant::default(),
            engines: [Instant::default(); 5],
            streams: BTreeMap::new(),
        };
        timeline.add_stream(StreamId::LEGACY, true);
        timeline
    }

    /// Starts a stream's clock. A `blocking` stream takes turns with the legacy default stream.
    pub fn add_stream(&mut self, stream: StreamId, blocking: bool) {
        let now = self.host;
        self.streams.insert(stream, Clock { now, blocking });
    }

    /// Ends a stream's clock. What it had under way still holds its engines.
    pub fn remove_stream(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
    }

    /// Appends `seconds` of work on `engine` to `stream`; returns when it ends.
    pub fn run(
        &mut self,
        stream: StreamId,
        engine: Engine,
        seconds: f64,
    ) -> Result<Instant, CudaError> {
        let start = self.ready(stream)?.max(self.engines[engine as usize]);
        let end = start.after(seconds);
        self.engines[engine as usize] = end;
        self.set(stream, end)?;
        Ok(end)
    }

    /// When everything in `stream` so far is done: what an event recorded now will read.
    pub fn record(&mut self, stream: StreamId) -> Result<Instant, CudaError> {
        let at = self.ready(stream)?;
        self.set(stream, at)?;
        Ok(at)
    }

    /// Makes what `stream` does next start no earlier than `instant` (`cuStreamWaitEvent`).
    pub fn wait(&mut self, stream: StreamId, instant: Instant) -> Result<(), CudaError> {
        let at = self.ready(stream)?.max(instant);
        self.set(stream, at)
    }

    /// The host waits for all of `stream`.
    pub fn synchronize(&mut self, stream: StreamId) -> Result<(), CudaError> {
        self.host = self.ready(stream)?;
        Ok(())
    }

    /// The host waits until `instant`.
    pub fn synchronize_until(&mut self, instant: Instant) {
        self.host = self.host.max(instant);
    }

    /// Whether the host knows that `instant` has come: it has waited for it, or for something later.
    pub fn is_past(&self, instant: Instant) -> bool {
        instant <= self.host
    }

    /// The host waits for every stream.
    pub fn synchronize_all(&mut self) {
        let streams = self.streams.values().map(|clock| clock.now);
        self.host = streams.chain(self.engines).fold(self.host, Instant::max);
    }

    /// The earliest that the next work of `stream` can start, engines aside.
    fn ready(&self, stream: StreamId) -> Result<Instant, CudaError> {
        let own = self.streams.get(&stream).ok_or(CudaError::InvalidHandle)?;
        let earliest = own.now.max(self.host);
        if !own.blocking {
            return Ok(earliest);
        }
        // The legacy default stream waits for all blocking streams, and each of them for it.
        let others = self.streams.iter().filter(|(id, clock)| {
            clock.blocking && (stream == StreamId::LEGACY || **id == StreamId::LEGACY)
        });
        Ok(others
            .map(|(_, clock)| clock.now)
            .fold(earliest, Instant::max))
    }

    fn set(&mut self, stream: StreamId, now: Instant) -> Result<(), CudaError> {
        let clock = self.streams.get_mut(&stream);
        clock.ok_or(CudaError::InvalidHandle)?.now = now;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e-3;
    const A: StreamId = StreamId(0x10);
    const B: StreamId = StreamId(0x20);

    fn with_streams(blocking: bool) -> Timeline {
        let mut timeline = Timeline::new();
        timeline.add_stream(A, blocking);
        timeline.add_stream(B, blocking);
        timeline
    }

    fn ms(instant: Instant) -> f32 {
        instant.milliseconds_since(Instant::default())
    }

    #[test]
    fn work_in_one_stream_is_in_order() {
        let mut timeline = with_streams(true);
        timeline.run(A, Engine::HostToDevice, 2.0 * MS).unwrap();
        let end = timeline.run(A, Engine::Compute, 3.0 * MS).unwrap();
        assert_eq!(ms(end), 5.0);
    }

    #[test]
    fn streams_overlap_on_different_engines_and_queue_on_the_same() {
        let mut timeline = with_streams(true);
        timeline.run(A, Engine::Compute, 4.0 * MS).unwrap();
        let copy = timeline.run(B, Engine::HostToDevice, MS).unwrap();
        assert_eq!(ms(copy), 1.0);
        let kernel = timeline.run(B, Engine::Compute, MS).unwrap();
        assert_eq!(ms(kernel), 5.0);
    }

    #[test]
    fn the_default_stream_takes_turns_with_blocking_streams() {
        let mut timeline = with_streams(true);
        timeline.run(A, Engine::HostToDevice, 4.0 * MS).unwrap();
        let default = timeline.run(StreamId::LEGACY, Engine::Compute, MS).unwrap();
        assert_eq!(ms(default), 5.0);
        let after = timeline.run(B, Engine::DeviceToHost, MS).unwrap();
        assert_eq!(ms(after), 6.0);
    }

    #[test]
    fn the_default_stream_passes_by_non_blocking_streams() {
        let mut timeline = with_streams(false);
        timeline.run(A, Engine::HostToDevice, 4.0 * MS).unwrap();
        let default = timeline.run(StreamId::LEGACY, Engine::Compute, MS).unwrap();
        assert_eq!(ms(default), 1.0);
        let other = timeline.run(B, Engine::DeviceToHost, MS).unwrap();
        assert_eq!(ms(other), 1.0);
    }

    #[test]
    fn a_wait_joins_two_streams() {
        let mut timeline = with_streams(true);
        timeline.run(A, Engine::HostToDevice, 4.0 * MS).unwrap();
        let event = timeline.record(A).unwrap();
        timeline.wait(B, event).unwrap();
        let end = timeline.run(B, Engine::Compute, MS).unwrap();
        assert_eq!(ms(end), 5.0);
    }

    #[test]
    fn nothing_issued_after_a_synchronisation_starts_before_it() {
        let mut timeline = with_streams(false);
        timeline.run(A, Engine::HostToDevice, 4.0 * MS).unwrap();
        timeline.synchronize(A).unwrap();
        let end = timeline.run(B, Engine::Compute, MS).unwrap();
        assert_eq!(ms(end), 5.0);
        timeline.synchronize_all();
        assert_eq!(ms(timeline.record(A).unwrap()), 5.0);
        timeline.synchronize_until(Instant(9_000_000_000));
        assert_eq!(ms(timeline.record(B).unwrap()), 9.0);
    }

    #[test]
    fn a_removed_stream_is_an_invalid_handle() {
        let mut timeline = with_streams(true);
        timeline.remove_stream(A);
        assert_eq!(
            timeline.run(A, Engine::Compute, MS),
            Err(CudaError::InvalidHandle)
        );
        assert_eq!(timeline.synchronize(A), Err(CudaError::InvalidHandle));
        assert_eq!(timeline.wait(A, Instant(1)), Err(CudaError::InvalidHandle));
    }

    #[test]
    fn differences_have_a_sign_and_odd_lengths_do_not_break() {
        let mut timeline = with_streams(true);
        let start = timeline.record(A).unwrap();
        let end = timeline.run(A, Engine::Compute, 0.25 * MS).unwrap();
        assert_eq!(end.milliseconds_since(start), 0.25);
        assert_eq!(start.milliseconds_since(end), -0.25);
        assert_eq!(timeline.run(A, Engine::Compute, f64::NAN), Ok(end));
        assert_eq!(timeline.run(A, Engine::Compute, -1.0), Ok(end));
        let last = timeline.run(A, Engine::Compute, f64::INFINITY).unwrap();
        assert_eq!(timeline.run(A, Engine::Compute, 1.0), Ok(last));
    }
}
