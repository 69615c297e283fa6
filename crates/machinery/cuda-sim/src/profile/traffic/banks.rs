//! The data stage's banks: how many turns lanes need there.

use super::distinct::DistinctKeys;
use super::pattern::AddressPattern;
use super::{BANKS, WORD};
use crate::lanes::{FULL, LANES, active};

/// The bank that has the word at an address of shared memory.
#[inline]
pub fn bank(address: u64) -> usize {
    (address / WORD % BANKS as u64) as usize
}

/// How many lanes one wavefront serves where no two of them are in each other's way, each moving so
/// many bytes.
#[inline]
pub(super) fn lanes_at_once(bytes: u64) -> usize {
    LANES / (bytes / WORD).max(1) as usize
}

/// Cuts a mask into parts of `lanes` neighbouring lanes each. Parts that have no lane are left out.
#[inline]
pub(super) fn split(mask: u32, lanes: usize) -> impl Iterator<Item = u32> {
    let part = FULL >> (LANES - lanes.min(LANES));
    (0..LANES)
        .step_by(lanes)
        .map(move |first| mask & part << first)
        .filter(|&lanes| lanes != 0)
}

/// The wavefronts of an access that serves so many lanes at a time as [`lanes_at_once`] says, one
/// part after the other.
#[inline(always)]
pub(super) fn phases(
    pattern: AddressPattern,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
) -> u32 {
    let parts = split(mask, lanes_at_once(bytes));
    match pattern {
        AddressPattern::None | AddressPattern::Same(_) | AddressPattern::Consecutive(_) => {
            parts.count() as u32
        }
        AddressPattern::Scattered => parts.map(|lanes| turns(addresses, lanes, bytes)).sum(),
    }
}

/// Whether lanes whose numbers differ in the bit `apart` alone have the same address.
#[inline(always)]
pub(super) fn alike(addresses: &[u64; LANES], mask: u32, apart: usize) -> bool {
    let mut differ = 0;
    for lane in 0..LANES {
        let both = mask >> lane & mask >> (lane ^ apart) & 1;
        differ |= (addresses[lane] ^ addresses[lane ^ apart]) & u64::from(both).wrapping_neg();
    }
    differ == 0
}

/// The most distinct words (or units of 8 or 16 bytes) that any one bank (or group of banks) has
/// to give to these lanes.
#[inline(always)]
pub(super) fn turns(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.max(WORD).trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let (mut first, mut taken, mut clash) = ([0; LANES], 0u32, false);
    for lane in active(mask) {
        let unit = addresses[lane] >> shift;
        let bank = (unit & (banks - 1)) as usize;
        clash |= taken >> bank & 1 == 1 && first[bank] != unit;
        first[bank] = unit;
        taken |= 1 << bank;
    }
    if !clash {
        return u32::from(taken != 0);
    }
    let mut seen = DistinctKeys::default();
    let (mut units, mut asked, mut most) = ([0; LANES], [0u8; LANES], 0);
    for lane in active(mask) {
        let unit = addresses[lane] >> shift;
        let (place, new) = seen.place(unit, |place| units[place]);
        if new {
            units[place] = unit;
            let bank = &mut asked[(unit & (banks - 1)) as usize];
            *bank += 1;
            most = most.max(*bank);
        }
    }
    most.into()
}

/// How many lanes the busiest bank has to serve; a lane counts for each of its words. Lanes of 8 bytes go
/// half a warp at a time.
pub(super) fn atomic_turns(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let of = |lanes: u32| {
        let mut asked = [0; BANKS];
        for lane in active(lanes) {
            for word in 0..(bytes / WORD).max(1) {
                asked[bank(addresses[lane] + word * WORD)] += 1;
            }
        }
        asked.into_iter().max().unwrap_or(0)
    };
    split(mask, lanes_at_once(bytes)).map(of).sum()
}

/// Of lanes that each try to change what is at their address, those that a bank serves at the first try: the
/// first of those that go to it. Lanes of 8 bytes go half a warp at a time.
pub fn first_at_banks(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.max(WORD).trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let mut first = 0;
    for lanes in split(mask, lanes_at_once(bytes)) {
        let mut taken = 0_u32;
        for lane in active(lanes) {
            let bank = 1 << ((addresses[lane] >> shift) & (banks - 1));
            if taken & bank == 0 {
                first |= 1 << lane;
            }
            taken |= bank;
        }
    }
    first
}

/// How many of these lanes go to the busiest bank, or to the busiest group of banks where a lane
/// takes more than a word.
pub(super) fn lanes_a_bank(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let mut asked = [0; LANES];
    for lane in active(mask) {
        asked[((addresses[lane] >> shift) & (banks - 1)) as usize] += 1;
    }
    asked.into_iter().max().unwrap_or(0)
}
