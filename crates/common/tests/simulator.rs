//! What needs a device, on the simulator. One test, because a process chooses its backend once.

use common::gpu::{Clock, Gpu};
use common::memory::{self, Need};
use common::{error, module};

#[test]
fn opening_loading_and_running_out_of_memory() {
    // SAFETY: this program has one test, so no other thread reads the environment now.
    unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    let gpu = Gpu::open().unwrap();
    assert_eq!(gpu.info.time, Clock::Modelled);
    assert_eq!(
        gpu.info.to_string().split(", driver").next().unwrap(),
        "simulator: models an NVIDIA H200, compute capability 9.0"
    );

    // PTX that loads, PTX that does not, and what no PTX is.
    let kernel = ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n";
    let loaded = module::load(kernel).unwrap();
    let missing = anyhow::Error::from(loaded.get_function("absent").unwrap_err());
    assert!(error::in_words(&missing).starts_with("CUDA_ERROR_NOT_FOUND: "));
    let broken = kernel.replace("ret;", "frobnicate.u32 %r1;");
    let said = module::load(&broken).unwrap_err().to_string();
    assert!(said.contains("CUDA_ERROR_INVALID_PTX"), "{said}");
    assert!(said.contains("frobnicate"), "{said}");
    assert!(module::load("").is_err());

    // Memory, of the device and of the computer.
    let need = |device, host| memory::require(&gpu, "it", Need { device, host });
    assert!(need(4096, 4096).is_ok());
    let said = need(u64::MAX, 0).unwrap_err().to_string();
    assert!(said.contains("GPU memory"), "{said}");
    let said = need(0, u64::MAX).unwrap_err().to_string();
    assert!(said.contains("this computer's memory"), "{said}");
    let said = need(1, u64::MAX).unwrap_err().to_string();
    assert!(said.contains("this computer's memory"), "{said}");
}
