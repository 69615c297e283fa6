//! What needs a device, on the simulator. One test, because a process chooses its backend once.

use common::gpu::{Clock, Gpu};
use common::limit::{Fp32, Span};
use common::memory::{self, Need};
use common::{error, launch, limit, module, timing};
use cust::memory::{CopyDestination, DeviceBuffer};

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
    for nothing in ["", "hello"] {
        let said = module::load(nothing).unwrap_err().to_string();
        assert!(said.contains("CUDA_ERROR_INVALID_IMAGE"), "{said}");
    }

    // Shared memory: what an H200 has for a block, and no more.
    let idle = loaded.get_function("k").unwrap();
    assert_eq!(launch::shared_limit(&gpu.device).unwrap(), 227 << 10);
    assert!(launch::allow_shared(&idle, 227 << 10).is_ok());
    for more in [228 << 10, u32::MAX] {
        let said = error::in_words(&launch::allow_shared(&idle, more).unwrap_err());
        let wanted = format!("cannot have {more} bytes of shared memory a block");
        assert!(said.starts_with(&wanted), "{said}");
    }

    // Variables: there, not there, and of another size than the program thinks.
    let ptx = kernel.replace(
        ".visible .entry",
        ".visible .const .b8 table[64];\n.visible .entry",
    );
    let loaded = module::load(&ptx).unwrap();
    let mut table = module::symbol::<[f32; 16]>(&loaded, c"table").unwrap();
    table.copy_from(&[1.5; 16]).unwrap();
    let mut back = [0.0; 16];
    table.copy_to(&mut back).unwrap();
    assert_eq!(back, [1.5; 16]);
    let said = module::symbol::<[f32; 20]>(&loaded, c"table").unwrap_err();
    let said = said.to_string();
    for part in ["table has 64 bytes", "and 80 in the Rust code"] {
        assert!(said.contains(part), "{said}");
    }
    let said = error::in_words(&module::symbol::<f32>(&loaded, c"absent").unwrap_err());
    for part in ["the variable absent", "CUDA_ERROR_NOT_FOUND"] {
        assert!(said.contains(part), "{said}");
    }

    // Memory, of the device and of the computer.
    let need = |device, host| memory::require(&gpu, "it", Need { device, host });
    assert!(need(4096, 4096).is_ok());
    let said = need(u64::MAX, 0).unwrap_err().to_string();
    assert!(said.contains("GPU memory"), "{said}");
    let said = need(0, u64::MAX).unwrap_err().to_string();
    assert!(said.contains("this computer's memory"), "{said}");
    let said = need(1, u64::MAX).unwrap_err().to_string();
    assert!(said.contains("this computer's memory"), "{said}");

    // Limits: the copy is as fast as memory, arithmetic as fast as the lanes there are.
    let events = timing::events(&gpu.stream).unwrap();
    let from = DeviceBuffer::from_slice(&[1_u8; 1 << 16]).unwrap();
    let to = DeviceBuffer::from_slice(&[2_u8; 1 << 16]).unwrap();
    let span = |buffer: &DeviceBuffer<u8>, bytes| Span {
        address: buffer.as_device_ptr().as_raw(),
        bytes,
    };
    let copy = |bytes| {
        limit::copy(&gpu, &events, 1, span(&to, bytes), span(&from, 1 << 16)).map(|it| it.median_ms)
    };
    assert!(copy(1 << 16).unwrap() > 0.0);
    assert_eq!(to.as_host_vec().unwrap(), [1; 1 << 16]);
    let said = error::in_words(&copy(100).unwrap_err());
    assert!(said.contains("differ in size"), "{said}");
    let rate = Fp32::measure(&gpu, &events, 1).unwrap().per_second;
    let lanes = 132.0 * 128.0 * 1.98e9;
    assert!((0.9..1.01).contains(&(rate / lanes)), "{rate} of {lanes}");
}
