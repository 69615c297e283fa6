//! Arithmetic expressions with C's syntax, `a[i] + 2 * b[i]` or `(n + 255) / 256`: their parser and their evaluation.

use winnow::ascii::{digit1, float, multispace0};
use winnow::combinator::{
    alt, cut_err, delimited, fail, not, opt, peek, preceded, separated, terminated,
};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::token::{one_of, take_while};

/// A number. As in C, an operation on two integers yields an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Integer(i128),
    Float(f64),
}

impl Value {
    /// Converts to a floating-point number.
    pub fn to_float(self) -> f64 {
        match self {
            Value::Integer(value) => value as f64,
            Value::Float(value) => value,
        }
    }

    /// Converts to an integer, truncating towards zero.
    pub fn to_integer(self) -> i128 {
        match self {
            Value::Integer(value) => value,
            Value::Float(value) => value as i128,
        }
    }
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Number(Value),
    /// The name of a number.
    Name(String),
    /// An element of a buffer, with its index.
    Element(String, Box<Expression>),
    Negate(Box<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<[Expression; 2]>),
    /// `condition ? when_true : when_false`
    Conditional(Box<[Expression; 3]>),
    Call(Function, Vec<Expression>),
    /// `sum(k, from, to, term of k)`: the sum over all integers k from `from` up to but excluding `to`.
    Sum(String, Box<[Expression; 3]>),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    LessOrEqual,
    GreaterOrEqual,
    Less,
    Greater,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A built-in function of one or two arguments.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub name: &'static str,
    implementation: Implementation,
}

#[derive(Clone, Copy, Debug)]
enum Implementation {
    Unary(fn(f64) -> f64),
    Binary(fn(f64, f64) -> f64),
    /// Functions whose results depend on the type of the arguments.
    OfValue(fn(Value) -> Value),
    OfValues(fn(Value, Value) -> Value),
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const fn unary(name: &'static str, function: fn(f64) -> f64) -> Function {
    Function {
        name,
        implementation: Implementation::Unary(function),
    }
}

const fn builtin(name: &'static str, implementation: Implementation) -> Function {
    Function {
        name,
        implementation,
    }
}

const FUNCTIONS: &[Function] = &[
    unary("sqrt", f64::sqrt),
    unary("exp", f64::exp),
    unary("log", f64::ln),
    unary("sin", f64::sin),
    unary("cos", f64::cos),
    unary("tan", f64::tan),
    unary("tanh", f64::tanh),
    unary("floor", f64::floor),
    unary("ceil", f64::ceil),
    unary("f32", |value| f64::from(value as f32)),
    builtin("pow", Implementation::Binary(f64::powf)),
    builtin("fmod", Implementation::Binary(|a, b| a % b)),
    builtin("abs", Implementation::OfValue(absolute)),
    builtin("hash", Implementation::OfValues(hash_values)),
    builtin(
        "min",
        Implementation::OfValues(|a, b| if is_less(a, b) { a } else { b }),
    ),
    builtin(
        "max",
        Implementation::OfValues(|a, b| if is_less(a, b) { b } else { a }),
    ),
    builtin(
        "int",
        Implementation::OfValue(|value| Value::Integer(value.to_integer())),
    ),
    builtin(
        "float",
        Implementation::OfValue(|value| Value::Float(value.to_float())),
    ),
];

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// Fails with a description of the syntax error.
    pub fn parse(text: &str) -> Result<Expression, String> {
        parse(text)
    }
}

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

    /// Is called before `steps` operations are evaluated.
    ///
    /// # Errors
    ///
    /// Fails if they exceed a limit.
    fn spend(&self, steps: u128) -> Result<(), String>;
}

/// A scope with one additional number.
pub struct Binding<'a> {
    name: &'a str,
    value: Value,
    values: &'a dyn Values,
}

impl<'a> Binding<'a> {
    /// Creates the scope of an element's expression, in which `i` is the element's index.
    pub fn of_index(index: usize, values: &'a dyn Values) -> Binding<'a> {
        Binding {
            name: "i",
            value: Value::Integer(index as i128),
            values,
        }
    }
}

impl Values for Binding<'_> {
    fn number(&self, name: &str) -> Option<Value> {
        if name == self.name {
            return Some(self.value);
        }
        self.values.number(name)
    }

    fn element(&self, buffer: &str, index: i128) -> Option<Result<Value, String>> {
        self.values.element(buffer, index)
    }

    fn spend(&self, steps: u128) -> Result<(), String> {
        self.values.spend(steps)
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
                let arguments = arguments.iter().map(|argument| argument.value(values));
                call(*function, &arguments.collect::<Result<Vec<_>, _>>()?)
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

    /// Returns the number of operations, counting each term of a sum once.
    pub fn operation_count(&self) -> u128 {
        let mut count = 0;
        visit(self, &mut |_| count += 1);
        count
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
    let count = u128::try_from(to.saturating_sub(from)).unwrap_or(0);
    values.spend(count.saturating_mul(term.operation_count()))?;
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
    let (first, second) = (arguments[0], arguments[arguments.len() - 1]);
    match function.implementation {
        Implementation::Unary(f) => Value::Float(f(first.to_float())),
        Implementation::Binary(f) => Value::Float(f(first.to_float(), second.to_float())),
        Implementation::OfValue(f) => f(first),
        Implementation::OfValues(f) => f(first, second),
    }
}

fn is_less(first: Value, second: Value) -> bool {
    match (first, second) {
        (Value::Integer(first), Value::Integer(second)) => first < second,
        _ => first.to_float() < second.to_float(),
    }
}

fn absolute(value: Value) -> Value {
    match value {
        Value::Integer(value) => Value::Integer(value.wrapping_abs()),
        Value::Float(value) => Value::Float(value.abs()),
    }
}

fn hash_values(seed: Value, index: Value) -> Value {
    Value::Integer(hash(seed.to_integer() as u32, index.to_integer() as u32).into())
}

/// Returns 32 pseudo-random bits for a seed and an index (MurmurHash3's finalizer).
pub fn hash(seed: u32, index: u32) -> u32 {
    let mut bits = index.wrapping_mul(0x9e37_79b9) ^ seed.wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ bits >> 16).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ bits >> 13).wrapping_mul(0xc2b2_ae35);
    bits ^ bits >> 16
}

impl Expression {
    /// Replaces all names that have a value.
    pub fn substitute(self, values: &dyn Values) -> Expression {
        self.substitute_except(values, &[])
    }

    /// Replaces names except those bound by an enclosing sum.
    fn substitute_except(self, values: &dyn Values, bound: &[&str]) -> Expression {
        let part = |part: Expression| part.substitute_except(values, bound);
        let boxed = |operand: Box<Expression>| Box::new(part(*operand));
        match self {
            Expression::Name(name) => match values.number(&name) {
                Some(value) if !bound.contains(&name.as_str()) && name != "i" => {
                    Expression::Number(value)
                }
                _ => Expression::Name(name),
            },
            Expression::Number(_) => self,
            Expression::Element(buffer, index) => Expression::Element(buffer, boxed(index)),
            Expression::Negate(operand) => Expression::Negate(boxed(operand)),
            Expression::Not(operand) => Expression::Not(boxed(operand)),
            Expression::Binary(operator, operands) => {
                Expression::Binary(operator, Box::new(operands.map(part)))
            }
            Expression::Conditional(operands) => {
                Expression::Conditional(Box::new(operands.map(part)))
            }
            Expression::Call(function, arguments) => {
                Expression::Call(function, arguments.into_iter().map(part).collect())
            }
            Expression::Sum(name, operands) => {
                let [from, to, term] = *operands;
                let term = term.substitute_except(values, &[bound, &[&name]].concat());
                Expression::Sum(name, Box::new([part(from), part(to), term]))
            }
        }
    }
}

type ParseResult<T> = Result<T, ErrMode<ContextError>>;

/// Operators in order of increasing precedence. Of two operators with a common prefix, the longer comes first.
const LEVELS: [&[(&str, Operator)]; 10] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("==", Operator::Equal), ("!=", Operator::Unequal)],
    &[
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ],
];

/// The maximum nesting depth, which bounds the parser's use of the stack.
const MAX_DEPTH: usize = 100;

pub fn parse(text: &str) -> Result<Expression, String> {
    let depth = text.matches(['(', '[', '-', '!', '?']).count();
    if depth > MAX_DEPTH {
        return Err(format!(
            "'{text}' has more than {MAX_DEPTH} brackets and signs"
        ));
    }
    let mut rest = text;
    let result = terminated(conditional, multispace0).parse_next(&mut rest);
    let error = || match rest.trim() {
        "" => format!("'{text}' ends unexpectedly"),
        rest => format!("syntax error in '{text}' at '{rest}'"),
    };
    match result {
        Ok(expression) if rest.is_empty() => check(expression),
        _ => Err(error()),
    }
}

/// Checks that all calls have as many arguments as their functions take.
fn check(expression: Expression) -> Result<Expression, String> {
    let mut mismatch = None;
    visit(&expression, &mut |expression| {
        if let Expression::Call(function, arguments) = expression {
            let arity = function.arity();
            if arguments.len() != arity {
                let actual = arguments.len();
                mismatch = Some(format!(
                    "{} takes {arity} arguments, but {actual} were given",
                    function.name
                ));
            }
        }
    });
    match mismatch {
        Some(reason) => Err(reason),
        None => Ok(expression),
    }
}

/// Visits an expression and all its subexpressions.
pub fn visit(expression: &Expression, visitor: &mut impl FnMut(&Expression)) {
    visitor(expression);
    let parts: &[Expression] = match expression {
        Expression::Number(_) | Expression::Name(_) => &[],
        Expression::Element(_, operand)
        | Expression::Negate(operand)
        | Expression::Not(operand) => std::slice::from_ref(operand),
        Expression::Binary(_, operands) => &operands[..],
        Expression::Conditional(operands) | Expression::Sum(_, operands) => &operands[..],
        Expression::Call(_, arguments) => arguments,
    };
    for part in parts {
        visit(part, visitor);
    }
}

impl Function {
    fn arity(self) -> usize {
        match self.implementation {
            Implementation::Unary(_) | Implementation::OfValue(_) => 1,
            Implementation::Binary(_) | Implementation::OfValues(_) => 2,
        }
    }
}

fn conditional(input: &mut &str) -> ParseResult<Expression> {
    let condition = binary_level(0, input)?;
    if opt(symbol("?")).parse_next(input)?.is_none() {
        return Ok(condition);
    }
    let when_true = cut_err(conditional).parse_next(input)?;
    cut_err(symbol(":")).parse_next(input)?;
    let when_false = cut_err(conditional).parse_next(input)?;
    Ok(Expression::Conditional(Box::new([
        condition, when_true, when_false,
    ])))
}

/// Parses operands separated by left-associative operators of this precedence level.
fn binary_level(number: usize, input: &mut &str) -> ParseResult<Expression> {
    let Some(operators) = LEVELS.get(number) else {
        return signed(input);
    };
    let mut left = binary_level(number + 1, input)?;
    loop {
        let checkpoint = *input;
        let Some(operator) = operator(operators, input)? else {
            *input = checkpoint;
            return Ok(left);
        };
        let right = binary_level(number + 1, input)?;
        left = Expression::Binary(operator, Box::new([left, right]));
    }
}

fn operator(operators: &[(&str, Operator)], input: &mut &str) -> ParseResult<Option<Operator>> {
    multispace0.parse_next(input)?;
    // `&` must not match the start of `&&`, nor `<` that of `<<`.
    let two_character = ["||", "&&", "<<", ">>", "<=", ">=", "==", "!="];
    let longer = two_character.iter().find(|two| input.starts_with(**two));
    for (text, operator) in operators {
        if longer.is_none_or(|longer| longer == text) && input.starts_with(text) {
            *input = &input[text.len()..];
            return Ok(Some(*operator));
        }
    }
    Ok(None)
}

fn signed(input: &mut &str) -> ParseResult<Expression> {
    multispace0.parse_next(input)?;
    match opt(one_of(['-', '+', '!'])).parse_next(input)? {
        Some('-') => Ok(Expression::Negate(Box::new(signed(input)?))),
        Some('!') => Ok(Expression::Not(Box::new(signed(input)?))),
        Some(_) => signed(input),
        None => alt((
            delimited(symbol("("), conditional, symbol(")")),
            number,
            identifier,
        ))
        .parse_next(input),
    }
}

fn number(input: &mut &str) -> ParseResult<Expression> {
    let integer = (digit1, not(one_of(['.', 'e', 'E', 'f']))).take();
    if let Some(digits) = opt(peek(integer)).parse_next(input)? {
        let digits: &str = digits;
        *input = &input[digits.len()..];
        return match digits.parse() {
            Ok(value) => Ok(Expression::Number(Value::Integer(value))),
            Err(_) => fail.parse_next(input),
        };
    }
    if !input.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return fail.parse_next(input);
    }
    let value: f64 = float.parse_next(input)?;
    opt('f').parse_next(input)?;
    Ok(Expression::Number(Value::Float(value)))
}

/// Parses the name of a number, an element or a function call.
fn identifier(input: &mut &str) -> ParseResult<Expression> {
    let name = name(input)?;
    if opt(symbol("[")).parse_next(input)?.is_some() {
        let index = terminated(conditional, symbol("]")).parse_next(input)?;
        return Ok(Expression::Element(name, Box::new(index)));
    }
    if opt(symbol("(")).parse_next(input)?.is_none() {
        return Ok(Expression::Name(name));
    }
    if name == "sum" {
        let index = preceded(multispace0, self::name).parse_next(input)?;
        let operand = |input: &mut &str| preceded(symbol(","), conditional).parse_next(input);
        let operands = [operand(input)?, operand(input)?, operand(input)?];
        symbol(")").parse_next(input)?;
        return Ok(Expression::Sum(index, Box::new(operands)));
    }
    let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) else {
        return fail.parse_next(input);
    };
    let arguments: Vec<Expression> = separated(0.., conditional, symbol(",")).parse_next(input)?;
    symbol(")").parse_next(input)?;
    Ok(Expression::Call(*function, arguments))
}

fn name(input: &mut &str) -> ParseResult<String> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let rest = take_while(0.., |c: char| c.is_ascii_alphanumeric() || c == '_');
    let name: &str = (one_of(is_first), rest).take().parse_next(input)?;
    Ok(name.to_owned())
}

fn symbol<'a>(text: &'static str) -> impl Parser<&'a str, &'a str, ErrMode<ContextError>> {
    preceded(multispace0, text)
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

        fn spend(&self, _: u128) -> Result<(), String> {
            Ok(())
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

    struct Names;

    impl Values for Names {
        fn number(&self, name: &str) -> Option<Value> {
            ["n", "k", "i"].contains(&name).then_some(Value::Integer(7))
        }

        fn element(&self, _: &str, _: i128) -> Option<Result<Value, String>> {
            None
        }

        fn spend(&self, _: u128) -> Result<(), String> {
            Ok(())
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
            assert_eq!(parse(text).substitute(&Names), parse(expected), "{text}");
        }
    }
}
