//! Several devices: which there are, and who reaches whose memory.

use super::{ContextId, CudaError, Devices, Driver};
use crate::memory::global::{Global, Reach};

impl Driver {
    /// [`CudaError::InvalidDevice`] for a number that no device has.
    pub fn check_device(&self, device: u32) -> Result<(), CudaError> {
        match device < self.device_count() {
            true => Ok(()),
            false => Err(CudaError::InvalidDevice),
        }
    }

    /// `cuDeviceCanAccessPeer`: whether kernels of one device can be let into the memory of another. All can that
    /// have one address space with the host: from compute capability 2.0 on. A device is not its own peer.
    pub fn can_access_peer(&self, device: u32, peer: u32) -> Result<bool, CudaError> {
        self.check_device(device)?;
        self.check_device(peer)?;
        Ok(device != peer && self.device.compute_capability.0 >= 2)
    }

    /// `cuCtxEnablePeerAccess`: kernels of `context` reach the memory of the device that `peer` is of from now on.
    /// [`CudaError::InvalidContext`] for a `peer` that is no context, [`CudaError::PeerAccessUnsupported`] for one of
    /// the same device, [`CudaError::PeerAccessAlreadyEnabled`] where they reach it already.
    pub fn enable_peer(&mut self, context: ContextId, peer: ContextId) -> Result<(), CudaError> {
        self.context(context)?;
        let (own, other) = (self.context_device(context)?, self.context_device(peer)?);
        if !self.can_access_peer(own, other)? {
            return Err(CudaError::PeerAccessUnsupported);
        }
        match self.context_mut(context)?.peers.insert(peer) {
            true => Ok(()),
            false => Err(CudaError::PeerAccessAlreadyEnabled),
        }
    }

    /// `cuCtxDisablePeerAccess`: ends what [`Driver::enable_peer`] began. [`CudaError::PeerAccessNotEnabled`] where
    /// nobody did, [`CudaError::InvalidContext`] for a `peer` that is no context.
    pub fn disable_peer(&mut self, context: ContextId, peer: ContextId) -> Result<(), CudaError> {
        self.context(context)?;
        self.context_device(peer)?;
        match self.context_mut(context)?.peers.remove(&peer) {
            true => Ok(()),
            false => Err(CudaError::PeerAccessNotEnabled),
        }
    }

    /// Has only the kernels of `devices`, a bit each, reach the allocation that begins at `base`.
    pub fn open_to(&mut self, base: u64, devices: Devices) {
        self.global.set_reach(base, Reach::Listed(devices));
    }

    /// The address space as `context`, which lives and has not faulted, makes memory in it and runs kernels.
    pub(super) fn global_of(&mut self, context: ContextId) -> Result<&mut Global, CudaError> {
        let found = self.context(context)?;
        let peers = found
            .peers
            .iter()
            .filter_map(|peer| self.contexts.get(peer));
        let peers = peers.fold(0, |all, peer| all | 1 << peer.device);
        let device = found.device;
        Ok(self.global.seen_by(device, peers))
    }
}
