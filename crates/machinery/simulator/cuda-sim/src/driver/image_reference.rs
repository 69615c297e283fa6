//! Texture and surface references: variables of a module that name an image, which the program binds before a launch.
//!
//! A kernel accesses a reference by its handle, as it accesses an object. The handle is an address of the module's
//! memory, so that it is that of no object.

use std::sync::Arc;

use super::{ContextId, CudaError, Driver, ModuleId, Resource};
use crate::check::Reason;
use crate::exec::image::{LevelSampling, Texture};
use crate::ptx::ast::ImageReference;

impl Driver {
    /// `cuModuleGetTexRef`: returns the handle of a texture reference of `module`. Fails with [`CudaError::NotFound`] if
    /// there is none with this name, and with [`CudaError::InvalidHandle`] if the module is not loaded in `context`.
    pub fn texture_reference(
        &self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<u64, CudaError> {
        self.image_reference(context, module, ImageReference::Texture, name)
    }

    /// `cuModuleGetSurfRef`: returns the handle of a surface reference of `module`. Fails as
    /// [`Driver::texture_reference`].
    pub fn surface_reference(
        &self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<u64, CudaError> {
        self.image_reference(context, module, ImageReference::Surface, name)
    }

    fn image_reference(
        &self,
        context: ContextId,
        module: ModuleId,
        kind: ImageReference,
        name: &str,
    ) -> Result<u64, CudaError> {
        let program = &self.module(context, module)?.program;
        program.reference(kind, name).ok_or_else(|| {
            let names = program.reference_names(kind).collect();
            let directive = kind.directive().to_owned();
            CudaError::NotFound.because(Reason::ReferenceMissing(directive, name.to_owned(), names))
        })
    }

    /// `cuTexRefCreate`: returns the handle of a new texture reference, which no kernel can access.
    pub fn create_texture_reference(&mut self) -> u64 {
        self.handles.next()
    }

    /// Fails with [`CudaError::InvalidValue`] for a resource to which no texture reference can be bound.
    pub fn check_resource(&self, resource: Resource) -> Result<(), CudaError> {
        self.image(resource).map(drop)
    }

    /// `cuTexRefSetArray` and others: binds a texture reference to a resource, with these sampling modes. Fails with
    /// [`CudaError::InvalidValue`] for an invalid resource.
    pub fn bind_texture(
        &mut self,
        reference: u64,
        resource: Resource,
        sampling: &Texture,
        levels: LevelSampling,
    ) -> Result<(), CudaError> {
        let (texture, mipmap) = self.texture(resource, None, sampling, levels)?;
        self.insert_texture(reference, texture, mipmap);
        Ok(())
    }

    /// `cuSurfRefSetArray`: binds a surface reference to an array. Fails with [`CudaError::InvalidValue`] for an unknown
    /// array.
    pub fn bind_surface(&mut self, reference: u64, array: u64) -> Result<(), CudaError> {
        let image = self.image(Resource::Array(array))?;
        let images = Arc::make_mut(&mut self.images);
        images.surfaces.insert(reference, image);
        Ok(())
    }

    /// Unbinds a texture or surface reference, if it is bound.
    pub fn unbind_image(&mut self, reference: u64) {
        let images = Arc::make_mut(&mut self.images);
        images.textures.remove(&reference);
        images.mipmaps.remove(&reference);
        images.surfaces.remove(&reference);
    }
}
