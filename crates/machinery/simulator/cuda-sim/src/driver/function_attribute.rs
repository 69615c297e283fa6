//! Attributes of kernels, by `CUfunction_attribute` number.

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

/// The attributes of a kernel that the program has set.
#[derive(Clone, Copy)]
pub(super) struct FunctionSettings {
    /// The maximum dynamic shared memory in bytes per launch, if set.
    pub(super) max_dynamic_shared: Option<u32>,
    /// Attributes 9 to 15, which have no effect here. The first is the preferred fraction of an SM's memory
    /// that is shared memory, in percent; -1 means no preference.
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
    /// Sets an attribute. [`validate_setting`] must have accepted it.
    pub(super) fn set(&mut self, number: i32, value: i32) {
        match number {
            MAX_DYNAMIC_SHARED => self.max_dynamic_shared = Some(value as u32),
            _ => self.hints[(number - CARVEOUT) as usize] = value,
        }
    }
}

/// Returns attribute `number` of a kernel. Fails with [`CudaError::InvalidValue`] unless the number is
/// between 0 and 15.
pub(super) fn attribute_value(
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
        4 => kernel.limit_by_launch_bounds(kernel.registers),
        5 => ptx_version,
        6 => major * 10 + minor,
        // `CU_FUNC_ATTRIBUTE_CACHE_MODE_CA`: true if all loads are cached in L1 regardless of their own cache
        // operators. They follow their operators.
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

/// Validates an attribute setting. Fails with [`CudaError::NotSupported`] for clusters of more than one
/// block, and with [`CudaError::InvalidValue`] for an attribute that cannot be set or a value out of range.
pub(super) fn validate_setting(
    device: &DeviceSpec,
    kernel: &Kernel,
    number: i32,
    value: i32,
) -> Result<(), CudaError> {
    let max = device
        .shared_per_block_optin
        .saturating_sub(kernel.shared_bytes);
    let valid = match number {
        MAX_DYNAMIC_SHARED => (0..=max as i32).contains(&value),
        CARVEOUT => (-1..=100).contains(&value),
        _ if CLUSTER.contains(&number) && value > 1 => return Err(CudaError::NotSupported),
        _ if CLUSTER.contains(&number) => value >= 0,
        ANY_CLUSTER => (0..=1).contains(&value),
        CLUSTER_SCHEDULING => (0..=2).contains(&value),
        _ => false,
    };
    valid.then_some(()).ok_or(CudaError::InvalidValue)
}

impl Driver {
    /// `cuFuncGetAttribute`: returns attribute `number` of `function`. Fails with [`CudaError::InvalidValue`]
    /// unless the number is between 0 and 15, and with [`CudaError::InvalidHandle`] for an unknown function.
    pub fn function_attribute(&self, function: FunctionId, number: i32) -> Result<i32, CudaError> {
        let (function, module) = self.loaded_function(function)?;
        let version = module.program.listing.ptx_version;
        let kernel = module.kernel(function);
        attribute_value(&self.device, kernel, version, &function.settings, number)
    }

    /// `cuFuncSetAttribute`: sets an attribute. Attribute 8 is the maximum dynamic shared memory in bytes, up
    /// to the device's opt-in limit per block. Attribute 9 is the preferred fraction of an SM's memory that
    /// is shared memory, in percent, or
    /// -1 for no preference; it has no effect here. Neither do 11 to 15, which concern clusters of blocks.
    ///
    /// Fails with [`CudaError::NotSupported`] for clusters of more than one block, with
    /// [`CudaError::InvalidValue`] for another attribute or a value out of range, and with
    /// [`CudaError::InvalidHandle`] for an unknown function.
    pub fn set_function_attribute(
        &mut self,
        function: FunctionId,
        number: i32,
        value: i32,
    ) -> Result<(), CudaError> {
        let (state, module) = self.loaded_function(function)?;
        validate_setting(&self.device, module.kernel(state), number, value)?;
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
    fn attributes_are_set_and_validated() {
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
