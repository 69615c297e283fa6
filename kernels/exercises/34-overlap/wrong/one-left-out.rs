// Rejected at: right
// Says: For each chunk: the number of its steps (copy to the device, kernel, copy back) that ran
//! Leaves out the first chunk.

use answers::overlap::Device;

/// Processes `chunks` chunks. `device.stream()` creates a stream; `copy_in`, `launch` and `copy_out` enqueue
/// a step of a chunk in a stream; `wait` waits for everything in a stream.
pub fn process(device: &mut Device, chunks: u32) {
    let streams = [device.stream(), device.stream(), device.stream()];
    for chunk in 1..chunks {
        let stream = streams[chunk as usize % 3];
        device.copy_in(chunk, stream);
        device.launch(chunk, stream);
        device.copy_out(chunk, stream);
    }
    for stream in streams {
        device.wait(stream);
    }
}
