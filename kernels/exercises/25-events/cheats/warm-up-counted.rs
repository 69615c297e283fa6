// Rejected at: right
// Says: the median is required
//! Takes the time of the first launch as one more sample.

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
    let mut times = Vec::new();
    for _ in 0..=samples {
        start.record(stream)?;
        launch()?;
        stop.record(stream)?;
        stop.synchronize()?;
        times.push(stop.elapsed_time_f32(&start)?);
    }
    times.sort_by(f32::total_cmp);
    Ok(times[samples / 2])
}
