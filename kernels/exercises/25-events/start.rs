//! How long a kernel takes.

use std::time::Instant;

use answers::cust::error::CudaResult;
use answers::cust::stream::Stream;

/// Milliseconds that one launch takes: the median of `samples` samples, an odd number, each of a
/// single launch, after a launch that is not counted.
///
/// `launch` puts one launch into `stream`.
pub fn median_ms(
    _stream: &Stream,
    samples: usize,
    launch: &dyn Fn() -> CudaResult<()>,
) -> CudaResult<f32> {
    // TODO: this is the time that the processor takes to ask for the launches, and a mean.
    let begin = Instant::now();
    for _ in 0..samples {
        launch()?;
    }
    Ok(begin.elapsed().as_secs_f32() * 1000.0 / samples as f32)
}
