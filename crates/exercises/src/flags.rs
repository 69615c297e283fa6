//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::class::{Columns, Shard};
use crate::lang::{Lang, tr};

/// The program's flags.
#[derive(Debug, Parser)]
#[command(
    name = "exercises",
    about = tr(
        "CUDA's memories by doing: exercises graded by results, checks and counters.\n\
         Without a command: where you are, and what is next.",
        "在动手中学习 CUDA 的各种内存：练习按结果、检查和计数器评分。\n\
         不带命令运行时，显示目前的进度和下一题。"
    ),
    after_help = tr(
        "Exit codes: 0 passed, 1 not passed, 2 could not be graded; 130 ended by Ctrl-C, 143 by SIGTERM, 129 by \
         SIGHUP, 141 because nobody reads its output.",
        "退出码：0 通过，1 未通过，2 无法评分；130 被 Ctrl-C 中断，143 被 SIGTERM 终止，129 被 SIGHUP 终止，141 输出无人读取。"
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
            "The language of what is said; the system's, if it is not given",
            "输出的语言；不指定时跟随系统"
        )
    )]
    pub lang: Option<Lang>,

    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        help = tr(
            "Where your answers are: `exercises` in the checkout, if it is not given",
            "答案所在的文件夹；不指定时为代码库根目录下的 `exercises`"
        )
    )]
    pub dir: Option<PathBuf>,

    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        help = tr(
            "A course of your own in place of this one: a folder with a folder for each exercise",
            "用你自己的课程代替本课程：该文件夹中每道练习一个子文件夹"
        )
    )]
    pub course: Option<PathBuf>,

    #[arg(
        long,
        global = true,
        help = tr("Print JSON in place of text", "输出 JSON 而不是文字")
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
    #[command(about = tr("All exercises, and which have passed", "列出所有练习及通过情况"))]
    List,

    #[command(about = tr(
        "Grade your answer to an exercise: the next one, if none is named",
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
        "What an exercise asks for: the next one, if none is named",
        "显示题目；不指定时为下一题"
    ))]
    Statement {
        #[arg(value_name = "NAME", help = name_help())]
        name: Option<String>,
    },

    #[command(about = tr(
        "One more hint to an exercise: the next one, if none is named",
        "再给一条提示；不指定时为下一题"
    ))]
    Hint {
        #[arg(value_name = "NAME", help = name_help())]
        name: Option<String>,
    },

    #[command(about = tr(
        "Put the start file back; your text is kept beside it",
        "恢复初始文件；你写的内容会另存在旁边"
    ))]
    Reset {
        #[arg(value_name = "NAME", help = name_help())]
        name: String,
    },

    #[command(about = tr(
        "The course's own answer, once yours has passed",
        "显示参考答案（在你的答案通过之后）"
    ))]
    Solution {
        #[arg(value_name = "NAME", help = name_help())]
        name: String,
        #[arg(long, help = tr("Show it in any case", "不论是否通过都显示"))]
        give_up: bool,
    },

    #[command(about = tr(
        "Make one record of those of all shards",
        "把各分片的记录合并为一份"
    ))]
    Merge {
        #[arg(
            required = true,
            value_name = "RECORD",
            help = tr("What each shard wrote with --out", "各分片用 --out 写出的文件")
        )]
        records: Vec<PathBuf>,

        #[command(flatten)]
        output: Output,
    },

    #[command(about = tr(
        "Make a new exercise in the folder that --course names: it passes its own tests at once",
        "在 --course 指定的文件夹中新建一道练习，它一开始就能通过自己的测试"
    ))]
    New {
        #[arg(value_name = "NAME", help = tr(
            "Number and name, as 01-double",
            "编号和名字，例如 01-double"
        ))]
        name: String,
    },

    #[command(about = tr(
        "Test exercises: start files and wrong answers are rejected where they say, solutions and right answers pass",
        "测试练习：初始文件和错误答案应在其注明的步骤被拒，参考答案和正确答案应通过"
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
        help = tr("Grade all answers", "给所有答案评分")
    )]
    pub all: bool,

    #[arg(
        long,
        value_name = "FILE",
        requires = "names",
        help = tr(
            "Grade this file in place of the one in your folder",
            "给这个文件评分，而不是文件夹里的答案"
        )
    )]
    pub file: Option<PathBuf>,

    #[arg(
        long,
        value_name = "NUMBER",
        help = tr(
            "What random sizes and inputs are drawn from; drawn anew each time, if it is not given",
            "随机大小和随机输入的种子；不指定时每次重新选取"
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
            "How many seconds an answer may take; 60, if it is not given",
            "每份答案最多可用的秒数；不指定时为 60"
        )
    )]
    pub seconds: u64,

    #[arg(
        long,
        help = tr(
            "Print all counters of the graded size as well",
            "另外列出计数所用大小下的全部计数器"
        )
    )]
    pub counters: bool,

    #[arg(
        long,
        help = tr(
            "Print your file's lines with what each made the memory system do, the costly ones marked",
            "列出你的文件中各行对内存系统做了什么，并标出代价大的行"
        )
    )]
    pub lines: bool,

    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "all",
        help = tr(
            "Draw a warp's access that makes a counter miss its target, beside what was meant, as SVG into this file",
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
            "Grade a class: a folder with one folder a student; goes with --all, or with names of exercises",
            "给全班评分：该文件夹中每名学生一个子文件夹；与 --all 或练习名一起使用"
        )
    )]
    pub submissions: Option<PathBuf>,

    #[arg(
        long,
        value_name = "K/N",
        requires_all = ["submissions", "seed"],
        help = tr(
            "Grade part K of N only; `merge` makes one record of all parts",
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
            "How many answers are graded at a time; as many as there are processors, if it is not given, \
             and one on a GPU",
            "同时评分的份数；不指定时为处理器的个数，在 GPU 上为 1"
        )
    )]
    pub jobs: Option<u32>,

    #[arg(
        long,
        value_name = "FILE",
        requires = "submissions",
        help = tr(
            "Write answers that are like each other, or like the solution, to this file, as CSV",
            "把彼此相似或与参考答案相似的答案写入此文件（CSV）"
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
        help = tr("Write a class's record to this file, as JSON", "把全班的记录以 JSON 写入此文件")
    )]
    pub out: Option<PathBuf>,

    #[arg(
        long,
        value_name = "FILE",
        help = tr(
            "Write a class's table to this file: a row a student, a column an exercise",
            "把全班的成绩表写入此文件：每名学生一行，每道练习一列"
        )
    )]
    pub csv: Option<PathBuf>,

    #[arg(
        long,
        value_name = "plain|excel|moodle|canvas",
        hide_possible_values = true,
        requires = "csv",
        help = tr(
            "The columns of that table, for what imports it; plain, if it is not given",
            "成绩表的列，供相应的程序导入；不指定时为 plain"
        )
    )]
    pub columns: Option<Columns>,

    #[arg(
        long,
        value_name = "FILE",
        help = tr(
            "What exercises are worth and when they are due, a file in TOML",
            "各练习的分值和截止时间（TOML 文件）"
        )
    )]
    pub marks: Option<PathBuf>,

    #[arg(
        long,
        value_name = "FOLDER",
        help = tr(
            "Write a file for each student to this folder: what was said of each answer",
            "在此文件夹中为每名学生写一个文件，内容是对每份答案的评语"
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
        "The exercise, or several: number, name, or both, as 01, first-thread, 01-first-thread",
        "一道或几道练习：编号、名字，或两者，例如 01、first-thread、01-first-thread",
    )
}

fn name_help() -> &'static str {
    tr(
        "The exercise: its number, its name, or both, as 01, first-thread, 01-first-thread",
        "练习的编号、名字，或两者，例如 01、first-thread、01-first-thread",
    )
}
