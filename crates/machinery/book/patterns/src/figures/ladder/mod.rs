//! The figures of the ladders' pages. Each shows one optimization.

pub mod mma;
pub mod parts;
pub mod points;
pub mod register_reuse;
pub mod rows;
pub mod scattered;
pub mod spheres;
pub mod time;
