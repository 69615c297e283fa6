//! Attributes of kernels, by their `CUfunction_attribute` numbers.

use super::launch::max_threads;
use super::{CudaError, Driver, FunctionId};

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
pub(super) const MAX_DYNAMIC_SHARED: i32 = 8;
/// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`.
const CARVEOUT: i32 = 9;

impl Driver {
    /// `cuFuncGetAttribute`: attribute `number` of `function`. [`CudaError::InvalidValue`] for a
    /// number above 9 or below 0, [`CudaError::InvalidHandle`] for an unknown function.
    pub fn function_attribute(&self, function: FunctionId, number: i32) -> Result<i32, CudaError> {
        let (function, module) = self.loaded_function(function)?;
        let kernel = module.kernel(function);
        let (major, minor) = self.device.compute_capability;
        let value: u32 = match number {
            0 => max_threads(&self.device, kernel),
            1 => kernel.shared_bytes,
            2 => kernel.const_bytes,
            3 => kernel.local_bytes,
            4 => kernel.bounded(kernel.registers),
            5 => module.program.listing.ptx_version,
            6 => major * 10 + minor,
            // `CU_FUNC_ATTRIBUTE_CACHE_MODE_CA`: whether all loads go through the first cache,
            // whatever they say themselves. They do as they say.
            7 => 0,
            MAX_DYNAMIC_SHARED => {
                let unset = self
                    .device
                    .shared_per_block
                    .saturating_sub(kernel.shared_bytes);
                function.max_dynamic_shared.unwrap_or(unset)
            }
            CARVEOUT => return Ok(function.carveout),
            _ => return Err(CudaError::InvalidValue),
        };
        Ok(value as i32)
    }

    /// `cuFuncSetAttribute`: sets one of the two attributes that can be set. 8 is the most bytes of
    /// dynamic shared memory, up to what the device has for a block. 9 is the preferred part of an
    /// SM's memory to be shared memory, in percent, or -1 for no preference; it changes nothing
    /// here. [`CudaError::InvalidValue`] for another attribute or a value out of range,
    /// [`CudaError::InvalidHandle`] for an unknown function.
    pub fn set_function_attribute(
        &mut self,
        function: FunctionId,
        number: i32,
        value: i32,
    ) -> Result<(), CudaError> {
        let (found, module) = self.loaded_function(function)?;
        let kernel = module.kernel(found);
        let room = self
            .device
            .shared_per_block_optin
            .saturating_sub(kernel.shared_bytes);
        let known = match number {
            MAX_DYNAMIC_SHARED => (0..=room as i32).contains(&value),
            CARVEOUT => (-1..=100).contains(&value),
            _ => false,
        };
        let function = self.functions.get_mut(&function).filter(|_| known);
        let function = function.ok_or(CudaError::InvalidValue)?;
        match number {
            MAX_DYNAMIC_SHARED => function.max_dynamic_shared = Some(value as u32),
            _ => function.carveout = value,
        }
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
        for (number, value) in [(8, -1), (8, 228 << 10), (9, 101), (9, -2), (0, 1), (99, 1)] {
            assert_eq!(
                driver.set_function_attribute(store, number, value),
                Err(CudaError::InvalidValue),
                "attribute {number}"
            );
        }
        assert_eq!(
            driver.function_attribute(store, 10),
            Err(CudaError::InvalidValue)
        );
        assert_eq!(
            driver.function_attribute(FunctionId(module.0), 0),
            Err(CudaError::InvalidHandle)
        );
    }
}
