// Rejected at: right
// Says: Only steps in one stream are ordered.
//! Waits for the next chunk's copy, which happens to end when this chunk's kernel does.

use answers::overlap::Device;

pub fn process(device: &mut Device, chunks: u32) {
    let [copies, kernels, results] = [device.stream(), device.stream(), device.stream()];
    device.copy_in(0, copies);
    device.wait(copies);
    for chunk in 0..chunks {
        device.launch(chunk, kernels);
        match chunk + 1 < chunks {
            true => {
                device.copy_in(chunk + 1, copies);
                device.wait(copies);
            }
            false => device.wait(kernels),
        }
        device.copy_out(chunk, results);
    }
    device.wait(results);
}
