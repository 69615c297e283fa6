//! cuFFT: all kinds of transforms, compared with their definition.

use std::ffi::c_int;

use cuda_libraries::cublas::{C32, C64};
use cuda_libraries::cufft::*;

use crate::device::{Array, Element, numbers};

/// Computes a transform of an array of up to three dimensions by its definition.
fn transform(elements: &[C64], sizes: &[usize], sign: f64) -> Vec<C64> {
    let positions = |index: usize| {
        let mut rest = index;
        let mut position: Vec<usize> = sizes
            .iter()
            .rev()
            .map(|size| (rest % size, rest /= size).0)
            .collect();
        position.reverse();
        position
    };
    let count: usize = sizes.iter().product();
    let all: Vec<Vec<usize>> = (0..count).map(positions).collect();
    let term = |k: &[usize], n: &[usize]| {
        let turns: f64 = (0..sizes.len())
            .map(|d| (k[d] * n[d] % sizes[d]) as f64 / sizes[d] as f64)
            .sum();
        C64::from_polar(1.0, sign * std::f64::consts::TAU * turns)
    };
    let sum = |k: &Vec<usize>| all.iter().zip(elements).map(|(n, x)| x * term(k, n)).sum();
    all.iter().map(sum).collect()
}

fn assert_near<T: Element>(name: &str, actual: &[T], expected: &[C64]) {
    assert_eq!(actual.len(), expected.len(), "{name}");
    let scale = expected.iter().map(|x| x.norm()).fold(1.0, f64::max);
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let difference = (actual.exact() - expected).norm();
        assert!(
            difference <= 16.0 * T::EPSILON * scale,
            "{name}: element {index} is {actual:?}, expected {expected}"
        );
    }
}

fn exact<T: Element>(elements: &[T]) -> Vec<C64> {
    elements.iter().map(|x| x.exact()).collect()
}

/// The types of cuFFT: `CUFFT_C2C` and so on.
const C2C: c_int = 0x29;
const R2C: c_int = 0x2a;
const C2R: c_int = 0x2c;
const Z2Z: c_int = 0x69;
const D2Z: c_int = 0x6a;

/// Creates a plan of contiguous transforms.
fn plan(sizes: &[usize], kind: c_int, batch: c_int) -> c_int {
    let mut n: Vec<c_int> = sizes.iter().map(|&size| size as c_int).collect();
    let mut plan = 0;
    let null = std::ptr::null_mut();
    // SAFETY: the pointers are valid, or null where they may be.
    let status = unsafe {
        cufftPlanMany(
            &mut plan,
            n.len() as c_int,
            n.as_mut_ptr(),
            null,
            1,
            0,
            null,
            1,
            0,
            kind,
            batch,
        )
    };
    assert_eq!(status, 0);
    plan
}

const SIZES: [&[usize]; 7] = [&[1], &[8], &[15], &[97], &[6, 10], &[9, 4], &[3, 4, 5]];

#[test]
fn complex_transforms_follow_the_definition() {
    for sizes in SIZES {
        let count: usize = sizes.iter().product();
        let elements: Vec<C32> = numbers(2 * count, 20);
        let doubles: Vec<C64> = numbers(2 * count, 21);
        let (x, y, z) = (
            Array::new(&elements),
            Array::new(&elements),
            Array::new(&doubles),
        );
        let (single, double) = (plan(sizes, C2C, 2), plan(sizes, Z2Z, 2));
        // SAFETY: the pointers are valid.
        unsafe {
            assert_eq!(
                cufftExecC2C(single, x.address.cast(), y.address.cast(), -1),
                0
            );
            assert_eq!(
                cufftExecZ2Z(double, z.address.cast(), z.address.cast(), 1),
                0
            );
            for plan in [single, double] {
                assert_eq!(cufftDestroy(plan), 0);
            }
        }
        let (forward, inverse) = (y.read(), z.read());
        for batch in [0, 1] {
            let part = batch * count..(batch + 1) * count;
            let expected = transform(&exact(&elements[part.clone()]), sizes, -1.0);
            assert_near(&format!("C2C {sizes:?}"), &forward[part.clone()], &expected);
            let expected = transform(&doubles[part.clone()], sizes, 1.0);
            assert_near(
                &format!("Z2Z in place {sizes:?}"),
                &inverse[part],
                &expected,
            );
        }
    }
}

#[test]
fn real_transforms_keep_half_of_the_spectrum() {
    for sizes in SIZES {
        let last = *sizes.last().unwrap();
        let (count, half) = (sizes.iter().product::<usize>(), last / 2 + 1);
        let stored = count / last * half;
        let elements: Vec<f32> = numbers(count, 22);
        let (x, spectrum) = (
            Array::new(&elements),
            Array::new(&vec![C32::new(f32::NAN, f32::NAN); stored]),
        );
        let back = Array::new(&vec![f32::NAN; count]);
        // In place, rows of real elements are padded to the size of the spectrum's.
        let mut padded = vec![f64::NAN; 2 * stored];
        for (i, &element) in elements.iter().enumerate() {
            padded[i / last * 2 * half + i % last] = element.into();
        }
        let in_place = Array::new(&padded);
        // SAFETY: the pointers are valid.
        unsafe {
            assert_eq!(
                cufftExecR2C(
                    plan(sizes, R2C, 1),
                    x.address.cast(),
                    spectrum.address.cast()
                ),
                0
            );
            assert_eq!(
                cufftExecC2R(
                    plan(sizes, C2R, 1),
                    spectrum.address.cast(),
                    back.address.cast()
                ),
                0
            );
            assert_eq!(
                cufftExecD2Z(
                    plan(sizes, D2Z, 1),
                    in_place.address.cast(),
                    in_place.address.cast()
                ),
                0
            );
        }
        let full = transform(&exact(&elements), sizes, -1.0);
        let expected: Vec<C64> = full
            .chunks(last)
            .flat_map(|row| &row[..half])
            .copied()
            .collect();
        assert_near(&format!("R2C {sizes:?}"), &spectrum.read(), &expected);
        let scaled: Vec<C64> = elements
            .iter()
            .map(|&x| C64::new(f64::from(x) * count as f64, 0.0))
            .collect();
        assert_near(&format!("C2R {sizes:?}"), &back.read(), &scaled);
        let complex: Vec<C64> = in_place
            .read()
            .chunks(2)
            .map(|pair| C64::new(pair[0], pair[1]))
            .collect();
        assert_near(&format!("D2Z in place {sizes:?}"), &complex, &expected);
    }
}

#[test]
fn layouts_have_strides_and_distances() {
    // The columns of a matrix of 6 rows of 5 elements, to rows of 8.
    let elements: Vec<C64> = numbers(30, 23);
    let before: Vec<C64> = numbers(5 * 8, 24);
    let (x, y) = (Array::new(&elements), Array::new(&before));
    let (mut n, mut from, mut to, mut plan) = ([6], [6], [8], 0);
    // SAFETY: the pointers are valid.
    unsafe {
        let status = cufftPlanMany(
            &mut plan,
            1,
            n.as_mut_ptr(),
            from.as_mut_ptr(),
            5,
            1,
            to.as_mut_ptr(),
            1,
            8,
            Z2Z,
            5,
        );
        assert_eq!(status, 0);
        assert_eq!(
            cufftExecZ2Z(plan, x.address.cast(), y.address.cast(), -1),
            0
        );
    }
    let after = y.read();
    for column in 0..5 {
        let sequence: Vec<C64> = (0..6).map(|row| elements[row * 5 + column]).collect();
        assert_near(
            "column",
            &after[column * 8..column * 8 + 6],
            &transform(&sequence, &[6], -1.0),
        );
        assert_eq!(
            after[column * 8 + 6..column * 8 + 8],
            before[column * 8 + 6..column * 8 + 8]
        );
    }
}

#[test]
fn invalid_plans_have_their_statuses() {
    crate::device::start();
    let (mut handle, mut size) = (0, usize::MAX);
    let data = Array::new(&numbers::<C32>(8, 25));
    // SAFETY: the pointers are valid.
    unsafe {
        assert_eq!(cufftPlan1d(&mut handle, 0, C2C, 1), 8, "size");
        assert_eq!(cufftPlan1d(&mut handle, 8, 0x28, 1), 3, "type");
        assert_eq!(cufftPlan1d(std::ptr::null_mut(), 8, C2C, 1), 4, "pointer");
        assert_eq!(cufftCreate(&mut handle), 0);
        assert_eq!(
            cufftExecC2C(handle, data.address.cast(), data.address.cast(), -1),
            1,
            "no plan"
        );
        assert_eq!(cufftMakePlan1d(handle, 8, C2C, 1, &mut size), 0);
        assert_eq!(size, 0);
        assert_eq!(
            cufftExecC2C(handle, data.address.cast(), data.address.cast(), 0),
            4,
            "direction"
        );
        assert_eq!(
            cufftExecR2C(handle, data.address.cast(), data.address.cast()),
            3,
            "another type"
        );
        assert_eq!(cufftDestroy(handle), 0);
        assert_eq!(cufftDestroy(handle), 1);
    }
}
