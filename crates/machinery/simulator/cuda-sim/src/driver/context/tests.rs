//! Tests of the lifetime of contexts, their settings, and the current context.

use super::*;
use crate::driver::tests::driver;
use CudaError::*;

#[test]
fn the_primary_context_lives_until_the_last_release() {
    let (mut driver, context) = driver();
    assert_eq!(driver.retain_primary(0).unwrap(), context);
    driver.release_primary(0).unwrap();
    assert_eq!(driver.synchronize_context(context), Ok(()));
    assert!(driver.primary_state(0).unwrap().1);
    driver.release_primary(0).unwrap();
    assert_eq!(driver.synchronize_context(context), Err(ContextIsDestroyed));
    assert_eq!(driver.release_primary(0), Err(InvalidContext));
    assert!(!driver.primary_state(0).unwrap().1);
}

#[test]
fn a_recreated_primary_context_keeps_its_handle() {
    let (mut driver, context) = driver();
    driver.release_primary(0).unwrap();
    assert!(driver.is_context(context), "it may be made current");
    assert_eq!(driver.retain_primary(0).unwrap(), context);
    assert_eq!(driver.synchronize_context(context), Ok(()));
    driver.retain_primary(0).unwrap();
    // Both retains still have to be released.
    driver.reset_primary(0).unwrap();
    let destroyed = Err(ContextIsDestroyed);
    assert_eq!(driver.synchronize_context(context), destroyed);
    assert_eq!(driver.release_primary(0), Ok(()));
    assert_eq!(driver.release_primary(0), Ok(()));
    assert_eq!(driver.release_primary(0), Err(InvalidContext));
    assert_eq!(driver.retain_primary(0).unwrap(), context);
    assert_eq!(driver.synchronize_context(context), Ok(()));
}

#[test]
fn shrinking_keeps_the_stack() {
    let mut stack = ContextStack::new();
    stack.shrink();
    stack.push(ContextId(1));
    stack.push(ContextId(2));
    stack.shrink();
    assert_eq!(stack.pop(), Ok(ContextId(2)));
    stack.shrink();
    assert_eq!(stack.current(), Some(ContextId(1)));
}

#[test]
fn destroying_a_context_frees_its_memory() {
    let (mut driver, primary) = driver();
    let before = driver.memory_info(primary).unwrap();
    let other = driver.create_context(0, 0).unwrap();
    let address = driver.allocate(other, 4096).unwrap();
    driver.allocate_managed(other, 4096).unwrap();
    driver.allocate_host(other, 4096).unwrap();
    assert!(driver.memory_info(primary).unwrap().0 < before.0);
    driver.destroy_context(other).unwrap();
    assert_eq!(driver.memory_info(primary).unwrap(), before);
    assert_eq!(driver.free(primary, address), Err(InvalidValue));
    assert_eq!(driver.destroy_context(other), Err(ContextIsDestroyed));
}

#[test]
fn destroy_context_rejects_the_primary_context() {
    let (mut driver, primary) = driver();
    assert_eq!(driver.destroy_context(primary), Err(InvalidContext));
}

#[test]
fn a_fault_is_sticky_until_the_context_is_destroyed() {
    let (mut driver, context) = driver();
    driver.context_mut(context).unwrap().fault = Some(IllegalAddress);
    assert_eq!(driver.synchronize_context(context), Err(IllegalAddress));
    assert_eq!(driver.allocate(context, 4), Err(IllegalAddress));
    assert_eq!(driver.context_flags(context), Ok(0));
    let other = driver.create_context(0, 0).unwrap();
    assert_eq!(driver.synchronize_context(other), Ok(()));
    driver.reset_primary(0).unwrap();
    let fresh = driver.retain_primary(0).unwrap();
    assert_eq!(driver.synchronize_context(fresh), Ok(()));
}

#[test]
fn invalid_flags_and_settings_are_rejected() {
    let (mut driver, context) = driver();
    for flags in [0x20, 0x3, u32::MAX] {
        assert_eq!(driver.create_context(0, flags), Err(InvalidValue));
        assert_eq!(driver.set_primary_flags(0, flags), Err(InvalidValue));
    }
    driver.set_primary_flags(0, 0x4).unwrap();
    assert_eq!(driver.context_flags(context), Ok(0x4));
    driver.set_context_flags(context, 0x81).unwrap();
    assert_eq!(driver.context_flags(context), Ok(0x81));
    let refused = driver.set_context_flags(context, 0x3);
    assert_eq!(refused, Err(InvalidValue));
    assert_eq!(driver.set_cache_preference(context, 4), Err(InvalidValue));
    driver.set_cache_preference(context, 2).unwrap();
    assert_eq!(driver.cache_preference(context), Ok(2));
    assert_eq!(driver.set_bank_size(context, -1), Err(InvalidValue));
    driver.set_bank_size(context, 2).unwrap();
    assert_eq!(driver.bank_size(context), Ok(1), "of four bytes");
}

#[test]
fn limits_are_set_rounded_and_validated() {
    let (mut driver, context) = driver();
    assert_eq!(driver.limit(context, Limit::StackSize), Ok(1024));
    driver.set_limit(context, Limit::StackSize, 4096).unwrap();
    assert_eq!(driver.limit(context, Limit::StackSize), Ok(4096));
    for (number, value) in [(0, 1 << 30), (5, 129)] {
        let limit = Limit::from_number(number).unwrap();
        let actual = driver.set_limit(context, limit, value);
        assert_eq!(actual, Err(InvalidValue), "{number}");
    }
    assert_eq!(driver.limit(context, Limit::PrintfFifoSize), Ok(132 << 16));
    assert_eq!(Limit::from_number(2), Ok(Limit::MallocHeapSize));
    assert_eq!(Limit::from_number(3), Err(UnsupportedLimit));
    assert_eq!(Limit::from_number(9), Err(UnsupportedLimit));
    assert_eq!(Limit::from_number(10), Err(InvalidValue));
    let max_persisting = driver.device().persisting_l2_bytes as usize;
    for (number, value, expected) in [
        (0, 1001, 1008),
        (0, 1000, 1000),
        (1, 0, 512 << 10),
        (1, 1_000_000, 1_000_192),
        (2, 0, 4 << 20),
        (2, (8 << 20) + 1, (8 << 20) + 65536),
        (4, 100, 100),
        (4, 1, 32),
        (4, 1_000_000, 599_186),
        (5, 32, 32),
        (6, 4096, max_persisting / 10),
        (6, max_persisting, max_persisting),
    ] {
        let limit = Limit::from_number(number).unwrap();
        driver.set_limit(context, limit, value).unwrap();
        assert_eq!(driver.limit(context, limit), Ok(expected), "{number}");
    }
    assert_eq!(
        driver.set_limit(context, Limit::PersistingCache, max_persisting + 1),
        Err(InvalidValue)
    );
    assert_eq!(Limit::from_number(-1), Err(InvalidValue));
}

#[test]
fn contexts_form_a_stack_per_thread() {
    let mut stack = ContextStack::new();
    assert_eq!(stack.require_current(), Err(InvalidContext));
    assert_eq!(stack.pop(), Err(InvalidContext));
    stack.set_current(Some(ContextId(1)));
    stack.push(ContextId(2));
    stack.set_current(Some(ContextId(3)));
    assert_eq!(stack.pop(), Ok(ContextId(3)));
    assert_eq!(stack.current(), Some(ContextId(1)));
    stack.set_current(None);
    assert_eq!(stack.current(), None);
}
