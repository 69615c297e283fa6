//! The instructions of a program that are counted one by one.

use super::code::{Handler, Inst};
use super::flow::{Access, Memory};
use super::wide::Role;
use crate::exec::cpu::Cpu;
use crate::exec::observe;

/// Instructions that are counted, and the code in which they are.
#[derive(Default)]
pub struct Sites {
    list: Vec<Site>,
    /// Which of the list an instruction of the code is; [`NONE`] where it is none.
    at: Vec<u32>,
    slots: usize,
}

/// No site.
const NONE: u32 = u32::MAX;

/// Slots of a generic access: global, shared, local and constant memory.
const GENERIC_SLOTS: u32 = 4;
/// Slots of an asynchronous copy: global memory, where it reads, and shared memory.
const COPY_SLOTS: u32 = 2;

/// A counted instruction.
#[derive(Clone, Copy)]
pub struct Site {
    pub kind: SiteKind,
    /// What runs it.
    pub run: Handler,
    /// What runs it for a gang, if it does not run warp by warp.
    pub together: Option<Handler>,
    /// Its place in the code.
    pub address: u32,
    /// The basic block it is in.
    pub block: u32,
    /// Other accesses come along with it: it moves more than the instruction does.
    pub leads: bool,
    /// Added to the address in the register.
    pub offset: u64,
    /// The first of its counts: one, or one a memory that a generic access may reach.
    pub slot: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKind {
    Access(Access),
    Branch,
    Barrier,
}

impl SiteKind {
    /// How many counts it takes.
    pub fn slots(self) -> u32 {
        match self {
            SiteKind::Access(access) if access.memory == Memory::Generic => GENERIC_SLOTS,
            SiteKind::Access(access) if access.kind.is_copy() => COPY_SLOTS,
            _ => 1,
        }
    }
}

impl Site {
    /// The memories that its slots count, slot by slot.
    pub fn memories(&self) -> &'static [Memory] {
        use Memory::*;
        match self.kind {
            SiteKind::Access(access) if access.kind.is_copy() => &[Global, Shared],
            SiteKind::Access(access) => match access.memory {
                Global => &[Global],
                Constant => &[Constant],
                Shared => &[Shared],
                Local => &[Local],
                Generic => &[Global, Shared, Local, Constant],
            },
            SiteKind::Branch | SiteKind::Barrier => &[],
        }
    }
}

impl Sites {
    /// Adds the instruction that the code's next one will be; none of its own where `kind` is none,
    /// and where it is a load that comes along with another.
    pub fn push(
        &mut self,
        inst: &Inst,
        block: usize,
        kind: Option<SiteKind>,
        role: Role,
        together: Option<Handler>,
    ) {
        let address = self.at.len() as u32;
        let (kind, offset) = match (kind, role) {
            (None, _) | (_, Role::Rides) => {
                self.at.push(NONE);
                return;
            }
            (Some(SiteKind::Access(access)), Role::Leads { offset, bytes }) => {
                (SiteKind::Access(Access { bytes, ..access }), offset)
            }
            (Some(kind), _) => (kind, inst.imm),
        };
        self.at.push(self.list.len() as u32);
        self.list.push(Site {
            kind,
            run: inst.run,
            together,
            leads: matches!(role, Role::Leads { .. }),
            address,
            block: block as u32,
            offset,
            slot: self.slots as u32,
        });
        self.slots += kind.slots() as usize;
    }

    /// All of them, in the order of the code.
    pub fn iter(&self) -> impl Iterator<Item = &Site> {
        self.list.iter()
    }

    /// How many counts they take.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The access that slot number `slot` counts, and which of its memories.
    pub fn access(&self, slot: usize) -> Option<(&Site, Access, Memory)> {
        let place = |site: &Site| site.slot as usize;
        let after = self.list.partition_point(|site| place(site) <= slot);
        let site = &self.list[after.checked_sub(1)?];
        let SiteKind::Access(access) = site.kind else {
            return None;
        };
        let memory = *site.memories().get(slot - place(site))?;
        Some((site, access, memory))
    }

    /// The site at a place in the code, which is one.
    #[inline(always)]
    pub fn at(&self, address: u32) -> &Site {
        &self.list[self.at[address as usize] as usize]
    }

    /// The code of gangs with every site counted before it runs, unless that runs warp by warp.
    pub fn observed_together(&self, together: &[Inst], cpu: Cpu) -> Vec<Inst> {
        let mut observed = together.to_vec();
        for site in self.list.iter().filter(|site| site.together.is_some()) {
            if let Some(handler) = observe::gangs_handler(site.kind, cpu) {
                observed[site.address as usize].run = handler;
            }
        }
        observed
    }

    /// `code` with every site counted before it runs.
    pub fn observed(&self, code: &[Inst], cpu: Cpu) -> Vec<Inst> {
        let mut observed = code.to_vec();
        for site in &self.list {
            observed[site.address as usize].run = observe::handler(site.kind, cpu);
        }
        observed
    }
}
