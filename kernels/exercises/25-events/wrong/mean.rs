// Rejected at: right
// Says: Your time is about the mean of the samples
//! Returns the mean of all launches, to which the few delayed ones contribute as much as all others together.

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
    start.record(stream)?;
    for _ in 0..samples {
        launch()?;
    }
    stop.record(stream)?;
    stop.synchronize()?;
    Ok(stop.elapsed_time_f32(&start)? / samples as f32)
}
