//! Tests that need a device, on the simulator. They are one test because a process chooses its backend once.

use chapter::limit::{self, DeviceRange, Fp32};
use chapter::memory::{self, Footprint};
use common::{Gpu, error, module, timing};
use cust::memory::DeviceBuffer;

#[test]
fn memory_checks_and_hardware_limits() {
    // SAFETY: this program has one test, so no other thread reads the environment now.
    unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    let gpu = Gpu::open().unwrap();
    let kernel = ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n";
    let loaded = module::load(kernel).unwrap();

    // Shared memory: an H200 has 227 KB per block, and no more.
    let idle = loaded.get_function("k").unwrap();
    assert_eq!(memory::shared_limit(&gpu.device).unwrap(), 227 << 10);
    assert!(memory::allow_shared(&idle, 227 << 10).is_ok());
    for more in [228 << 10, u32::MAX] {
        let message = error::describe(&memory::allow_shared(&idle, more).unwrap_err());
        let expected = format!("cannot use {more} bytes of shared memory per block");
        assert!(message.starts_with(&expected), "{message}");
    }

    // GPU memory and host memory.
    let footprint = |device, host| memory::require(&gpu, "the test", Footprint { device, host });
    assert!(footprint(4096, 4096).is_ok());
    let message = footprint(u64::MAX, 0).unwrap_err().to_string();
    assert!(message.contains("GPU memory"), "{message}");
    let message = footprint(0, u64::MAX).unwrap_err().to_string();
    assert!(message.contains("host memory"), "{message}");
    let message = footprint(1, u64::MAX).unwrap_err().to_string();
    assert!(message.contains("host memory"), "{message}");

    // Limits: the copy runs at the memory's bandwidth, arithmetic at the rate of the FP32 lanes.
    let events = timing::events(&gpu.stream).unwrap();
    let from = DeviceBuffer::from_slice(&[1_u8; 1 << 16]).unwrap();
    let to = DeviceBuffer::from_slice(&[2_u8; 1 << 16]).unwrap();
    let range = |buffer: &DeviceBuffer<u8>, bytes| DeviceRange {
        address: buffer.as_device_ptr().as_raw(),
        bytes,
    };
    let copy = |bytes| {
        limit::copy(&gpu, &events, 1, range(&to, bytes), range(&from, 1 << 16))
            .map(|timing| timing.median_ms)
    };
    assert!(copy(1 << 16).unwrap() > 0.0);
    assert_eq!(to.as_host_vec().unwrap(), [1; 1 << 16]);
    let message = error::describe(&copy(100).unwrap_err());
    assert!(message.contains("differ in size"), "{message}");
    assert!(limit::copy_of(&gpu, 1, 1 << 16).timing.unwrap().median_ms > 0.0);
    let rate = Fp32::measure(&gpu, 1).unwrap().per_second;
    let lanes = 132.0 * 128.0 * 1.98e9;
    assert!((0.9..1.01).contains(&(rate / lanes)), "{rate} of {lanes}");
}
