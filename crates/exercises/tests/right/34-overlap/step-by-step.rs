//! Chunks are copied to the device, worked on, and copied back.

use answers::overlap::Device;

/// Has so many chunks worked on. `device.stream()` makes a stream, `copy_in`, `launch` and `copy_out` put a step of
/// a chunk into one, and `wait` waits for all that is in one.
pub fn process(device: &mut Device, chunks: u32) {
    let streams = [device.stream(), device.stream(), device.stream(), device.stream()];
    let of = |chunk: u32| streams[chunk as usize % 4];
    // The steps of three chunks at a time, each at its own engine.
    for turn in 0..chunks + 2 {
        if turn >= 2 {
            device.copy_out(turn - 2, of(turn - 2));
        }
        if turn >= 1 && turn <= chunks {
            device.launch(turn - 1, of(turn - 1));
        }
        if turn < chunks {
            device.copy_in(turn, of(turn));
        }
    }
    for stream in streams {
        device.wait(stream);
    }
}
