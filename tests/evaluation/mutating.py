"""Mistakes put into a module, one at a time, to see whether its tests notice.

Mutation testing as DeMillo, Lipton and Sayward 1978, "Hints on Test Data Selection", have it, on
the syntax tree: comparisons turned, operands dropped, constants changed, results lost, and so on.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

_TURNED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_EXCHANGED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
}
_RENAMED = {"any": "all", "all": "any", "min": "max", "max": "min", "sum": "len"}


@dataclass(frozen=True)
class Mutant:
    """A module with one mistake."""

    mistake: str
    """Where it is, what stood there, and what stands there now."""
    code: CodeType


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module; docstrings and annotations are left alone."""
    tree = ast.parse(source)
    for scope, parent, field, at, node in list(_places(tree, "module")):
        for changed in _changes(node):
            _put(parent, field, at, changed)
            told = f"{scope}: {ast.unparse(node)} -> {ast.unparse(changed)}"
            yield Mutant(told, compile(ast.fix_missing_locations(tree), "<mutant>", "exec"))
            _put(parent, field, at, node)


_Place = tuple[str, ast.AST, str, int | None, ast.AST]
"""Name of the function around a node; its parent, with field and index; the node."""


def _places(node: ast.AST, scope: str) -> Iterator[_Place]:
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns"}:
            continue
        for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_docstring(child):
                continue
            within = child.name if isinstance(child, ast.FunctionDef) else scope
            yield within, node, field, at, child
            yield from _places(child, within)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _put(parent: ast.AST, field: str, at: int | None, node: ast.AST) -> None:
    if at is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[at] = node


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node by mistake."""
    match node:
        case ast.Compare(left, [op], [right]):
            yield from (ast.Compare(left, [new()], [right]) for new in _TURNED[type(op)])
        case ast.BoolOp(op, operands):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), operands)
            yield from operands
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.IfExp(_, body, orelse):
            yield from (body, orelse)
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.If(ast.Constant(value=False), body, orelse)
        case ast.comprehension(target, sequence, [_], is_async):
            yield ast.comprehension(target, sequence, [], is_async)
        case ast.BinOp(left, op, right) if type(op) in _EXCHANGED:
            yield ast.BinOp(left, _EXCHANGED[type(op)](), right)
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(value=None))
        case _:
            yield from _changed_values(node)


def _changed_values(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(bool() as value):
            yield ast.Constant(value=not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value=value + 1)
        case ast.Constant(str() as value):
            yield ast.Constant(value=f"{value}~")
        case ast.Call(ast.Name(name), arguments, keywords) if name in _RENAMED:
            yield ast.Call(ast.Name(_RENAMED[name], ast.Load()), arguments, keywords)
        case ast.Call(ast.Attribute(value), [], []):
            yield value
        case ast.Subscript(value, ast.Slice()):
            yield value
