//! Arithmetic in a description, written as in C: `a[i] + 2 * b[i]`, `(n + 255) / 256`.

mod evaluate;
mod parse;
mod replace;

pub use evaluate::Values;

/// A number: whole, or with a fraction. Two whole ones make a whole one, as in C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Whole(i128),
    Float(f64),
}

impl Value {
    /// As a number with a fraction.
    pub fn float(self) -> f64 {
        match self {
            Value::Whole(value) => value as f64,
            Value::Float(value) => value,
        }
    }

    /// As a whole number.
    pub fn whole(self) -> i128 {
        match self {
            Value::Whole(value) => value,
            Value::Float(value) => value as i128,
        }
    }
}

/// An expression, read.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Number(Value),
    /// A number's name.
    Name(String),
    /// An element of a buffer.
    Element(String, Box<Expression>),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Two(Operator, Box<[Expression; 2]>),
    /// `condition ? one : other`
    Choice(Box<[Expression; 3]>),
    Call(Function, Vec<Expression>),
    /// `sum(k, from, to, of k)`: of all whole k from `from` to below `to`.
    Sum(String, Box<[Expression; 3]>),
}

/// What stands between two numbers.
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
    Left,
    Right,
    Plus,
    Minus,
    Times,
    By,
    Rest,
}

/// A function of one number or two.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub name: &'static str,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    /// As it is, of whole numbers too.
    Absolute,
    Least,
    Greatest,
    Whole,
    Float,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const fn one(name: &'static str, of: fn(f64) -> f64) -> Function {
    Function {
        name,
        of: Of::One(of),
    }
}

const fn other(name: &'static str, of: Of) -> Function {
    Function { name, of }
}

const FUNCTIONS: &[Function] = &[
    one("sqrt", f64::sqrt),
    one("exp", f64::exp),
    one("log", f64::ln),
    one("sin", f64::sin),
    one("cos", f64::cos),
    one("tan", f64::tan),
    one("tanh", f64::tanh),
    one("floor", f64::floor),
    one("ceil", f64::ceil),
    one("f32", |value| f64::from(value as f32)),
    other("pow", Of::Two(f64::powf)),
    other("fmod", Of::Two(|one, other| one % other)),
    other("abs", Of::Absolute),
    other("min", Of::Least),
    other("max", Of::Greatest),
    other("int", Of::Whole),
    other("float", Of::Float),
];

impl Expression {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Expression, String> {
        parse::read(text)
    }
}
