//! Substitution of known names by their values, to avoid looking them up for every element.

use super::{Expression, Values};

impl Expression {
    /// Replaces all names that have a value.
    pub fn substitute(self, values: &dyn Values) -> Expression {
        self.substitute_except(values, &[])
    }

    /// Replaces names except those bound by an enclosing sum.
    fn substitute_except(self, values: &dyn Values, bound: &[&str]) -> Expression {
        let substitute_boxed = |operand: Box<Expression>, bound: &[&str]| {
            Box::new(operand.substitute_except(values, bound))
        };
        match self {
            Expression::Name(name) => match values.number(&name) {
                Some(value) if !bound.contains(&name.as_str()) && name != "i" => {
                    Expression::Number(value)
                }
                _ => Expression::Name(name),
            },
            Expression::Number(value) => Expression::Number(value),
            Expression::Element(buffer, index) => {
                Expression::Element(buffer, substitute_boxed(index, bound))
            }
            Expression::Negate(operand) => Expression::Negate(substitute_boxed(operand, bound)),
            Expression::Not(operand) => Expression::Not(substitute_boxed(operand, bound)),
            Expression::Binary(operator, operands) => Expression::Binary(
                operator,
                Box::new(operands.map(|operand| operand.substitute_except(values, bound))),
            ),
            Expression::Conditional(operands) => Expression::Conditional(Box::new(
                operands.map(|operand| operand.substitute_except(values, bound)),
            )),
            Expression::Call(function, arguments) => {
                let arguments = arguments
                    .into_iter()
                    .map(|operand| operand.substitute_except(values, bound));
                Expression::Call(function, arguments.collect())
            }
            Expression::Sum(name, operands) => {
                let [from, to, term] = *operands;
                let mut inner = bound.to_vec();
                inner.push(&name);
                let term = term.substitute_except(values, &inner);
                let operands = [
                    from.substitute_except(values, bound),
                    to.substitute_except(values, bound),
                    term,
                ];
                Expression::Sum(name.clone(), Box::new(operands))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Value;

    struct Scope;

    impl Values for Scope {
        fn number(&self, name: &str) -> Option<Value> {
            ["n", "k", "i"].contains(&name).then_some(Value::Integer(7))
        }

        fn element(&self, _: &str, _: i128) -> Option<Result<Value, String>> {
            None
        }
    }

    #[test]
    fn known_names_are_substituted_except_loop_indices() {
        for (text, expected) in [
            ("n + i", "7 + i"),
            ("sum(k, 0, n + k, a[k - n])", "sum(k, 0, 7 + 7, a[k - 7])"),
            ("max(-n, !m) < n ? n : other", "max(-7, !m) < 7 ? 7 : other"),
        ] {
            let parse = |text| Expression::parse(text).unwrap();
            assert_eq!(parse(text).substitute(&Scope), parse(expected), "{text}");
        }
    }
}
