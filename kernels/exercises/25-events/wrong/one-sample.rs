// Rejected at: right
// Says: The number of kernel launches: one warm-up launch, because the first launch takes much
//! Takes one sample instead of the requested number.

use answers::cust::error::CudaResult;
use answers::cust::event::{Event, EventFlags};
use answers::cust::stream::Stream;

pub fn median_ms(
    stream: &Stream,
    _samples: usize,
    launch: &dyn Fn() -> CudaResult<()>,
) -> CudaResult<f32> {
    let start = Event::new(EventFlags::DEFAULT)?;
    let stop = Event::new(EventFlags::DEFAULT)?;
    launch()?;
    let mut times = Vec::new();
    for _ in 0..1 {
        start.record(stream)?;
        launch()?;
        stop.record(stream)?;
        stop.synchronize()?;
        times.push(stop.elapsed_time_f32(&start)?);
    }
    times.sort_by(f32::total_cmp);
    Ok(times[times.len() / 2])
}
