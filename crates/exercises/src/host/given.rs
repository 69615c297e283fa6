//! What a host side knows of a case beside its outputs: what its kernels are given, and what results are made of.

/// What a kernel is given to read.
#[derive(Clone, Debug)]
pub struct Given {
    /// What it is called.
    pub name: String,
    /// Its elements.
    pub values: Vec<f64>,
}

/// What an element of an output is the sum of.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The terms, one after the other.
    pub values: Vec<f64>,
    /// Where each term is a comparison of two numbers, by size: how often the two are equal.
    pub equal: Option<f64>,
}
