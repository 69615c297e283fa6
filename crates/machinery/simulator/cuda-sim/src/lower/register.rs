//! Virtual registers. PTX declares an unbounded number of them; `register_allocation` assigns them to frame
//! rows.

/// A virtual register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Register(pub u32);

/// The kind of frame row that a register occupies. A row has 32 lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterClass {
    /// One bit per lane.
    Predicate,
    /// 32 bits per lane, also for 8- and 16-bit values.
    Narrow,
    /// 64 bits per lane.
    Wide,
}

/// The properties of a virtual register.
#[derive(Debug, Clone, Copy)]
pub struct RegisterInfo {
    /// The kind of row that holds the register.
    pub row: RegisterClass,
    /// The size in bytes of the declared type; 0 for a predicate.
    pub bytes: u32,
    /// The value of a constant register; `None` if the register is written at run time.
    pub literal: Option<u64>,
    /// True if the PTX declares the register, false if lowering created it.
    pub declared: bool,
}
