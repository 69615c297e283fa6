"""The part of GitHub's expressions that the action and the workflows use."""

import re

TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<name>[A-Za-z_][\w.-]*)|(?P<symbol>==|!=|&&|\|\||[!(),]))")
STATUS = {"success", "failure", "always", "cancelled"}


class Expression:
    """A recursive-descent evaluator. All values are strings or truth values, as the inputs of an action are."""

    def __init__(self, text, contexts, functions):
        self.text, self.contexts, self.functions = text, contexts, functions
        self.tokens, at = [], 0
        while text[at:].strip():
            token = TOKEN.match(text, at)
            if not token:
                raise self.error()
            self.tokens.append((token.lastgroup, token[token.lastgroup]))
            at = token.end()

    def error(self):
        return SystemExit(f"error: the expression `{self.text}` is more than this runner evaluates")

    def value(self):
        result = self.either()
        if self.tokens:
            raise self.error()
        return result

    def either(self):
        left = self.both()
        while self.next("||"):
            right = self.both()
            left = left or right
        return left

    def both(self):
        left = self.compared()
        while self.next("&&"):
            right = self.compared()
            left = left and right
        return left

    def compared(self):
        left = self.single()
        if self.next("=="):
            return folded(left) == folded(self.single())
        if self.next("!="):
            return folded(left) != folded(self.single())
        return left

    def single(self):
        if self.next("!"):
            return not self.single()
        if self.next("("):
            result = self.either()
            self.need(")")
            return result
        kind, word = self.tokens.pop(0) if self.tokens else (None, None)
        if kind == "text":
            return word[1:-1].replace("''", "'")
        if kind != "name":
            raise self.error()
        if self.next("("):
            return self.call(word)
        return {"true": True, "false": False}[word] if word in ("true", "false") else self.lookup(word.split("."))

    def call(self, name):
        arguments = []
        while not self.next(")"):
            arguments.append(self.either())
            self.next(",")
        if name not in self.functions:
            raise self.error()
        return self.functions[name](*arguments)

    def lookup(self, path):
        """Returns the value; a property that does not exist is empty, but an unknown context is an error."""
        if path[0] not in self.contexts:
            raise self.error()
        value = self.contexts
        for name in path:
            value = value.get(name, "") if isinstance(value, dict) else ""
        return value

    def next(self, symbol):
        if self.tokens and self.tokens[0] == ("symbol", symbol):
            return self.tokens.pop(0)
        return None

    def need(self, symbol):
        if not self.next(symbol):
            raise self.error()


def folded(value):
    """GitHub compares strings regardless of case."""
    return value.casefold() if isinstance(value, str) else value


class Evaluator:
    """Evaluates the texts of a step. `failed` is true if an earlier step failed."""

    def __init__(self, contexts, failed, files_exist):
        self.contexts = contexts
        self.functions = {
            "always": lambda: True,
            "cancelled": lambda: False,
            "failure": lambda: failed,
            "success": lambda: not failed,
            "hashFiles": lambda *names: "hash" if files_exist(names) else "",
        }

    def condition(self, text):
        """Returns the value of an `if`, which requires success unless it calls a function of the status."""
        inner = re.sub(r"^\s*\$\{\{(.*)\}\}\s*$", r"\1", str(text), flags=re.DOTALL)
        value = Expression(inner, self.contexts, self.functions).value()
        if not any(re.search(rf"\b{name}\s*\(", inner) for name in STATUS):
            value = value and self.functions["success"]()
        return bool(value)

    def text(self, text):
        """Returns a text with the values of its expressions."""

        def value(match):
            result = Expression(match[1], self.contexts, self.functions).value()
            return str(result).lower() if isinstance(result, bool) else str(result)

        return re.sub(r"\$\{\{(.*?)\}\}", value, str(text), flags=re.DOTALL)

    def texts(self, mapping):
        """Returns the texts of a mapping such as `env`."""
        return {name: self.text(text) for name, text in mapping.items()}
