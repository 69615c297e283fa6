// Rejected at: right
// Says: For how many chunks your function has waited when it returns
//! Chunks are copied to the device, worked on, and copied back.

use answers::overlap::Device;

/// Has so many chunks worked on. `device.stream()` makes a stream, `copy_in`, `launch` and `copy_out` put a step of
/// a chunk into one, and `wait` waits for all that is in one.
pub fn process(device: &mut Device, chunks: u32) {
    let streams = [device.stream(), device.stream(), device.stream()];
    for chunk in 0..chunks {
        let stream = streams[chunk as usize % 3];
        device.copy_in(chunk, stream);
        device.launch(chunk, stream);
        device.copy_out(chunk, stream);
    }
}
