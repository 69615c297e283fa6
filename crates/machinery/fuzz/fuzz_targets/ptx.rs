//! Any text as a module: it loads or is refused, and what loads can be launched. A kernel that does
//! not end is ended, one that does wrong is a fault, and none of it is a panic.

#![no_main]

use std::time::Duration;

use cuda_sim::check::Checks;
use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{Driver, LaunchConfig, StreamId};
use cuda_sim::exec::TimeLimit;
use libfuzzer_sys::fuzz_target;

/// What a kernel may take.
const TIME: Duration = Duration::from_millis(100);

/// Bytes of device memory: what is allocated for real stays far below what the fuzzer allows.
const MEMORY: u64 = 256 << 20;

/// What a kernel's parameters point to, if it takes them for addresses.
const BYTES: u64 = 4096;

/// How many kernels of a module are launched.
const KERNELS: usize = 4;

fuzz_target!(|text: &str| {
    let device = DeviceSpec {
        memory_bytes: MEMORY,
        ..DeviceSpec::h200()
    };
    let mut driver = Driver::new(device, Some(TimeLimit::Launch(TIME)));
    // Counted or not, checked or not: the text's length decides.
    let (profile, checked) = (text.len() & 1 != 0, text.len() & 2 != 0);
    driver.set_checks(if checked { Checks::ALL } else { Checks::NONE });
    let context = driver.retain_primary(0).unwrap();
    let Ok(module) = driver.load_module(context, text) else {
        return;
    };
    let names: Vec<_> = kernels(text).take(KERNELS).collect();
    for name in names {
        let Ok(function) = driver.function(context, module, name) else {
            continue;
        };
        let Ok((_, bytes)) = driver.parameters(function) else {
            continue;
        };
        // A fault ends the context, and the module with it.
        let Ok(address) = driver.allocate(context, BYTES) else {
            return;
        };
        let words = address.to_le_bytes();
        let parameters: Vec<u8> = words.into_iter().cycle().take(bytes as usize).collect();
        let _ = driver.launch(
            context,
            StreamId::LEGACY,
            &LaunchConfig {
                function,
                grid: [2, 1, 1],
                block: [40, 1, 1],
                dynamic_shared: 64,
                parameters: &parameters,
                cooperative: false,
                watch: None,
                profile,
            },
        );
    }
});

/// The words after `.entry`.
fn kernels(text: &str) -> impl Iterator<Item = &str> {
    text.split(".entry").skip(1).filter_map(|rest| {
        let named = |letter: char| letter.is_ascii_alphanumeric() || "_$%".contains(letter);
        rest.trim_start().split(|letter| !named(letter)).next()
    })
}
