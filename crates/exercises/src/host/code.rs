//! A loaded module with its kernels and variables.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::CString;

use anyhow::Result;
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceCopy, DeviceSlice};
use cust::module::Module;
use thiserror::Error;

use super::Element;

/// A loaded module, either the submission's or the course's own.
pub struct Code {
    module: Module,
    /// The optional variables that the host side looked for in vain.
    absent: RefCell<BTreeSet<String>>,
}

impl Code {
    /// Wraps a module.
    pub fn new(module: Module) -> Code {
        Code {
            module,
            absent: RefCell::default(),
        }
    }

    /// Returns a kernel.
    ///
    /// # Errors
    ///
    /// Fails with [`Missing::Kernel`] if there is no kernel with this name.
    pub fn kernel(&self, name: &str) -> Result<Function<'_>> {
        let function = self.module.get_function(name);
        function.map_err(|_| Missing::Kernel(name.to_owned()).into())
    }

    /// Returns true if there is a variable with this name.
    ///
    /// # Errors
    ///
    /// Fails if the name contains a NUL byte.
    pub fn has_variable(&self, name: &str) -> Result<bool> {
        let c_name = CString::new(name)?;
        let is_present = common::module::symbol_address(&self.module, &c_name).is_ok();
        if !is_present {
            self.absent.borrow_mut().insert(name.to_owned());
        }
        Ok(is_present)
    }

    /// Returns the optional variables that the host side looked for in vain.
    pub fn absent_variables(&self) -> BTreeSet<String> {
        self.absent.borrow().clone()
    }

    /// Reads an `extern "C"` `__device__` or `__constant__` array of `len` elements.
    ///
    /// # Errors
    ///
    /// Fails if there is no variable with this name and length.
    pub fn variable<T: Element>(&self, name: &str, len: usize) -> Result<Vec<T>> {
        let mut values = vec![T::default(); len];
        self.variable_memory(name, len)?.copy_to(&mut values)?;
        Ok(values)
    }

    /// Copies values to a variable of exactly their length, like `cudaMemcpyToSymbol`.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::variable`] does.
    pub fn set_variable<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        Ok(self
            .variable_memory(name, values.len())?
            .copy_from(values)?)
    }

    /// Returns the memory of a variable.
    pub(crate) fn variable_memory<T: DeviceCopy>(
        &self,
        name: &str,
        len: usize,
    ) -> Result<DeviceSlice<T>> {
        let c_name = CString::new(name)?;
        let variable = common::module::symbol_address(&self.module, &c_name);
        let (address, bytes) = variable.map_err(|_| Missing::Variable(name.to_owned()))?;
        let expected = len * size_of::<T>();
        if bytes != expected {
            let name = name.to_owned();
            return Err(Missing::Length {
                name,
                bytes,
                expected,
            }
            .into());
        }
        // SAFETY: the driver reported `bytes` bytes at `address`, the size of `len` elements, for which any
        // bit pattern is valid. A slice, unlike a buffer, does not free the module's memory.
        Ok(unsafe { DeviceSlice::from_raw_parts(address.cast::<T>(), len) })
    }
}

/// A kernel or variable that a submission must have but lacks.
#[derive(Debug, Error)]
pub enum Missing {
    /// There is no kernel with this name.
    #[error("there is no kernel {0}")]
    Kernel(String),
    /// There is no variable with this name.
    #[error("there is no variable {0}")]
    Variable(String),
    /// The variable has another size.
    #[error("the variable {name} has {bytes} bytes instead of {expected}")]
    Length {
        /// The variable's name.
        name: String,
        /// The actual size in bytes.
        bytes: usize,
        /// The required size in bytes.
        expected: usize,
    },
}
