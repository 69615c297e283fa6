//! The figures of the ladders' pages. Each shows one optimization.

pub mod kept;
pub mod mma;
pub mod parts;
pub mod points;
pub mod rows;
pub mod scattered;
pub mod spheres;
pub mod time;
