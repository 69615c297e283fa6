//! One stream per kind of step, with the host waiting in between.

use answers::overlap::Device;

/// Keeps three chunks in flight at a time.
pub fn process(device: &mut Device, chunks: u32) {
    let [to_device, compute, to_host] = [device.stream(), device.stream(), device.stream()];
    for turn in 0..chunks + 2 {
        if turn < chunks {
            device.copy_in(turn, to_device);
        }
        if turn >= 1 && turn <= chunks {
            device.launch(turn - 1, compute);
        }
        if turn >= 2 {
            device.copy_out(turn - 2, to_host);
        }
        device.wait(to_device);
        device.wait(compute);
        device.wait(to_host);
    }
}
