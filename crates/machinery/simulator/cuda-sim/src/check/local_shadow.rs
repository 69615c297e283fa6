//! Shadow state of the local memory of a block's threads, for the detection of reads of uninitialized memory.

/// The bytes of local memory that each thread of a block has written.
#[derive(Default)]
pub struct LocalShadow {
    /// For each warp and each byte, a mask of the lanes that have written it.
    warps: Vec<Vec<u32>>,
}

impl LocalShadow {
    /// Resets the state for a new block of `warps` warps.
    pub fn begin(&mut self, warps: usize) {
        self.warps.iter_mut().for_each(Vec::clear);
        self.warps.resize_with(warps, Vec::new);
    }

    /// Records that a lane writes `bytes` bytes at `offset`.
    pub fn write(&mut self, warp: usize, lane: usize, offset: u64, bytes: u64) {
        let written = &mut self.warps[warp];
        let end = (offset + bytes) as usize;
        if written.len() < end {
            written.resize(end, 0);
        }
        for lanes in &mut written[offset as usize..end] {
            *lanes |= 1 << lane;
        }
    }

    /// Returns true if a lane has written any of these bytes.
    pub fn is_any_written(&self, warp: usize, lane: usize, offset: u64, bytes: u64) -> bool {
        let written = self.warps[warp].iter().skip(offset as usize);
        written
            .take(bytes as usize)
            .any(|lanes| lanes >> lane & 1 == 1)
    }
}
