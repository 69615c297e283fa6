//! Texture and surface references of modules, which CUDA 12 has removed from the runtime API.
//!
//! A reference has settings and a binding; a change of either binds the texture again, for later launches. As an H200's
//! driver does, most functions accept numbers that their enumerations lack (580.159.04). A reference with such a setting
//! is not bound; neither is one whose linear memory does not exist.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};

use cuda_sim::driver::{CudaError, Driver, ModuleId, Resource};

use super::SIMULATOR;
use super::image::{channel, max_linear_texels};
use super::module::lock_module;
use crate::arguments::{Argument, In, Out, handle, number};
use crate::simulator::{Sampling, SurfaceReference, TextureBinding, TextureReference, lock};
use crate::status::{CallResult, warn};
use crate::types::{
    CUDA_ARRAY_DESCRIPTOR, CUarray, CUdeviceptr, CUfunction, CUmipmappedArray, CUmodule, CUsurfref,
    CUtexref,
};

/// `CU_PARAM_TR_DEFAULT`: the only texture unit of `cuParamSetTexRef`.
const DEFAULT_UNIT: c_int = -1;

/// Locks the driver after all pending work, which uses the present bindings, and changes a texture reference. Fails with
/// [`CudaError::InvalidValue`] for an unknown reference, and with the error of `change`, which then must have changed
/// nothing.
fn change<T>(
    reference: CUtexref,
    change: impl FnOnce(&Driver, &mut TextureReference) -> Result<T, CudaError>,
) -> Result<T, CudaError> {
    let reference = number(reference);
    let (mut driver, _) = SIMULATOR.lock_current_context_drained()?;
    let mut references = lock(&SIMULATOR.tables.texture_references);
    let state = live(&driver, &mut references, reference)?;
    let mut changed = state.clone();
    let result = change(&driver, &mut changed)?;
    match bind(&mut driver, reference, &changed) {
        Ok(()) => {}
        // The new resource is invalid: the reference stays as it was. Any linear memory is accepted.
        Err(error)
            if changed.binding != state.binding
                && !matches!(changed.binding, Some(TextureBinding::Linear { .. })) =>
        {
            let _ = bind(&mut driver, reference, state);
            return Err(error);
        }
        // A setting does not fit the resource, or its memory was freed.
        Err(_) => driver.unbind_image(reference),
    }
    *state = changed;
    Ok(result)
}

/// Returns the state of a reference. Fails with [`CudaError::InvalidValue`] for an unknown one, and one of an unloaded
/// module.
fn live<'a>(
    driver: &Driver,
    references: &'a mut BTreeMap<u64, TextureReference>,
    reference: u64,
) -> Result<&'a mut TextureReference, CudaError> {
    let state = references.get_mut(&reference);
    let state = state.ok_or(CudaError::InvalidValue)?;
    if let Some(module) = state.module {
        driver
            .module_context(module)
            .map_err(|_| CudaError::InvalidValue)?;
    }
    Ok(state)
}

/// Binds a reference to its resource with its settings; unbinds one without a resource or with a setting that does not
/// exist. Fails with [`CudaError::InvalidValue`] for an invalid resource.
fn bind(driver: &mut Driver, reference: u64, state: &TextureReference) -> Result<(), CudaError> {
    let resource = resource(state);
    if let Some(resource) = resource {
        driver.check_resource(resource)?;
    }
    match (resource, state.sampling.read()) {
        (Some(resource), Ok((sampling, levels))) => {
            driver.bind_texture(reference, resource, &sampling, levels)
        }
        _ => {
            driver.unbind_image(reference);
            Ok(())
        }
    }
}

/// Returns the resource of a reference; `None` if it has none or its format does not exist.
fn resource(state: &TextureReference) -> Option<Resource> {
    match state.binding? {
        TextureBinding::Linear { address, bytes } => Some(Resource::Linear {
            address,
            channel: channel(state.format).ok()?,
            channels: state.channels,
            bytes,
        }),
        TextureBinding::Bound(resource) => Some(resource),
    }
}

/// Reads a property of a texture reference.
fn read<T>(
    reference: CUtexref,
    property: impl FnOnce(&TextureReference) -> Result<T, CudaError>,
) -> Result<T, CudaError> {
    let driver = SIMULATOR.lock_driver()?;
    let mut references = lock(&SIMULATOR.tables.texture_references);
    property(live(&driver, &mut references, number(reference))?)
}

/// `cuModuleGetTexRef`.
pub fn of_module(out: Out<CUtexref>, module: CUmodule, name: &str) -> CallResult {
    // SAFETY: any handle may be converted.
    let module = unsafe { ModuleId::from_c(module) }?;
    let (driver, context) = lock_module(module)?;
    let reference = driver.texture_reference(context, module, name)?;
    let mut references = lock(&SIMULATOR.tables.texture_references);
    let state = references.entry(reference).or_default();
    // The reference of an unloaded module may have had the same handle.
    if state.module != Some(module) {
        *state = TextureReference {
            module: Some(module),
            ..TextureReference::default()
        };
    }
    out.set(handle(reference));
    Ok(())
}

/// `cuTexRefCreate`.
pub fn create(out: Out<CUtexref>) -> CallResult {
    let (mut driver, _) = SIMULATOR.lock_current_context()?;
    let reference = driver.create_texture_reference();
    lock(&SIMULATOR.tables.texture_references).insert(reference, TextureReference::default());
    out.set(handle(reference));
    Ok(())
}

/// `cuTexRefDestroy`: a reference of a module cannot be destroyed.
pub fn destroy(reference: CUtexref) -> CallResult {
    let (mut driver, _) = SIMULATOR.lock_current_context_drained()?;
    let mut references = lock(&SIMULATOR.tables.texture_references);
    if live(&driver, &mut references, number(reference))?
        .module
        .is_some()
    {
        return Err(CudaError::InvalidValue.into());
    }
    references.remove(&number(reference));
    driver.unbind_image(number(reference));
    Ok(())
}

/// `cuParamSetTexRef`: a kernel has the references of its module, so there is nothing to do.
pub fn set_parameter(_function: CUfunction, unit: c_int, reference: CUtexref) -> CallResult {
    read(reference, |_| match unit {
        DEFAULT_UNIT => Ok(()),
        _ => Err(CudaError::InvalidValue),
    })?;
    Ok(())
}

/// `cuTexRefSetAddress`: linear memory at any address. A reference to memory that does not exist is not bound. The address
/// is rounded down to the alignment of textures; `offset` receives the difference, which only an aligned address may
/// leave out.
pub fn set_address(
    offset: Option<Out<usize>>,
    reference: CUtexref,
    address: CUdeviceptr,
    bytes: usize,
) -> CallResult {
    let remainder = change(reference, |driver, state| {
        let remainder = address % u64::from(driver.device().texture_alignment);
        if remainder != 0 && offset.is_none() {
            return Err(CudaError::InvalidValue);
        }
        let bytes = (bytes as u64).saturating_add(remainder);
        let texel = channel(state.format).map_or(1, |channel| channel.bytes() * state.channels);
        if bytes / u64::from(texel) > max_linear_texels(texel) {
            return Err(CudaError::InvalidValue);
        }
        state.binding = Some(TextureBinding::Linear {
            address: address - remainder,
            bytes,
        });
        Ok(remainder)
    })?;
    Out::set_optional(offset, remainder as usize);
    Ok(())
}

/// `cuTexRefSetAddress2D`: memory of rows, with the format of the descriptor.
pub fn set_address_2d(
    reference: CUtexref,
    from: In<CUDA_ARRAY_DESCRIPTOR>,
    address: CUdeviceptr,
    pitch: usize,
) -> CallResult {
    let from = from.read();
    let resource = Resource::Pitched {
        address,
        channel: channel(from.Format)?,
        channels: from.NumChannels,
        width: from.Width as u64,
        height: from.Height as u64,
        pitch: pitch as u64,
    };
    set_resource(reference, resource, 0)
}

/// `CU_TRSA_OVERRIDE_FORMAT`
const OVERRIDE_FORMAT: c_uint = 1;

/// `cuTexRefSetArray`. The texture has the format of the array, whether `flags` has `CU_TRSA_OVERRIDE_FORMAT` or not.
pub fn set_array(reference: CUtexref, array: CUarray, flags: c_uint) -> CallResult {
    set_resource(reference, Resource::Array(number(array)), flags)
}

/// `cuTexRefSetMipmappedArray`. The texture has the format of the array, as with [`set_array`].
pub fn set_mipmapped_array(
    reference: CUtexref,
    array: CUmipmappedArray,
    flags: c_uint,
) -> CallResult {
    set_resource(reference, Resource::Mipmapped(number(array)), flags)
}

/// Binds a reference to a resource. Fails with [`CudaError::InvalidHandle`] for an array that does not exist, and with
/// [`CudaError::InvalidValue`] for unknown flags.
fn set_resource(reference: CUtexref, resource: Resource, flags: c_uint) -> CallResult {
    if flags & !OVERRIDE_FORMAT != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    change(reference, |driver, state| {
        match resource {
            Resource::Array(array) => driver.array(array).map(drop)?,
            Resource::Mipmapped(array) => driver.mipmap_level(array, 0).map(drop)?,
            Resource::Linear { .. } | Resource::Pitched { .. } => {}
        }
        state.binding = Some(TextureBinding::Bound(resource));
        Ok(())
    })?;
    Ok(())
}

/// `cuTexRefSetFormat`: the format of linear memory.
pub fn set_format(reference: CUtexref, format: c_int, channels: c_int) -> CallResult {
    if !matches!(channels, 1 | 2 | 4) {
        return Err(CudaError::InvalidValue.into());
    }
    report_unknown(
        "cuTexRefSetFormat",
        "format",
        format,
        channel(format).is_ok(),
    );
    change(reference, |_, state| {
        (state.format, state.channels) = (format, channels.cast_unsigned());
        Ok(())
    })?;
    Ok(())
}

/// `cuTexRefSetAddressMode`.
pub fn set_address_mode(reference: CUtexref, dimension: c_int, mode: c_int) -> CallResult {
    let dimension = check_dimension(dimension)?;
    set_sampling(reference, "cuTexRefSetAddressMode", mode, |sampling| {
        sampling.address_modes[dimension] = mode;
    })
}

/// `cuTexRefSetFilterMode`.
pub fn set_filter(reference: CUtexref, filter: c_int) -> CallResult {
    set_sampling(reference, "cuTexRefSetFilterMode", filter, |sampling| {
        sampling.filter = filter;
    })
}

/// `cuTexRefSetMipmapFilterMode`.
pub fn set_level_filter(reference: CUtexref, filter: c_int) -> CallResult {
    set_sampling(
        reference,
        "cuTexRefSetMipmapFilterMode",
        filter,
        |sampling| {
            sampling.level_filter = filter;
        },
    )
}

/// Changes a setting to a number that may not exist.
fn set_sampling(
    reference: CUtexref,
    function: &str,
    number: c_int,
    set: impl Fn(&mut Sampling),
) -> CallResult {
    change(reference, |_, state| {
        set(&mut state.sampling);
        Ok(())
    })?;
    let mut with_number = Sampling::default();
    set(&mut with_number);
    report_unknown(function, "mode", number, with_number.read().is_ok());
    Ok(())
}

/// Warns of a number that the driver accepts although it does not exist.
fn report_unknown(function: &str, setting: &str, number: c_int, is_known: bool) {
    if !is_known {
        warn(format_args!(
            "{function}: there is no {setting} {number}, so the texture reference is not bound: pass a number of the \
             enumeration in cuda.h"
        ));
    }
}

/// `cuTexRefSetFlags`.
pub fn set_flags(reference: CUtexref, flags: c_uint) -> CallResult {
    Sampling {
        flags,
        ..Sampling::default()
    }
    .read()?;
    change(reference, |_, state| {
        state.sampling.flags = flags;
        Ok(())
    })?;
    Ok(())
}

/// `cuTexRefSetMaxAnisotropy`.
pub fn set_max_anisotropy(reference: CUtexref, anisotropy: c_uint) -> CallResult {
    change(reference, |_, state| {
        state.sampling.max_anisotropy = anisotropy;
        Ok(())
    })?;
    Ok(())
}

/// `cuTexRefSetMipmapLevelBias`.
pub fn set_level_bias(reference: CUtexref, bias: f32) -> CallResult {
    change(reference, |_, state| {
        state.sampling.level_bias = bias;
        Ok(())
    })?;
    Ok(())
}

/// `cuTexRefSetMipmapLevelClamp`.
pub fn set_level_clamp(reference: CUtexref, low: f32, high: f32) -> CallResult {
    change(reference, |_, state| {
        state.sampling.level_clamp = [low, high];
        Ok(())
    })?;
    Ok(())
}

/// `cuTexRefSetBorderColor`.
pub fn set_border(reference: CUtexref, colour: In<f32>) -> CallResult {
    // SAFETY: `cuTexRefSetBorderColor` requires four floats.
    let colour = unsafe { colour.as_ptr().cast::<[f32; 4]>().read() };
    change(reference, |_, state| {
        state.sampling.border = colour;
        Ok(())
    })?;
    Ok(())
}

/// `cuTexRefGetAddress`. Fails for a reference that is not bound to an address.
pub fn address(out: Out<CUdeviceptr>, reference: CUtexref) -> CallResult {
    out.set(read(reference, |state| match state.binding {
        Some(
            TextureBinding::Linear { address, .. }
            | TextureBinding::Bound(Resource::Pitched { address, .. }),
        ) => Ok(address),
        _ => Err(CudaError::InvalidValue),
    })?);
    Ok(())
}

/// `cuTexRefGetArray`. Fails for a reference that is not bound to an array.
pub fn array(out: Out<CUarray>, reference: CUtexref) -> CallResult {
    out.set(read(reference, |state| match state.binding {
        Some(TextureBinding::Bound(Resource::Array(array))) => Ok(handle(array)),
        _ => Err(CudaError::InvalidValue),
    })?);
    Ok(())
}

/// `cuTexRefGetMipmappedArray`. Fails for a reference that is not bound to a mipmapped array.
pub fn mipmapped_array(out: Out<CUmipmappedArray>, reference: CUtexref) -> CallResult {
    out.set(read(reference, |state| match state.binding {
        Some(TextureBinding::Bound(Resource::Mipmapped(array))) => Ok(handle(array)),
        _ => Err(CudaError::InvalidValue),
    })?);
    Ok(())
}

/// `cuTexRefGetFormat`.
pub fn format(
    format: Option<Out<c_int>>,
    channels: Option<Out<c_int>>,
    reference: CUtexref,
) -> CallResult {
    let (number, count) = read(reference, |state| Ok((state.format, state.channels)))?;
    Out::set_optional(format, number);
    Out::set_optional(channels, count.cast_signed());
    Ok(())
}

/// `cuTexRefGetAddressMode`.
pub fn address_mode(out: Out<c_int>, reference: CUtexref, dimension: c_int) -> CallResult {
    let dimension = check_dimension(dimension)?;
    out.set(read(reference, |state| {
        Ok(state.sampling.address_modes[dimension])
    })?);
    Ok(())
}

/// `cuTexRefGetFilterMode`.
pub fn filter(out: Out<c_int>, reference: CUtexref) -> CallResult {
    out.set(read(reference, |state| Ok(state.sampling.filter))?);
    Ok(())
}

/// `cuTexRefGetMipmapFilterMode`.
pub fn level_filter(out: Out<c_int>, reference: CUtexref) -> CallResult {
    out.set(read(reference, |state| Ok(state.sampling.level_filter))?);
    Ok(())
}

/// `cuTexRefGetFlags`.
pub fn flags(out: Out<c_uint>, reference: CUtexref) -> CallResult {
    out.set(read(reference, |state| Ok(state.sampling.flags))?);
    Ok(())
}

/// `cuTexRefGetMaxAnisotropy`.
pub fn max_anisotropy(out: Out<c_int>, reference: CUtexref) -> CallResult {
    out.set(read(reference, |state| {
        Ok(state.sampling.max_anisotropy.cast_signed())
    })?);
    Ok(())
}

/// `cuTexRefGetMipmapLevelBias`.
pub fn level_bias(out: Out<f32>, reference: CUtexref) -> CallResult {
    out.set(read(reference, |state| Ok(state.sampling.level_bias))?);
    Ok(())
}

/// `cuTexRefGetMipmapLevelClamp`.
pub fn level_clamp(
    low: Option<Out<f32>>,
    high: Option<Out<f32>>,
    reference: CUtexref,
) -> CallResult {
    let clamp = read(reference, |state| Ok(state.sampling.level_clamp))?;
    Out::set_optional(low, clamp[0]);
    Out::set_optional(high, clamp[1]);
    Ok(())
}

/// `cuTexRefGetBorderColor`.
pub fn border(out: Out<f32>, reference: CUtexref) -> CallResult {
    let colour = read(reference, |state| Ok(state.sampling.border))?;
    // SAFETY: `cuTexRefGetBorderColor` requires room for four floats.
    unsafe { out.set_all(colour) };
    Ok(())
}

fn check_dimension(dimension: c_int) -> Result<usize, CudaError> {
    let dimension = usize::try_from(dimension).ok();
    (dimension.filter(|&dimension| dimension < 3)).ok_or(CudaError::InvalidValue)
}

/// `cuModuleGetSurfRef`.
pub fn surface_of_module(out: Out<CUsurfref>, module: CUmodule, name: &str) -> CallResult {
    // SAFETY: any handle may be converted.
    let module = unsafe { ModuleId::from_c(module) }?;
    let (driver, context) = lock_module(module)?;
    let reference = driver.surface_reference(context, module, name)?;
    let mut references = lock(&SIMULATOR.tables.surface_references);
    let state = references.entry(reference).or_insert(SurfaceReference {
        module,
        array: None,
    });
    if state.module != module {
        *state = SurfaceReference {
            module,
            array: None,
        };
    }
    out.set(handle(reference));
    Ok(())
}

/// `cuSurfRefSetArray`: an array that need not have been created as writable.
pub fn set_surface_array(reference: CUsurfref, array: CUarray, flags: c_uint) -> CallResult {
    let (mut driver, _) = SIMULATOR.lock_current_context_drained()?;
    let mut references = lock(&SIMULATOR.tables.surface_references);
    let state = live_surface(&driver, &mut references, number(reference))?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    driver.array(number(array))?;
    driver.bind_surface(number(reference), number(array))?;
    state.array = Some(number(array));
    Ok(())
}

/// `cuSurfRefGetArray`. Fails for a reference that is not bound.
pub fn surface_array(out: Out<CUarray>, reference: CUsurfref) -> CallResult {
    let driver = SIMULATOR.lock_driver()?;
    let mut references = lock(&SIMULATOR.tables.surface_references);
    let state = live_surface(&driver, &mut references, number(reference))?;
    out.set(handle(state.array.ok_or(CudaError::InvalidValue)?));
    Ok(())
}

/// Returns the state of a reference. Fails with [`CudaError::InvalidValue`] for an unknown one, and one of an unloaded
/// module.
fn live_surface<'a>(
    driver: &Driver,
    references: &'a mut BTreeMap<u64, SurfaceReference>,
    reference: u64,
) -> Result<&'a mut SurfaceReference, CudaError> {
    let state = references.get_mut(&reference);
    let state = state.ok_or(CudaError::InvalidValue)?;
    let loaded = driver.module_context(state.module);
    loaded.map_err(|_| CudaError::InvalidValue)?;
    Ok(state)
}
