//! Feedback on predictions: which are wrong, without revealing the correct values.

use crate::lang::Lang;

/// Lists the wrong predictions with the values that the student gave.
pub fn describe(things: &[&str], wrong: &[bool], said: &[String], lang: Lang) -> String {
    let each = things.iter().zip(wrong).zip(said);
    let each = each.filter(|((_, wrong), _)| **wrong);
    let each = each.map(|((thing, _), said)| {
        say!(
            lang,
            "`{}`: you said {}, which is not right.",
            "`{}`：你的预测是 {}，不对。";
            thing, said
        )
    });
    let mut lines: Vec<String> = each.collect();
    let right = wrong.iter().filter(|&&wrong| !wrong).count();
    lines.push(say!(
        lang,
        "{} of {} right.",
        "{1} 个中有 {0} 个正确。";
        right, wrong.len()
    ));
    lines.push(match right {
        0 => say!(
            lang,
            "Read once more what is asked for, and in which unit.",
            "请再看一遍题目：要的是什么，单位是什么。"
        ),
        _ => say!(
            lang,
            "Your rule fits the others: what is different in those named here?",
            "你的算法对其余的都成立：上面列出的这些有什么不同？"
        ),
    });
    lines.join("\n")
}
