//! Attributes of kernels, by their `CUfunction_attribute` numbers.

use std::ops::RangeInclusive;

use super::launch::max_threads;
use super::{CudaError, Driver, FunctionId};
use crate::device::DeviceSpec;
use crate::isa::Kernel;

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
pub(super) const MAX_DYNAMIC_SHARED: i32 = 8;
/// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`.
const CARVEOUT: i32 = 9;
/// `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH`, `_HEIGHT` and `_DEPTH`.
const CLUSTER: RangeInclusive<i32> = 11..=13;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`.
const ANY_CLUSTER: i32 = 14;
/// `CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE`.
const CLUSTER_SCHEDULING: i32 = 15;

/// What somebody has set of a kernel.
#[derive(Clone, Copy)]
pub(super) struct FunctionSettings {
    /// The most bytes of dynamic shared memory that it may be launched with, where somebody has set
    /// it.
    pub(super) max_dynamic_shared: Option<u32>,
    /// Attributes 9 to 15, which change nothing here. The first is which part of an SM's memory is preferred
    /// to be shared memory, in percent; -1: no preference.
    hints: [i32; 7],
}

impl Default for FunctionSettings {
    fn default() -> Self {
        Self {
            max_dynamic_shared: None,
            hints: [-1, 0, 0, 0, 0, 0, 0],
        }
    }
}

impl FunctionSettings {
    /// Sets an attribute, which [`checked_setting`] has accepted.
    pub(super) fn set(&mut self, number: i32, value: i32) {
        match number {
            MAX_DYNAMIC_SHARED => self.max_dynamic_shared = Some(value as u32),
            _ => self.hints[(number - CARVEOUT) as usize] = value,
        }
    }
}

/// Attribute `number` of a kernel whose PTX is of this version. [`CudaError::InvalidValue`] for a number above 15
/// or below 0.
pub(super) fn value(
    device: &DeviceSpec,
    kernel: &Kernel,
    ptx_version: u32,
    settings: &FunctionSettings,
    number: i32,
) -> Result<i32, CudaError> {
    let (major, minor) = device.compute_capability;
    let value: u32 = match number {
        0 => max_threads(device, kernel),
        1 => kernel.shared_bytes,
        2 => kernel.const_bytes,
        3 => kernel.local_bytes,
        4 => kernel.bounded(kernel.registers),
        5 => ptx_version,
        6 => major * 10 + minor,
        // `CU_FUNC_ATTRIBUTE_CACHE_MODE_CA`: whether all loads go through the L1 cache,
        // whatever they say themselves. They do as they say.
        7 => 0,
        MAX_DYNAMIC_SHARED => {
            let unset = device.shared_per_block.saturating_sub(kernel.shared_bytes);
            settings.max_dynamic_shared.unwrap_or(unset)
        }
        CARVEOUT..=CLUSTER_SCHEDULING => {
            return Ok(settings.hints[(number - CARVEOUT) as usize]);
        }
        _ => return Err(CudaError::InvalidValue),
    };
    Ok(value as i32)
}

/// Refuses what cannot be set of a kernel: [`CudaError::NotSupported`] for clusters of more than one block,
/// [`CudaError::InvalidValue`] for another attribute or a value out of range.
pub(super) fn checked_setting(
    device: &DeviceSpec,
    kernel: &Kernel,
    number: i32,
    value: i32,
) -> Result<(), CudaError> {
    let room = device
        .shared_per_block_optin
        .saturating_sub(kernel.shared_bytes);
    let known = match number {
        MAX_DYNAMIC_SHARED => (0..=room as i32).contains(&value),
        CARVEOUT => (-1..=100).contains(&value),
        _ if CLUSTER.contains(&number) && value > 1 => return Err(CudaError::NotSupported),
        _ if CLUSTER.contains(&number) => value >= 0,
        ANY_CLUSTER => (0..=1).contains(&value),
        CLUSTER_SCHEDULING => (0..=2).contains(&value),
        _ => false,
    };
    known.then_some(()).ok_or(CudaError::InvalidValue)
}

impl Driver {
    /// `cuFuncGetAttribute`: attribute `number` of `function`. [`CudaError::InvalidValue`] for a
    /// number above 15 or below 0, [`CudaError::InvalidHandle`] for an unknown function.
    pub fn function_attribute(&self, function: FunctionId, number: i32) -> Result<i32, CudaError> {
        let (function, module) = self.loaded_function(function)?;
        let version = module.program.listing.ptx_version;
        let kernel = module.kernel(function);
        value(&self.device, kernel, version, &function.settings, number)
    }

    /// `cuFuncSetAttribute`: sets one of the attributes that can be set. 8 is the most bytes of
    /// dynamic shared memory, up to what the device has for a block. 9 is the preferred part of an
    /// SM's memory to be shared memory, in percent, or -1 for no preference; it changes nothing
    /// here, and so do 11 to 15, which are about clusters of blocks. [`CudaError::NotSupported`] for clusters
    /// of more than one block, [`CudaError::InvalidValue`] for another attribute or a value out of range,
    /// [`CudaError::InvalidHandle`] for an unknown function.
    pub fn set_function_attribute(
        &mut self,
        function: FunctionId,
        number: i32,
        value: i32,
    ) -> Result<(), CudaError> {
        let (found, module) = self.loaded_function(function)?;
        checked_setting(&self.device, module.kernel(found), number, value)?;
        let function = self.functions.get_mut(&function);
        let function = function.ok_or(CudaError::InvalidHandle)?;
        function.settings.set(number, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PTX, driver};
    use super::*;

    #[test]
    fn attributes_are_read_set_and_refused() {
        let (mut driver, context) = driver();
        let module = driver.load_module(context, PTX).unwrap();
        let store = driver.function(context, module, "store").unwrap();
        let bounded = driver.function(context, module, "bounded").unwrap();
        assert_eq!(driver.function_attribute(store, 0), Ok(1024));
        assert_eq!(driver.function_attribute(bounded, 0), Ok(64));
        assert_eq!(driver.function_attribute(bounded, 1), Ok(256));
        let version = PTX.split_once(".version ").unwrap().1;
        let version = version.lines().next().unwrap().replace('.', "");
        assert_eq!(
            driver.function_attribute(store, 5),
            Ok(version.parse().unwrap())
        );
        assert_eq!(driver.function_attribute(store, 6), Ok(90));
        assert_eq!(driver.function_attribute(bounded, 8), Ok((48 << 10) - 256));
        assert_eq!(driver.function_attribute(store, CARVEOUT), Ok(-1));
        driver.set_function_attribute(store, CARVEOUT, 50).unwrap();
        assert_eq!(driver.function_attribute(store, CARVEOUT), Ok(50));
        for number in 10..=15 {
            assert_eq!(driver.function_attribute(store, number), Ok(0), "{number}");
        }
        for (number, value) in [(11, 1), (12, 1), (13, 1), (14, 1), (15, 2)] {
            driver.set_function_attribute(store, number, value).unwrap();
            assert_eq!(driver.function_attribute(store, number), Ok(value));
        }
        assert_eq!(
            driver.set_function_attribute(store, 12, 2),
            Err(CudaError::NotSupported)
        );
        for (number, value) in [
            (10, 1),
            (11, -1),
            (14, 2),
            (15, 3),
            (8, -1),
            (8, 228 << 10),
            (9, 101),
            (9, -2),
            (0, 1),
            (99, 1),
        ] {
            assert_eq!(
                driver.set_function_attribute(store, number, value),
                Err(CudaError::InvalidValue),
                "attribute {number}"
            );
        }
        assert_eq!(
            driver.function_attribute(store, 16),
            Err(CudaError::InvalidValue)
        );
        assert_eq!(
            driver.function_attribute(FunctionId(module.0), 0),
            Err(CudaError::InvalidHandle)
        );
    }
}
