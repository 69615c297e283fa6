//! The file format of the list of launches.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use launch_plan::fill;
use serde::Deserialize;

/// A launch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// A unique label.
    pub label: String,
    /// The file with the kernel's PTX, relative to the plan's directory.
    pub ptx: PathBuf,
    /// The kernel's name.
    pub kernel: String,
    /// Number of blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    #[serde(default)]
    pub shared: u32,
    /// The kernel's arguments.
    pub arguments: Vec<Argument>,
}

/// An argument of a kernel.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Argument {
    /// The address of a new buffer.
    Buffer(Buffer),
    /// A 32-bit integer.
    Word(u32),
    /// A 64-bit integer.
    Long(u64),
    /// A 32-bit floating-point number.
    Float(f32),
}

/// A buffer in device memory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Number of elements.
    pub count: usize,
    /// The type of the elements.
    #[serde(rename = "of")]
    pub element: Element,
    /// The exclusive upper limit of the random elements; 0 for a buffer of zeros.
    #[serde(default)]
    pub below: u32,
    /// The seed of the random elements.
    #[serde(default)]
    pub seed: u32,
}

/// Element types.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Buffer {
    /// Returns the contents before the launch.
    pub fn initial_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for index in 0..self.count {
            let number = match self.below {
                0 => 0,
                below => fill::bits(self.seed, index) % below,
            };
            match self.element {
                Element::U8 => bytes.push(number as u8),
                Element::U16 => bytes.extend((number as u16).to_le_bytes()),
                Element::U32 => bytes.extend(number.to_le_bytes()),
                Element::U64 => bytes.extend(u64::from(number).to_le_bytes()),
                Element::F32 => bytes.extend((number as f32).to_le_bytes()),
                Element::F64 => bytes.extend(f64::from(number).to_le_bytes()),
            }
        }
        bytes
    }
}

/// Reads the launches listed in a file.
pub fn read(path: &Path) -> Result<Vec<Launch>> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the plan {}", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} is not a list of launches", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_are_below_the_limit_and_depend_on_the_seed() {
        let bytes_with_seed = |seed| {
            let buffer = Buffer {
                count: 1000,
                element: Element::U16,
                below: 7,
                seed,
            };
            buffer.initial_bytes()
        };
        let bytes = bytes_with_seed(1);
        assert_eq!(bytes.len(), 2000);
        let low = bytes.iter().step_by(2);
        let counts = (0..8).map(|n| low.clone().filter(|&&byte| byte == n).count());
        let counts: Vec<usize> = counts.collect();
        assert!(
            counts[..7].iter().all(|&n| n > 100) && counts[7] == 0,
            "{counts:?}"
        );
        assert!(bytes.iter().skip(1).step_by(2).all(|&byte| byte == 0));
        assert_ne!(bytes, bytes_with_seed(2));
    }

    #[test]
    fn without_a_limit_the_buffer_is_zeroed() {
        let buffer = Buffer {
            count: 3,
            element: Element::F64,
            below: 0,
            seed: 5,
        };
        assert_eq!(buffer.initial_bytes(), [0; 24]);
    }
}
