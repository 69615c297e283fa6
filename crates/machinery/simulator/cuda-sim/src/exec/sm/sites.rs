//! The counted instructions of a program and their handlers.

use super::Handler;
use crate::isa::listing::Site;

/// A counted instruction and its handlers.
#[derive(Clone, Copy)]
pub struct CountedSite {
    pub site: Site,
    pub run: Handler,
    /// Handler for a gang; `None` if a gang runs the instruction warp by warp.
    pub gang: Option<Handler>,
}

/// The counted instructions of a program, indexed by address.
#[derive(Default)]
pub struct CountedSites {
    list: Vec<CountedSite>,
    /// For each instruction of the code, its index in `list`, or [`NO_SITE`].
    at: Vec<u32>,
}

/// Marks an instruction that is not counted.
const NO_SITE: u32 = u32::MAX;

impl CountedSites {
    /// Appends an instruction that is not counted.
    pub fn push_none(&mut self) {
        self.at.push(NO_SITE);
    }

    /// Appends a counted instruction and its handlers.
    pub fn push(&mut self, site: Site, run: Handler, gang: Option<Handler>) {
        self.at.push(self.list.len() as u32);
        self.list.push(CountedSite { site, run, gang });
    }

    /// Iterates over the counted instructions in code order.
    pub fn iter(&self) -> impl Iterator<Item = &CountedSite> {
        self.list.iter()
    }

    /// Returns the counted instruction at an address. Panics if the instruction is not counted.
    #[inline(always)]
    pub fn at(&self, address: u32) -> &CountedSite {
        &self.list[self.at[address as usize] as usize]
    }
}
