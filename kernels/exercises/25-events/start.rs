//! The time of a kernel.

use std::time::Instant;

use answers::cust::error::CudaResult;
use answers::cust::stream::Stream;

/// Returns the time of one launch in milliseconds: the median of `samples` samples, an odd number, each of a
/// single launch, after one launch that does not count.
///
/// `launch` puts one launch into `stream`.
pub fn median_ms(
    _stream: &Stream,
    samples: usize,
    launch: &dyn Fn() -> CudaResult<()>,
) -> CudaResult<f32> {
    // TODO: this measures how long the CPU takes to request the launches, and it is a mean.
    let begin = Instant::now();
    for _ in 0..samples {
        launch()?;
    }
    Ok(begin.elapsed().as_secs_f32() * 1000.0 / samples as f32)
}
