// Rejected at: compile
// Says: default
//! Creates streams with a device of its own.
use answers::overlap::Device;
pub fn process(device: &mut Device, chunks: u32) {
    let mut other = Device::default();
    let streams: Vec<_> = (0..chunks).map(|_| other.stream()).collect();
    for chunk in 0..chunks {
        let stream = streams[chunk as usize];
        device.copy_in(chunk, stream);
        device.launch(chunk, stream);
        device.copy_out(chunk, stream);
    }
    for stream in streams { device.wait(stream); }
}
