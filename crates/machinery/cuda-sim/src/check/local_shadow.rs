//! Shadow state of the local memory of a block's threads.

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

    /// Records that a lane writes `bytes` bytes at `at`.
    pub fn write(&mut self, warp: usize, lane: usize, at: u64, bytes: u64) {
        let written = &mut self.warps[warp];
        let end = (at + bytes) as usize;
        if written.len() < end {
            written.resize(end, 0);
        }
        for lanes in &mut written[at as usize..end] {
            *lanes |= 1 << lane;
        }
    }

    /// Returns true if a lane has written any of these bytes.
    pub fn has_some(&self, warp: usize, lane: usize, at: u64, bytes: u64) -> bool {
        let written = self.warps[warp].iter().skip(at as usize);
        written
            .take(bytes as usize)
            .any(|lanes| lanes >> lane & 1 == 1)
    }
}
