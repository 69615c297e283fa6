//! Feedback on predictions: which are wrong, without revealing the correct values.

use crate::lang::Lang;

/// Lists the wrong predictions with the values that the student gave.
pub fn describe(labels: &[String], wrong: &[bool], predictions: &[String], lang: Lang) -> String {
    let lines = labels.iter().zip(wrong).zip(predictions);
    let lines = lines.filter(|((_, wrong), _)| **wrong);
    let lines = lines.map(|((label, _), prediction)| {
        localize!(
            lang,
            "`{}`: you predicted {}, which is wrong.",
            "`{}`：你的预测是 {}，不对。";
            label, prediction
        )
    });
    let mut lines: Vec<String> = lines.collect();
    let correct = wrong.iter().filter(|&&wrong| !wrong).count();
    lines.push(localize!(
        lang,
        "{} of {} correct.",
        "{1} 个中有 {0} 个正确。";
        correct, wrong.len()
    ));
    lines.push(match correct {
        0 => localize!(
            lang,
            "Read the statement again: which quantity is required, and in which unit?",
            "请再看一遍题目：要求的是什么量，单位是什么？"
        ),
        _ => localize!(
            lang,
            "Your rule works for the others: what is different about those listed here?",
            "你的算法对其余的都成立：上面列出的这些有什么不同？"
        ),
    });
    lines.join("\n")
}
