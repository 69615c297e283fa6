//! Names that are known become numbers, so that they are not looked up for every element.

use super::{Expression, Values};

impl Expression {
    /// The same, where the numbers that have a value already stand as this value.
    pub fn with(self, values: &dyn Values) -> Expression {
        self.replaced(values, &[])
    }

    /// The same but for these names, which mean something else here.
    fn replaced(self, values: &dyn Values, own: &[&str]) -> Expression {
        let boxed = |one: Box<Expression>, own: &[&str]| Box::new(one.replaced(values, own));
        match self {
            Expression::Name(name) => match values.number(&name) {
                Some(value) if !own.contains(&name.as_str()) && name != "i" => {
                    Expression::Number(value)
                }
                _ => Expression::Name(name),
            },
            Expression::Number(value) => Expression::Number(value),
            Expression::Element(buffer, index) => Expression::Element(buffer, boxed(index, own)),
            Expression::Negative(one) => Expression::Negative(boxed(one, own)),
            Expression::Not(one) => Expression::Not(boxed(one, own)),
            Expression::Two(operator, both) => {
                Expression::Two(operator, Box::new(both.map(|it| it.replaced(values, own))))
            }
            Expression::Choice(three) => {
                Expression::Choice(Box::new(three.map(|it| it.replaced(values, own))))
            }
            Expression::Call(function, arguments) => {
                let arguments = arguments.into_iter().map(|it| it.replaced(values, own));
                Expression::Call(function, arguments.collect())
            }
            Expression::Sum(name, three) => {
                let [from, to, of] = *three;
                let mut within = own.to_vec();
                within.push(&name);
                let of = of.replaced(values, &within);
                let three = [from.replaced(values, own), to.replaced(values, own), of];
                Expression::Sum(name.clone(), Box::new(three))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Value;

    struct Known;

    impl Values for Known {
        fn number(&self, name: &str) -> Option<Value> {
            ["n", "k", "i"].contains(&name).then_some(Value::Whole(7))
        }

        fn element(&self, _: &str, _: i128) -> Option<Result<Value, String>> {
            None
        }
    }

    #[test]
    fn known_names_become_numbers_but_for_those_that_count() {
        for (text, replaced) in [
            ("n + i", "7 + i"),
            ("sum(k, 0, n + k, a[k - n])", "sum(k, 0, 7 + 7, a[k - 7])"),
            ("max(-n, !m) < n ? n : other", "max(-7, !m) < 7 ? 7 : other"),
        ] {
            let read = |text| Expression::read(text).unwrap();
            assert_eq!(read(text).with(&Known), read(replaced), "{text}");
        }
    }
}
