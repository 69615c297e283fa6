//! Multiple devices: device numbers, and peer access.

use super::{ContextId, CudaError, Devices, Driver};
use crate::memory::global::{DeviceAccess, Global};

impl Driver {
    /// Validates a device number. Fails with [`CudaError::InvalidDevice`] if there is no such device.
    pub fn check_device(&self, device: u32) -> Result<(), CudaError> {
        match device < self.device_count() {
            true => Ok(()),
            false => Err(CudaError::InvalidDevice),
        }
    }

    /// `cuDeviceCanAccessPeer`: returns true if kernels of one device can be given access to the memory of
    /// another. This needs unified addressing: compute capability 2.0 or higher. A device is not its own
    /// peer.
    pub fn can_access_peer(&self, device: u32, peer: u32) -> Result<bool, CudaError> {
        self.check_device(device)?;
        self.check_device(peer)?;
        Ok(device != peer && self.device.compute_capability.0 >= 2)
    }

    /// `cuCtxEnablePeerAccess`: gives kernels of `context` access to the memory of the device of `peer`.
    /// Fails with [`CudaError::InvalidContext`] if `peer` is not a context, with
    /// [`CudaError::PeerAccessUnsupported`] if it is on the same device, and with
    /// [`CudaError::PeerAccessAlreadyEnabled`] if access is already enabled.
    pub fn enable_peer(&mut self, context: ContextId, peer: ContextId) -> Result<(), CudaError> {
        self.context(context)?;
        let (device, peer_device) = (self.context_device(context)?, self.context_device(peer)?);
        if !self.can_access_peer(device, peer_device)? {
            return Err(CudaError::PeerAccessUnsupported);
        }
        match self.context_mut(context)?.peers.insert(peer) {
            true => Ok(()),
            false => Err(CudaError::PeerAccessAlreadyEnabled),
        }
    }

    /// `cuCtxDisablePeerAccess`: undoes [`Driver::enable_peer`]. Fails with
    /// [`CudaError::PeerAccessNotEnabled`] if access is not enabled, and with [`CudaError::InvalidContext`]
    /// if `peer` is not a context.
    pub fn disable_peer(&mut self, context: ContextId, peer: ContextId) -> Result<(), CudaError> {
        self.context(context)?;
        self.context_device(peer)?;
        match self.context_mut(context)?.peers.remove(&peer) {
            true => Ok(()),
            false => Err(CudaError::PeerAccessNotEnabled),
        }
    }

    /// Restricts access to the allocation at `base` to the kernels of `devices` (one bit per device).
    pub fn set_accessible_from(&mut self, base: u64, devices: Devices) {
        self.global.set_access(base, DeviceAccess::Listed(devices));
    }

    /// Returns the address space, with the device of `context` selected for allocations and its peers for
    /// kernels. Fails unless `context` is live and has not faulted.
    pub(super) fn global_of(&mut self, context: ContextId) -> Result<&mut Global, CudaError> {
        let state = self.context(context)?;
        let peers = state
            .peers
            .iter()
            .filter_map(|peer| self.contexts.get(peer));
        let peers = peers.fold(0, |all, peer| all | 1 << peer.device);
        let device = state.device;
        Ok(self.global.set_device(device, peers))
    }
}
