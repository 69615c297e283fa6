// Rejected at: right
// Says: For each chunk: the number of its steps (copy to the device, kernel, copy back) that ran
//! Chunks are copied to the device, processed, and copied back.

use answers::overlap::Device;

/// Processes `chunks` chunks. `device.stream()` creates a stream; `copy_in`, `launch` and `copy_out` enqueue
/// a step of a chunk in a stream; `wait` waits for everything in a stream.
pub fn process(device: &mut Device, chunks: u32) {
    let streams = [device.stream(), device.stream(), device.stream()];
    let [there, work, back] = streams;
    for chunk in 0..chunks {
        device.copy_in(chunk, there);
        device.launch(chunk, work);
        device.copy_out(chunk, back);
    }
    for stream in streams {
        device.wait(stream);
    }
}
