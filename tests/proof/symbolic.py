# SPDX-License-Identifier: MIT
"""C functions as terms of z3: preprocessed, parsed by pycparser, executed with symbols for values.

Only what the arithmetic of this project needs: declarations, assignments, `if`, `return`, unsigned
and signed integers, calls of functions that are executed likewise, structures behind pointers.
Whatever else stands in the source is refused loudly, so nothing is proved of a program that was not understood.

Three domains say what a value is. `Words` are bit vectors, all operations as the processor does them,
save that products become symbols with their range. `Integers` are unbounded, and each operation
that could leave its type leaves an obligation behind: prove it, and the unbounded result is the
processor's. `Residues` are unbounded too, and stand for words modulo 2^64.
"""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import z3
from pycparser import c_ast, c_parser

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = """
typedef unsigned int uint32_t; typedef int int32_t;
typedef unsigned long uint64_t; typedef long int64_t;
"""
BITS = {
    "_Bool": 1,
    "bool": 1,
    "uint32_t": 32,
    "uint64_t": 64,
    "int64_t": 64,
    "int": 32,
    "wide": 128,
}
SIGNED = {"int64_t"}


class NotUnderstoodError(Exception):
    """The source holds something that this cannot execute."""


def preprocessed(header, *defines):
    command = ["cc", "-E", "-P", "-I", str(ROOT / "include"), "-I", str(ROOT / "src"),
               "-D__attribute__(x)=", "-D__extension__=", *defines, "-x", "c", str(ROOT / header)]  # fmt: skip
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def function_text(source, name):
    """The definition of a function, cut out of a source that need not be parsable as a whole."""
    kinds = "static inline|static _Bool|static uint64_t|static struct|const struct|int|uint64_t"
    found = re.search(rf"({kinds})[^;{{}}]*\b{name}\([^;{{}}]*\)\s*{{", source)
    if found is None:
        raise NotUnderstoodError(f"no function {name}")
    depth, end = 0, found.end() - 1
    while True:
        depth += {"{": 1, "}": -1}.get(source[end], 0)
        end += 1
        if depth == 0:
            return source[found.start() : end]


def parse(source, *names):
    """Name -> definition, of the named functions and the structures that they need."""
    structures = re.findall(r"struct \w+ {[^{}]*}\s*;", source)
    needed = re.compile(r"timebase_line |struct fixed |struct by_cpu_(line|entry|anchor) \{")
    wanted = [text for text in structures if needed.search(text)]
    texts = [function_text(source, name) for name in names]
    text = PRELUDE + "\n".join([*wanted, "struct timebase_instant;", *texts])
    tree = c_parser.CParser().parse(text)
    return {node.decl.name: node for node in tree.ext if isinstance(node, c_ast.FuncDef)}


@dataclass
class Value:
    term: object  # of z3, or a Python integer where it is a constant
    bits: int
    is_signed: bool = False


def is_constant(*values):
    return all(isinstance(value.term, int) for value in values)


class Words:
    """Bit vectors. A product of two words is a symbol; `products` says of what."""

    def __init__(self):
        self.products, self.facts, self.obligations = [], [], []

    def symbol(self, name, bits):
        return Value(z3.BitVec(name, bits), bits)

    def widened(self, value, bits):
        if isinstance(value.term, int):
            return z3.BitVecVal(value.term, bits)
        size = value.term.size()
        if bits > size:
            return z3.ZeroExt(bits - size, value.term)
        return z3.Extract(bits - 1, 0, value.term) if bits < size else value.term

    def cast(self, value, bits, is_signed=False):
        if bits == 1:
            return Value(self.truth(value), 1)
        if value.is_signed and bits > value.bits:
            raise NotUnderstoodError("a sign that is extended")
        return Value(self.widened(value, bits), bits, is_signed)

    def truth(self, value):
        if isinstance(value.term, z3.BoolRef):
            return value.term
        return self.widened(value, value.bits) != 0

    def bit(self, value):
        return value if not isinstance(value.term, z3.BoolRef) else Value(
            z3.If(value.term, z3.BitVecVal(1, value.bits), z3.BitVecVal(0, value.bits)), value.bits)  # fmt: skip

    def product(self, a, b, bits):
        half = bits // 2
        self.obligations += [z3.ULT(a, 1 << half), z3.ULT(b, 1 << half)]
        for x, y, known in self.products:
            if x.eq(a) and y.eq(b):
                return known
        term = z3.BitVec(f"product{len(self.products)}", bits)
        self.products.append((a, b, term))
        self.facts.append(z3.ULE(term, ((1 << half) - 1) ** 2))
        return term

    def binary(self, op, left, right):
        bits = max(left.bits, right.bits, 32)
        a, b = self.widened(self.bit(left), bits), self.widened(self.bit(right), bits)
        if left.is_signed or right.is_signed:
            raise NotUnderstoodError("a signed operand")
        terms = {
            "+": lambda: a + b, "-": lambda: a - b, "*": lambda: self.product(a, b, bits),
            "<<": lambda: a << b, ">>": lambda: z3.LShR(a, b), "|": lambda: a | b,
            "&": lambda: a & b, ">=": lambda: z3.UGE(a, b), "<": lambda: z3.ULT(a, b),
            ">": lambda: z3.UGT(a, b), "<=": lambda: z3.ULE(a, b),
            "!=": lambda: a != b, "==": lambda: a == b,
        }  # fmt: skip
        if op == "||":
            return Value(z3.Or(self.truth(left), self.truth(right)), 32)
        if op not in terms:
            raise NotUnderstoodError(f"operator {op}")
        return Value(terms[op](), left.bits if op in ("<<", ">>") else bits)

    def choose(self, condition, then, otherwise):
        if then is otherwise:
            return then
        bits = max(then.bits, otherwise.bits)
        term = z3.If(self.truth(condition), self.widened(self.bit(then), bits),
                     self.widened(self.bit(otherwise), bits))  # fmt: skip
        return Value(term, bits)


class Integers:
    """Unbounded. What must hold for the words to do the same stands in `obligations`."""

    def __init__(self):
        self.facts, self.obligations = [], []

    def symbol(self, name, bits):
        term = z3.Int(name)
        self.facts += [term >= 0, term < (1 << bits)]
        return Value(term, bits)

    def cast(self, value, bits, is_signed=False):
        if bits < value.bits and not isinstance(value.term, int):
            self.obligations.append(value.term < (1 << bits))
        return Value(value.term, bits)

    def truth(self, value):
        return value.term if isinstance(value.term, z3.BoolRef) else value.term != 0

    def choose(self, condition, then, otherwise):
        if then is otherwise:
            return then
        term = z3.If(self.truth(condition), then.term, otherwise.term)
        return Value(term, max(then.bits, otherwise.bits))

    def binary(self, op, left, right):
        bits = max(left.bits, right.bits, 32)
        if op == "!=":
            return Value(left.term != right.term, 32)
        if is_constant(left, right) and op == "&":
            return Value(left.term & right.term, bits)
        if op in ("<<", ">>") and is_constant(right):
            power = 1 << right.term
            term = left.term * power if op == "<<" else left.term / power
            bits = left.bits
        elif op in ("+", "*"):
            term = left.term + right.term if op == "+" else left.term * right.term
        else:
            raise NotUnderstoodError(f"operator {op}")
        if not isinstance(term, int):
            self.obligations.append(z3.And(term >= 0, term < (1 << bits)))
        return Value(term, bits)


class Residues(Integers):
    """Unbounded, each for a word modulo 2^64: sums and differences need no care. Where the code
    looks at a sign, the number itself must lie in a word, and an obligation says so."""

    def symbol(self, name, bits):
        return Value(z3.Int(name), bits)

    def cast(self, value, bits, is_signed=False):
        if bits < 64 and bits != 1:
            raise NotUnderstoodError(f"a residue of {bits} bits")
        return Value(value.term, bits, is_signed)

    def binary(self, op, left, right):
        a, b = left.term, right.term
        if op in ("+", "-"):
            return Value(a + b if op == "+" else a - b, 64)
        if op == "<<" and is_constant(right):
            return Value(a * (1 << b), 64)
        if op in ("<", ">=") and left.is_signed and is_constant(right):
            self.obligations.append(z3.And(a >= -(1 << 63), a < (1 << 63)))
            return Value(a < b if op == "<" else a >= b, 32)
        raise NotUnderstoodError(f"operator {op} of residues")


@dataclass
class Choice:
    """A pointer to one of two structures."""

    condition: Value
    then: object
    otherwise: object


class Returned(Exception):
    def __init__(self, value):
        super().__init__()
        self.value = value


@dataclass
class Machine:
    """Executes functions. `contracts` are functions that are not executed but described."""

    functions: dict
    domain: object
    constants: dict = field(default_factory=dict)
    contracts: dict = field(default_factory=dict)

    def call(self, name, *arguments):
        for place, one in enumerate(arguments):
            if isinstance(one, Choice):
                results = [self.call(name, *arguments[:place], pointer, *arguments[place + 1 :])
                           for pointer in (one.then, one.otherwise)]  # fmt: skip
                return self.domain.choose(one.condition, *results)
        if name in self.contracts:
            return self.contracts[name](*arguments)
        definition = self.functions[name]
        parameters = definition.decl.type.args.params
        scope = {one.name: value for one, value in zip(parameters, arguments)}
        for one in parameters:
            if isinstance(one.type, c_ast.TypeDecl) and isinstance(scope[one.name], Value):
                scope[one.name] = self.domain.cast(scope[one.name], self.bits_of(one.type))
        try:
            self.run(definition.body, scope)
        except Returned as returned:
            kind = definition.decl.type.type
            if isinstance(returned.value, Value):
                return self.domain.cast(returned.value, self.bits_of(kind))
            return returned.value
        return None

    def bits_of(self, kind):
        names = kind.type.names
        if "__int128" in names:
            return 128
        if names[-1] not in BITS:
            raise NotUnderstoodError(f"type {names}")
        return BITS[names[-1]]

    # ---- statements

    def run(self, node, scope):
        handler = getattr(self, f"run_{type(node).__name__}", None)
        if handler is None:
            self.value(node, scope)  # an expression for its effect
        else:
            handler(node, scope)

    def run_Compound(self, node, scope):
        items = node.block_items or []
        for number, item in enumerate(items):
            if isinstance(item, c_ast.If) and isinstance(item.iftrue, c_ast.Return):
                self.return_or_go_on(item, items[number + 1 :], scope)
                return
            self.run(item, scope)

    def return_or_go_on(self, node, rest, scope):
        """if (...) return ...; and what follows, which ends with a return of its own."""
        condition, early = self.value(node.cond, scope), self.value(node.iftrue.expr, scope)
        try:
            self.run_Compound(c_ast.Compound(rest), scope)
        except Returned as later:
            raise Returned(self.domain.choose(condition, early, later.value)) from None
        raise NotUnderstoodError("a function that ends without a value")

    def run_Typedef(self, node, scope):
        BITS[node.name] = self.bits_of(node.type)

    def run_DeclList(self, node, scope):
        for one in node.decls:
            self.run(one, scope)

    def run_Decl(self, node, scope):
        if isinstance(node.type, c_ast.TypeDecl) and isinstance(node.type.type, c_ast.Struct):
            scope[node.name] = {}
            return
        if isinstance(node.type, c_ast.PtrDecl):
            scope[node.name] = self.value(node.init, scope)
            return
        value = self.value(node.init, scope) if node.init is not None else None
        scope[node.name] = value and self.domain.cast(value, self.bits_of(node.type))
        scope.setdefault("types", {})[node.name] = self.bits_of(node.type)

    def run_Return(self, node, scope):
        raise Returned(self.value(node.expr, scope))

    def run_If(self, node, scope):
        condition = self.value(node.cond, scope)
        if is_constant(condition):
            branch = node.iftrue if condition.term else node.iffalse
            if branch is not None:
                self.run(branch, scope)
            return
        then, otherwise = dict(scope), dict(scope)
        self.run(node.iftrue, then)
        if node.iffalse is not None:
            self.run(node.iffalse, otherwise)
        for name in scope:
            if name != "types" and isinstance(scope[name], Value):
                scope[name] = self.domain.choose(condition, then[name], otherwise[name])

    # ---- expressions

    def value(self, node, scope):
        handler = getattr(self, f"value_{type(node).__name__}", None)
        if handler is None:
            raise NotUnderstoodError(type(node).__name__)
        return handler(node, scope)

    def value_Constant(self, node, scope):
        text = node.value.rstrip("uUlL")
        return Value(int(text, 0), 64 if "l" in node.value.lower() else 32)

    def value_ID(self, node, scope):
        if node.name in self.constants:
            return Value(self.constants[node.name], 32)
        return scope[node.name]

    def value_Cast(self, node, scope):
        kind = node.to_type.type
        is_signed = kind.type.names[-1] in SIGNED
        return self.domain.cast(self.value(node.expr, scope), self.bits_of(kind), is_signed)

    def value_BinaryOp(self, node, scope):
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if is_constant(left, right) and node.op == "|":
            return Value(left.term | right.term, 32)
        return self.domain.binary(node.op, left, right)

    def value_UnaryOp(self, node, scope):
        if node.op == "&":  # the address of a field or a variable: the place itself
            if isinstance(node.expr, c_ast.StructRef):
                inner = self.value(node.expr.name, scope).get(node.expr.field.name)
                if isinstance(inner, dict):  # and of a structure in a structure this
                    return inner
            return node.expr, scope
        if node.op == "!":
            return Value(z3.Not(self.domain.truth(self.value(node.expr, scope))), 32)
        raise NotUnderstoodError(f"operator {node.op}")

    def value_StructRef(self, node, scope):
        return self.value(node.name, scope)[node.field.name]

    def value_CompoundLiteral(self, node, scope):
        return {one.name[0].name: self.value(one.expr, scope) for one in node.init.exprs}

    def value_TernaryOp(self, node, scope):
        condition, *values = (
            self.value(one, scope) for one in (node.cond, node.iftrue, node.iffalse)
        )
        is_pointer = any(isinstance(one, (dict, Choice)) for one in values)
        return (Choice if is_pointer else self.domain.choose)(condition, *values)

    def value_FuncCall(self, node, scope):
        arguments = [self.value(one, scope) for one in node.args.exprs]
        return self.call(node.name.name, *arguments)

    def value_Assignment(self, node, scope):
        value = self.value(node.rvalue, scope)
        if node.op != "=":
            value = self.domain.binary(node.op[:-1], self.value(node.lvalue, scope), value)
        self.store(node.lvalue, scope, value)
        return value

    def store(self, place, scope, value):
        if isinstance(place, c_ast.ID):
            bits = scope.get("types", {}).get(place.name) or scope[place.name].bits
            scope[place.name] = self.domain.cast(value, bits)
        elif isinstance(place, c_ast.StructRef):
            self.value(place.name, scope)[place.field.name] = value
        elif isinstance(place, c_ast.UnaryOp) and place.op == "*":
            self.store(*self.value(place.expr, scope), value)
        else:
            raise NotUnderstoodError("assignment to " + type(place).__name__)

    def load(self, place):
        """What a pointer made by & points at."""
        node, scope = place
        return self.value(node, scope)


def proves(facts, claim, seconds=60):
    """Does the claim follow from the facts, for all values? A timeout is no proof."""
    solver = z3.Solver()
    solver.set("timeout", seconds * 1000)
    solver.add(*facts, z3.Not(claim))
    return solver.check() == z3.unsat
