// Rejected at: right
// Says: The number of streams that you create
//! Creates a stream for each chunk.

use answers::overlap::Device;

/// Processes `chunks` chunks. `device.stream()` creates a stream; `copy_in`, `launch` and `copy_out` enqueue
/// a step of a chunk in a stream; `wait` waits for everything in a stream.
pub fn process(device: &mut Device, chunks: u32) {
    let streams: Vec<_> = (0..chunks).map(|_| device.stream()).collect();
    for chunk in 0..chunks {
        let stream = streams[chunk as usize];
        device.copy_in(chunk, stream);
        device.launch(chunk, stream);
        device.copy_out(chunk, stream);
    }
    for stream in streams {
        device.wait(stream);
    }
}
