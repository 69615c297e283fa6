//! Inputs of kernels. They are compared with a copy after the host side's run, because a submission must not
//! modify them.

use std::any::Any;
use std::cell::RefCell;

use anyhow::Result;
use cust::memory::{CopyDestination as _, DeviceCopy, DevicePointer, DeviceSlice};

/// The inputs of a run.
#[derive(Default)]
pub struct Inputs {
    inputs: RefCell<Vec<Input>>,
}

struct Input {
    name: String,
    /// The input's bytes, including the padding of pitched rows.
    slice: DeviceSlice<u8>,
    before: Vec<u8>,
    /// The element size in bytes.
    element: usize,
    /// The owner of the memory, if it is freed with the input; `None` for variables.
    memory: Option<Box<dyn Any>>,
}

/// The location of an input that is a variable of the submission.
#[derive(Clone, Debug)]
pub struct InputVariable {
    /// The variable's name.
    pub name: String,
    /// The address of its first byte.
    pub address: u64,
    /// The variable's size in bytes.
    pub bytes: u64,
}

/// An input that was modified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModifiedInput {
    /// The input's name.
    pub name: String,
    /// The number of modified elements.
    pub count: usize,
    /// The index of the first modified element.
    pub first: usize,
}

impl Inputs {
    /// Registers an input, saves its contents, and takes ownership of the memory if it is passed.
    pub fn register<T: DeviceCopy>(
        &self,
        name: &str,
        start: DevicePointer<T>,
        bytes: usize,
        memory: Option<Box<dyn Any>>,
    ) -> Result<()> {
        // SAFETY: `start` points to `bytes` bytes that outlive this input: either the memory passed in
        // `memory`, or a variable of a module that outlives the run.
        let mut slice = unsafe { DeviceSlice::from_raw_parts(start.cast::<u8>(), bytes) };
        let before = slice.as_host_vec()?;
        // Write the contents back, so that the padding of pitched memory counts as initialized: a kernel may
        // read it if it does not use the value.
        slice.copy_from(&before)?;
        self.inputs.borrow_mut().push(Input {
            name: name.to_owned(),
            slice,
            before,
            element: size_of::<T>().max(1),
            memory,
        });
        Ok(())
    }

    /// Returns the locations of the inputs that are variables.
    pub fn variables(&self) -> Vec<InputVariable> {
        let variable = |input: &Input| InputVariable {
            name: input.name.clone(),
            address: input.slice.as_device_ptr().as_raw(),
            bytes: input.before.len() as u64,
        };
        let inputs = self.inputs.borrow();
        let variables = inputs.iter().filter(|input| input.memory.is_none());
        variables.map(variable).collect()
    }

    /// Frees all inputs and returns the first modified one.
    ///
    /// # Errors
    ///
    /// Fails with the CUDA error of reading an input back.
    pub fn finish(&self) -> Result<Option<ModifiedInput>> {
        let mut modified = None;
        for input in self.inputs.take() {
            modified = modified.or(input.modified()?);
        }
        Ok(modified)
    }

    /// Frees all inputs without checking them.
    pub fn clear(&self) {
        self.inputs.take();
    }
}

impl Input {
    fn modified(&self) -> Result<Option<ModifiedInput>> {
        let now = self.slice.as_host_vec()?;
        Ok(
            compare_elements(&now, &self.before, self.element).map(|(count, first)| {
                ModifiedInput {
                    name: self.name.clone(),
                    count,
                    first,
                }
            }),
        )
    }
}

/// Returns the number of differing elements and the index of the first; `None` if there are none.
fn compare_elements(now: &[u8], before: &[u8], element: usize) -> Option<(usize, usize)> {
    if now == before {
        return None;
    }
    let pairs = now.chunks(element).zip(before.chunks(element));
    let mut differing = pairs.enumerate().filter(|(_, (now, before))| now != before);
    let (first, _) = differing.next()?;
    Some((1 + differing.count(), first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_elements_are_counted() {
        let before = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(compare_elements(&before, &before, 4), None);
        let mut now = before;
        now[5] = 0;
        now[6] = 0;
        assert_eq!(compare_elements(&now, &before, 4), Some((1, 1)));
        assert_eq!(compare_elements(&now, &before, 1), Some((2, 5)));
    }
}
