//! The parser of expressions.

use winnow::ascii::{digit1, float, multispace0};
use winnow::combinator::{
    alt, cut_err, delimited, fail, not, opt, peek, preceded, separated, terminated,
};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::token::{one_of, take_while};

use super::{Expression, FUNCTIONS, Function, Implementation, Operator, Value};

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
        return unary(input);
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

fn unary(input: &mut &str) -> ParseResult<Expression> {
    multispace0.parse_next(input)?;
    match opt(one_of(['-', '+', '!'])).parse_next(input)? {
        Some('-') => Ok(Expression::Negate(Box::new(unary(input)?))),
        Some('!') => Ok(Expression::Not(Box::new(unary(input)?))),
        Some(_) => unary(input),
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
