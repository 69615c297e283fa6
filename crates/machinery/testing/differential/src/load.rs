//! Tests whether PTX from another compiler loads.

use anyhow::{Context as _, Result};
use cuda_sim::device::DeviceSpec;
use cuda_sim::memory::global::Global;
use std::path::Path;

/// Device memory for the variables of a module.
const MEMORY_BYTES: u64 = 1 << 36;

/// Returns the reason that the simulator rejects the module in a file, or `None` if the module loads.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn load_error(path: &Path) -> Result<Option<String>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut global = Global::new(MEMORY_BYTES);
    let loaded = cuda_sim::lower::load(&text, &DeviceSpec::h200(), &mut global);
    Ok(loaded.err().map(|error| error.to_string()))
}
