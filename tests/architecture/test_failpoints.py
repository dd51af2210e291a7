"""Failpoints are where they say, and nothing of the product can set one off."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from gateway import failpoints
from gateway.failpoints import Point

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("gateway", "policy", "capabilities", "surface_host")


def product_modules() -> Iterator[tuple[str, ast.Module]]:
    """The product's sources, without the module of the failpoints itself."""
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path != Path(failpoints.__file__) and "node_modules" not in path.parts:
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def test_every_point_is_reached_by_the_product() -> None:
    reached = {
        node.args[0].attr
        for _, module in product_modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "reach"
        and isinstance(node.args[0], ast.Attribute)
    }
    assert reached == {point.name for point in Point}


def test_every_point_says_between_what_it_lies() -> None:
    body = ast.parse(inspect.getsource(Point)).body[0]
    assert isinstance(body, ast.ClassDef)
    for name, said in zip(body.body[1::2], body.body[2::2], strict=True):
        assert isinstance(name, ast.Assign)
        assert isinstance(said, ast.Expr), ast.unparse(name)
        assert " · " in ast.unparse(said), ast.unparse(name)


def test_the_product_takes_only_reach_and_the_names() -> None:
    taken = {
        (where, alias.name)
        for where, module in product_modules()
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gateway.failpoints")
        for alias in node.names
        if alias.name not in ("Point", "reach")
    }
    whole = {
        (where, alias.name)
        for where, module in product_modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module == "gateway")
        for alias in node.names
        if "failpoints" in alias.name
    }
    assert (taken, whole) == (set(), set())


def test_no_environment_reaches_the_trap() -> None:
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(inspect.getsource(failpoints)))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"collections.abc", "enum"}
    assert vars(failpoints)["_trap"] is None
