// Rejected at: right
// Says: chunks that do not exist
//! Copies one chunk more than there are.

use answers::overlap::Device;

pub fn process(device: &mut Device, chunks: u32) {
    let streams = [device.stream(), device.stream(), device.stream()];
    for chunk in 0..chunks {
        let stream = streams[chunk as usize % 3];
        device.copy_in(chunk, stream);
        device.launch(chunk, stream);
        device.copy_out(chunk, stream);
    }
    device.copy_in(chunks, streams[0]);
    for stream in streams {
        device.wait(stream);
    }
}
