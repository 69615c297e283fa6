//! Memory of the host's that a program uses before work in a stream is done with it, in words.

use super::Driver;
use crate::check::display::allocation;
use crate::check::{Finding, FindingKind, Severity};

impl Driver {
    /// A finding for what the program `does` at `address` of the host's memory ("reads"), and what work that
    /// is not done yet does there ("a copy of 4 bytes writes").
    pub fn host_finding(
        &self,
        kind: FindingKind,
        severity: Severity,
        (does, address): (&str, u64),
        work: &str,
    ) -> Finding {
        let place = match self.global.known(address) {
            Some(known) => format!("byte {} of {}", address - known.base, allocation(&known)),
            None => format!("host memory at {address:#x}"),
        };
        let details = format!("the program {does} {place}, which {work}");
        Finding::host(kind, severity, details)
    }
}
