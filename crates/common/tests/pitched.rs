//! Tests of pitched memory on the simulator.

use std::sync::Once;

use common::{Gpu, PitchedBuffer, error};
use cust::memory::mem_get_info;

/// Opens the simulator in this test's thread.
fn simulator() -> Gpu {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        // SAFETY: every test begins here, so no other thread reads the environment yet.
        unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    });
    Gpu::open().unwrap()
}

/// Returns the error message of an operation that must fail.
fn error_of<T>(result: anyhow::Result<T>) -> String {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error::describe(&error),
    }
}

/// Returns 0, 1, 2 … as floats.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|number| number as f32).collect()
}

#[test]
fn rows_survive_a_round_trip() {
    let _gpu = simulator();
    for (width, height, depth) in [
        (1, 1, 1),
        (15, 15, 3),
        (128, 3, 1),
        (255, 7, 2),
        (129, 1, 5),
    ] {
        let mut buffer = PitchedBuffer::<f32>::new_3d(width, height, depth).unwrap();
        let sent = numbers(width * height * depth);
        buffer.copy_2d_from(&sent, width).unwrap();
        let mut read_back = vec![-1.0; sent.len()];
        buffer.copy_3d_to(&mut read_back, width).unwrap();
        assert_eq!(read_back, sent, "{width}x{height}x{depth}");
    }
}

#[test]
fn the_pitch_is_rounded_up() {
    let _gpu = simulator();
    let two = PitchedBuffer::<f32>::new_2d(129, 7).unwrap();
    assert_eq!((two.width(), two.height(), two.rows()), (129, 7, 7));
    assert_eq!(two.pitch(), 1024);
    let three = PitchedBuffer::<f32>::new_3d(15, 7, 3).unwrap();
    assert_eq!((three.width(), three.height(), three.rows()), (15, 7, 21));
    assert_eq!(three.pitch(), 512);
}

#[test]
fn elements_may_have_any_size() {
    let _gpu = simulator();
    fn pitch_of<T: cust::memory::DeviceCopy + cust::memory::bytemuck::Pod + PartialEq>(
        elements: &[T],
    ) -> usize {
        let mut buffer = PitchedBuffer::<T>::new_2d(elements.len() / 2, 2).unwrap();
        buffer.copy_2d_from(elements, elements.len() / 2).unwrap();
        let mut read_back = vec![elements[0]; elements.len()];
        buffer
            .copy_3d_to(&mut read_back, elements.len() / 2)
            .unwrap();
        assert!(read_back == elements);
        buffer.pitch()
    }
    assert_eq!(pitch_of(&[1_u8, 2, 3, 4, 5, 6]), 512);
    assert_eq!(pitch_of(&[1_u16, 2]), 512);
    assert_eq!(pitch_of(&[0.5_f64; 130]), 1024);
    assert_eq!(pitch_of(&[[1_u32, 2, 3], [4, 5, 6]]), 512);
    assert_eq!(pitch_of(&[[1.0_f32, 2.0, 3.0, 4.0]; 66]), 1024);
}

#[test]
fn parts_of_wider_matrices_survive_a_round_trip() {
    let _gpu = simulator();
    // Rows 1 to 3 and columns 2 to 6 of a matrix with 5 rows and 9 columns.
    let whole = numbers(5 * 9);
    let first = 9 + 2;
    let part = first..first + 2 * 9 + 5;
    let mut buffer = PitchedBuffer::<f32>::new_2d(5, 3).unwrap();
    buffer.copy_2d_from(&whole[part.clone()], 9).unwrap();

    let mut close = vec![-1.0; 15];
    buffer.copy_3d_to(&mut close, 5).unwrap();
    let expected = (1..4).flat_map(|row| whole[row * 9 + 2..][..5].to_vec());
    assert_eq!(close, expected.collect::<Vec<_>>());

    let mut wide = [-1.0; 5 * 9];
    buffer.copy_3d_to(&mut wide[part], 9).unwrap();
    for (index, element) in wide.iter().enumerate() {
        let inside = (1..4).contains(&(index / 9)) && (2..7).contains(&(index % 9));
        let expected = if inside { whole[index] } else { -1.0 };
        assert_eq!(
            *element,
            expected,
            "row {}, column {}",
            index / 9,
            index % 9
        );
    }
}

#[test]
fn the_last_row_may_be_shorter_than_the_stride() {
    let _gpu = simulator();
    let mut buffer = PitchedBuffer::<f32>::new_3d(3, 2, 2).unwrap();
    for len in [3 * 5 + 3, 3 * 5 + 4, 4 * 5] {
        buffer.copy_2d_from(&numbers(len), 5).unwrap();
        buffer.copy_3d_to(&mut vec![0.0; len], 5).unwrap();
    }
    for len in [3 * 5 + 2, 4 * 5 + 1] {
        let expected = format!("an array of {len} elements is not 4 rows of 3 that start every 5");
        assert_eq!(error_of(buffer.copy_2d_from(&numbers(len), 5)), expected);
        assert_eq!(
            error_of(buffer.copy_3d_to(&mut vec![0.0; len], 5)),
            expected
        );
    }
}

#[test]
fn arrays_of_wrong_length_are_rejected() {
    let _gpu = simulator();
    let mut buffer = PitchedBuffer::<f32>::new_2d(4, 3).unwrap();
    for len in [0, 1, 11, 13, 24] {
        let expected = format!("an array of {len} elements is not 3 rows of 4 that start every 4");
        assert_eq!(error_of(buffer.copy_2d_from(&numbers(len), 4)), expected);
        assert_eq!(
            error_of(buffer.copy_3d_to(&mut vec![0.0; len], 4)),
            expected
        );
    }
}

#[test]
fn invalid_strides_are_rejected() {
    let _gpu = simulator();
    let mut buffer = PitchedBuffer::<f32>::new_2d(4, 3).unwrap();
    for stride in [0, 3] {
        let expected = format!("rows of 4 elements cannot start every {stride} elements");
        assert_eq!(
            error_of(buffer.copy_2d_from(&numbers(12), stride)),
            expected
        );
        assert_eq!(
            error_of(buffer.copy_3d_to(&mut numbers(12), stride)),
            expected
        );
    }
    let text = error_of(buffer.copy_2d_from(&numbers(12), usize::MAX));
    assert!(text.contains("is not 3 rows of 4"), "{text}");
    // A single row may have any stride whose bytes do not overflow.
    let mut row = PitchedBuffer::<f32>::new_2d(4, 1).unwrap();
    let text = error_of(row.copy_2d_from(&numbers(4), usize::MAX));
    assert!(text.contains("is too long"), "{text}");
    row.copy_2d_from(&numbers(4), 1000).unwrap();
}

#[test]
fn every_element_is_filled() {
    let _gpu = simulator();
    let mut buffer = PitchedBuffer::<u8>::new_3d(600, 3, 2).unwrap();
    buffer.set_8(7).unwrap();
    let mut read_back = vec![0; 600 * 3 * 2];
    buffer.copy_3d_to(&mut read_back, 600).unwrap();
    assert!(read_back.iter().all(|&byte| byte == 7));
}

#[test]
fn empty_allocations_are_rejected() {
    let _gpu = simulator();
    for (width, height, depth) in [(0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0)] {
        let text = error_of(PitchedBuffer::<f32>::new_3d(width, height, depth));
        let expected = format!(
            "cannot allocate {depth}x{height} rows of {width} elements of 4 bytes: the size is zero bytes"
        );
        assert_eq!(text, expected);
    }
    assert!(
        error_of(PitchedBuffer::<()>::new_2d(1, 1)).contains("of 0 bytes: the size is zero bytes")
    );
}

#[test]
fn overflowing_sizes_are_rejected() {
    let _gpu = simulator();
    let max = usize::MAX;
    let sizes = [
        (max, 1, 1),
        (max / 4, 1, 1),
        (1, max, 1),
        (1, max / 512 + 1, 1),
        (1, max, max),
        (1, 1 << 32, 1 << 32),
    ];
    for (width, height, depth) in sizes {
        let text = error_of(PitchedBuffer::<f32>::new_3d(width, height, depth));
        assert!(text.ends_with("the size in bytes overflows"), "{text}");
    }
}

#[test]
fn driver_errors_are_reported() {
    let _gpu = simulator();
    let text = error_of(PitchedBuffer::<f32>::new_3d(1, 1 << 30, 1 << 10));
    let expected = "cannot allocate 1024x1073741824 rows of 1 elements of 4 bytes: \
        CUDA_ERROR_OUT_OF_MEMORY";
    assert!(text.starts_with(expected), "{text}");
}

/// The only test that reads the amount of free memory, which on the simulator is the process's.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn memory_is_freed_on_drop() {
    let _gpu = simulator();
    let (before, _) = mem_get_info().unwrap();
    let buffer = PitchedBuffer::<f32>::new_2d(1, 1000).unwrap();
    let (during, _) = mem_get_info().unwrap();
    assert_eq!(before - during, 512 * 1000);
    drop(buffer);
    assert_eq!(mem_get_info().unwrap().0, before);
}

#[test]
fn dropping_frees_the_allocation() {
    let folder = tempfile::tempdir().unwrap();
    chapter_test::run_child("memory_is_freed_on_drop", folder.path());
}

#[test]
fn allocations_need_a_context() {
    let folder = tempfile::tempdir().unwrap();
    chapter_test::run_child("an_allocation_without_a_gpu", folder.path());
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn an_allocation_without_a_gpu() {
    let text = error_of(PitchedBuffer::<f32>::new_2d(1, 1));
    assert!(text.contains("CUDA_ERROR_NOT_INITIALIZED"), "{text}");
}
