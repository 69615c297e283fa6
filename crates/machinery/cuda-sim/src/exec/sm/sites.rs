//! The instructions of a program that are counted, and what runs them.

use super::Handler;
use crate::isa::sites::Site;

/// A counted instruction, and what runs it.
#[derive(Clone, Copy)]
pub struct CountedSite {
    pub site: Site,
    pub run: Handler,
    /// What runs it for a gang, if it does not run warp by warp.
    pub gang: Option<Handler>,
}

/// The counted instructions of a program, by their addresses.
#[derive(Default)]
pub struct CountedSites {
    list: Vec<CountedSite>,
    /// Which of the list an instruction of the code is; [`NO_SITE`] where it is none.
    at: Vec<u32>,
}

/// An instruction that is not counted.
const NO_SITE: u32 = u32::MAX;

impl CountedSites {
    /// Adds the code's next instruction, which is not counted.
    pub fn push_none(&mut self) {
        self.at.push(NO_SITE);
    }

    /// Adds the code's next instruction, with what runs it.
    pub fn push(&mut self, site: Site, run: Handler, gang: Option<Handler>) {
        self.at.push(self.list.len() as u32);
        self.list.push(CountedSite { site, run, gang });
    }

    /// All of them, in the order of the code.
    pub fn iter(&self) -> impl Iterator<Item = &CountedSite> {
        self.list.iter()
    }

    /// The one at an address, where there is one.
    #[inline(always)]
    pub fn at(&self, address: u32) -> &CountedSite {
        &self.list[self.at[address as usize] as usize]
    }
}
