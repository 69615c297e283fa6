// Rejected at: right
// Says: The time at which everything is done, if each step takes 10 microseconds
//! Uses two streams, so that at most two of the three kinds of steps overlap.

use answers::overlap::Device;

/// Processes `chunks` chunks. `device.stream()` creates a stream; `copy_in`, `launch` and `copy_out` enqueue
/// a step of a chunk in a stream; `wait` waits for everything in a stream.
pub fn process(device: &mut Device, chunks: u32) {
    let streams = [device.stream(), device.stream()];
    for chunk in 0..chunks {
        let stream = streams[chunk as usize % 2];
        device.copy_in(chunk, stream);
        device.launch(chunk, stream);
        device.copy_out(chunk, stream);
    }
    for stream in streams {
        device.wait(stream);
    }
}
