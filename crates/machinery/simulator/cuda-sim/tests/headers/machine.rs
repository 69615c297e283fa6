//! A test harness: a simulated H200 with one loaded module, its buffers, and launches.

use std::time::Duration;

use bytemuck::Pod;
use cuda_sim::device::DeviceSpec;
use cuda_sim::driver::{ContextId, Driver, Memcpy, MemcpyAddress, ModuleId, StreamId};
use cuda_sim::exec::{LaunchSpec, TimeLimit};
use cuda_sim::launch::LaunchReport;

pub struct Machine {
    driver: Driver,
    context: ContextId,
    module: ModuleId,
}

impl Machine {
    pub fn new(ptx: &str) -> Self {
        // Makes a test that hangs fail instead.
        let limit = TimeLimit::Launch(Duration::from_secs(100));
        let mut driver = Driver::new(DeviceSpec::h200(), Some(limit));
        let context = driver.retain_primary(0).unwrap();
        let module = driver
            .load_module(context, ptx)
            .unwrap_or_else(|error| panic!("cannot load the module: {error}"));
        Self {
            driver,
            context,
            module,
        }
    }

    /// Allocates a buffer with these values and returns its device address.
    pub fn buffer<T: Pod>(&mut self, values: &[T]) -> u64 {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let address = self
            .driver
            .allocate(self.context, bytes.len() as u64)
            .expect("out of device memory");
        let from = MemcpyAddress::Host(bytes.as_ptr().cast_mut());
        self.copy(MemcpyAddress::Device(address), from, bytes.len());
        address
    }

    pub fn read<T: Pod>(&mut self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0u8; count * size_of::<T>()];
        let to = MemcpyAddress::Host(bytes.as_mut_ptr());
        self.copy(to, MemcpyAddress::Device(address), bytes.len());
        bytemuck::pod_collect_to_vec(&bytes)
    }

    fn copy(&mut self, to: MemcpyAddress, from: MemcpyAddress, bytes: usize) {
        let copy = Memcpy::linear(to, from, bytes as u64);
        // SAFETY: the host side of the copy, `bytes` in `buffer` or `read`, has `bytes` bytes and outlives
        // the call, which is synchronous. The copy writes only to its destination.
        unsafe { self.driver.memcpy(self.context, &copy) }.expect("the copy failed");
    }

    /// Runs a kernel that must succeed. Each parameter has 8 bytes; the last one may be shorter.
    pub fn run(
        &mut self,
        kernel: &str,
        [blocks, threads]: [u32; 2],
        cooperative: bool,
        parameters: &[u8],
    ) -> LaunchReport {
        let function = self
            .driver
            .function(self.context, self.module, kernel)
            .expect("no such kernel");
        let spec = LaunchSpec {
            cooperative,
            ..LaunchSpec::new([blocks, 1, 1], [threads, 1, 1], parameters)
        };
        let report = self
            .driver
            .check_launch(self.context, function, spec)
            .and_then(|checked| self.driver.launch(self.context, StreamId::LEGACY, &checked))
            .expect("the launch failed");
        assert_eq!(report.result.as_ref().err(), None, "{kernel}");
        report
    }
}

/// Returns addresses as a kernel's parameters.
pub fn addresses(addresses: &[u64]) -> Vec<u8> {
    addresses
        .iter()
        .flat_map(|address| address.to_le_bytes())
        .collect()
}
