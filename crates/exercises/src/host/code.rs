//! A module, and what lies in it by name: kernels and variables.

use std::ffi::CString;

use anyhow::Result;
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceCopy, DeviceSlice};
use cust::module::Module;
use thiserror::Error;

use super::Element;

/// A loaded module: the student's, or the course's own.
pub struct Code {
    module: Module,
}

impl Code {
    /// What is in this module.
    pub fn new(module: Module) -> Code {
        Code { module }
    }

    /// A kernel.
    ///
    /// # Errors
    ///
    /// [`Missing::Kernel`] where there is none of this name.
    pub fn kernel(&self, name: &str) -> Result<Function<'_>> {
        let found = self.module.get_function(name);
        found.map_err(|_| Missing::Kernel(name.to_owned()).into())
    }

    /// Whether there is a variable of this name.
    ///
    /// # Errors
    ///
    /// Where it is no name.
    pub fn has_variable(&self, name: &str) -> Result<bool> {
        let name = CString::new(name)?;
        Ok(common::module::place(&self.module, &name).is_ok())
    }

    /// What a `__device__` or `__constant__` variable holds, `extern "C"`, an array of `len` elements.
    ///
    /// # Errors
    ///
    /// Where there is none of this name and length.
    pub fn variable<T: Element>(&self, name: &str, len: usize) -> Result<Vec<T>> {
        let mut values = vec![T::default(); len];
        self.place(name, len)?.copy_to(&mut values)?;
        Ok(values)
    }

    /// Copies values to such a variable, which is as long as they are: `cudaMemcpyToSymbol`.
    ///
    /// # Errors
    ///
    /// As [`Self::variable`].
    pub fn set_variable<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        Ok(self.place(name, values.len())?.copy_from(values)?)
    }

    /// Where a variable lies.
    pub(crate) fn place<T: DeviceCopy>(&self, name: &str, len: usize) -> Result<DeviceSlice<T>> {
        let c_name = CString::new(name)?;
        let place = common::module::place(&self.module, &c_name);
        let (address, bytes) = place.map_err(|_| Missing::Variable(name.to_owned()))?;
        let wanted = len * size_of::<T>();
        if bytes != wanted {
            let name = name.to_owned();
            return Err(Missing::Length {
                name,
                bytes,
                wanted,
            }
            .into());
        }
        // SAFETY: the driver said that so many bytes lie there; any bits are an element. The slice does
        // not free them, unlike a buffer.
        Ok(unsafe { DeviceSlice::from_raw_parts(address.cast::<T>(), len) })
    }
}

/// What a student's file has to have and has not.
#[derive(Debug, Error)]
pub enum Missing {
    /// A kernel of this name.
    #[error("there is no kernel {0}")]
    Kernel(String),
    /// A variable of this name.
    #[error("there is no variable {0}")]
    Variable(String),
    /// A variable of this length.
    #[error("the variable {name} has {bytes} bytes, and should have {wanted}")]
    Length {
        /// Its name.
        name: String,
        /// Its bytes.
        bytes: usize,
        /// Those it should have.
        wanted: usize,
    },
}
