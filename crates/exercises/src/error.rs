//! Error messages in both languages. `common` explains CUDA errors in English, this module in Chinese.

use anyhow::{Context as _, Error, Result};
use chapter::lang::Lang;
use common::{Gpu, error};
use cust::error::CudaError;

use crate::process::on_gpu;

/// Formats the error and its causes, outermost first.
pub fn format_error(error: &Error, lang: Lang) -> String {
    if lang == Lang::En {
        return error::describe(error);
    }
    let causes = error.chain().map(|cause| match cause.downcast_ref() {
        Some(cuda) => chinese(*cuda),
        None => cause.to_string(),
    });
    causes.collect::<Vec<_>>().join("：")
}

/// Opens the GPU or the simulator.
///
/// # Errors
///
/// Fails as [`Gpu::open`] does, with messages in the given language.
pub fn open(lang: Lang) -> Result<Gpu> {
    let opened = Gpu::open();
    match lang {
        Lang::En => opened.context("cannot open the GPU"),
        Lang::Zh => opened.map_err(|error| {
            let cause = error.downcast_ref::<CudaError>().copied();
            match (cause, on_gpu()) {
                (Some(cause), true) => Error::new(cause).context(
                    "CUDA_BACKEND=gpu，但这里没有可用的 NVIDIA GPU（取消这一设置，或设为 sim，即可在\
                     模拟器上运行）",
                ),
                _ => error.context("无法打开 GPU"),
            }
        }),
    }
}

/// Formats a CUDA error in Chinese: its name, its meaning and the remedy.
fn chinese(error: CudaError) -> String {
    let english = error::explain(error);
    let Some(meaning) = meaning(error) else {
        return english;
    };
    let name = english.split_once(": ").map_or("", |(name, _)| name);
    format!("{name}：{meaning}")
}

/// Returns the Chinese explanation of an error; `None` if there is no English one either.
fn meaning(error: CudaError) -> Option<&'static str> {
    Some(match error {
        CudaError::InvalidValue => {
            "长度、地址或启动的形状超出了设备允许的范围；请检查网格、线程块和复制的长度"
        }
        CudaError::OutOfMemory => "GPU 的内存不够了；请减小输入，或结束占用它的其他程序",
        CudaError::NotInitialized => "CUDA 尚未初始化；请先打开 GPU",
        CudaError::NoDevice => "没有 NVIDIA GPU，或者没有加载它的驱动程序",
        CudaError::InvalidDevice => "没有这个编号的设备",
        CudaError::InvalidContext => "当前线程没有上下文；请先打开 GPU，并一直保持打开",
        CudaError::InvalidPtx => "PTX 无法为这个 GPU 编译；请重新构建核函数",
        CudaError::NoBinaryForGpu => "模块是为另一种 GPU 生成的；请为这个 GPU 重新构建核函数",
        CudaError::NotFound => {
            "模块中没有这个名字的核函数或变量；请与 .cu 文件对照，在那里它必须是 extern \"C\""
        }
        CudaError::InvalidHandle => "流、事件或模块在释放之后又被使用",
        CudaError::IllegalAddress => {
            "核函数读写了分配范围之外的内存；请检查边界，并用 CUDA_BACKEND=sim 运行，模拟器会指出位置"
        }
        CudaError::MisalignedAddress => {
            "核函数访问的地址不是数据大小的整数倍；请用 CUDA_BACKEND=sim 运行，模拟器会指出位置"
        }
        CudaError::LaunchOutOfResources => {
            "这样大的线程块需要的寄存器或共享内存超过上限；请减小线程块"
        }
        CudaError::LaunchTimeout => "核函数的运行时间超过了限制",
        CudaError::AssertError => "核函数中的 assert 不成立",
        CudaError::IllegalInstruction => "核函数执行到 GPU 没有的指令",
        CudaError::LaunchFailed => "核函数运行失败；请用 CUDA_BACKEND=sim 运行，模拟器会指出位置",
        CudaError::NotSupported => "这个设备、驱动程序或模拟器做不到",
        CudaError::InvalidMemoryAllocation => "分配的长度为零，或者超出了可寻址的范围",
        CudaError::UnknownError => "cust 不认识的错误；驱动程序可能比程序所需要的旧",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuda_errors_are_explained_in_both_languages() {
        let error = Error::new(CudaError::IllegalAddress).context("外层");
        let message = format_error(&error, Lang::Zh);
        assert!(
            message.starts_with("外层：CUDA_ERROR_ILLEGAL_ADDRESS：核函数"),
            "{message}"
        );
        let message = format_error(&error, Lang::En);
        assert!(message.contains("outside its allocations"), "{message}");
        // An error without an English explanation has no Chinese one either.
        let other = Error::new(CudaError::EccUncorrectable);
        assert_eq!(
            format_error(&other, Lang::Zh),
            format_error(&other, Lang::En)
        );
    }
}
