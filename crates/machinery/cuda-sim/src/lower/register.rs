//! Virtual registers: PTX names one for every value.

/// A virtual register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Register(pub u32);

/// How a register lies in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterClass {
    Predicate,
    /// 32 bits a lane; narrower values too.
    Narrow,
    /// 64 bits a lane.
    Wide,
}

/// What is known of a virtual register.
#[derive(Debug, Clone, Copy)]
pub struct RegisterInfo {
    pub row: RegisterClass,
    /// Bytes as declared; 0 for a predicate.
    pub bytes: u32,
    /// Its value where it never changes.
    pub literal: Option<u64>,
    /// The program names it; it is not one of our own.
    pub declared: bool,
}
