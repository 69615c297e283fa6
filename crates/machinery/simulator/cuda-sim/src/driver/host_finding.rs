//! Findings about host memory that a program accesses before work in a stream has finished with it.

use super::Driver;
use crate::check::finding::allocation;
use crate::check::{Finding, FindingKind, Severity};

impl Driver {
    /// Creates a finding for an access by the program (`verb`: "reads") to host memory at `address` that
    /// pending `work` uses ("a copy of 4 bytes writes").
    pub fn host_finding(
        &self,
        kind: FindingKind,
        severity: Severity,
        (verb, address): (&str, u64),
        work: &str,
    ) -> Finding {
        let location = match self.global.record(address) {
            Some(record) => format!("byte {} of {}", address - record.base, allocation(&record)),
            None => format!("host memory at {address:#x}"),
        };
        let details = format!("the program {verb} {location}, which {work}");
        Finding::host(kind, severity, details)
    }
}
