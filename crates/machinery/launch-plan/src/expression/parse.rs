//! Reading an expression.

use winnow::ascii::{dec_int, digit1, float, multispace0};
use winnow::combinator::{
    alt, cut_err, delimited, fail, not, opt, peek, preceded, separated, terminated,
};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::token::{one_of, take_while};

use super::{Expression, FUNCTIONS, Function, Of, Operator, Value};

type Read<T> = Result<T, ErrMode<ContextError>>;

/// Operators by how loosely they bind, the loosest first; the longer of two that begin alike first.
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
    &[("<<", Operator::Left), (">>", Operator::Right)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[
        ("*", Operator::Times),
        ("/", Operator::By),
        ("%", Operator::Rest),
    ],
];

/// Deeper ones are refused: they would take too much of the stack.
const DEEPEST: usize = 100;

pub fn read(text: &str) -> Result<Expression, String> {
    let depth = text.matches(['(', '[', '-', '!', '?']).count();
    if depth > DEEPEST {
        return Err(format!(
            "'{text}' has more than {DEEPEST} brackets and signs"
        ));
    }
    let mut rest = text;
    let read = terminated(choice, multispace0).parse_next(&mut rest);
    let at = || match rest.trim() {
        "" => format!("'{text}' ends too soon"),
        rest => format!("'{text}' is not understood from '{rest}' on"),
    };
    match read {
        Ok(expression) if rest.is_empty() => check(expression),
        _ => Err(at()),
    }
}

/// Calls with as many arguments as their functions take.
fn check(expression: Expression) -> Result<Expression, String> {
    let mut wrong = None;
    visit(&expression, &mut |one| {
        if let Expression::Call(function, arguments) = one {
            let takes = function.takes();
            if arguments.len() != takes {
                let given = arguments.len();
                wrong = Some(format!(
                    "{} takes {takes} numbers, and {given} are given",
                    function.name
                ));
            }
        }
    });
    match wrong {
        Some(why) => Err(why),
        None => Ok(expression),
    }
}

/// Looks at an expression and all in it.
pub fn visit(expression: &Expression, look: &mut impl FnMut(&Expression)) {
    look(expression);
    let parts: &[Expression] = match expression {
        Expression::Number(_) | Expression::Name(_) => &[],
        Expression::Element(_, one) | Expression::Negative(one) | Expression::Not(one) => {
            std::slice::from_ref(one)
        }
        Expression::Two(_, both) => &both[..],
        Expression::Choice(three) | Expression::Sum(_, three) => &three[..],
        Expression::Call(_, arguments) => arguments,
    };
    for part in parts {
        visit(part, look);
    }
}

impl Function {
    fn takes(self) -> usize {
        match self.of {
            Of::Two(_) | Of::Least | Of::Greatest => 2,
            _ => 1,
        }
    }
}

fn choice(input: &mut &str) -> Read<Expression> {
    let condition = level(0, input)?;
    if opt(symbol("?")).parse_next(input)?.is_none() {
        return Ok(condition);
    }
    let one = cut_err(choice).parse_next(input)?;
    cut_err(symbol(":")).parse_next(input)?;
    let other = cut_err(choice).parse_next(input)?;
    Ok(Expression::Choice(Box::new([condition, one, other])))
}

/// Operands with this level's operators between them, from left to right.
fn level(number: usize, input: &mut &str) -> Read<Expression> {
    let Some(operators) = LEVELS.get(number) else {
        return unary(input);
    };
    let mut left = level(number + 1, input)?;
    loop {
        let before = *input;
        let Some(operator) = operator(operators, input)? else {
            *input = before;
            return Ok(left);
        };
        let right = level(number + 1, input)?;
        left = Expression::Two(operator, Box::new([left, right]));
    }
}

fn operator(operators: &[(&str, Operator)], input: &mut &str) -> Read<Option<Operator>> {
    multispace0.parse_next(input)?;
    // `&` is none of `&&`, and `<` none of `<<`.
    let doubled = ["||", "&&", "<<", ">>", "<=", ">=", "==", "!="];
    let longer = doubled.iter().find(|two| input.starts_with(**two));
    for (text, operator) in operators {
        if longer.is_none_or(|longer| longer == text) && input.starts_with(text) {
            *input = &input[text.len()..];
            return Ok(Some(*operator));
        }
    }
    Ok(None)
}

fn unary(input: &mut &str) -> Read<Expression> {
    multispace0.parse_next(input)?;
    match opt(one_of(['-', '+', '!'])).parse_next(input)? {
        Some('-') => Ok(Expression::Negative(Box::new(unary(input)?))),
        Some('!') => Ok(Expression::Not(Box::new(unary(input)?))),
        Some(_) => unary(input),
        None => alt((delimited(symbol("("), choice, symbol(")")), number, named)).parse_next(input),
    }
}

fn number(input: &mut &str) -> Read<Expression> {
    let whole = (digit1, not(one_of(['.', 'e', 'E', 'f']))).take();
    if let Some(digits) = opt(peek(whole)).parse_next(input)? {
        let digits: &str = digits;
        *input = &input[digits.len()..];
        let value = dec_int::<_, i128, ContextError>.parse(digits.trim_start_matches('0'));
        let value = if digits.trim_start_matches('0').is_empty() {
            Ok(0)
        } else {
            value.map_err(drop)
        };
        return value.map_or_else(
            |()| fail.parse_next(input),
            |value| Ok(Expression::Number(Value::Whole(value))),
        );
    }
    if !input.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return fail.parse_next(input);
    }
    let value: f64 = float.parse_next(input)?;
    opt('f').parse_next(input)?;
    Ok(Expression::Number(Value::Float(value)))
}

/// A number's name, an element, or a function.
fn named(input: &mut &str) -> Read<Expression> {
    let name = name(input)?;
    if opt(symbol("[")).parse_next(input)?.is_some() {
        let index = terminated(choice, symbol("]")).parse_next(input)?;
        return Ok(Expression::Element(name, Box::new(index)));
    }
    if opt(symbol("(")).parse_next(input)?.is_none() {
        return Ok(Expression::Name(name));
    }
    if name == "sum" {
        let over = preceded(multispace0, self::name).parse_next(input)?;
        let part = |input: &mut &str| preceded(symbol(","), choice).parse_next(input);
        let parts = [part(input)?, part(input)?, part(input)?];
        symbol(")").parse_next(input)?;
        return Ok(Expression::Sum(over, Box::new(parts)));
    }
    let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) else {
        return fail.parse_next(input);
    };
    let arguments: Vec<Expression> = separated(0.., choice, symbol(",")).parse_next(input)?;
    symbol(")").parse_next(input)?;
    Ok(Expression::Call(*function, arguments))
}

fn name(input: &mut &str) -> Read<String> {
    let is_first = |it: char| it.is_ascii_alphabetic() || it == '_';
    let rest = take_while(0.., |it: char| it.is_ascii_alphanumeric() || it == '_');
    let name: &str = (one_of(is_first), rest).take().parse_next(input)?;
    Ok(name.to_owned())
}

fn symbol<'a>(text: &'static str) -> impl Parser<&'a str, &'a str, ErrMode<ContextError>> {
    preceded(multispace0, text)
}
