//! The instructions of a program that are counted one by one.

use super::{Access, AccessClass, AccessKind, Memory};

/// The instructions that are counted, in the order of the code.
#[derive(Default)]
pub struct Sites {
    list: Vec<Site>,
    slots: usize,
}

/// A counted instruction.
#[derive(Clone, Copy)]
pub struct Site {
    pub kind: SiteKind,
    /// Its place in the code.
    pub address: u32,
    /// The basic block it is in.
    pub block: u32,
    /// Other accesses come along with it: it moves more than the instruction does.
    pub leads: bool,
    /// It is a branch in machine code, too: not one whose sides stand under predicates there, nor the end
    /// of some lanes' threads.
    pub branches: bool,
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
            SiteKind::Access(access) => access.memories().len() as u32,
            SiteKind::Branch | SiteKind::Barrier => 1,
        }
    }
}

impl Site {
    /// The memories that its slots count, slot by slot.
    pub fn memories(&self) -> &'static [Memory] {
        match self.kind {
            SiteKind::Access(access) => access.memories(),
            SiteKind::Branch | SiteKind::Barrier => &[],
        }
    }

    /// The classes of its accesses, each with the slot that counts them.
    pub fn classes(self) -> impl Iterator<Item = (AccessClass, u32)> {
        let slots = self.memories().iter().zip(self.slot..);
        slots.filter_map(move |(&memory, slot)| {
            let SiteKind::Access(access) = self.kind else {
                return None;
            };
            let kind = self.counted_as(access, slot);
            Some((AccessClass::of(kind, memory)?, slot))
        })
    }

    /// What one of its slots counts: behind some atomics the loads that they begin with.
    fn counted_as(self, access: Access, slot: u32) -> AccessKind {
        match access.loads_first() && slot > self.slot {
            true => AccessKind::Load,
            false => access.kind,
        }
    }
}

impl Sites {
    /// Adds an instruction that is counted; `site` has the first of its counts already.
    pub fn push(&mut self, site: Site) {
        self.slots += site.kind.slots() as usize;
        self.list.push(site);
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
        let kind = site.counted_as(access, slot as u32);
        Some((site, Access { kind, ..access }, memory))
    }
}
