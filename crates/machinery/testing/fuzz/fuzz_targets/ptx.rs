//! Fuzzes the loader and the interpreter with arbitrary text as a module. The text is loaded or rejected, and
//! the kernels of a loaded module are launched. A kernel may time out or fault, but nothing may panic.

#![no_main]

use std::time::Duration;

use cuda_sim::check::Checks;
use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{Driver, StreamId};
use cuda_sim::exec::{LaunchSpec, TimeLimit};
use libfuzzer_sys::fuzz_target;

/// The time limit of a kernel.
const TIME_LIMIT: Duration = Duration::from_millis(100);

/// Bytes of device memory. Real allocations stay far below the fuzzer's memory limit.
const DEVICE_MEMORY: u64 = 256 << 20;

/// Bytes of the buffer whose address is passed in all of a kernel's parameters.
const BUFFER_BYTES: u64 = 4096;

/// The maximum number of kernels launched per module.
const MAX_KERNELS: usize = 4;

fuzz_target!(|text: &str| {
    let device = DeviceSpec {
        memory_bytes: DEVICE_MEMORY,
        ..DeviceSpec::h200()
    };
    let mut driver = Driver::new(device, Some(TimeLimit::Launch(TIME_LIMIT)));
    // The text's length selects profiling and checks.
    let (profile, checks) = (text.len() & 1 != 0, text.len() & 2 != 0);
    driver.options.checks = if checks { Checks::ALL } else { Checks::NONE };
    driver.options.profile = profile;
    let context = driver.retain_primary(0).unwrap();
    let Ok(module) = driver.load_module(context, text) else {
        return;
    };
    let names: Vec<_> = kernels(text).take(MAX_KERNELS).collect();
    for name in names {
        let Ok(function) = driver.function(context, module, name) else {
            continue;
        };
        let Ok((_, bytes)) = driver.parameters(function) else {
            continue;
        };
        // A fault destroys the context, and the module with it.
        let Ok(address) = driver.allocate(context, BUFFER_BYTES) else {
            return;
        };
        let words = address.to_le_bytes();
        let parameters: Vec<u8> = words.into_iter().cycle().take(bytes as usize).collect();
        let spec = LaunchSpec {
            dynamic_shared: 64,
            ..LaunchSpec::new([2, 1, 1], [40, 1, 1], &parameters)
        };
        if let Ok(checked) = driver.check_launch(context, function, spec) {
            let _ = driver.launch(context, StreamId::LEGACY, &checked);
        }
    }
});

/// Returns the words after `.entry`.
fn kernels(text: &str) -> impl Iterator<Item = &str> {
    text.split(".entry").skip(1).filter_map(|after_entry| {
        let is_name_character =
            |character: char| character.is_ascii_alphanumeric() || "_$%".contains(character);
        after_entry
            .trim_start()
            .split(|character| !is_name_character(character))
            .next()
    })
}
