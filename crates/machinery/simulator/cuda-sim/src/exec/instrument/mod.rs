//! Instrumented copies of a program's code: the same instructions at the same addresses, with handlers that
//! count ([`counting`]), check ([`sanitizing`]) or suspend the warp ([`random_schedule`]) before they run the
//! handler of the copy below.

pub mod counting;
pub mod random_schedule;
pub mod sanitizing;
