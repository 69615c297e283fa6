// Rejected at: right
// Says: This is shorter than any launch: the launch must be between the two events
//! Records both events before the launch, so that nothing is between them.

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
        stop.record(stream)?;
        launch()?;
        stop.synchronize()?;
        times.push(stop.elapsed_time_f32(&start)?);
    }
    times.sort_by(f32::total_cmp);
    Ok(times[samples / 2])
}
