//! Issues the steps of three chunks in turn, each for a different engine.

use answers::overlap::Device;

/// Processes `chunks` chunks. `device.stream()` creates a stream; `copy_in`, `launch` and `copy_out` enqueue
/// a step of a chunk in a stream; `wait` waits for everything in a stream.
pub fn process(device: &mut Device, chunks: u32) {
    let streams = [
        device.stream(),
        device.stream(),
        device.stream(),
        device.stream(),
    ];
    let of = |chunk: u32| streams[chunk as usize % 4];
    // Issue the steps of three chunks at a time, each for a different engine.
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
