//! Copies to and from a variable of a module, whole or in part, like `cudaMemcpyToSymbol` and
//! `cudaMemcpyFromSymbol`.
//!
//! (cust's `Symbol` only copies whole variables whose type is known at compile time.)

use std::ffi::CString;
use std::marker::PhantomData;

use anyhow::{Result, bail};
use common::module;
use cust::error::CudaError;
use cust::memory::bytemuck::{self, Pod};
use cust::memory::{CopyDestination, DevicePointer, DeviceSlice};
use cust::module::Module;

use crate::flags::Part;
use crate::values::LENGTH;

/// The variables of this chapter's module and their sizes in bytes, in the order of the `.cu` file.
/// A module cannot list its variables.
pub const VARIABLES: [(&str, usize); 3] = [
    ("const_data", size_of::<[f32; LENGTH]>()),
    ("dev_data", size_of::<f32>()),
    ("dev_pointer", size_of::<u64>()),
];

/// A `__constant__` or `__device__` variable of a module.
///
/// On the host it is only a name: the driver looks up the variable in the module and returns its
/// device address and its size.
#[derive(Debug)]
pub struct Variable<'a> {
    name: String,
    bytes: u64,
    address: DevicePointer<u8>,
    module: PhantomData<&'a Module>,
}

impl<'a> Variable<'a> {
    /// Looks up the variable with this name.
    ///
    /// # Errors
    ///
    /// Fails if there is none, and lists the names that exist.
    pub fn find(module: &'a Module, name: &str) -> Result<Self> {
        // (A name that contains a zero byte cannot exist.)
        let lookup = match CString::new(name) {
            Ok(text) => module::symbol_address(module, &text),
            Err(_) => Err(CudaError::NotFound.into()),
        };
        // The driver rejects the name of a kernel as an invalid value.
        let is_missing =
            |error: &CudaError| matches!(error, CudaError::NotFound | CudaError::InvalidValue);
        match lookup {
            Ok((address, bytes)) => Ok(Variable {
                name: name.to_owned(),
                bytes: bytes as u64,
                address,
                module: PhantomData,
            }),
            Err(error) if error.downcast_ref().is_some_and(is_missing) => bail!(
                "the module has no variable '{name}': it has {}",
                VARIABLES.map(|(name, _)| name).join(", ")
            ),
            Err(error) => Err(error.context(format!("cannot find the variable {name}"))),
        }
    }

    /// Returns the name in the `.cu` file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the device address.
    pub fn address(&self) -> DevicePointer<u8> {
        self.address
    }

    // ANCHOR: copy_from
    /// Copies `values` to the bytes from `offset` on: `cudaMemcpyToSymbol`.
    ///
    /// # Errors
    ///
    /// Fails if the range exceeds the variable, or CUDA reports an error.
    pub fn copy_from<T: Pod>(&mut self, values: &[T], offset: u64) -> Result<()> {
        let mut part = self.part(offset, size_of_val(values) as u64)?;
        Ok(part.copy_from(bytemuck::cast_slice(values))?)
    }
    // ANCHOR_END: copy_from

    /// Copies the bytes from `offset` on to `values`: `cudaMemcpyFromSymbol`.
    ///
    /// # Errors
    ///
    /// Fails if the range exceeds the variable, or CUDA reports an error.
    pub fn copy_to<T: Pod>(&self, values: &mut [T], offset: u64) -> Result<()> {
        let part = self.part(offset, size_of_val(values) as u64)?;
        Ok(part.copy_to(bytemuck::cast_slice_mut(values))?)
    }

    /// Returns all bytes of the variable.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn contents(&self) -> Result<Vec<u8>> {
        Ok(self.part(0, self.bytes)?.as_host_vec()?)
    }

    /// Returns the bytes of a part, each inverted.
    ///
    /// # Errors
    ///
    /// Fails if the part exceeds the variable, or CUDA reports an error.
    pub fn inverted(&self, part: Part) -> Result<Vec<u8>> {
        let bytes = self.part(part.offset, part.bytes)?.as_host_vec()?;
        Ok(bytes.into_iter().map(|byte| !byte).collect())
    }

    /// Checks that a part is within the variable.
    ///
    /// # Errors
    ///
    /// Fails if `bytes` bytes from `offset` on exceed the variable.
    pub fn require(&self, offset: u64, bytes: u64) -> Result<()> {
        if offset.checked_add(bytes).is_none_or(|end| end > self.bytes) {
            bail!(
                "a part of length {bytes} at offset {offset} is not within {}, which has {} bytes",
                self.name,
                self.bytes
            );
        }
        Ok(())
    }

    // ANCHOR: part
    /// Returns a part as a slice of device memory, which must not outlive `self`.
    fn part(&self, offset: u64, bytes: u64) -> Result<DeviceSlice<u8>> {
        self.require(offset, bytes)?;
        let start = DevicePointer::from_raw(self.address.as_raw() + offset);
        // SAFETY: the variable contains this range, as checked above, and it exists as long as its
        // module, which `self` borrows.
        Ok(unsafe { DeviceSlice::from_raw_parts(start, bytes as usize) })
    }
    // ANCHOR_END: part
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::Gpu;

    const PTX: &str = include_str!(env!("DEVICE_SYMBOLS_PTX"));

    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn parts_of_a_variable() {
        let _gpu = Gpu::open().unwrap();
        let module = module::load(PTX).unwrap();
        let mut array = Variable::find(&module, "const_data").unwrap();
        assert_eq!((array.name(), array.bytes()), ("const_data", 1024));

        // Whole, in part, and at an offset that is not a multiple of an element's size.
        array.copy_from(&[1.0_f32; 256], 0).unwrap();
        array.copy_from(&[2.0_f32, 3.0], 8).unwrap();
        array.copy_from(&[7_u8], 1023).unwrap();
        let mut four = [0.0_f32; 4];
        array.copy_to(&mut four, 4).unwrap();
        assert_eq!(four, [1.0, 2.0, 3.0, 1.0]);
        let mut odd = [0_u8; 3];
        array.copy_to(&mut odd, 1021).unwrap();
        assert_eq!(odd, [0, 128, 7]); // the top of a 1.0, its last byte replaced

        // Up to the end but no further; a range that is too long copies nothing.
        assert!(array.copy_from::<f32>(&[], 1024).is_ok());
        let before = array.contents().unwrap();
        for (offset, bytes) in [(1020, 8), (1024, 8), (1025, 8), (u64::MAX - 3, 8)] {
            let message = array.copy_from(&[5.0_f32, 5.0], offset).unwrap_err();
            let expected = format!("length {bytes} at offset {offset} is not within const_data");
            assert!(message.to_string().contains(&expected), "{message}");
            assert!(array.copy_to(&mut [0.0_f32, 0.0], offset).is_err());
        }
        assert_eq!(array.contents().unwrap(), before);

        // A second lookup finds the same variable; other names find another one, or none.
        let again = Variable::find(&module, "const_data").unwrap();
        assert_eq!(again.address(), array.address());
        let scalar = Variable::find(&module, "dev_data").unwrap();
        assert_ne!(scalar.address(), array.address());
        for none in ["constData", "", "combine", "const_data\0"] {
            let message = Variable::find(&module, none).unwrap_err().to_string();
            assert!(
                message.contains(&format!("no variable '{none}'")),
                "{message}"
            );
            assert!(
                message.contains("const_data, dev_data, dev_pointer"),
                "{message}"
            );
        }
        for (name, bytes) in VARIABLES {
            let variable = Variable::find(&module, name).unwrap();
            assert_eq!(variable.bytes(), bytes as u64, "{name}");
        }
    }

    #[test]
    fn parts_are_copied_only_within_bounds() {
        let folder = tempfile::tempdir().unwrap();
        chapter_test::run_child("variable::tests::parts_of_a_variable", folder.path());
    }
}
