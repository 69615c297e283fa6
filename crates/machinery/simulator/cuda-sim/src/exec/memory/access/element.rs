//! Elements: the values that loads and stores move between memory and register rows.

use crate::exec::lanewise::Lane;
use crate::lanes::LANES;

/// A value in memory, and the row type it is loaded into. Values of 8 and 16 bits are widened to 32.
pub trait Element: Copy + Default + 'static {
    type Row: Lane + Into<u64>;
    fn widen(self) -> Self::Row;
    fn narrow(row: Self::Row) -> Self;
}

macro_rules! element {
    ($($t:ty => $row:ty),*) => {$(
        impl Element for $t {
            type Row = $row;
            #[inline(always)]
            fn widen(self) -> $row {
                self as $row
            }
            #[inline(always)]
            fn narrow(row: $row) -> $t {
                row as $t
            }
        }
    )*};
}
element!(u8 => u32, i8 => u32, u16 => u32, i16 => u32, u32 => u32, u64 => u64);

/// Writes the elements of `L` lanes from `first` on, lane after lane.
///
/// # Safety
/// `host` must be valid for writes of `L * N` elements.
#[inline(always)]
pub unsafe fn store_lanes<M: Element, const N: usize, const L: usize>(
    host: *mut M,
    rows: [&[M::Row; LANES]; N],
    first: usize,
) {
    let mut values = [[M::default(); N]; L];
    for (lane, values) in values.iter_mut().enumerate() {
        *values = rows.map(|row| M::narrow(row[first + lane]));
    }
    // SAFETY: the caller guarantees room for `L` lanes of `N` elements at `host`.
    unsafe { host.cast::<[[M; N]; L]>().write_unaligned(values) };
}

/// Reads the elements of `L` lanes, stored lane after lane. Returns one row for each of the `N` parts.
///
/// # Safety
/// `host` must be valid for reads of `L * N` elements.
#[inline(always)]
pub unsafe fn load_lanes<M: Element, const N: usize, const L: usize>(
    host: *const M,
) -> [[M::Row; L]; N] {
    // SAFETY: the caller guarantees `L` lanes of `N` elements at `host`.
    let values = unsafe { host.cast::<[[M; N]; L]>().read_unaligned() };
    let mut rows = [[M::Row::default(); L]; N];
    for (part, row) in rows.iter_mut().enumerate() {
        for lane in 0..L {
            row[lane] = values[lane][part].widen();
        }
    }
    rows
}
