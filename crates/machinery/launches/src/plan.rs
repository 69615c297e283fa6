//! What a file of launches says.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use launch_plan::fill;
use serde::Deserialize;

/// A launch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// By what it is told from others.
    pub label: String,
    /// The file of the kernel's PTX, seen from the plan's folder.
    pub ptx: PathBuf,
    /// The kernel's name.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a block.
    #[serde(default)]
    pub shared: u32,
    /// The kernel's arguments.
    pub arguments: Vec<Argument>,
}

/// An argument of a kernel.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Argument {
    /// The address of a buffer of its own.
    Buffer(Buffer),
    /// A number of four bytes.
    Word(u32),
    /// A number of eight bytes.
    Long(u64),
    /// A number with a fraction, of four bytes.
    Float(f32),
}

/// Memory on the device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// How many elements it has.
    pub count: usize,
    /// Of what kind they are.
    pub of: Element,
    /// Elements are numbers from 0 to below this; all are 0 where it is 0.
    #[serde(default)]
    pub below: u32,
    /// Which numbers are drawn.
    #[serde(default)]
    pub seed: u32,
}

/// Kinds of elements.
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
    /// What is in it before the launch.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for index in 0..self.count {
            let number = match self.below {
                0 => 0,
                below => fill::bits(self.seed, index) % below,
            };
            match self.of {
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

/// The launches that a file lists.
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
    fn numbers_are_drawn_below_a_limit_and_differ_by_seed() {
        let words = |seed| {
            let buffer = Buffer {
                count: 1000,
                of: Element::U16,
                below: 7,
                seed,
            };
            buffer.bytes()
        };
        let bytes = words(1);
        assert_eq!(bytes.len(), 2000);
        let low = bytes.iter().step_by(2);
        let counts = (0..8).map(|n| low.clone().filter(|&&byte| byte == n).count());
        let counts: Vec<usize> = counts.collect();
        assert!(
            counts[..7].iter().all(|&n| n > 100) && counts[7] == 0,
            "{counts:?}"
        );
        assert!(bytes.iter().skip(1).step_by(2).all(|&byte| byte == 0));
        assert_ne!(bytes, words(2));
    }

    #[test]
    fn without_a_limit_there_are_zeros() {
        let buffer = Buffer {
            count: 3,
            of: Element::F64,
            below: 0,
            seed: 5,
        };
        assert_eq!(buffer.bytes(), [0; 24]);
    }
}
