//! Loads from constant memory: a request for each address.

use super::distinct::DistinctKeys;
use super::pattern::AddressPattern;
use crate::lanes::{LANES, active};

/// The distinct addresses of a load from constant memory, in the order of the lanes that have them
/// first: each is one request. Returns how many there are; the rest of `into` is left as it was.
pub fn constant(addresses: &[u64; LANES], mask: u32, bytes: u64, into: &mut [u64; LANES]) -> usize {
    match AddressPattern::of(addresses, mask, bytes) {
        AddressPattern::None => 0,
        AddressPattern::Same(address) => {
            into[0] = address;
            1
        }
        AddressPattern::Consecutive(_) => {
            *into = *addresses;
            LANES
        }
        AddressPattern::Scattered => {
            let mut seen = DistinctKeys::default();
            for lane in active(mask) {
                let (place, new) = seen.place(addresses[lane], |place| into[place]);
                if new {
                    into[place] = addresses[lane];
                }
            }
            seen.count
        }
    }
}
