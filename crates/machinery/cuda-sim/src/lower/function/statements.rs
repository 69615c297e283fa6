//! Lowering of the statements of a function body.

use super::Lowering;
use super::names::{Named, Scope};
use super::operands::written;
use super::signature::{Signature, too_much_local};
use crate::exec::control;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::lower::function::instructions::{self, Entry, Guarded, How};
use crate::lower::layout::bytes_of;
use crate::lower::limits;
use crate::lower::register::Register;
use crate::ptx::ast;
use crate::ptx::ast::{Instruction, Operand, StateSpace, Statement};
use std::collections::HashSet;

/// Returns the labels that the statements branch to.
pub fn targets<'s, 'a: 's>(
    statements: impl Iterator<Item = &'s Statement<'a>>,
) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) if instruction.mnemonic == "bra" => {
                let names = instruction
                    .operands
                    .iter()
                    .filter_map(|operand| match operand {
                        Operand::Name { name, .. } => Some(*name),
                        _ => None,
                    });
                found.extend(names);
            }
            Statement::BranchTargets { labels, .. } => found.extend(labels),
            Statement::Block(inner) => found.extend(targets(inner.iter())),
            _ => {}
        }
    }
    found
}

/// Returns true if any of the instructions has this mnemonic.
pub fn have(statements: &[Statement], mnemonic: &str) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Instruction(instruction) => instruction.mnemonic == mnemonic,
        Statement::Block(inner) => have(inner, mnemonic),
        _ => false,
    })
}

impl<'a> Lowering<'_, 'a> {
    pub fn statement(&mut self, statement: &Statement<'a>) -> Result<(), LoadError> {
        match statement {
            Statement::Label(name) => {
                if !self.defined.insert(name) {
                    return Err(self.error(format!("label `{name}` is defined twice")));
                }
                if self.targets.contains(name) {
                    let block = self.label(name);
                    self.begin_block(block);
                }
            }
            &Statement::Register {
                name,
                count,
                ty,
                vector,
            } => self.declare_register(name, count, ty, vector)?,
            Statement::Variable(variable) => self.local_variable(variable)?,
            Statement::Instruction(instruction) => {
                self.line = instruction.line;
                self.location = instruction.location;
                self.begins = true;
                self.instruction(instruction)?;
            }
            Statement::Block(inner) => {
                self.scopes.push(Scope::default());
                for statement in inner {
                    self.statement(statement)?;
                }
                self.scopes.pop();
            }
            Statement::BranchTargets { name, labels } => {
                self.tables.insert(name, labels.clone());
            }
            Statement::CallTargets { .. } => {}
            Statement::CallPrototype {
                name,
                returns,
                params,
            } => {
                self.prototypes
                    .insert(name, Signature::of(returns, params)?);
            }
        }
        Ok(())
    }

    /// Allocates `.local` variables and `.param` variables of calls; looks up `.shared` and `.global` ones,
    /// which the
    /// layout has placed.
    fn local_variable(&mut self, variable: &ast::Variable<'a>) -> Result<(), LoadError> {
        match variable.space {
            StateSpace::Local | StateSpace::Param => {
                let bytes = bytes_of(variable)?;
                let offset =
                    u64::from(self.local_bytes).next_multiple_of(u64::from(variable.align.max(1)));
                let end = offset + bytes;
                if end > limits::LOCAL_BYTES {
                    return Err(too_much_local(variable));
                }
                self.local_bytes = end as u32;
                self.declare(variable.name, Named::Local(offset as u32))
            }
            StateSpace::Shared => {
                let key = (self.function.name.to_owned(), variable.name.to_owned());
                let offset = self.layout.function_shared.get(&key).copied().unwrap_or(0);
                self.declare(variable.name, Named::Shared(offset))
            }
            StateSpace::Global => {
                let key = (self.function.name.to_owned(), variable.name.to_owned());
                let address = self.layout.function_global.get(&key).copied().unwrap_or(0);
                self.declare(variable.name, Named::Global(address))
            }
            space => Err(self.error(format!(
                "a {space:?} variable can not be declared in a function"
            ))),
        }
    }

    /// Returns the instruction with each vector register replaced by the list of its elements.
    fn with_vectors(
        &mut self,
        instruction: &Instruction<'a>,
    ) -> Result<Instruction<'a>, LoadError> {
        let mut instruction = instruction.clone();
        for operand in &mut instruction.operands {
            let Operand::Name {
                name: vector,
                offset: 0,
            } = *operand
            else {
                continue;
            };
            if let Some(registers) = self.find_vector(vector)? {
                let places = 0..registers.len();
                *operand = Operand::Vector(
                    places
                        .map(|place| Operand::Element { vector, place })
                        .collect(),
                );
            }
        }
        Ok(instruction)
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let spread;
        let instruction = match self.has_vectors {
            true => {
                spread = self.with_vectors(instruction)?;
                &spread
            }
            false => instruction,
        };
        let entry = instructions::find(instruction.mnemonic, &instruction.modifiers)
            .ok_or_else(|| self.unknown(instruction))?;
        match (entry.guarded, instruction.guard) {
            (Guarded::Itself, _) | (_, None) => {
                self.plain(entry, instruction)?;
                if entry.ends_block {
                    self.begin_block_here();
                }
            }
            (Guarded::Around, Some(guard)) => {
                let predicate = self.predicate(guard.register)?;
                let skip = self.new_block();
                self.branch(predicate, !guard.negated, skip);
                self.plain(entry, instruction)?;
                self.begin_block(skip);
            }
            (Guarded::Lanes, Some(guard)) => {
                let predicate = self.predicate(guard.register)?;
                let before = self.drafts.len();
                self.plain(entry, instruction)?;
                self.guard_drafts(before, predicate, guard.negated);
            }
        }
        Ok(())
    }

    /// Guards the IR instructions from index `first` on that have an effect outside of this PTX instruction.
    fn guard_drafts(&mut self, first: usize, predicate: Register, negated: bool) {
        // Lowering may have prepended instructions that prepare operands; they need no guard. The last IR
        // instruction is the
        // operation itself or a move of its result into the declared register.
        let own = self.drafts.split_off(first);
        for mut draft in own {
            // A load or atomic may write only a temporary, whose value is then widened or dropped.
            let shows = !matches!(draft.class, Class::Integer | Class::Move)
                || draft.defs.is_empty()
                || draft.defs.iter().any(|&def| self.info(def).declared);
            if shows {
                self.draft(control::guard, Class::Control, &[], &[predicate]);
                self.last().x = u32::from(negated);
                draft.partial = true;
            }
            self.drafts.push(draft);
        }
    }

    /// Lowers an instruction without regard to its guard.
    fn plain(&mut self, entry: &Entry, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let done = match entry.how {
            How::Registers(_) if entry.takes_addresses && self.moves_address(instruction) => {
                self.move_address(instruction)
            }
            How::Registers(select) => self.operation(entry, select, instruction),
            How::Lowered(lower) => lower(self, instruction),
            How::NotSimulated => Err(self.unknown(instruction)),
        };
        // Report an instruction that is not simulated as such before checking the target.
        if let Err(LoadError::UnknownInstruction { .. }) = done {
            return done;
        }
        self.check_needs(entry, instruction)?;
        done
    }

    /// Fails if the module's target or PTX version lacks the instruction, for entries that request this check.
    fn check_needs(&self, entry: &Entry, instruction: &Instruction) -> Result<(), LoadError> {
        if !entry.refuses_older {
            return Ok(());
        }
        let needs = entry.needs_of(&instruction.modifiers);
        let written = written(instruction);
        let own = self.target;
        if let Some(only) = entry.only
            && own.name != only
        {
            return Err(self.error(format!(
                "`{written}` needs `.target {only}`, and no other, and the module's is {}",
                own.name
            )));
        }
        if own.sm < needs.sm {
            let (sm, own) = (needs.sm, own.sm);
            return Err(self.error(format!(
                "`{written}` needs `.target sm_{sm}` or newer, and the module's is sm_{own}"
            )));
        }
        if self.version < needs.version {
            let ((major, minor), own) = (needs.version, self.version);
            return Err(self.error(format!(
                "`{written}` needs `.version {major}.{minor}` or newer, and the module's is {}.{}",
                own.0, own.1
            )));
        }
        Ok(())
    }
}
