//! Fills (`cuMemset…`) of one row or several rows.

use cuda_sim::driver::{Memset, MemsetValue};
use cust_raw::CUdeviceptr;

use super::arguments::Stream;
use super::capture::rules;
use super::graph::memory;
use super::lock_live_stream;
use super::stream_op::StreamOp;
use super::submit::submit;
use crate::status::CallResult;

/// Generates the four functions that fill memory with values of one type: one row or several rows, in the
/// default stream or in a given stream.
macro_rules! memsets {
    (
        $bits:literal $type:ty, $value:path,
        $row:ident, $row_async:ident, $rows:ident, $rows_async:ident
    ) => {
        #[doc = concat!("`cuMemsetD", $bits, "`.")]
        pub fn $row(address: CUdeviceptr, value: $type, count: usize) -> CallResult {
            run(
                Stream::default_of_call(),
                address,
                0,
                $value(value),
                count,
                1,
            )
        }

        #[doc = concat!("`cuMemsetD", $bits, "Async`.")]
        pub fn $row_async(
            address: CUdeviceptr,
            value: $type,
            count: usize,
            h_stream: Stream,
        ) -> CallResult {
            run(h_stream, address, 0, $value(value), count, 1)
        }

        #[doc = concat!("`cuMemsetD2D", $bits, "`.")]
        pub fn $rows(
            address: CUdeviceptr,
            pitch: usize,
            value: $type,
            width: usize,
            height: usize,
        ) -> CallResult {
            run(
                Stream::default_of_call(),
                address,
                pitch,
                $value(value),
                width,
                height,
            )
        }

        #[doc = concat!("`cuMemsetD2D", $bits, "Async`.")]
        pub fn $rows_async(
            address: CUdeviceptr,
            pitch: usize,
            value: $type,
            width: usize,
            height: usize,
            h_stream: Stream,
        ) -> CallResult {
            run(h_stream, address, pitch, $value(value), width, height)
        }
    };
}

memsets!("8" u8, MemsetValue::U8, d8, d8_async, rows_d8, rows_d8_async);
memsets!(
    "16" u16,
    MemsetValue::U16,
    d16,
    d16_async,
    rows_d16,
    rows_d16_async
);
memsets!(
    "32" u32,
    MemsetValue::U32,
    d32,
    d32_async,
    rows_d32,
    rows_d32_async
);

/// Enqueues a fill in the stream `h_stream`. `pitch` is in bytes, `width` in values.
fn run(
    h_stream: Stream,
    address: CUdeviceptr,
    pitch: usize,
    value: MemsetValue,
    width: usize,
    height: usize,
) -> CallResult {
    let (driver, context, stream) = lock_live_stream(h_stream)?;
    let memset = Memset {
        address,
        pitch: pitch as u64,
        value,
        width: width as u64,
        height: height as u64,
    };
    match rules::is_captured(stream) {
        true => memory::check_memset(&driver, context, &memset)?,
        false => driver.check_memset(context, &memset)?,
    }
    Ok(submit(driver, context, stream, StreamOp::Memset(memset))?)
}
