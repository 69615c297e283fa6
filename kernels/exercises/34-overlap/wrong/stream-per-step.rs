// Rejected at: right
// Says: For each chunk: the number of its steps (copy to the device, kernel, copy back) that ran
//! Runs the steps of a chunk in three streams without any order between them.

use answers::overlap::Device;

/// Processes `chunks` chunks. `device.stream()` creates a stream; `copy_in`, `launch` and `copy_out` enqueue
/// a step of a chunk in a stream; `wait` waits for everything in a stream.
pub fn process(device: &mut Device, chunks: u32) {
    let streams = [device.stream(), device.stream(), device.stream()];
    let [to_device, compute, to_host] = streams;
    for chunk in 0..chunks {
        device.copy_in(chunk, to_device);
        device.launch(chunk, compute);
        device.copy_out(chunk, to_host);
    }
    for stream in streams {
        device.wait(stream);
    }
}
