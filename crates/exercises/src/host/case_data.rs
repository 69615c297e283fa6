//! Additional data about a case, from which messages explain wrong results.

/// An input of the kernels.
#[derive(Clone, Debug)]
pub struct InputValues {
    /// The input's name.
    pub name: String,
    /// The input's elements.
    pub values: Vec<f64>,
}

/// The terms whose sum is an element of an output.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The terms in order.
    pub values: Vec<f64>,
    /// The number of terms whose two compared values are equal, if each term is an ordering comparison.
    pub equal: Option<f64>,
}
