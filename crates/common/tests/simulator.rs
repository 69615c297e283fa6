//! Tests that need a device, on the simulator. They are one test because a process chooses its backend once.

use common::gpu::{Clock, Gpu};
use common::{error, module};
use cust::memory::CopyDestination;

#[test]
fn the_simulator_opens_and_load_errors_are_described() {
    // SAFETY: this program has one test, so no other thread reads the environment now.
    unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    let gpu = Gpu::open().unwrap();
    assert_eq!(gpu.info.time, Clock::Modelled);
    assert_eq!(
        gpu.info.to_string().split(", driver").next().unwrap(),
        "simulator: models an NVIDIA H200, compute capability 9.0"
    );

    // PTX that loads, PTX that does not, and text that is not PTX.
    let kernel = ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n";
    let loaded = module::load(kernel).unwrap();
    let missing = anyhow::Error::from(loaded.get_function("absent").unwrap_err());
    assert!(error::describe(&missing).starts_with("CUDA_ERROR_NOT_FOUND: "));
    let broken = kernel.replace("ret;", "frobnicate.u32 %r1;");
    let message = module::load(&broken).unwrap_err().to_string();
    assert!(message.contains("CUDA_ERROR_INVALID_PTX"), "{message}");
    assert!(message.contains("frobnicate"), "{message}");
    for nothing in ["", "hello"] {
        let message = module::load(nothing).unwrap_err().to_string();
        assert!(message.contains("CUDA_ERROR_INVALID_IMAGE"), "{message}");
    }

    // Variables: existing, missing, and of a different size than in the program.
    let ptx = kernel.replace(
        ".visible .entry",
        ".visible .const .b8 table[64];\n.visible .entry",
    );
    let loaded = module::load(&ptx).unwrap();
    let mut table = module::symbol::<[f32; 16]>(&loaded, c"table").unwrap();
    table.copy_from(&[1.5; 16]).unwrap();
    let mut read_back = [0.0; 16];
    table.copy_to(&mut read_back).unwrap();
    assert_eq!(read_back, [1.5; 16]);
    let message = module::symbol::<[f32; 20]>(&loaded, c"table").unwrap_err();
    let message = message.to_string();
    for part in ["table has 64 bytes", "and 80 in the Rust code"] {
        assert!(message.contains(part), "{message}");
    }
    let message = error::describe(&module::symbol::<f32>(&loaded, c"absent").unwrap_err());
    for part in ["the variable absent", "CUDA_ERROR_NOT_FOUND"] {
        assert!(message.contains(part), "{message}");
    }
}
