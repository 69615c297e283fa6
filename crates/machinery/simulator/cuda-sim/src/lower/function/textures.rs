//! Lowering of texture and surface instructions. Source: PTX ISA sections 9.7.10 (`tex`, `tld4`, `txq`) and
//! 9.7.11 (`suld`, `sust`, `sured`, `suq`).

use super::FunctionLowering;
use super::operands::{display_name, form_of};
use crate::exec::sm::Handler;
use crate::exec::texels::{self, Geometry, LevelChoice, OutOfBounds, SurfaceAccess, SurfaceOp};
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::lower::ir::{Register, RegisterClass};
use crate::lower::layout::Symbol;
use crate::ptx::ast::{ImageReference, Instruction, Operand, Type};

/// The geometries of surface loads and stores.
const GEOMETRIES: &[&str] = &["1d", "2d", "3d", "a1d", "a2d"];
/// The geometries of surface reductions.
const REDUCTION_GEOMETRIES: &[&str] = &["1d", "2d", "3d"];
/// The geometry of a texture gather.
const GATHER_GEOMETRY: Geometry = Geometry {
    dimensions: 2,
    layered: false,
    cube: false,
};
const CACHE_MODIFIERS: &[&str] = &["ca", "cg", "cs", "cv", "wb", "wt"];

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `tex`.
    pub fn texture(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let modifiers = &instruction.modifiers[..];
        let (level_choice, rest) = match modifiers {
            ["level", rest @ ..] => (Some(LevelChoice::Explicit), rest),
            ["grad", rest @ ..] => (Some(LevelChoice::Gradients), rest),
            ["base", rest @ ..] => (None, rest),
            rest => (None, rest),
        };
        let [
            geometry,
            "v4",
            ty @ ("f32" | "u32" | "s32"),
            coordinate_type @ ("f32" | "s32"),
        ] = rest
        else {
            return Err(self.unknown(instruction));
        };
        let Some(geometry) = Geometry::named(geometry) else {
            return Err(self.unknown(instruction));
        };
        if geometry.cube && *coordinate_type != "f32" {
            return Err(self.unknown(instruction));
        }
        let [to, from, level_of_detail @ ..] = &instruction.operands[..] else {
            return Err(self.wrong_image_operands(instruction));
        };
        let (handle, coordinates) =
            self.handle_and_coordinates(instruction, from, ImageReference::Texture)?;
        let ty = if *ty == "f32" { Type::F32 } else { Type::B32 };
        let is_integer = *coordinate_type == "s32";
        let of = if is_integer { Type::S32 } else { Type::F32 };
        let defs = self.four_destinations(to, ty)?;
        let mut uses = vec![handle];
        uses.extend(self.coordinates(&coordinates, geometry, of)?);
        match (level_choice, level_of_detail) {
            (None, []) => {}
            (Some(LevelChoice::Explicit), [level]) => uses.push(self.source(level, of)?),
            (Some(LevelChoice::Gradients), [along_x, along_y]) if !is_integer => {
                for gradient in [along_x, along_y] {
                    uses.extend(self.gradient(gradient, geometry)?);
                }
            }
            (Some(LevelChoice::Gradients), [_, _]) => return Err(self.unknown(instruction)),
            _ => return Err(self.wrong_image_operands(instruction)),
        }
        let handler: Handler = match level_choice {
            None => texels::sample,
            Some(_) => texels::sample_level,
        };
        self.push(handler, Class::Global, &defs, &uses);
        let inst = self.last();
        inst.has_operand_list = true;
        inst.arg0 = geometry.packed();
        inst.arg1 = match level_choice {
            None => is_integer.into(),
            Some(choice) => choice.packed(is_integer),
        };
        Ok(())
    }

    /// Returns the registers of a gradient: one per coordinate. PTX pads three components to four; the fourth is ignored.
    fn gradient(
        &mut self,
        operand: &Operand<'a>,
        geometry: Geometry,
    ) -> Result<Vec<Register>, LoadError> {
        let count = geometry.dimensions as usize;
        let expected = if count == 3 { 4 } else { count };
        let mut registers = Vec::new();
        for part in &self.vector_elements(operand, expected)?[..count] {
            registers.push(self.source(part, Type::F32)?);
        }
        Ok(registers)
    }

    /// Lowers `tld4`.
    pub fn gather(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let [component, "2d", "v4", ty @ ("f32" | "u32" | "s32"), "f32"] =
            &instruction.modifiers[..]
        else {
            return Err(self.unknown(instruction));
        };
        let Some(component) = ["r", "g", "b", "a"]
            .iter()
            .position(|channel| channel == component)
        else {
            return Err(self.unknown(instruction));
        };
        let [to, from] = &instruction.operands[..] else {
            return Err(self.wrong_image_operands(instruction));
        };
        let (handle, coordinates) =
            self.handle_and_coordinates(instruction, from, ImageReference::Texture)?;
        let ty = if *ty == "f32" { Type::F32 } else { Type::B32 };
        let defs = self.four_destinations(to, ty)?;
        let mut uses = vec![handle];
        uses.extend(self.coordinates(&coordinates, GATHER_GEOMETRY, Type::F32)?);
        self.push(texels::gather, Class::Global, &defs, &uses);
        let inst = self.last();
        inst.has_operand_list = true;
        inst.arg0 = component as u32;
        Ok(())
    }

    /// Lowers `txq`.
    pub fn texture_size(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.query_size(instruction, false)
    }

    /// Lowers `suq`.
    pub fn surface_size(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.query_size(instruction, true)
    }

    fn query_size(
        &mut self,
        instruction: &Instruction<'a>,
        is_surface: bool,
    ) -> Result<(), LoadError> {
        let [query, "b32"] = &instruction.modifiers[..] else {
            return Err(self.unknown(instruction));
        };
        let size = match *query {
            "width" => 0,
            "height" => 1,
            "depth" => texels::DEPTH,
            "array_size" => texels::LAYERS,
            _ => return Err(self.unknown(instruction)),
        };
        let [to, Operand::Address { base, offset: 0 }] = &instruction.operands[..] else {
            return Err(self.wrong_image_operands(instruction));
        };
        let to = self.destination(to, Type::B32)?;
        let kind = match is_surface {
            true => ImageReference::Surface,
            false => ImageReference::Texture,
        };
        let handle = self.handle(base.name(), kind)?;
        self.push(texels::query, Class::Integer, &[to], &[handle]);
        (self.last().arg0, self.last().arg1) = (size, is_surface.into());
        Ok(())
    }

    /// Lowers `suld`.
    pub fn surface_load(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (access, ty) = self.surface_access(instruction, &["b"])?;
        let [to, from] = &instruction.operands[..] else {
            return Err(self.wrong_image_operands(instruction));
        };
        let (handle, coordinates) =
            self.handle_and_coordinates(instruction, from, ImageReference::Surface)?;
        let mut defs = Vec::new();
        for part in self.vector_elements(to, access.elements as usize)? {
            defs.push(self.element_register(part, ty, true)?);
        }
        let mut uses = vec![handle];
        uses.extend(self.coordinates(&coordinates, access.geometry, Type::S32)?);
        self.push_surface(texels::surface_load, access, &defs, &uses);
        Ok(())
    }

    /// Lowers `sust`.
    pub fn surface_store(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (access, ty) = self.surface_access(instruction, &["b"])?;
        let [to, from] = &instruction.operands[..] else {
            return Err(self.wrong_image_operands(instruction));
        };
        let (handle, coordinates) =
            self.handle_and_coordinates(instruction, to, ImageReference::Surface)?;
        let mut uses = vec![handle];
        uses.extend(self.coordinates(&coordinates, access.geometry, Type::S32)?);
        for part in self.vector_elements(from, access.elements as usize)? {
            uses.push(self.element_register(part, ty, false)?);
        }
        self.push_surface(texels::surface_store, access, &[], &uses);
        Ok(())
    }

    /// Lowers `sured`.
    pub fn surface_reduction(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (access, ty) = self.surface_access(instruction, &["b", "p"])?;
        let operation = instruction
            .modifiers
            .iter()
            .find(|name| ["add", "min", "max", "and", "or"].contains(name));
        let signed = ty.is_signed();
        let kind = match operation {
            Some(&"add") if ty != Type::B32 || access.by_texels => SurfaceOp::Add,
            Some(&"min") if signed => SurfaceOp::MinSigned,
            Some(&"max") if signed => SurfaceOp::MaxSigned,
            Some(&"min") => SurfaceOp::MinUnsigned,
            Some(&"max") => SurfaceOp::MaxUnsigned,
            Some(&"and") => SurfaceOp::And,
            Some(&"or") => SurfaceOp::Or,
            _ => return Err(self.unknown(instruction)),
        };
        if access.elements != 1 || access.bytes < 4 {
            return Err(self.unknown(instruction));
        }
        let [to, from] = &instruction.operands[..] else {
            return Err(self.wrong_image_operands(instruction));
        };
        let (handle, coordinates) =
            self.handle_and_coordinates(instruction, to, ImageReference::Surface)?;
        let mut uses = vec![handle];
        uses.extend(self.coordinates(&coordinates, access.geometry, Type::S32)?);
        uses.push(self.source(from, ty)?);
        self.push_surface(texels::reduce, access, &[], &uses);
        self.last().arg1 = kind as u32;
        Ok(())
    }

    /// Parses the modifiers of a surface instruction, the first of which must be one of `addressings`.
    fn surface_access(
        &self,
        instruction: &Instruction<'a>,
        addressings: &[&'static str],
    ) -> Result<(SurfaceAccess, Type), LoadError> {
        let form = form_of(instruction);
        let addressing = form.one_of(addressings);
        let reduces = instruction.mnemonic == "sured";
        if reduces {
            form.one_of(&["add", "min", "max", "and", "or"]);
        }
        let geometries = if reduces {
            REDUCTION_GEOMETRIES
        } else {
            GEOMETRIES
        };
        let geometry = form.one_of(geometries).and_then(Geometry::named);
        form.one_of(CACHE_MODIFIERS);
        let elements = match form.one_of(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        };
        let out_of_bounds = match form.one_of(&["trap", "clamp", "zero"]) {
            Some("trap") => OutOfBounds::Trap,
            Some("clamp") => OutOfBounds::Clamp,
            Some(_) => OutOfBounds::Zero,
            None => return Err(self.unknown(instruction)),
        };
        let (Some(addressing), Some(geometry), Ok(ty)) = (addressing, geometry, form.ty()) else {
            return Err(self.unknown(instruction));
        };
        let is_supported = if reduces {
            matches!(
                ty,
                Type::U32 | Type::S32 | Type::U64 | Type::S64 | Type::B32 | Type::B64
            )
        } else {
            matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64)
        };
        if form.end().is_err() || !is_supported || ty.bytes() * elements > 16 {
            return Err(self.unknown(instruction));
        }
        let access = SurfaceAccess {
            geometry,
            elements,
            bytes: ty.bytes(),
            out_of_bounds,
            by_texels: addressing == "p",
        };
        Ok((access, ty))
    }

    /// Returns the register for a surface element. 8-bit elements use registers of 16 bits, or of 8 as in Dr.Jit's PTX.
    fn element_register(
        &mut self,
        operand: &Operand<'a>,
        ty: Type,
        is_destination: bool,
    ) -> Result<Register, LoadError> {
        let register = self.any_register(operand).ok();
        let is_byte = register.is_some_and(|register| self.info(register).bytes == 1);
        let ty = match ty {
            Type::B8 if !is_byte => Type::B16,
            ty => ty,
        };
        if is_destination {
            self.destination(operand, ty)
        } else {
            self.source(operand, ty)
        }
    }

    fn push_surface(
        &mut self,
        handler: Handler,
        access: SurfaceAccess,
        defs: &[Register],
        uses: &[Register],
    ) {
        // Concurrent writes to one texel are serialized, as in ordinary memory.
        self.push(handler, Class::Global, defs, uses);
        let inst = self.last();
        inst.has_operand_list = true;
        inst.arg0 = access.packed();
    }

    /// Returns the four destination registers, one per channel.
    fn four_destinations(
        &mut self,
        operand: &Operand<'a>,
        ty: Type,
    ) -> Result<Vec<Register>, LoadError> {
        let mut registers = Vec::new();
        for part in self.vector_elements(operand, 4)? {
            registers.push(self.destination(part, ty)?);
        }
        Ok(registers)
    }

    /// Splits `[handle, {x, y}]` into the handle and the coordinates.
    fn handle_and_coordinates(
        &mut self,
        instruction: &Instruction<'a>,
        operand: &Operand<'a>,
        kind: ImageReference,
    ) -> Result<(Register, Vec<Operand<'a>>), LoadError> {
        match operand {
            Operand::TextureCoordinates { image, coordinates } => {
                Ok((self.handle(Some(image), kind)?, coordinates.clone()))
            }
            _ => Err(self.wrong_image_operands(instruction)),
        }
    }

    /// Returns the register that holds a texture or surface handle: that of an object, or the constant handle of a
    /// reference of this kind.
    fn handle(
        &mut self,
        name: Option<&'a str>,
        kind: ImageReference,
    ) -> Result<Register, LoadError> {
        let Some(name) = name else {
            return Err(self.no_handle());
        };
        if let Some(register) = self.find_register(name)? {
            return match self.info(register).row {
                RegisterClass::Wide => Ok(register),
                _ => Err(self.no_handle()),
            };
        }
        match (self.lookup(name), self.module.layout.symbols.get(name)) {
            (None, Some(&Symbol::Reference(actual, handle))) if actual == kind => {
                Ok(self.literal(Type::U64, handle))
            }
            (None, Some(Symbol::Reference(actual, _))) => Err(self.error(format!(
                "`{name}` is a .{}, but the instruction requires a .{}",
                actual.directive(),
                kind.directive()
            ))),
            _ => Err(self.no_handle()),
        }
    }

    fn no_handle(&self) -> LoadError {
        self.error(
            "a texture or surface is named by a .texref or .surfref of the module, or by the 64-bit handle of \
             an object, in a register",
        )
    }

    /// Returns the registers of the coordinates of a geometry, followed by that of the layer, which PTX
    /// writes first. PTX pads three coordinates to four; the fourth is ignored.
    fn coordinates(
        &mut self,
        coordinates: &[Operand<'a>],
        geometry: Geometry,
        ty: Type,
    ) -> Result<Vec<Register>, LoadError> {
        let count = geometry.operands();
        let expected = if count == 3 { 4 } else { count };
        // PTX 1.x pads the coordinates of all geometries to four.
        if ![expected, 4].contains(&coordinates.len()) {
            return Err(self.error(format!(
                "expected {expected} coordinates, found {}",
                coordinates.len()
            )));
        }
        let (layer, position) = coordinates[..count].split_at(usize::from(geometry.layered));
        let mut registers = Vec::new();
        for operand in position {
            registers.push(self.source(operand, ty)?);
        }
        for operand in layer {
            registers.push(self.source(operand, Type::U32)?);
        }
        Ok(registers)
    }

    fn wrong_image_operands(&self, instruction: &Instruction) -> LoadError {
        self.error(format!(
            "`{}` takes registers, and a handle with coordinates, as in `[%rd1, {{%f1, %f2}}]`",
            display_name(instruction)
        ))
    }
}
