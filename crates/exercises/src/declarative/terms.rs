//! The terms of outputs whose description defines them as sums.

use launch_plan::ResolvedPlan;
use launch_plan::contents::ElementScope;
use launch_plan::expression::{Expression, Operator};

use crate::host::Terms;

/// Returns the terms of these elements; `None` if `expect` is not a sum.
pub fn evaluate(expect: &str, ready: &ResolvedPlan, indices: &[usize]) -> Option<Vec<Terms>> {
    let sum = Expression::parse(expect).ok()?;
    let equal = with_equality(&sum);
    let terms_of = |&index: &usize| {
        let values = ElementScope {
            index,
            values: ready,
        };
        let terms = sum.terms(&values)?.ok()?;
        let equal = equal.as_ref().and_then(|equal| equal.value(&values).ok());
        Some(Terms {
            values: terms.iter().map(|term| term.to_float()).collect(),
            equal: equal.map(|equal| equal.to_float()),
        })
    };
    indices.iter().map(terms_of).collect()
}

/// Returns the sum with `==` instead of the ordering comparison in each term; `None` if the terms are no
/// ordering comparisons.
fn with_equality(sum: &Expression) -> Option<Expression> {
    use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual};
    let Expression::Sum(name, operands) = sum else {
        return None;
    };
    let [from, to, of] = (**operands).clone();
    let Expression::Binary(Greater | GreaterOrEqual | Less | LessOrEqual, both) = of else {
        return None;
    };
    let equal = Expression::Binary(Operator::Equal, both);
    Some(Expression::Sum(name.clone(), Box::new([from, to, equal])))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn comparisons_count_equal_pairs() {
        let text = "[[buffer]]\nname = \"in\"\ntype = \"int\"\ncount = 4\nfill = { values = [3, 5, 3, 1] }\n";
        let plan = toml::from_str(text).unwrap();
        let ready = ResolvedPlan::within(&plan, text, Path::new(""), &[], 0).unwrap();
        let evaluate = |expect| evaluate(expect, &ready, &[0, 3]);
        let terms = evaluate("sum(k, i, 4, in[k] > 3)").unwrap();
        assert_eq!(terms[0].values, [0.0, 1.0, 0.0, 0.0]);
        assert_eq!((terms[0].equal, terms[1].equal), (Some(2.0), Some(0.0)));
        let terms = evaluate("sum(k, i, 4, in[k])").unwrap();
        assert_eq!((&terms[1].values[..], terms[1].equal), (&[1.0][..], None));
        assert!(evaluate("in[i]").is_none());
    }
}
