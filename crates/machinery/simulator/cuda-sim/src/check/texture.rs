//! Checks of textures and surfaces.

use super::cause::Cause;
use super::checker::{Checker, record_uninitialized};
use super::details::OutsideTexture;
use super::finding::{FindingKind, Severity};
use super::finding_set::{Evidence, FindingKey, NO_SITE, Occurrence};
use super::shadow::DeferredRead;

/// A texture fetch by one lane.
#[derive(Debug, Clone, Copy)]
pub struct Fetch {
    pub block: u64,
    pub thread: u32,
    /// The instruction's address.
    pub site: u32,
}

/// The texel that a fetch reads.
#[derive(Debug, Clone, Copy)]
pub struct Texel {
    /// The address of the texel; `None` if the fetch reads the border.
    pub at: Option<u64>,
    pub bytes: u64,
    /// A coordinate outside the texture whose address mode needs normalized coordinates.
    pub outside: Option<OutsideTexture>,
}

impl OutsideTexture {
    /// Creates the description of a coordinate `at` in a dimension with `texels` texels.
    pub fn new(dimension: usize, at: i64, texels: i64) -> OutsideTexture {
        match dimension {
            0 => OutsideTexture::X(at, texels),
            1 => OutsideTexture::Y(at, texels),
            _ => OutsideTexture::Z(at, texels),
        }
    }
}

impl Checker {
    /// Checks the texel that a lane fetches.
    #[cold]
    pub fn check_texel(&mut self, fetch: Fetch, texel: Texel) {
        let key = |kind, severity| FindingKey {
            severity,
            kind,
            site: fetch.site,
            other: NO_SITE,
        };
        if let (Some(outside), true) = (texel.outside, self.launch.checks.memory) {
            let key = key(FindingKind::IgnoredAddressMode, Severity::Warning);
            self.findings.record(key, fetch.block, 1, || Occurrence {
                block: fetch.block,
                thread: fetch.thread,
                other: None,
                evidence: Evidence::OutsideTexture(outside),
            });
        }
        if let (Some(at), true) = (texel.at, self.launch.checks.init)
            && !self.is_initialized(at, texel.bytes)
        {
            let kind = FindingKind::UninitializedDevice;
            let deferred = DeferredRead {
                site: fetch.site,
                thread: fetch.thread,
                at,
                bytes: texel.bytes,
            };
            record_uninitialized(&mut self.findings, kind, fetch.block, deferred);
            let key = key(kind, Severity::Error);
            self.findings.set_cause(key, Cause::TextureNotInitialized);
        }
    }

    /// Notes that a kernel writes bytes of a surface.
    #[cold]
    pub fn store_texels(&mut self, at: u64, bytes: u64) {
        let device = &self.launch.device;
        let allocation = device.find(at).and_then(|index| device.get(index));
        if let Some(allocation) = allocation
            && let (Some(written), Some(offset)) =
                (&allocation.written, allocation.offset(at, bytes))
        {
            written.set(offset, bytes);
        }
    }

    /// Returns false for uninitialized bytes of device memory.
    fn is_initialized(&self, at: u64, bytes: u64) -> bool {
        let device = &self.launch.device;
        let allocation = device.find(at).and_then(|index| device.get(index));
        allocation.is_none_or(|allocation| {
            match (&allocation.written, allocation.offset(at, bytes)) {
                (Some(written), Some(offset)) => written.is_initialized(offset, bytes),
                _ => true,
            }
        })
    }
}
