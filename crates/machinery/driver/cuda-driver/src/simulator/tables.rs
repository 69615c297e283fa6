//! The tables of what a program has passed to the driver API and can read back, without effect on the simulated
//! driver: hints, attributes, descriptors, links, and the settings of textures with the references that have them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ops::Range;
use std::sync::Mutex;

use cuda_sim::driver::{ContextId, CudaError, FunctionId, ModuleId, Resource, StreamId};
use cuda_sim::exec::image::{AddressMode, Channel, Image, LevelSampling, Slices, Texture};

use super::lock;
use crate::types::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUlaunchAttributeValue,
};

/// All tables.
pub struct Tables {
    pub links: Mutex<Links>,
    /// The launches that programs for CUDA 3 have stored in functions.
    pub launch_states: Mutex<BTreeMap<FunctionId, LaunchState>>,
    /// The number of `cuCtxAttach` calls without a `cuCtxDetach`, by context.
    pub attachments: Mutex<BTreeMap<ContextId, usize>>,
    /// The attributes of streams that the program has set.
    pub stream_attributes: Mutex<BTreeMap<(StreamId, c_int), CUlaunchAttributeValue>>,
    /// The flags with which page-locked memory was allocated or registered, by address.
    pub host_flags: Mutex<BTreeMap<u64, c_uint>>,
    /// The base addresses of allocations with `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS` set.
    pub sync_memops_allocations: Mutex<BTreeSet<u64>>,
    pub managed_hints: Mutex<Hints>,
    /// The physical memory that was created as compressible.
    pub compressible_memory: Mutex<BTreeSet<u64>>,
    /// The descriptors of all texture and surface objects, by object.
    pub image_descriptors: Mutex<BTreeMap<u64, ObjectDescriptors>>,
    /// The texture references that the program has requested or created, by handle.
    pub texture_references: Mutex<BTreeMap<u64, TextureReference>>,
    /// The surface references that the program has requested, by handle.
    pub surface_references: Mutex<BTreeMap<u64, SurfaceReference>>,
    /// The attributes of core dumps that the program has set, of a context or of the process.
    pub core_dump_settings: Mutex<CoreDumpSettings>,
    pub green_contexts: Mutex<GreenContexts>,
    /// Strings that the program has received; the set never removes one.
    interned_texts: Mutex<BTreeSet<CString>>,
    /// The functions without an implementation that the program has called.
    unsupported_calls: Mutex<BTreeSet<&'static str>>,
}

impl Tables {
    pub const fn new() -> Self {
        Self {
            links: Mutex::new(Links {
                last: FIRST_LINK,
                links: BTreeMap::new(),
                assembly_failed: false,
            }),
            launch_states: Mutex::new(BTreeMap::new()),
            attachments: Mutex::new(BTreeMap::new()),
            stream_attributes: Mutex::new(BTreeMap::new()),
            host_flags: Mutex::new(BTreeMap::new()),
            sync_memops_allocations: Mutex::new(BTreeSet::new()),
            compressible_memory: Mutex::new(BTreeSet::new()),
            managed_hints: Mutex::new(Hints(Vec::new())),
            image_descriptors: Mutex::new(BTreeMap::new()),
            texture_references: Mutex::new(BTreeMap::new()),
            surface_references: Mutex::new(BTreeMap::new()),
            core_dump_settings: Mutex::new(BTreeMap::new()),
            green_contexts: Mutex::new(GreenContexts {
                last: FIRST_GREEN_CONTEXT,
                descriptions: BTreeMap::new(),
                contexts: BTreeMap::new(),
                streams: BTreeMap::new(),
            }),
            interned_texts: Mutex::new(BTreeSet::new()),
            unsupported_calls: Mutex::new(BTreeSet::new()),
        }
    }

    /// Interns a string for C: returns the same pointer for equal strings, valid until the process ends.
    pub fn intern(&self, text: &str) -> *const c_char {
        // Names in PTX contain no NUL.
        let text = CString::new(text).unwrap_or_default();
        let mut texts = lock(&self.interned_texts);
        if let Some(interned) = texts.get(&text) {
            return interned.as_ptr();
        }
        // Moving a `CString` does not move its contents, and the set never removes an entry.
        let pointer = text.as_ptr();
        texts.insert(text);
        pointer
    }

    /// Records a call of a function that the simulator does not implement. Returns true for the function's first.
    pub fn is_first_unsupported_call(&self, name: &'static str) -> bool {
        lock(&self.unsupported_calls).insert(name)
    }
}

/// The values of `CUcoredumpSettings` by attribute, of a context or of the process.
type CoreDumpSettings = BTreeMap<(Option<ContextId>, c_int), Vec<u8>>;

/// The number before the first of green contexts and descriptions, above those of the simulator's other objects.
const FIRST_GREEN_CONTEXT: u64 = 1 << 41;

/// A green context: some SMs of a device, and the primary context in which it works.
#[derive(Clone, Copy)]
pub struct GreenContext {
    pub device: u32,
    pub context: ContextId,
    pub sms: c_uint,
}

/// All green contexts, the descriptions of resources to create them, and their streams.
pub struct GreenContexts {
    last: u64,
    /// The number of SMs of each description.
    descriptions: BTreeMap<u64, c_uint>,
    contexts: BTreeMap<u64, GreenContext>,
    streams: BTreeMap<StreamId, u64>,
}

impl GreenContexts {
    fn next(&mut self) -> u64 {
        self.last += 0x10;
        self.last
    }

    /// Creates a description of this number of SMs. Returns its number.
    pub fn describe(&mut self, sms: c_uint) -> u64 {
        let number = self.next();
        self.descriptions.insert(number, sms);
        number
    }

    /// Returns the number of SMs of a description.
    pub fn description(&self, number: u64) -> Option<c_uint> {
        self.descriptions.get(&number).copied()
    }

    /// Adds a green context. Returns its number.
    pub fn create(&mut self, green: GreenContext) -> u64 {
        let number = self.next();
        self.contexts.insert(number, green);
        number
    }

    /// Removes a green context.
    pub fn destroy(&mut self, number: u64) -> Option<GreenContext> {
        self.contexts.remove(&number)
    }

    /// Returns a green context.
    pub fn find(&self, number: u64) -> Option<GreenContext> {
        self.contexts.get(&number).copied()
    }

    /// Records the green context of a new stream.
    pub fn add_stream(&mut self, stream: StreamId, green: u64) {
        self.streams.insert(stream, green);
    }

    /// Returns the number of a stream's green context; 0 if it has none.
    pub fn of_stream(&self, stream: StreamId) -> u64 {
        self.streams.get(&stream).copied().unwrap_or(0)
    }
}

/// The descriptors of a texture or surface object, for the functions that return them.
pub struct ObjectDescriptors {
    pub resource: CUDA_RESOURCE_DESC,
    pub params: Option<CUDA_TEXTURE_DESC>,
    pub view: Option<CUDA_RESOURCE_VIEW_DESC>,
}

// SAFETY: the pointers in it are returned to the program and never dereferenced.
unsafe impl Send for ObjectDescriptors {}

/// The launch that `cuFuncSetBlockShape`, `cuFuncSetSharedSize` and the functions `cuParamSet…` store in a function.
#[derive(Clone, Default)]
pub struct LaunchState {
    /// Zero until it is set, with which a launch fails.
    pub block: [c_uint; 3],
    pub dynamic_shared: c_uint,
    /// The parameter block up to the last byte that was set.
    pub parameters: Vec<u8>,
    /// The size that `cuParamSetSize` has set.
    pub parameter_bytes: usize,
}

/// All links that were not destroyed.
pub struct Links {
    last: u64,
    links: BTreeMap<u64, Link>,
    /// True if an input has not assembled.
    pub assembly_failed: bool,
}

/// The number before the first link's, above those of the simulator's other objects.
const FIRST_LINK: u64 = 1 << 40;

/// The state of a link (`CUlinkState`).
pub struct Link {
    /// The inputs so far: name and text.
    pub inputs: Vec<(String, String)>,
    /// The caller's error log.
    pub log: Option<Log>,
    /// The error of the linker, after which the link cannot be completed.
    pub failure: Option<CudaError>,
    /// The result, which the caller may use until the link is destroyed.
    pub linked: Option<CString>,
}

impl Links {
    /// Creates a link. Returns its number.
    pub fn create(&mut self, log: Option<Log>) -> u64 {
        self.last += 0x10;
        let link = Link {
            inputs: Vec::new(),
            log,
            failure: None,
            linked: None,
        };
        self.links.insert(self.last, link);
        self.last
    }

    /// Returns a link, or [`CudaError::InvalidHandle`].
    pub fn link(&mut self, link: u64) -> Result<&mut Link, CudaError> {
        self.links.get_mut(&link).ok_or(CudaError::InvalidHandle)
    }

    /// Destroys a link.
    pub fn destroy(&mut self, link: u64) -> Result<(), CudaError> {
        let removed = self.links.remove(&link);
        removed.map(drop).ok_or(CudaError::InvalidHandle)
    }
}

/// The error log buffer of `cuModuleLoadDataEx` or of a link.
pub struct Log {
    text: *mut u8,
    /// The value of `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`: the buffer's size on entry, the bytes used on
    /// return. The number is stored instead of the pointer.
    size: *mut *mut c_void,
    /// Bytes of the buffer.
    capacity: usize,
    /// The messages so far.
    messages: String,
}

// SAFETY: the program keeps the buffer until the load returns or the link is destroyed, and one thread writes
// at a time.
unsafe impl Send for Log {}

impl Log {
    /// Creates the log of a buffer and the option with its size.
    ///
    /// # Safety
    /// `size` must be readable and writable, and `text` must have that many bytes and at least one, until the log is
    /// dropped.
    pub unsafe fn new(text: *mut u8, size: *mut *mut c_void) -> Self {
        Self {
            text,
            size,
            // SAFETY: `size` is readable, by this function's contract.
            capacity: unsafe { *size }.addr() as u32 as usize,
            messages: String::new(),
        }
    }

    /// Appends a message, and writes all of them and a NUL, truncated to the buffer's size, and their size; zero for
    /// an empty text. Like the driver, writes the NUL even to a buffer of size zero.
    pub fn write(&mut self, message: &str) {
        if !self.messages.is_empty() && !message.is_empty() {
            self.messages.push('\n');
        }
        self.messages.push_str(message);
        let length = self
            .messages
            .floor_char_boundary(self.capacity.saturating_sub(1));
        // SAFETY: both can be written, by the contract of `Log::new`.
        unsafe {
            std::ptr::copy_nonoverlapping(self.messages.as_ptr(), self.text, length);
            self.text.add(length).write(0);
            let size = if length > 0 { length + 1 } else { 0 };
            *self.size = std::ptr::without_provenance_mut(size);
        }
    }
}

/// All hints about managed memory, the newest last. Hints that are fully superseded are removed.
pub struct Hints(Vec<Hint>);

/// A hint for a range of addresses.
struct Hint {
    range: Range<u64>,
    advice: Advice,
}

/// A hint about managed memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    ReadMostly(bool),
    Preferred(c_int),
    Accessed { by: c_int, yes: bool },
    Prefetched(c_int),
}

impl Advice {
    /// Returns true if this hint supersedes `other`.
    fn supersedes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Accessed { by, .. }, Self::Accessed { by: other, .. }) => by == other,
            _ => std::mem::discriminant(&self) == std::mem::discriminant(&other),
        }
    }
}

impl Hints {
    /// Adds a hint, which supersedes earlier ones of the same kind in its range.
    pub fn add(&mut self, range: Range<u64>, advice: Advice) {
        let (superseded, mut remaining): (Vec<_>, Vec<_>) = self
            .0
            .drain(..)
            .partition(|hint| advice.supersedes(hint.advice) && overlap(&hint.range, &range));
        for hint in superseded {
            let parts = [
                hint.range.start..range.start.min(hint.range.end),
                range.end.max(hint.range.start)..hint.range.end,
            ];
            remaining.extend(
                parts
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .map(|part| Hint {
                        range: part,
                        advice: hint.advice,
                    }),
            );
        }
        remaining.push(Hint { range, advice });
        self.0 = remaining;
    }

    /// Removes the hints for freed memory.
    pub fn remove(&mut self, range: Range<u64>) {
        self.0.retain(|hint| !overlap(&hint.range, &range));
    }

    /// Returns the hint that applies to all of a range; `None` if parts have none or differ.
    pub fn of<T: PartialEq + Copy>(
        &self,
        range: &Range<u64>,
        select: impl Fn(Advice) -> Option<T>,
    ) -> Option<T> {
        let mut parts = self
            .0
            .iter()
            .filter(|hint| overlap(&hint.range, range))
            .filter_map(|hint| Some((hint.range.clone(), select(hint.advice)?)))
            .collect::<Vec<_>>();
        parts.sort_by_key(|(part, _)| part.start);
        let (mut covered_to, value) = (range.start, parts.first()?.1);
        for (part, other) in parts {
            if part.start > covered_to || other != value {
                return None;
            }
            covered_to = part.end;
        }
        (covered_to >= range.end).then_some(value)
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The flags `CU_TRSF_…` of a texture.
const READ_AS_INTEGER: c_uint = 1;
const NORMALIZED_COORDINATES: c_uint = 2;
/// A flag without a name that drivers accept.
const IGNORED: c_uint = 4;
const SRGB: c_uint = 0x10;
const DISABLE_TRILINEAR_OPTIMIZATION: c_uint = 0x20;
const SEAMLESS_CUBEMAP: c_uint = 0x40;

/// The sampling modes of a texture, as numbers of CUDA's enumerations that may not exist.
#[derive(Clone, Copy, Default)]
pub struct Sampling {
    pub address_modes: [c_int; 3],
    pub filter: c_int,
    pub flags: c_uint,
    pub level_filter: c_int,
    pub level_bias: f32,
    pub level_clamp: [f32; 2],
    pub max_anisotropy: c_uint,
    pub border: [f32; 4],
}

impl Sampling {
    /// Returns the modes of a texture whose image is empty, and those between levels. Fails with
    /// [`CudaError::InvalidValue`] for numbers and flags that do not exist.
    pub fn read(&self) -> Result<(Texture, LevelSampling), CudaError> {
        const MODES: [AddressMode; 4] = [
            AddressMode::Wrap,
            AddressMode::Clamp,
            AddressMode::Mirror,
            AddressMode::Border,
        ];
        let mut modes = [AddressMode::Wrap; 3];
        for (mode, number) in modes.iter_mut().zip(self.address_modes) {
            let decoded = usize::try_from(number)
                .ok()
                .and_then(|mode| MODES.get(mode));
            *mode = *decoded.ok_or(CudaError::InvalidValue)?;
        }
        let flags = self.flags;
        let valid_flags = READ_AS_INTEGER
            | NORMALIZED_COORDINATES
            | IGNORED
            | SRGB
            | DISABLE_TRILINEAR_OPTIMIZATION
            | SEAMLESS_CUBEMAP;
        let has_filters = [self.filter, self.level_filter]
            .iter()
            .all(|filter| (0..=1).contains(filter));
        if !has_filters || flags & !valid_flags != 0 {
            return Err(CudaError::InvalidValue);
        }
        let texture = Texture {
            image: Image {
                base: 0,
                size: [0; 3],
                slices: Slices::Depth,
                channel: Channel::U8,
                channels: 1,
                pitch: 0,
                linear: false,
            },
            modes,
            linear_filter: self.filter == 1,
            normalised: flags & NORMALIZED_COORDINATES != 0,
            reads_integers: flags & READ_AS_INTEGER != 0,
            seamless: flags & SEAMLESS_CUBEMAP != 0,
            decodes_srgb: flags & SRGB != 0,
            border: self.border,
        };
        let levels = LevelSampling {
            linear_filter: self.level_filter == 1,
            bias: self.level_bias,
            clamp: self.level_clamp,
            max_anisotropy: self.max_anisotropy,
            optimizes_trilinear: flags & DISABLE_TRILINEAR_OPTIMIZATION == 0,
        };
        Ok((texture, levels))
    }
}

/// A texture reference: its settings, which are numbers of CUDA's enumerations, and its binding.
#[derive(Clone)]
pub struct TextureReference {
    /// The module that declares it; `None` for one of `cuTexRefCreate`.
    pub module: Option<ModuleId>,
    pub sampling: Sampling,
    /// The format and the number of channels of linear memory.
    pub format: c_int,
    pub channels: c_uint,
    pub binding: Option<TextureBinding>,
}

impl Default for TextureReference {
    fn default() -> Self {
        /// `CU_AD_FORMAT_FLOAT`
        const FLOAT: c_int = 32;
        /// `CU_TR_ADDRESS_MODE_CLAMP`
        const CLAMP: c_int = 1;
        Self {
            module: None,
            sampling: Sampling {
                address_modes: [CLAMP; 3],
                ..Sampling::default()
            },
            format: FLOAT,
            channels: 1,
            binding: None,
        }
    }
}

/// The memory of a texture reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TextureBinding {
    /// A range of device memory, in the format of the reference.
    Linear { address: u64, bytes: u64 },
    /// A resource that has a format.
    Bound(Resource),
}

/// A surface reference of a module.
pub struct SurfaceReference {
    pub module: ModuleId,
    pub array: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_hints_supersede_parts_of_older_ones() {
        let mut hints = Hints(Vec::new());
        let location = |hints: &Hints, range| {
            hints.of(&range, |advice| match advice {
                Advice::Preferred(location) => Some(location),
                _ => None,
            })
        };
        hints.add(0..100, Advice::Preferred(0));
        hints.add(40..60, Advice::Preferred(1));
        hints.add(0..100, Advice::ReadMostly(true));
        assert_eq!(location(&hints, 0..40), Some(0));
        assert_eq!(location(&hints, 40..60), Some(1));
        assert_eq!(location(&hints, 60..100), Some(0));
        assert_eq!(location(&hints, 30..50), None);
        assert_eq!(location(&hints, 90..110), None);
        hints.remove(50..70);
        assert_eq!(location(&hints, 0..40), Some(0));
        assert_eq!(location(&hints, 40..45), None);
    }
}
