//! What an expression comes to.

use super::parse::visit;
use super::{Expression, Function, Of, Operator, Value};

/// What names and elements are.
pub trait Values {
    /// The number of this name.
    fn number(&self, name: &str) -> Option<Value>;

    /// An element of the buffer of this name; none where there is no such buffer.
    ///
    /// # Errors
    ///
    /// Where it has no such element.
    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>>;
}

/// Another number besides.
struct With<'a> {
    name: &'a str,
    value: Value,
    values: &'a dyn Values,
}

impl Values for With<'_> {
    fn number(&self, name: &str) -> Option<Value> {
        match name == self.name {
            true => Some(self.value),
            false => self.values.number(name),
        }
    }

    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
        self.values.element(buffer, index)
    }
}

impl Expression {
    /// Its value.
    ///
    /// # Errors
    ///
    /// A name that there is not, an element beyond a buffer, a division by zero.
    pub fn value(&self, values: &dyn Values) -> Result<Value, String> {
        Ok(match self {
            Expression::Number(value) => *value,
            Expression::Name(name) => {
                let value = values.number(name);
                value.ok_or_else(|| format!("there is no number {name}"))?
            }
            Expression::Element(buffer, index) => {
                let index = index.value(values)?.whole();
                let element = values.element(buffer, index);
                element.ok_or_else(|| format!("there is no buffer {buffer}"))??
            }
            Expression::Negative(one) => match one.value(values)? {
                Value::Whole(value) => Value::Whole(value.wrapping_neg()),
                Value::Float(value) => Value::Float(-value),
            },
            Expression::Not(one) => truth(!is_true(one.value(values)?)),
            Expression::Two(Operator::And, both) => {
                truth(is_true(both[0].value(values)?) && is_true(both[1].value(values)?))
            }
            Expression::Two(Operator::Or, both) => {
                truth(is_true(both[0].value(values)?) || is_true(both[1].value(values)?))
            }
            Expression::Two(operator, both) => {
                two(*operator, both[0].value(values)?, both[1].value(values)?)?
            }
            Expression::Choice(three) => {
                let [condition, one, other] = &**three;
                let chosen = if is_true(condition.value(values)?) {
                    one
                } else {
                    other
                };
                chosen.value(values)?
            }
            Expression::Call(function, arguments) => {
                let arguments: Result<Vec<Value>, String> = arguments
                    .iter()
                    .map(|argument| argument.value(values))
                    .collect();
                call(*function, &arguments?)
            }
            Expression::Sum(name, three) => {
                let mut sum = Value::Whole(0);
                for term in terms(name, three, values)? {
                    sum = two(Operator::Plus, sum, term?)?;
                }
                sum
            }
        })
    }

    /// What it adds, where it is a sum.
    ///
    /// # Errors
    ///
    /// As [`Self::value`].
    pub fn terms(&self, values: &dyn Values) -> Option<Result<Vec<Value>, String>> {
        match self {
            Expression::Sum(name, three) => {
                Some(terms(name, three, values).and_then(Iterator::collect))
            }
            _ => None,
        }
    }

    /// Whether this name of a number is in it.
    pub fn has(&self, name: &str) -> bool {
        let mut found = false;
        visit(self, &mut |one| {
            found |= matches!(one, Expression::Name(known) if known == name);
        });
        found
    }
}

/// The terms of a sum, one after the other.
fn terms<'a>(
    name: &'a str,
    [from, to, of]: &'a [Expression; 3],
    values: &'a dyn Values,
) -> Result<impl Iterator<Item = Result<Value, String>> + 'a, String> {
    let (from, to) = (from.value(values)?.whole(), to.value(values)?.whole());
    Ok((from..to).map(move |value| {
        let value = Value::Whole(value);
        of.value(&With {
            name,
            value,
            values,
        })
    }))
}

fn truth(is: bool) -> Value {
    Value::Whole(is.into())
}

fn is_true(value: Value) -> bool {
    match value {
        Value::Whole(value) => value != 0,
        Value::Float(value) => value != 0.0,
    }
}

fn two(operator: Operator, one: Value, other: Value) -> Result<Value, String> {
    Ok(match (one, other) {
        (Value::Whole(one), Value::Whole(other)) => whole(operator, one, other)?,
        _ => float(operator, one.float(), other.float())?,
    })
}

fn whole(operator: Operator, one: i128, other: i128) -> Result<Value, String> {
    if other == 0 && matches!(operator, Operator::By | Operator::Rest) {
        return Err("a whole number is divided by 0".to_owned());
    }
    let places = u32::try_from(other).unwrap_or(u32::MAX);
    Ok(Value::Whole(match operator {
        Operator::Plus => one.wrapping_add(other),
        Operator::Minus => one.wrapping_sub(other),
        Operator::Times => one.wrapping_mul(other),
        Operator::By => one.wrapping_div(other),
        Operator::Rest => one.wrapping_rem(other),
        Operator::BitOr => one | other,
        Operator::BitXor => one ^ other,
        Operator::BitAnd => one & other,
        Operator::Left => one.checked_shl(places).unwrap_or(0),
        Operator::Right => one.checked_shr(places).unwrap_or(0),
        _ => return Ok(truth(compared(operator, one.partial_cmp(&other)))),
    }))
}

fn float(operator: Operator, one: f64, other: f64) -> Result<Value, String> {
    Ok(Value::Float(match operator {
        Operator::Plus => one + other,
        Operator::Minus => one - other,
        Operator::Times => one * other,
        Operator::By => one / other,
        Operator::Rest => one % other,
        Operator::BitOr
        | Operator::BitXor
        | Operator::BitAnd
        | Operator::Left
        | Operator::Right => {
            return Err("bits are of whole numbers only".to_owned());
        }
        _ => return Ok(truth(compared(operator, one.partial_cmp(&other)))),
    }))
}

fn compared(operator: Operator, order: Option<std::cmp::Ordering>) -> bool {
    let Some(order) = order else {
        return operator == Operator::Unequal;
    };
    match operator {
        Operator::Equal => order.is_eq(),
        Operator::Unequal => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// A function's value; it has as many arguments as it takes.
fn call(function: Function, arguments: &[Value]) -> Value {
    let one = arguments[0];
    let other = arguments.last().copied().unwrap_or(one);
    let less = match (one, other) {
        (Value::Whole(one), Value::Whole(other)) => one < other,
        _ => one.float() < other.float(),
    };
    match function.of {
        Of::One(of) => Value::Float(of(one.float())),
        Of::Two(of) => Value::Float(of(one.float(), other.float())),
        Of::Absolute => match one {
            Value::Whole(value) => Value::Whole(value.wrapping_abs()),
            Value::Float(value) => Value::Float(value.abs()),
        },
        Of::Least => {
            if less {
                one
            } else {
                other
            }
        }
        Of::Greatest => {
            if less {
                other
            } else {
                one
            }
        }
        Of::Whole => Value::Whole(one.whole()),
        Of::Float => Value::Float(one.float()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known;

    impl Values for Known {
        fn number(&self, name: &str) -> Option<Value> {
            match name {
                "n" => Some(Value::Whole(1000)),
                "x" => Some(Value::Float(0.5)),
                _ => None,
            }
        }

        fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
            (buffer == "a").then(|| match index {
                0..10 => Ok(Value::Whole(index * index)),
                _ => Err(format!("a has no element {index}")),
            })
        }
    }

    fn of(text: &str) -> Result<Value, String> {
        Expression::read(text)?.value(&Known)
    }

    #[test]
    fn arithmetic_is_cs() {
        for (text, value) in [
            ("(n + 255) / 256", 4),
            ("1 + 2 * 3 - 4", 3),
            ("10 - 3 - 2", 5),
            ("-7 / 2", -3),
            ("-7 % 3", -1),
            ("1 << 4 | 3 & 2", 18),
            ("2 < 3 && !(3 <= 2) || 0", 1),
            ("n == 1000 ? 7 : 8", 7),
            ("n != 1000 ? 7 : n > 5 ? 9 : 8", 9),
            ("a[2 + 1]", 9),
            ("sum(k, 0, 4, a[k] * 2)", 28),
            ("sum(k, 0, 3, sum(j, 0, k, 1))", 3),
            ("min(3, 2) + max(3, 2) + abs(-4)", 9),
            ("int(3.9) + 00", 3),
            ("5^1", 4),
        ] {
            assert_eq!(of(text), Ok(Value::Whole(value)), "{text}");
        }
        for (text, value) in [
            ("1 / 2.0", 0.5),
            ("x * 3", 1.5),
            (".5f + 1e1", 10.5),
            ("float(1) / 4", 0.25),
            ("sqrt(16) + pow(2, 3)", 12.0),
            ("f32(0.1)", f64::from(0.1_f32)),
            ("1.5 - -1.5", 3.0),
            ("x > 1 ? 1.0 : 2.0", 2.0),
        ] {
            assert_eq!(of(text), Ok(Value::Float(value)), "{text}");
        }
    }

    #[test]
    fn a_sum_has_terms() {
        let terms = |text| Expression::read(text).unwrap().terms(&Known);
        let squares = [1, 4, 9].map(Value::Whole).to_vec();
        assert_eq!(terms("sum(k, 1, 4, a[k])"), Some(Ok(squares)));
        assert!(terms("sum(k, 9, 11, a[k])").unwrap().is_err());
        assert_eq!(terms("a[1] + a[2]"), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("1 +", "ends too soon"),
            ("1 + )", "from ')' on"),
            ("3 4", "from '4' on"),
            ("m + 1", "there is no number m"),
            ("b[0]", "there is no buffer b"),
            ("a[10]", "a has no element 10"),
            ("1 / (n - 1000)", "divided by 0"),
            ("nothing(3)", "is not understood"),
            ("pow(3)", "pow takes 2 numbers, and 1 are given"),
            ("1.5 & 1", "whole numbers only"),
            ("", "ends too soon"),
            (
                "99999999999999999999999999999999999999999",
                "is not understood",
            ),
        ] {
            let why = of(text).unwrap_err();
            assert!(why.contains(said), "{text}: {why}");
        }
        assert!(of(&"(".repeat(5000)).unwrap_err().contains("more than 100"));
    }
}
