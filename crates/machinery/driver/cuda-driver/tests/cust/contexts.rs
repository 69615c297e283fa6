//! The current context, the context stack and limits.

use cust::context::{CurrentContext, ResourceLimit, legacy};
use cust::device::Device;
use cust::error::CudaError;
use cust::memory::DeviceBuffer;

use super::{Test, simulator};

#[test]
fn current_context_is_per_thread() -> Test {
    let context = simulator();
    std::thread::spawn(|| {
        assert_eq!(
            CurrentContext::synchronize(),
            Err(CudaError::InvalidContext)
        );
        assert_eq!(
            DeviceBuffer::from_slice(&[1]).err(),
            Some(CudaError::InvalidContext)
        );
    })
    .join()
    .unwrap();
    let again = context.clone();
    std::thread::spawn(move || {
        CurrentContext::set_current(&again).unwrap();
        let buffer = DeviceBuffer::from_slice(&[1, 2, 3]).unwrap();
        assert_eq!(buffer.as_host_vec().unwrap(), [1, 2, 3]);
    })
    .join()
    .unwrap();
    Ok(())
}

#[test]
fn created_contexts_form_a_stack() -> Test {
    let _primary = simulator();
    let device = Device::get_device(0)?;
    let own_context = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device)?;
    let stack = ResourceLimit::StackSize;
    CurrentContext::set_resource_limit(stack, 2048)?;
    assert_eq!(CurrentContext::get_resource_limit(stack)?, 2048);
    legacy::ContextStack::pop()?;
    assert_eq!(CurrentContext::get_resource_limit(stack)?, 1024);
    drop(own_context);
    CurrentContext::synchronize()?;
    Ok(())
}

#[test]
fn limits_are_stored() -> Test {
    let _context = simulator();
    CurrentContext::set_resource_limit(ResourceLimit::PrintfFifoSize, 2 << 20)?;
    assert_eq!(
        CurrentContext::get_resource_limit(ResourceLimit::PrintfFifoSize)?,
        2 << 20
    );
    let range = CurrentContext::get_stream_priority_range()?;
    assert_eq!((range.least, range.greatest), (0, -5));
    Ok(())
}
