//! Matrices in pitched memory, on the simulator.

use common::{Gpu, PitchedBuffer};
use matmul_pitched::Matrix;

#[test]
fn the_stride_of_a_matrix_is_the_pitch() {
    // SAFETY: this program has one test, so no other thread reads the environment now.
    unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    let _gpu = Gpu::open().unwrap();
    let buffer = PitchedBuffer::<f32>::new_2d(129, 7).unwrap();
    let matrix = Matrix::from(&buffer);
    assert_eq!((matrix.rows, matrix.cols, matrix.stride), (7, 129, 256));
    assert_eq!(matrix.elements, buffer.as_device_ptr());
}
