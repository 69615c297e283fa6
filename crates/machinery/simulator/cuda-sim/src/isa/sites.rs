//! Profiler sites: the instructions of a program that have their own counters.

use super::{Access, AccessClass, AccessKind, Memory};

/// The sites of a program, in code order.
#[derive(Default)]
pub struct Sites {
    list: Vec<Site>,
    slot_count: usize,
}

/// An instruction with its own counters.
#[derive(Clone, Copy)]
pub struct Site {
    pub kind: SiteKind,
    /// The address of the instruction.
    pub address: u32,
    /// The number of the basic block that contains it.
    pub block: u32,
    /// True if the access stands for a merged group and so transfers more bytes than the PTX instruction.
    pub is_merged: bool,
    /// True for a branch that remains a branch in machine code: its sides are not predicated and neither side
    /// only ends the thread.
    pub is_machine_branch: bool,
    /// The offset added to the address register.
    pub offset: u64,
    /// The first counter slot. A site has one slot, or one per memory that a generic access may reach.
    pub slot: u32,
}

/// The kind of a profiler site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKind {
    Access(Access),
    Branch,
    Barrier,
}

impl SiteKind {
    /// Returns the number of counter slots of a site.
    pub fn slot_count(self) -> u32 {
        match self {
            SiteKind::Access(access) => access.memories().len() as u32,
            SiteKind::Branch | SiteKind::Barrier => 1,
        }
    }
}

impl Site {
    /// Returns the memory of each slot, in order.
    pub fn memories(&self) -> &'static [Memory] {
        match self.kind {
            SiteKind::Access(access) => access.memories(),
            SiteKind::Branch | SiteKind::Barrier => &[],
        }
    }

    /// Returns the access classes of the site, each with its counter slot.
    pub fn classes(self) -> impl Iterator<Item = (AccessClass, u32)> {
        let slots = self.memories().iter().zip(self.slot..);
        slots.filter_map(move |(&memory, slot)| {
            let SiteKind::Access(access) = self.kind else {
                return None;
            };
            let kind = self.kind_of_slot(access, slot);
            Some((AccessClass::of(kind, memory)?, slot))
        })
    }

    /// Returns the access kind that a slot counts: the second slot of some atomics counts their initial loads.
    fn kind_of_slot(self, access: Access, slot: u32) -> AccessKind {
        match access.starts_with_load() && slot > self.slot {
            true => AccessKind::Load,
            false => access.kind,
        }
    }
}

impl Sites {
    /// Appends a site. `site.slot` must already be assigned.
    pub fn push(&mut self, site: Site) {
        self.slot_count += site.kind.slot_count() as usize;
        self.list.push(site);
    }

    /// Iterates over the sites, in code order.
    pub fn iter(&self) -> impl Iterator<Item = &Site> {
        self.list.iter()
    }

    /// Returns the total number of counter slots.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// Returns the site, the access and the memory that a counter slot belongs to; `None` if the slot does
    /// not count an access.
    pub fn access(&self, slot: usize) -> Option<(&Site, Access, Memory)> {
        let first_slot = |site: &Site| site.slot as usize;
        let after = self.list.partition_point(|site| first_slot(site) <= slot);
        let site = &self.list[after.checked_sub(1)?];
        let SiteKind::Access(access) = site.kind else {
            return None;
        };
        let memory = *site.memories().get(slot - first_slot(site))?;
        let kind = site.kind_of_slot(access, slot as u32);
        Some((site, Access { kind, ..access }, memory))
    }
}
