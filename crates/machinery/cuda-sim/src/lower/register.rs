//! Virtual registers: PTX names one for every value.

/// A virtual register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Register(pub u32);

/// Which kind of row a register takes in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterClass {
    /// A bit a lane.
    Predicate,
    /// 32 bits a lane, also for values of 8 or 16 bits.
    Narrow,
    /// 64 bits a lane.
    Wide,
}

/// What is known of a virtual register.
#[derive(Debug, Clone, Copy)]
pub struct RegisterInfo {
    /// The kind of row it takes.
    pub row: RegisterClass,
    /// How many bytes the declared type has; 0 for a predicate.
    pub bytes: u32,
    /// The register's value, if it never changes; else none.
    pub literal: Option<u64>,
    /// The PTX text declares the register. Others are made while lowering.
    pub declared: bool,
}
