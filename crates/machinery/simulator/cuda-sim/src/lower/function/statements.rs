//! Lowering of the statements of a function body.

use super::FunctionLowering;
use super::calls::{Signature, local_memory_error};
use super::names::{Located, Scope};
use super::operands::display_name;
use crate::exec::control;
use crate::isa::Class;
use crate::isa::operation::Operation;
use crate::lower::error::{LoadError, NotInPtx};
use crate::lower::function::instructions::{self, Entry, GuardKind, Lowering};
use crate::lower::ir::Register;
use crate::lower::layout::bytes_of;
use crate::lower::limits;
use crate::ptx::ast;
use crate::ptx::ast::{Instruction, Operand, StateSpace, Statement};
use std::collections::{HashMap, HashSet};

/// Returns the labels that the statements branch to.
pub fn targets<'s, 'a: 's>(
    statements: impl Iterator<Item = &'s Statement<'a>>,
) -> HashSet<&'a str> {
    let mut target_labels = HashSet::new();
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
                target_labels.extend(names);
            }
            Statement::BranchTargets { labels, .. } => target_labels.extend(labels),
            Statement::Block(inner) => target_labels.extend(targets(inner.iter())),
            _ => {}
        }
    }
    target_labels
}

/// Returns true if any of the instructions has this mnemonic.
pub fn contains_mnemonic(statements: &[Statement], mnemonic: &str) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Instruction(instruction) => instruction.mnemonic == mnemonic,
        Statement::Block(inner) => contains_mnemonic(inner, mnemonic),
        _ => false,
    })
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers the statements of the innermost scope. Its labels are visible from its first statement on, because
    /// branches may jump forward.
    pub fn statements(&mut self, statements: &[Statement<'a>]) -> Result<(), LoadError> {
        let mut labels = HashMap::new();
        for statement in statements {
            if let Statement::Label(name) = statement
                && self.blocks.targets.contains(name)
            {
                labels.entry(*name).or_insert_with(|| self.new_block());
            }
        }
        if let Some(scope) = self.names.scopes.last_mut() {
            scope.labels = labels;
        }
        for statement in statements {
            self.statement(statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement<'a>) -> Result<(), LoadError> {
        match statement {
            Statement::Label(name) => {
                let Some(scope) = self.names.scopes.last_mut() else {
                    return Ok(());
                };
                let block = scope.labels.get(name).copied();
                if !scope.defined_labels.insert(name) {
                    return Err(self.error(format!("label `{name}` is defined twice")));
                }
                if let Some(block) = block {
                    self.start_block(block);
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
                self.position.line = instruction.line;
                self.position.location = instruction.location;
                self.position.starts_ptx_inst = true;
                self.instruction(instruction)?;
            }
            Statement::Block(inner) => {
                self.names.scopes.push(Scope::default());
                self.statements(inner)?;
                self.names.scopes.pop();
            }
            Statement::BranchTargets { name, labels } => {
                self.blocks.branch_tables.insert(name, labels.clone());
            }
            Statement::CallTargets { .. } => {}
            Statement::CallPrototype {
                name,
                returns,
                params,
            } => {
                self.calls
                    .prototypes
                    .insert(name, Signature::of(returns, params)?);
            }
        }
        Ok(())
    }

    /// Allocates `.local` variables and `.param` variables of calls; looks up `.shared` and `.global` ones,
    /// which the layout has placed.
    fn local_variable(&mut self, variable: &ast::Variable<'a>) -> Result<(), LoadError> {
        match variable.space {
            StateSpace::Local | StateSpace::Param => {
                let bytes = bytes_of(variable)?;
                let offset = u64::from(self.stack.local_bytes)
                    .next_multiple_of(u64::from(variable.align.max(1)));
                let end = offset + bytes;
                if end > limits::LOCAL_BYTES {
                    return Err(local_memory_error(variable));
                }
                self.stack.local_bytes = end as u32;
                if variable.space == StateSpace::Local {
                    self.stack.variables_end = end as u32;
                }
                self.declare_variable(variable, Located::Local(offset as u32))
            }
            StateSpace::Shared => {
                let key = (self.function.name.to_owned(), variable.name.to_owned());
                let offset = self
                    .module
                    .layout
                    .function_shared
                    .get(&key)
                    .copied()
                    .unwrap_or(0);
                self.declare_variable(variable, Located::Shared(offset))
            }
            StateSpace::Global => {
                let key = (self.function.name.to_owned(), variable.name.to_owned());
                let address = self
                    .module
                    .layout
                    .function_global
                    .get(&key)
                    .copied()
                    .unwrap_or(0);
                self.declare_variable(variable, Located::Global(address))
            }
            space => Err(self.error(format!(
                "a {space:?} variable cannot be declared in a function"
            ))),
        }
    }

    /// Returns the instruction with each vector register replaced by the list of its elements.
    fn expand_vectors(
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
                let indices = 0..registers.len();
                *operand = Operand::Vector(
                    indices
                        .map(|index| Operand::Element { vector, index })
                        .collect(),
                );
            }
        }
        Ok(instruction)
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let expanded;
        let instruction = if self.names.has_vectors {
            expanded = self.expand_vectors(instruction)?;
            &expanded
        } else {
            instruction
        };
        let Some(entry) = instructions::find(instruction.mnemonic, &instruction.modifiers) else {
            return Err(self.not_in_ptx(instruction));
        };
        match (entry.guarded, instruction.guard) {
            (GuardKind::Condition, _) | (_, None) => {
                self.lower_unguarded(entry, instruction)?;
                if entry.ends_block {
                    self.start_new_block();
                }
            }
            (GuardKind::BranchAround, Some(guard)) => {
                let predicate = self.predicate(guard.register)?;
                let skip = self.new_block();
                self.branch(predicate, !guard.negated, skip);
                self.lower_unguarded(entry, instruction)?;
                self.start_block(skip);
            }
            (GuardKind::Predicate, Some(guard)) => {
                let predicate = self.predicate(guard.register)?;
                let before = self.insts.len();
                self.lower_unguarded(entry, instruction)?;
                self.guard_insts(before, predicate, guard.negated);
            }
        }
        Ok(())
    }

    /// Guards the IR instructions from index `first` on that have an effect outside of this PTX instruction.
    fn guard_insts(&mut self, first: usize, predicate: Register, negated: bool) {
        // Lowering may have prepended instructions that prepare operands; they need no guard. The last IR
        // instruction is the operation itself or a move of its result into the declared register.
        for mut inst in self.insts.split_off(first) {
            // A load or atomic may write only a temporary, whose value is then widened or dropped.
            let has_effect = !matches!(inst.class, Class::Integer | Class::Move)
                || inst.defs.is_empty()
                || inst.defs.iter().any(|&def| self.info(def).declared);
            if has_effect {
                self.push(control::guard, Class::Control, &[], &[predicate]);
                self.last().arg0 = u32::from(negated);
                self.last().operation = Some(Operation::Guard { unless: negated });
                inst.predicated = true;
            }
            self.insts.push(inst);
        }
    }

    /// Lowers an instruction without regard to its guard.
    fn lower_unguarded(
        &mut self,
        entry: &Entry,
        instruction: &Instruction<'a>,
    ) -> Result<(), LoadError> {
        let result = match entry.lowering {
            Lowering::Registers(_) if entry.takes_addresses && self.moves_address(instruction) => {
                self.move_address(instruction)
            }
            Lowering::Registers(select) => self.operation(entry, select, instruction),
            Lowering::Lowered(lower) => lower(self, instruction),
            Lowering::NotSimulated => Err(self.unknown(instruction)),
        };
        // Report an instruction that is not simulated as such before checking the target.
        if let Err(LoadError::UnknownInstruction { .. }) = result {
            return result;
        }
        self.check_requirements(entry, instruction)?;
        result
    }

    /// Returns the error for an instruction that PTX does not have, or not in this form.
    fn not_in_ptx(&mut self, instruction: &Instruction<'a>) -> LoadError {
        let mut error = self.unknown(instruction);
        if let LoadError::UnknownInstruction { not_in_ptx, .. } = &mut error
            && !instructions::is_mnemonic(instruction.mnemonic)
        {
            let names = instruction
                .operands
                .iter()
                .filter_map(|operand| match operand {
                    Operand::Name { name, .. } if name.starts_with('%') => Some(*name),
                    _ => None,
                });
            let names: Vec<_> = names.collect();
            let undeclared = names
                .into_iter()
                .filter(|name| !matches!(self.find_register(name), Ok(Some(_))));
            *not_in_ptx = Some(NotInPtx {
                mnemonic: instruction.mnemonic.to_owned(),
                undeclared: undeclared.map(str::to_owned).collect(),
            });
        }
        error
    }

    /// Fails if the module's target or PTX version lacks the instruction, for entries that request this check.
    fn check_requirements(
        &self,
        entry: &Entry,
        instruction: &Instruction,
    ) -> Result<(), LoadError> {
        if !entry.refuses_older {
            return Ok(());
        }
        let requirements = entry.requirements_of(&instruction.modifiers);
        let display_name = display_name(instruction);
        let target = self.module.ast.target;
        if let Some((required, or_newer)) = entry.missing_target(&instruction.modifiers, target) {
            let or_newer = if or_newer { " or newer" } else { "" };
            return Err(self.error(format!(
                "`{display_name}` requires `.target {required}`{or_newer}, but the module's target is {}",
                target.name
            )));
        }
        if self.module.ast.version < requirements.version {
            let ((major, minor), version) = (requirements.version, self.module.ast.version);
            return Err(self.error(format!(
                "`{display_name}` requires `.version {major}.{minor}` or newer, but the module's version is {}.{}",
                version.0, version.1
            )));
        }
        Ok(())
    }
}
