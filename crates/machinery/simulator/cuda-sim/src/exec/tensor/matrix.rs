//! `ldmatrix` and `stmatrix`: move 8×8 matrices between shared memory and a warp's registers, in the layout of
//! tensor cores. Source: PTX ISA, sections 9.7.14.5.15 and 9.7.14.5.16.

use super::incomplete_warp_fault;
use crate::exec::memory::access::translate_lane;
use crate::exec::memory::state_space::{SharedSpace, SpaceAccess as _};
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::sync::converge;
use crate::lanes::{FULL, LANES};

/// Bytes per matrix row, and rows per matrix.
const ROW: usize = 16;
const ROWS: usize = 8;

/// Packs the number of matrices and their transposition into `arg0`.
pub fn packed(matrices: usize, transposed: bool) -> u32 {
    matrices as u32 | u32::from(transposed) << 8
}

/// Runs `ldmatrix`. Operands: a destination for each matrix, then the address row, to which `imm` is added.
/// Lanes `8 m` to `8 m + 7` hold the addresses of the rows of matrix `m`. `arg0`: see [`packed`].
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`].
pub unsafe fn load(sm: &mut Sm, inst: &Inst) -> Next {
    if let Some(fault) = incomplete_warp_fault(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    let (matrices, transposed) = (inst.arg0 as usize & 0xff, inst.arg0 >> 8 == 1);
    let next = converge(sm, inst, FULL, |sm| {
        // SAFETY: the operand after the destinations is a 64-bit row.
        let addresses = *unsafe { sm.row::<u64>(inst, matrices) };
        let mut rows = [[0u8; ROW]; LANES];
        for (lane, row) in rows[..matrices * ROWS].iter_mut().enumerate() {
            let address = addresses[lane].wrapping_add(inst.imm);
            let row_bytes = ROW as u64;
            match translate_lane::<SharedSpace>(sm, inst, lane, address, row_bytes, false) {
                // SAFETY: `translate_lane` checked the bytes of a row.
                Some(host) => unsafe { host.copy_to_nonoverlapping(row.as_mut_ptr(), ROW) },
                None => return,
            }
        }
        SharedSpace::count(sm, false, 1, LANES as u64);
        for (n, matrix) in rows.chunks_exact(ROWS).take(matrices).enumerate() {
            let half = |row: usize, column: usize| {
                u32::from(u16::from_ne_bytes([
                    matrix[row][2 * column],
                    matrix[row][2 * column + 1],
                ]))
            };
            let values = std::array::from_fn(|lane| {
                let (group, pair) = (lane / 4, lane % 4 * 2);
                if transposed {
                    half(pair, group) | half(pair + 1, group) << 16
                } else {
                    half(group, pair) | half(group, pair + 1) << 16
                }
            });
            // SAFETY: the destinations are 32-bit rows.
            unsafe { sm.write::<u32>(inst, n, values) };
        }
    });
    if sm.fault.is_some() {
        return std::ptr::null();
    }
    next
}

/// Runs `stmatrix`. Operands: the address row, to which `imm` is added, then a source for each matrix; the
/// address lanes are those of [`load`]. `arg0`: see [`packed`].
///
/// # Safety
/// The requirements of [`load`].
pub unsafe fn store(sm: &mut Sm, inst: &Inst) -> Next {
    if let Some(fault) = incomplete_warp_fault(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    let (matrices, transposed) = (inst.arg0 as usize & 0xff, inst.arg0 >> 8 == 1);
    let next = converge(sm, inst, FULL, |sm| {
        // SAFETY: operand 0 is a 64-bit row.
        let addresses = *unsafe { sm.row::<u64>(inst, 0) };
        for n in 0..matrices {
            // SAFETY: the sources are 32-bit rows.
            let values = *unsafe { sm.row::<u32>(inst, 1 + n) };
            let mut rows = [[0u16; ROW / 2]; ROWS];
            for (lane, word) in values.into_iter().enumerate() {
                let (group, pair) = (lane / 4, lane % 4 * 2);
                for (part, half) in [word as u16, (word >> 16) as u16].into_iter().enumerate() {
                    if transposed {
                        rows[pair + part][group] = half
                    } else {
                        rows[group][pair + part] = half
                    }
                }
            }
            for (row, values) in rows.iter().enumerate() {
                let lane = n * ROWS + row;
                let address = addresses[lane].wrapping_add(inst.imm);
                let row_bytes = ROW as u64;
                match translate_lane::<SharedSpace>(sm, inst, lane, address, row_bytes, true) {
                    // SAFETY: `translate_lane` checked the bytes of a row.
                    Some(host) => unsafe {
                        values
                            .as_ptr()
                            .cast::<u8>()
                            .copy_to_nonoverlapping(host, ROW);
                    },
                    None => return,
                }
            }
        }
        SharedSpace::count(sm, true, 1, LANES as u64);
    });
    if sm.fault.is_some() {
        return std::ptr::null();
    }
    next
}
