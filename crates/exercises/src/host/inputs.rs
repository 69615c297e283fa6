//! What a kernel is given to read. It is kept until the host side is done, and compared then with what
//! it was: an answer that wrote there has done something that was not asked.

use std::any::Any;
use std::cell::RefCell;

use anyhow::Result;
use cust::memory::{CopyDestination as _, DeviceCopy, DevicePointer, DeviceSlice};

/// All inputs of a run.
#[derive(Default)]
pub struct Inputs {
    kept: RefCell<Vec<Input>>,
}

struct Input {
    name: String,
    /// All of its bytes, those behind the rows of pitched memory included.
    place: DeviceSlice<u8>,
    before: Vec<u8>,
    /// Bytes of an element.
    element: usize,
    /// The memory, where it is to be freed with this.
    memory: Option<Box<dyn Any>>,
}

/// Where a variable of the answer's was that is an input.
#[derive(Clone, Debug)]
pub struct Place {
    /// What it is called.
    pub name: String,
    /// Its first byte.
    pub address: u64,
    /// How many there are.
    pub bytes: u64,
}

/// An input that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// What it is called.
    pub name: String,
    /// How many of its elements are others.
    pub many: usize,
    /// The first of them.
    pub first: usize,
}

impl Inputs {
    /// Keeps what lies there now, and the memory if it is handed over.
    pub fn keep<T: DeviceCopy>(
        &self,
        name: &str,
        start: DevicePointer<T>,
        bytes: usize,
        memory: Option<Box<dyn Any>>,
    ) -> Result<()> {
        // SAFETY: whoever calls has so many bytes there: memory that is handed over, or a variable of
        // a module that outlives the run.
        let mut place = unsafe { DeviceSlice::from_raw_parts(start.cast::<u8>(), bytes) };
        let before = place.as_host_vec()?;
        // Also what is behind the rows of pitched memory, garbage that differs from run to run, is written
        // by somebody then: who reads it, and uses none of it, does nothing wrong.
        place.copy_from(&before)?;
        self.kept.borrow_mut().push(Input {
            name: name.to_owned(),
            place,
            before,
            element: size_of::<T>().max(1),
            memory,
        });
        Ok(())
    }

    /// Where those are that are variables of the answer's.
    pub fn variables(&self) -> Vec<Place> {
        let place = |input: &Input| Place {
            name: input.name.clone(),
            address: input.place.as_device_ptr().as_raw(),
            bytes: input.before.len() as u64,
        };
        let kept = self.kept.borrow();
        let variables = kept.iter().filter(|input| input.memory.is_none());
        variables.map(place).collect()
    }

    /// Frees all, and says which was changed first.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn end(&self) -> Result<Option<Changed>> {
        let mut changed = None;
        for input in self.kept.take() {
            changed = changed.or(input.changed()?);
        }
        Ok(changed)
    }

    /// Frees all.
    pub fn forget(&self) {
        self.kept.take();
    }
}

impl Input {
    fn changed(&self) -> Result<Option<Changed>> {
        let now = self.place.as_host_vec()?;
        Ok(
            differing(&now, &self.before, self.element).map(|(many, first)| Changed {
                name: self.name.clone(),
                many,
                first,
            }),
        )
    }
}

/// How many elements differ, and the first; none where all are the same.
fn differing(now: &[u8], before: &[u8], element: usize) -> Option<(usize, usize)> {
    if now == before {
        return None;
    }
    let pairs = now.chunks(element).zip(before.chunks(element));
    let mut others = pairs.enumerate().filter(|(_, (now, before))| now != before);
    let (first, _) = others.next()?;
    Some((1 + others.count(), first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_differ_are_counted() {
        let before = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(differing(&before, &before, 4), None);
        let mut now = before;
        now[5] = 0;
        now[6] = 0;
        assert_eq!(differing(&now, &before, 4), Some((1, 1)));
        assert_eq!(differing(&now, &before, 1), Some((2, 5)));
    }
}
