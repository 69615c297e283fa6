//! The `new` command, which creates an exercise in a teacher's course. The template passes its own tests.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::course::parse_name;
use crate::files::{display_path, write_new};
use crate::lang::Lang;
use crate::output;

/// Expands to the names and contents of a new exercise's files.
macro_rules! template {
    ($($file:literal),*) => {
        [$(($file, include_str!(concat!("new/", $file)))),*]
    };
}

const TEMPLATE: [(&str, &str); 8] = template!(
    "exercise.toml",
    "statement.en.md",
    "statement.zh.md",
    "start.cu",
    "solution.cu",
    "wrong/no-bounds.cu",
    "wrong/half.cu",
    "right/backwards.cu"
);

/// Creates the exercise's folder and prints the next steps.
pub fn run(course: Option<&Path>, name: &str) -> Result<ExitCode> {
    let lang = Lang::current();
    let course = course.ok_or_else(|| {
        anyhow!(localize!(
            lang,
            "specify the course with --course FOLDER, which is created if it does not exist",
            "请用 --course FOLDER 指定课程；文件夹不存在时会新建"
        ))
    })?;
    parse_name(name, lang)?;
    let folder = course.join(name);
    ensure!(
        fs::symlink_metadata(&folder).is_err(),
        localize!(
            lang,
            "{} already exists: choose another name",
            "{} 已经存在：请换一个名字";
            display_path(&folder)
        )
    );
    for subfolder in ["wrong", "right"] {
        let path = folder.join(subfolder);
        fs::create_dir_all(&path).with_context(|| display_path(&path))?;
    }
    for (file, text) in TEMPLATE {
        write_new(&folder.join(file), text)?;
    }
    let (folder, course) = (display_path(&folder), display_path(course));
    output::line(localize!(
        lang,
        "Created {0}. It doubles numbers; change it to your own exercise:\n\n  {0}/exercise.toml   \
         launches, sizes, targets, hints\n  {0}/start.cu        the file that students start with\n\
           {0}/solution.cu     the solution; its results are the reference\n  {0}/statement.en.md, \
         statement.zh.md\n  {0}/wrong, right    submissions to test it with\n\nTest it:  cargo run \
         -p exercises -- --course {1} test {2}",
        "已新建 {0}。它现在的内容是把数加倍，请改成你自己的练习：\n\n  {0}/exercise.toml   启动、\
         规模、目标、提示\n  {0}/start.cu        学生的初始文件\n  {0}/solution.cu     参考答案；\
         它的计算结果就是参考结果\n  {0}/statement.en.md、statement.zh.md\n  {0}/wrong、right    \
         用来测试它的答案\n\n测试：  cargo run -p exercises -- --course {1} test {2}";
        folder, course, name
    ))?;
    Ok(ExitCode::SUCCESS)
}
