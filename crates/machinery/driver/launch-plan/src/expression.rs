//! Arithmetic expressions with C's syntax: `a[i] + 2 * b[i]`, `(n + 255) / 256`.

mod evaluate;
mod parse;
mod substitute;

pub use evaluate::Values;

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
    /// Absolute value, which preserves integers.
    Absolute,
    Min,
    Max,
    Integer,
    Float,
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
    builtin("abs", Implementation::Absolute),
    builtin("min", Implementation::Min),
    builtin("max", Implementation::Max),
    builtin("int", Implementation::Integer),
    builtin("float", Implementation::Float),
];

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// Fails with a description of the syntax error.
    pub fn parse(text: &str) -> Result<Expression, String> {
        parse::parse(text)
    }
}
