//! The command line: its flags, and its error messages, which are clap's in English and those of this module in Chinese.

use std::error::Error as _;
use std::num::ParseIntError;
use std::path::PathBuf;
use std::process::ExitCode;

use chapter::lang::{Lang, tr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, CommandFactory, Error, FromArgMatches, Parser, Subcommand};
use common::error::note;

use crate::class::{Columns, Shard};
use crate::output;
use crate::text::visible;

/// The program's flags.
#[derive(Debug, Parser)]
#[command(
    name = "exercises",
    about = tr(
        "Learn CUDA's memories by doing: exercises graded by results, checks and counters.\n\
         Without a command, shows your progress and the next exercise.",
        "在动手中学习 CUDA 的各种内存：练习按结果、检查和计数器评分。\n\
         不带命令运行时，显示目前的进度和下一题。"
    ),
    after_help = tr(
        "Exit codes: 0 passed, 1 not passed, 2 could not be graded; 130 ended by Ctrl-C, 143 by \
         SIGTERM, 129 by SIGHUP, 141 output closed by its reader.",
        "退出码：0 通过，1 未通过，2 无法评分；130 被 Ctrl-C 中断，143 被 SIGTERM 终止，129 被 \
         SIGHUP 终止，141 输出已被读取方关闭。"
    ),
    subcommand_help_heading = tr("Commands", "命令"),
    disable_help_subcommand = true,
    disable_help_flag = true,
)]
pub struct Flags {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub global: GlobalFlags,
}

/// Flags that every command accepts.
#[derive(Args, Clone, Debug)]
pub struct GlobalFlags {
    #[arg(
        long,
        global = true,
        value_name = "en|zh",
        hide_possible_values = true,
        help = tr(
            "The language of messages; default: the system's",
            "输出的语言；不指定时跟随系统"
        )
    )]
    pub lang: Option<Lang>,

    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        help = tr(
            "The folder with your submissions; default: `exercises` in the checkout, or here if the course is installed",
            "答案所在的文件夹；不指定时为代码库根目录下的 `exercises`，课程是安装的则为当前目录下的 `exercises`"
        )
    )]
    pub dir: Option<PathBuf>,

    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        help = tr(
            "Use your own course instead of this one: a folder with one folder per exercise",
            "用你自己的课程代替本课程：该文件夹中每道练习一个子文件夹"
        )
    )]
    pub course: Option<PathBuf>,

    #[arg(
        long,
        global = true,
        help = tr("Print JSON instead of text", "输出 JSON 而不是文字")
    )]
    pub json: bool,

    #[arg(
        long,
        short,
        global = true,
        action = clap::ArgAction::Help,
        help = tr("Print help", "显示帮助")
    )]
    pub help: Option<bool>,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(about = tr("List all exercises and which have passed", "列出所有练习及通过情况"))]
    List,

    #[command(about = tr(
        "Grade your submission to an exercise; default: the next one",
        "给一道练习的答案评分；不指定时为下一题"
    ))]
    Check(Check),

    #[command(about = tr(
        "Grade the exercise you work on whenever you save it",
        "每次保存时自动给正在做的练习评分"
    ))]
    Watch {
        #[arg(value_name = "NAME", help = name_help())]
        name: Option<String>,
    },

    #[command(about = tr(
        "Show an exercise's statement; default: the next one",
        "显示题目；不指定时为下一题"
    ))]
    Statement {
        #[arg(value_name = "NAME", help = name_help())]
        name: Option<String>,
    },

    #[command(about = tr(
        "Show one more hint for an exercise; default: the next one",
        "再给一条提示；不指定时为下一题"
    ))]
    Hint {
        #[arg(value_name = "NAME", help = name_help())]
        name: Option<String>,
    },

    #[command(about = tr(
        "Restore the start file; your version is saved next to it",
        "恢复初始文件；你写的内容会另存为同一文件夹中的文件"
    ))]
    Reset {
        #[arg(value_name = "NAME", help = name_help())]
        name: String,
    },

    #[command(about = tr(
        "Show the solution, once your submission has passed",
        "显示参考答案（在你的答案通过之后）"
    ))]
    Solution {
        #[arg(value_name = "NAME", help = name_help())]
        name: String,
        #[arg(long, help = tr("Show it even if you have not passed", "不论是否通过都显示"))]
        give_up: bool,
    },

    #[command(about = tr(
        "Merge the records of all shards into one",
        "把各分片的记录合并为一份"
    ))]
    Merge {
        #[arg(
            required = true,
            value_name = "RECORD",
            help = tr("The records that the shards wrote with --out", "各分片用 --out 写出的记录")
        )]
        records: Vec<PathBuf>,

        #[command(flatten)]
        output: Output,
    },

    #[command(about = tr(
        "Create an exercise in the folder given by --course; it passes its own tests",
        "在 --course 指定的文件夹中新建一道练习，它一开始就能通过自己的测试"
    ))]
    New {
        #[arg(value_name = "NAME", help = tr(
            "Number and name, for example 01-double",
            "编号和名字，例如 01-double"
        ))]
        name: String,
    },

    #[command(about = tr(
        "Test exercises: start files and wrong submissions must be rejected at the expected step, \
         solutions and correct submissions must pass",
        "测试练习：初始文件和错误答案应在其注明的步骤未通过，参考答案和正确答案应通过"
    ))]
    Test {
        #[arg(value_name = "NAME", help = name_help())]
        name: Option<String>,
    },

    /// The hidden command that grades one submission in a separate process.
    #[command(hide = true)]
    Worker,
}

/// The arguments of `check`.
#[derive(Args, Debug)]
pub struct Check {
    #[arg(value_name = "NAME", help = names_help())]
    pub names: Vec<String>,

    #[arg(
        long,
        conflicts_with = "names",
        help = tr("Grade all submissions", "给所有答案评分")
    )]
    pub all: bool,

    #[arg(
        long,
        value_name = "FILE",
        requires = "names",
        help = tr(
            "Grade this file instead of the one in your folder",
            "给这个文件评分，而不是文件夹里的答案"
        )
    )]
    pub file: Option<PathBuf>,

    #[arg(
        long,
        value_name = "NUMBER",
        help = tr(
            "The seed of random sizes and inputs; default: random",
            "随机规模和随机输入的种子；不指定时随机选取"
        )
    )]
    pub seed: Option<u64>,

    #[command(flatten)]
    pub class: Class,

    #[command(flatten)]
    pub output: Output,

    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        hide_default_value = true,
        value_parser = clap::value_parser!(u64).range(1..=3600),
        help = tr(
            "The time limit of a submission in seconds; default: 60",
            "每份答案的时间限制（秒）；不指定时为 60"
        )
    )]
    pub seconds: u64,

    #[arg(
        long,
        help = tr(
            "Also print all counters at the graded size",
            "同时列出计数所用规模下的全部计数器"
        )
    )]
    pub counters: bool,

    #[arg(
        long,
        help = tr(
            "Print your file's lines with their counters and mark the costly ones",
            "列出你的文件中各行的计数器，并标出代价大的行"
        )
    )]
    pub lines: bool,

    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "all",
        help = tr(
            "Draw a warp's access that makes a counter miss its target, next to the intended one, \
             into this SVG file",
            "把使计数器未达标的一次线程束访问和期望的访问画成 SVG，写入此文件"
        )
    )]
    pub draw: Option<PathBuf>,
}

/// The flags of `check` for a class.
#[derive(Args, Debug)]
pub struct Class {
    #[arg(
        long,
        value_name = "FOLDER",
        help = tr(
            "Grade a class: a folder with one folder per student; needs --all or names of exercises",
            "给全班评分：该文件夹中每名学生一个子文件夹；需要 --all 或练习名"
        )
    )]
    pub submissions: Option<PathBuf>,

    #[arg(
        long,
        value_name = "K/N",
        requires_all = ["submissions", "seed"],
        help = tr(
            "Grade only part K of N; `merge` combines the records of all parts",
            "只评第 K 份（共 N 份）；用 `merge` 合并各份的记录"
        )
    )]
    pub shard: Option<Shard>,

    #[arg(
        long,
        value_name = "NUMBER",
        requires = "submissions",
        value_parser = clap::value_parser!(u32).range(1..=1024),
        help = tr(
            "The number of submissions graded at a time; default: the number of processors, or one \
             on a GPU",
            "同时评分的份数；不指定时为处理器的个数，在 GPU 上为 1"
        )
    )]
    pub jobs: Option<u32>,

    #[arg(
        long,
        value_name = "FILE",
        requires = "submissions",
        help = tr(
            "Write pairs of submissions that resemble each other or the solution to this CSV file",
            "把彼此相似或与参考答案相似的成对答案写入此文件（CSV）"
        )
    )]
    pub copies: Option<PathBuf>,
}

/// The output files for a class.
#[derive(Args, Debug)]
pub struct Output {
    #[arg(
        long,
        value_name = "FILE",
        help = tr("Write the class's record to this JSON file", "把全班的记录以 JSON 写入此文件")
    )]
    pub out: Option<PathBuf>,

    #[arg(
        long,
        value_name = "FILE",
        help = tr(
            "Write the class's table to this CSV file: one row per student, one column per exercise",
            "把全班的成绩表写入此 CSV 文件：每名学生一行，每道练习一列"
        )
    )]
    pub csv: Option<PathBuf>,

    #[arg(
        long,
        value_name = "plain|excel|moodle|canvas",
        hide_possible_values = true,
        requires = "csv",
        help = tr(
            "The column layout of that table for the program that imports it; default: plain",
            "成绩表的列格式，与导入它的程序对应；不指定时为 plain"
        )
    )]
    pub columns: Option<Columns>,

    #[arg(
        long,
        value_name = "FILE",
        help = tr(
            "The points and deadlines of the exercises, a TOML file",
            "各练习的分值和截止时间（TOML 文件）"
        )
    )]
    pub marks: Option<PathBuf>,

    #[arg(
        long,
        value_name = "FOLDER",
        help = tr(
            "Write one file per student to this folder, with the result of each submission",
            "在此文件夹中为每名学生写一个文件，内容是每份答案的评分结果"
        )
    )]
    pub feedback: Option<PathBuf>,
}

impl Output {
    /// Returns true if any flag that applies only to a class is present.
    pub fn is_any(&self) -> bool {
        let files = [&self.out, &self.csv, &self.marks, &self.feedback];
        files.into_iter().any(Option::is_some)
    }
}

fn names_help() -> &'static str {
    tr(
        "One or more exercises by number, name, or both: 01, first-thread, 01-first-thread",
        "一道或几道练习：编号、名字，或两者，例如 01、first-thread、01-first-thread",
    )
}

fn name_help() -> &'static str {
    tr(
        "The exercise by number, name, or both: 01, first-thread, 01-first-thread",
        "练习的编号、名字，或两者，例如 01、first-thread、01-first-thread",
    )
}

/// Parses the command line. If it is invalid or asks for help, prints the message and returns the exit code
/// instead.
///
/// # Errors
///
/// Fails if the help cannot be printed.
pub fn flags(lang: Lang) -> anyhow::Result<Result<Flags, ExitCode>> {
    let arguments = std::env::args_os();
    let result = command(lang)
        .try_get_matches_from(arguments)
        .and_then(|matches| Flags::from_arg_matches(&matches));
    let error = match result {
        Ok(flags) => return Ok(Ok(flags)),
        Err(error) => error,
    };
    match (lang, error.use_stderr()) {
        // Ignore a closed standard error.
        (Lang::En, true) => note(visible(error.to_string().trim_end())),
        (Lang::Zh, true) => note(visible(&format_chinese(&error))),
        (Lang::En, false) => output::text(&error.to_string())?,
        (Lang::Zh, false) => output::text(&placeholders(&error.to_string()))?,
    }
    let code = u8::try_from(error.exit_code()).unwrap_or(output::EXIT_NOT_GRADED);
    Ok(Err(ExitCode::from(code)))
}

/// Returns clap's command with all options under one heading.
fn command(lang: Lang) -> clap::Command {
    let heading = move |argument: Arg| {
        let heading = match argument.is_positional() {
            true => lang.pick("Arguments", "参数"),
            false => lang.pick("Options", "选项"),
        };
        argument.help_heading(heading)
    };
    let mut command = Flags::command().mut_args(heading);
    let names = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned());
    for name in names.collect::<Vec<_>>() {
        command = command.mut_subcommand(name, |subcommand| subcommand.mut_args(heading));
    }
    command
}

/// Translates the placeholders that clap itself inserts.
fn placeholders(help: &str) -> String {
    let help = help.replacen("Usage: ", "用法：", 1);
    let help = help.replacen("[OPTIONS]", "[选项]", 1);
    help.replacen("[COMMAND]", "[命令]", 1)
}

/// Formats an error in Chinese, followed by the usage.
fn format_chinese(error: &Error) -> String {
    let problem = describe(error).unwrap_or_else(|| error.kind().to_string());
    let mut message = format!("错误：{problem}");
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        message += &format!("\n\n{}", placeholders(usage.to_string().trim_end()));
    }
    message + "\n\n完整的说明：--help"
}

/// Describes an error; `None` for kinds that these flags cannot cause.
fn describe(error: &Error) -> Option<String> {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join("、")),
        _ => None,
    };
    let argument = || text(ContextKind::InvalidArg);
    let value = || text(ContextKind::InvalidValue);
    Some(match error.kind() {
        ErrorKind::UnknownArgument => format!("没有参数“{}”", argument()?),
        ErrorKind::InvalidSubcommand => {
            format!("没有命令“{}”", text(ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::InvalidValue if value()?.is_empty() => format!("“{}”缺少值", argument()?),
        ErrorKind::InvalidValue => {
            let valid = text(ContextKind::ValidValue)?;
            format!("“{}”不能是“{}”，可以是：{valid}", argument()?, value()?)
        }
        ErrorKind::ValueValidation => {
            let reason = explain_value(error);
            format!("“{}”不能是“{}”：{reason}", argument()?, value()?)
        }
        ErrorKind::MissingRequiredArgument => format!("缺少参数：{}", argument()?),
        ErrorKind::InvalidUtf8 => "参数不是 Unicode 文本".to_owned(),
        ErrorKind::ArgumentConflict => match text(ContextKind::PriorArg) {
            Some(other) if Some(&other) != argument().as_ref() => {
                format!("“{}”不能与“{other}”同时使用", argument()?)
            }
            _ => format!("“{}”只能出现一次", argument()?),
        },
        _ => return None,
    })
}

/// Explains why a flag's value is invalid.
fn explain_value(error: &Error) -> String {
    let Some(source) = error.source() else {
        return "格式不对".to_owned();
    };
    if source.is::<ParseIntError>() {
        return "应为整数".to_owned();
    }
    let message = source.to_string();
    match message.split_once(" is not in ") {
        Some((_, range)) => format!("应在 {range} 之内"),
        // Our own value parsers already use Chinese.
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_for(arguments: &str) -> String {
        let arguments = arguments.split(' ').filter(|argument| !argument.is_empty());
        let arguments = ["exercises"].into_iter().chain(arguments);
        let result = command(Lang::Zh).try_get_matches_from(arguments);
        format_chinese(&result.expect_err("an error"))
    }

    #[test]
    fn errors_are_reported_in_chinese() {
        for (arguments, parts) in [
            ("--nope", &["没有参数“--nope”", "用法：exercises"][..]),
            ("chek", &["没有命令“chek”", "[选项] [命令]"]),
            ("check --seed", &["“--seed <NUMBER>”缺少值"]),
            ("check --seed many", &["“many”", "应为整数"]),
            ("check --seconds 0", &["“0”", "应在 1..=3600 之内"]),
            ("check 01 --all", &["“[NAME]...”", "“--all”", "同时使用"]),
            ("check --all --all", &["“--all”只能出现一次"]),
            ("reset", &["缺少参数：<NAME>", "用法：exercises reset"]),
            ("list --lang fr", &["“fr”", "可以是：en、zh"]),
            (
                "check --all --seed 1 --submissions x --shard 3/2",
                &["“3/2”", "K/N"],
            ),
        ] {
            let message = message_for(arguments);
            assert!(message.starts_with("错误："), "{arguments}: {message}");
            for part in parts {
                assert!(
                    message.contains(part),
                    "{arguments}: no '{part}' in {message}"
                );
            }
            let untranslated = ["error", "Usage", "For more"];
            assert!(
                !untranslated.iter().any(|word| message.contains(word)),
                "{message}"
            );
        }
    }

    #[test]
    fn options_have_one_heading() {
        for lang in [Lang::En, Lang::Zh] {
            let result = command(lang).try_get_matches_from(["exercises", "check", "--help"]);
            let help = result.expect_err("the help").to_string();
            let options = lang.pick("Options:", "选项:");
            assert_eq!(help.matches(options).count(), 1, "{help}");
            assert!(help.contains(lang.pick("Arguments:", "参数:")), "{help}");
        }
    }
}
