// Rejected at: right
// Says: milliseconds
//! Keeps the times as whole microseconds of 8 bits, which is enough for short launches only.

use answers::cust::error::CudaResult;
use answers::cust::event::{Event, EventFlags};
use answers::cust::stream::Stream;

pub fn median_ms(
    stream: &Stream,
    samples: usize,
    launch: &dyn Fn() -> CudaResult<()>,
) -> CudaResult<f32> {
    let start = Event::new(EventFlags::DEFAULT)?;
    let stop = Event::new(EventFlags::DEFAULT)?;
    launch()?;
    let mut times = Vec::new();
    for _ in 0..samples {
        start.record(stream)?;
        launch()?;
        stop.record(stream)?;
        stop.synchronize()?;
        times.push((stop.elapsed_time_f32(&start)? * 1000.0 + 0.5) as u8);
    }
    times.sort();
    Ok(times[samples / 2] as f32 / 1000.0)
}
