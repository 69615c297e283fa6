// Rejected at: right
// Says: The number of chunks that your function has waited for when it returns
//! Returns without waiting for the streams.

use answers::overlap::Device;

/// Processes `chunks` chunks. `device.stream()` creates a stream; `copy_in`, `launch` and `copy_out` enqueue
/// a step of a chunk in a stream; `wait` waits for everything in a stream.
pub fn process(device: &mut Device, chunks: u32) {
    let streams = [device.stream(), device.stream(), device.stream()];
    for chunk in 0..chunks {
        let stream = streams[chunk as usize % 3];
        device.copy_in(chunk, stream);
        device.launch(chunk, stream);
        device.copy_out(chunk, stream);
    }
}
