//! Loads from constant memory: one request per distinct address.

use super::distinct::DistinctKeys;
use super::pattern::AddressPattern;
use crate::lanes::{LANES, active};

/// Writes the distinct addresses of a load from constant memory to `into`, in the order of the first lane
/// that has each. Each address is one request. Returns their number; the remaining elements of `into` are
/// unchanged.
pub fn constant(addresses: &[u64; LANES], mask: u32, bytes: u64, into: &mut [u64; LANES]) -> usize {
    match AddressPattern::of(addresses, mask, bytes) {
        AddressPattern::None => 0,
        AddressPattern::Uniform(address) => {
            into[0] = address;
            1
        }
        AddressPattern::Contiguous(_) => {
            *into = *addresses;
            LANES
        }
        AddressPattern::Scattered => {
            let mut keys = DistinctKeys::default();
            for lane in active(mask) {
                let (index, is_new) = keys.insert(addresses[lane], |index| into[index]);
                if is_new {
                    into[index] = addresses[lane];
                }
            }
            keys.count
        }
    }
}
