//! The variables themselves, as a table and in the record.

use anyhow::Result;
use chapter::lang::Lang;
use chapter::report::Extra;
use chapter::table;
use serde::Serialize;

use crate::values::LENGTH;
use crate::variable::Variable;

/// All variables.
#[derive(Debug, Serialize)]
pub struct Symbols {
    symbols: [Summary; 3],
}

/// A variable: its address, its kind of memory and its value.
#[derive(Debug, Serialize)]
struct Summary {
    name: String,
    memory: &'static str,
    bytes: u64,
    address: String,
    holds: String,
}

impl Symbols {
    /// Summarizes the three variables with their current values.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn of(array: &Variable, scalar: &Variable, pointer: &Variable) -> Result<Self> {
        let mut value = [0.0_f32];
        scalar.copy_to(&mut value, 0)?;
        let mut address = [0_u64];
        pointer.copy_to(&mut address, 0)?;
        let symbols = [
            Summary::new(array, "constant", format!("{LENGTH} floats")),
            Summary::new(scalar, "global", value[0].to_string()),
            Summary::new(pointer, "global", format!("{:#x}", address[0])),
        ];
        Ok(Symbols { symbols })
    }
}

impl Summary {
    fn new(variable: &Variable, memory: &'static str, holds: String) -> Self {
        Summary {
            name: variable.name().to_owned(),
            memory,
            bytes: variable.bytes(),
            address: format!("{:p}", variable.address()),
            holds,
        }
    }
}

impl Extra for Symbols {
    /// Returns a table with one row per variable.
    fn tables(&self, lang: Lang) -> Vec<String> {
        let headers = lang.pick(
            ["symbol", "memory", "bytes", "device address", "value"],
            ["符号", "存储空间", "字节数", "设备地址", "值"],
        );
        let rows = self.symbols.iter().map(|symbol| {
            vec![
                symbol.name.clone(),
                symbol.memory.to_owned(),
                symbol.bytes.to_string(),
                symbol.address.clone(),
                symbol.holds.clone(),
            ]
        });
        vec![table::table(&headers, rows)]
    }
}
