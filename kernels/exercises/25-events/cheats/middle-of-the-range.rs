// Rejected at: right
// Says: milliseconds
//! Takes the sample nearest to the middle of the range instead of the median.

use answers::cust::{
    error::CudaResult,
    event::{Event, EventFlags},
    stream::Stream,
};
pub fn median_ms(
    stream: &Stream,
    samples: usize,
    launch: &dyn Fn() -> CudaResult<()>,
) -> CudaResult<f32> {
    let (start, stop) = (
        Event::new(EventFlags::DEFAULT)?,
        Event::new(EventFlags::DEFAULT)?,
    );
    launch()?;
    let mut times = Vec::new();
    for _ in 0..samples {
        start.record(stream)?;
        launch()?;
        stop.record(stream)?;
        stop.synchronize()?;
        times.push(stop.elapsed_time_f32(&start)?);
    }
    let least = times.iter().copied().fold(f32::MAX, f32::min);
    let most = times.iter().copied().fold(0.0, f32::max);
    let mid = (least * most).sqrt();
    Ok(times
        .iter()
        .copied()
        .min_by(|a, b| (a / mid - 1.0).abs().total_cmp(&(b / mid - 1.0).abs()))
        .unwrap())
}
