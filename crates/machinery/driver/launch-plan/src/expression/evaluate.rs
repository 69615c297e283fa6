//! Evaluation of expressions.

use super::parse::visit;
use super::{Expression, Function, Implementation, Operator, Value};

/// The scope of an expression: numbers and buffers by name.
pub trait Values {
    /// Returns the number with this name, or `None`.
    fn number(&self, name: &str) -> Option<Value>;

    /// Returns an element of the buffer with this name, or `None` if there is no such buffer.
    ///
    /// # Errors
    ///
    /// Fails if the index is out of range.
    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>>;
}

/// A scope with one additional number.
struct Binding<'a> {
    name: &'a str,
    value: Value,
    values: &'a dyn Values,
}

impl Values for Binding<'_> {
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
    /// Evaluates the expression.
    ///
    /// # Errors
    ///
    /// Fails on an undefined name, an index out of range or an integer division by zero.
    pub fn value(&self, values: &dyn Values) -> Result<Value, String> {
        Ok(match self {
            Expression::Number(value) => *value,
            Expression::Name(name) => {
                let value = values.number(name);
                value.ok_or_else(|| format!("undefined number {name}"))?
            }
            Expression::Element(buffer, index) => {
                let index = index.value(values)?.to_integer();
                let element = values.element(buffer, index);
                element.ok_or_else(|| format!("undefined buffer {buffer}"))??
            }
            Expression::Negate(operand) => match operand.value(values)? {
                Value::Integer(value) => Value::Integer(value.wrapping_neg()),
                Value::Float(value) => Value::Float(-value),
            },
            Expression::Not(operand) => from_bool(!is_true(operand.value(values)?)),
            Expression::Binary(Operator::And, operands) => from_bool(
                is_true(operands[0].value(values)?) && is_true(operands[1].value(values)?),
            ),
            Expression::Binary(Operator::Or, operands) => from_bool(
                is_true(operands[0].value(values)?) || is_true(operands[1].value(values)?),
            ),
            Expression::Binary(operator, operands) => binary(
                *operator,
                operands[0].value(values)?,
                operands[1].value(values)?,
            )?,
            Expression::Conditional(parts) => {
                let [condition, when_true, when_false] = &**parts;
                let branch = if is_true(condition.value(values)?) {
                    when_true
                } else {
                    when_false
                };
                branch.value(values)?
            }
            Expression::Call(function, arguments) => {
                let arguments: Result<Vec<Value>, String> = arguments
                    .iter()
                    .map(|argument| argument.value(values))
                    .collect();
                call(*function, &arguments?)
            }
            Expression::Sum(name, operands) => {
                let mut sum = Value::Integer(0);
                for term in terms(name, operands, values)? {
                    sum = binary(Operator::Add, sum, term?)?;
                }
                sum
            }
        })
    }

    /// Evaluates the terms of a sum, or returns `None` if the expression is not a sum.
    ///
    /// # Errors
    ///
    /// Fails like [`Self::value`].
    pub fn terms(&self, values: &dyn Values) -> Option<Result<Vec<Value>, String>> {
        match self {
            Expression::Sum(name, operands) => {
                Some(terms(name, operands, values).and_then(Iterator::collect))
            }
            _ => None,
        }
    }

    /// Returns true if the expression refers to the number with this name.
    pub fn mentions(&self, name: &str) -> bool {
        let mut is_found = false;
        visit(self, &mut |expression| {
            is_found |= matches!(expression, Expression::Name(candidate) if candidate == name);
        });
        is_found
    }
}

/// Returns an iterator over the terms of a sum.
fn terms<'a>(
    name: &'a str,
    [from, to, term]: &'a [Expression; 3],
    values: &'a dyn Values,
) -> Result<impl Iterator<Item = Result<Value, String>> + 'a, String> {
    let (from, to) = (
        from.value(values)?.to_integer(),
        to.value(values)?.to_integer(),
    );
    Ok((from..to).map(move |value| {
        let value = Value::Integer(value);
        term.value(&Binding {
            name,
            value,
            values,
        })
    }))
}

fn from_bool(condition: bool) -> Value {
    Value::Integer(condition.into())
}

fn is_true(value: Value) -> bool {
    match value {
        Value::Integer(value) => value != 0,
        Value::Float(value) => value != 0.0,
    }
}

fn binary(operator: Operator, left: Value, right: Value) -> Result<Value, String> {
    Ok(match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => integer_operation(operator, left, right)?,
        _ => float_operation(operator, left.to_float(), right.to_float())?,
    })
}

fn integer_operation(operator: Operator, left: i128, right: i128) -> Result<Value, String> {
    if right == 0 && matches!(operator, Operator::Divide | Operator::Remainder) {
        return Err("integer division by zero".to_owned());
    }
    let shift = u32::try_from(right).unwrap_or(u32::MAX);
    Ok(Value::Integer(match operator {
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        Operator::Divide => left.wrapping_div(right),
        Operator::Remainder => left.wrapping_rem(right),
        Operator::BitOr => left | right,
        Operator::BitXor => left ^ right,
        Operator::BitAnd => left & right,
        Operator::ShiftLeft => left.checked_shl(shift).unwrap_or(0),
        Operator::ShiftRight => left.checked_shr(shift).unwrap_or(0),
        _ => return Ok(from_bool(compare(operator, left.partial_cmp(&right)))),
    }))
}

fn float_operation(operator: Operator, left: f64, right: f64) -> Result<Value, String> {
    Ok(Value::Float(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Remainder => left % right,
        Operator::BitOr
        | Operator::BitXor
        | Operator::BitAnd
        | Operator::ShiftLeft
        | Operator::ShiftRight => {
            return Err("bitwise operators require integers".to_owned());
        }
        _ => return Ok(from_bool(compare(operator, left.partial_cmp(&right)))),
    }))
}

fn compare(operator: Operator, order: Option<std::cmp::Ordering>) -> bool {
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

/// Calls a function. The number of arguments has been checked.
fn call(function: Function, arguments: &[Value]) -> Value {
    let first = arguments[0];
    let second = arguments.last().copied().unwrap_or(first);
    let is_less = match (first, second) {
        (Value::Integer(first), Value::Integer(second)) => first < second,
        _ => first.to_float() < second.to_float(),
    };
    match function.implementation {
        Implementation::Unary(f) => Value::Float(f(first.to_float())),
        Implementation::Binary(f) => Value::Float(f(first.to_float(), second.to_float())),
        Implementation::Absolute => match first {
            Value::Integer(value) => Value::Integer(value.wrapping_abs()),
            Value::Float(value) => Value::Float(value.abs()),
        },
        Implementation::Min => {
            if is_less {
                first
            } else {
                second
            }
        }
        Implementation::Max => {
            if is_less {
                second
            } else {
                first
            }
        }
        Implementation::Integer => Value::Integer(first.to_integer()),
        Implementation::Float => Value::Float(first.to_float()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scope;

    impl Values for Scope {
        fn number(&self, name: &str) -> Option<Value> {
            match name {
                "n" => Some(Value::Integer(1000)),
                "x" => Some(Value::Float(0.5)),
                _ => None,
            }
        }

        fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
            (buffer == "a").then(|| match index {
                0..10 => Ok(Value::Integer(index * index)),
                _ => Err(format!("a has no element {index}")),
            })
        }
    }

    fn evaluate(text: &str) -> Result<Value, String> {
        Expression::parse(text)?.value(&Scope)
    }

    #[test]
    fn arithmetic_follows_c() {
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
            assert_eq!(evaluate(text), Ok(Value::Integer(value)), "{text}");
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
            assert_eq!(evaluate(text), Ok(Value::Float(value)), "{text}");
        }
    }

    #[test]
    fn a_sum_has_terms() {
        let terms = |text| Expression::parse(text).unwrap().terms(&Scope);
        let squares = [1, 4, 9].map(Value::Integer).to_vec();
        assert_eq!(terms("sum(k, 1, 4, a[k])"), Some(Ok(squares)));
        assert!(terms("sum(k, 9, 11, a[k])").unwrap().is_err());
        assert_eq!(terms("a[1] + a[2]"), None);
    }

    #[test]
    fn errors_are_described() {
        for (text, message) in [
            ("1 +", "ends unexpectedly"),
            ("1 + )", "at ')'"),
            ("3 4", "at '4'"),
            ("m + 1", "undefined number m"),
            ("b[0]", "undefined buffer b"),
            ("a[10]", "a has no element 10"),
            ("1 / (n - 1000)", "division by zero"),
            ("nothing(3)", "syntax error"),
            ("pow(3)", "pow takes 2 arguments, but 1 were given"),
            ("1.5 & 1", "require integers"),
            ("", "ends unexpectedly"),
            ("99999999999999999999999999999999999999999", "syntax error"),
        ] {
            let reason = evaluate(text).unwrap_err();
            assert!(reason.contains(message), "{text}: {reason}");
        }
        assert!(
            evaluate(&"(".repeat(5000))
                .unwrap_err()
                .contains("more than 100")
        );
    }
}
