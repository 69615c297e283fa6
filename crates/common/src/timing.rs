//! Timing with events: the number of launches per sample, and the median of the samples.
//!
//! A chapter records two events around some launches; this module decides the number of launches
//! and samples and computes the median. One short kernel between two events measures the launch
//! overhead instead of the kernel, so on a GPU a sample consists of many launches.

use anyhow::{Result, ensure};
use cuda_driver::LaunchRecord;
use cust::event::{Event, EventFlags};
use cust::stream::Stream;
use serde::Serialize;

use crate::gpu::Clock;

/// Minimum duration of a sample on a GPU in milliseconds, unless it has [`MAX_LAUNCHES`].
const SAMPLE_MS: f32 = 5.0;
/// Maximum number of launches per sample, about as many as a driver queues.
const MAX_LAUNCHES: u32 = 1000;

/// Milliseconds per launch over several samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// The median of the samples (the mean of the two middle ones if their number is even).
    pub median_ms: f64,
    /// The fastest sample.
    pub min_ms: f64,
    /// The slowest sample.
    pub max_ms: f64,
    /// The number of samples.
    pub samples: u32,
    /// The number of launches that each sample is the mean of.
    pub launches_per_sample: u32,
}

/// The result of timing some work.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The measured or modelled time.
    pub timing: Timing,
    /// The simulator's record of the last launch; `None` on a GPU, and if the work was a copy.
    pub launch: Option<LaunchRecord>,
}

impl Measured {
    /// Drops the launch record, for work that no single launch represents.
    pub fn without_launch(self) -> Self {
        Measured {
            launch: None,
            ..self
        }
    }
}

impl Timing {
    /// Creates the timing of a single sample of one launch.
    pub fn once(ms: f64) -> Self {
        Timing {
            median_ms: ms,
            min_ms: ms,
            max_ms: ms,
            samples: 1,
            launches_per_sample: 1,
        }
    }

    /// Converts `amount` per launch into 10⁹ per second: bytes into GB/s, operations into GFLOP/s.
    /// Returns `None` if the time is 0.
    pub fn giga_per_second(&self, amount: f64) -> Option<f64> {
        Some(amount / 1e6 / self.median_ms).filter(|rate| rate.is_finite())
    }
}

/// Two events in a stream that measure the time between them.
pub struct Events<'a> {
    stream: &'a Stream,
    start: Event,
    stop: Event,
}

/// Creates two events to record in `stream`.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn events(stream: &Stream) -> Result<Events<'_>> {
    Ok(Events {
        stream,
        start: Event::new(EventFlags::DEFAULT)?,
        stop: Event::new(EventFlags::DEFAULT)?,
    })
}

impl Events<'_> {
    // ANCHOR: Events
    /// Returns the milliseconds that the work enqueued by `work` takes in the stream.
    ///
    /// # Errors
    ///
    /// Fails if `work` fails or CUDA reports an error; errors of an asynchronous kernel are
    /// reported here. The stream is idle on return in any case.
    pub fn time(&self, work: impl FnOnce() -> Result<()>) -> Result<f32> {
        let timed = self.record_around(work);
        let done = self.stream.synchronize();
        timed?;
        done?;
        Ok(self.stop.elapsed_time_f32(&self.start)?)
    }
    // ANCHOR_END: Events

    /// Times `launch` like [`time`]: it is called between the two events as often as a sample
    /// needs.
    ///
    /// # Errors
    ///
    /// Fails where [`Events::time`] does.
    pub fn measure(
        &self,
        clock: Clock,
        repeat: u32,
        mut launch: impl FnMut() -> Result<()>,
    ) -> Result<Measured> {
        time(clock, repeat, |launches| {
            self.time(|| (0..launches).try_for_each(|_| launch()))
        })
    }

    /// Returns the timed stream.
    pub fn stream(&self) -> &Stream {
        self.stream
    }

    fn record_around(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.start.record(self.stream)?;
        work()?;
        Ok(self.stop.record(self.stream)?)
    }
}

// ANCHOR: time
/// Times `launch`, which launches its kernel the given number of times between two events and
/// returns the milliseconds between them.
///
/// On a GPU: a warm-up, then `repeat` samples, each with as many launches as take some
/// milliseconds. A modelled time is always the same, so on the simulator the kernel is launched
/// once; also on a GPU if `repeat` is 0, so that a profiler sees every kernel once.
///
/// # Errors
///
/// Fails if `launch` fails, or if a time is negative or not a number.
pub fn time(clock: Clock, repeat: u32, launch: impl FnMut(u32) -> Result<f32>) -> Result<Measured> {
    let recorder = cuda_driver::record_launches();
    let timing = sampled(clock, repeat, launch)?;
    Ok(Measured {
        timing,
        launch: recorder.last(),
    })
}

fn sampled(
    clock: Clock,
    repeat: u32,
    mut launch: impl FnMut(u32) -> Result<f32>,
) -> Result<Timing> {
    if clock == Clock::Modelled || repeat == 0 {
        return summarise(&[launch(1)?], 1);
    }
    launch(1)?; // loads the kernel
    let first_sample = launch(1)?;
    let launches = launches_for(first_sample);
    launch(launches)?; // warms up caches and clocks
    let samples = (0..repeat)
        .map(|_| launch(launches))
        .collect::<Result<Vec<f32>>>()?;
    summarise(&samples, launches)
}
// ANCHOR_END: time

/// Returns the number of launches that fill a sample if one launch takes `milliseconds`.
fn launches_for(milliseconds: f32) -> u32 {
    // The conversion saturates: 0 milliseconds give the maximum and NaN the minimum.
    ((SAMPLE_MS / milliseconds).ceil() as u32).clamp(1, MAX_LAUNCHES)
}

fn summarise(samples: &[f32], launches: u32) -> Result<Timing> {
    let mut sorted: Vec<f64> = samples
        .iter()
        .map(|&sample| f64::from(sample) / f64::from(launches))
        .collect();
    sorted.sort_by(f64::total_cmp);
    ensure!(
        sorted.iter().all(|&ms| ms.is_finite() && ms >= 0.0),
        "invalid time between two events: {samples:?} milliseconds"
    );
    let [min_ms, .., max_ms] = sorted[..] else {
        ensure!(!sorted.is_empty(), "no samples were taken");
        return Ok(Timing {
            launches_per_sample: launches,
            ..Timing::once(sorted[0])
        });
    };
    let middle = sorted.len() / 2;
    let median_ms = if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    } else {
        sorted[middle]
    };
    Ok(Timing {
        median_ms,
        min_ms,
        max_ms,
        samples: sorted.len() as u32,
        launches_per_sample: launches,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_modelled_time_takes_one_launch() {
        let mut calls = Vec::new();
        let timing = sampled(Clock::Modelled, 50, |launches| {
            calls.push(launches);
            Ok(0.25)
        })
        .unwrap();
        assert_eq!(calls, [1]);
        assert_eq!((timing.median_ms, timing.samples), (0.25, 1));
        assert_eq!((timing.min_ms, timing.max_ms), (0.25, 0.25));
    }

    #[test]
    fn a_measured_time_warms_up_and_samples_many_launches() {
        let mut calls = Vec::new();
        let timing = sampled(Clock::Measured, 3, |launches| {
            calls.push(launches);
            Ok(0.5 * launches as f32)
        })
        .unwrap();
        assert_eq!(calls, [1, 1, 10, 10, 10, 10]);
        assert_eq!((timing.median_ms, timing.launches_per_sample), (0.5, 10));
        assert_eq!(timing.samples, 3);
    }

    #[test]
    fn a_sample_has_from_one_to_a_thousand_launches() {
        assert_eq!(launches_for(0.0), MAX_LAUNCHES);
        assert_eq!(launches_for(0.001), MAX_LAUNCHES);
        assert_eq!(launches_for(0.02), 250);
        assert_eq!(launches_for(1e9), 1);
        assert_eq!(launches_for(f32::NAN), 1);
    }

    #[test]
    fn the_median_of_an_even_number_of_samples_is_the_mean_of_the_middle_two() {
        let odd = summarise(&[9.0, 1.0, 2.0], 1).unwrap();
        assert_eq!((odd.min_ms, odd.median_ms, odd.max_ms), (1.0, 2.0, 9.0));
        let even = summarise(&[4.0, 1.0, 2.0, 9.0], 1).unwrap();
        assert_eq!((even.min_ms, even.median_ms, even.max_ms), (1.0, 3.0, 9.0));
        let pair = summarise(&[3.0, 1.0], 2).unwrap();
        assert_eq!((pair.min_ms, pair.median_ms, pair.max_ms), (0.5, 1.0, 1.5));
    }

    #[test]
    fn rates_are_in_10_to_the_9_per_second() {
        assert_eq!(Timing::once(500.0).giga_per_second(1e9), Some(2.0));
        assert_eq!(Timing::once(0.0).giga_per_second(1e9), None);
        assert_eq!(Timing::once(0.0).giga_per_second(0.0), None);
    }

    #[test]
    fn invalid_times_are_errors() {
        for bad in [f32::NAN, f32::INFINITY, -1.0] {
            assert!(summarise(&[1.0, bad], 1).is_err(), "{bad}");
        }
        assert!(summarise(&[], 1).is_err());
    }

    #[test]
    fn a_failed_launch_ends_the_timing() {
        let mut calls = 0;
        let result = time(Clock::Measured, 3, |_| {
            calls += 1;
            bail!("the kernel faulted")
        });
        assert!(result.is_err());
        assert_eq!(calls, 1);
    }
}
