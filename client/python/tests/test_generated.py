"""Tests of the generated code."""

from __future__ import annotations

import ast
import typing
from pathlib import Path

import itsm_api
from itsm_api import errors, resources, types

SOURCE = Path(resources.__file__).parent


def test_no_annotation_names_a_method_of_its_class() -> None:
    for path in SOURCE.glob("*.py"):
        for class_ in ast.walk(ast.parse(path.read_text())):
            if not isinstance(class_, ast.ClassDef):
                continue
            functions = [each for each in class_.body if isinstance(each, ast.FunctionDef)]
            methods = {function.name for function in functions}
            for function in functions:
                arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
                annotations = [argument.annotation for argument in arguments] + [function.returns]
                names = {name.id for each in annotations if each for name in ast.walk(each) if isinstance(name, ast.Name)}
                assert not names & methods, f"{path.name}: {class_.name}.{function.name}"


def test_keys_that_are_keywords_are_declared() -> None:
    assert typing.get_type_hints(types.Key)["import"] is bool
    assert set(typing.get_type_hints(types.TicketChangesTitle)) == {"from", "to"}
    assert "customFields" in types.NewTicket.__optional_keys__
    assert "title" in types.NewTicket.__required_keys__


def test_requests_have_literals_and_responses_have_text() -> None:
    assert typing.get_type_hints(types.Ticket)["status"] is str
    assert "CRITICAL" in str(typing.get_type_hints(types.TicketPatch)["priority"])
    assert "Known values: `OPEN`, `IN_PROGRESS`" in (SOURCE / "types.py").read_text()


def test_docstrings_give_the_scope_the_errors_and_a_sample() -> None:
    text = str(resources.Tickets.create.__doc__)
    assert "Requires the scope `tickets:write`" in text
    assert "`InvalidReferenceError`" in text
    assert "client.tickets.create({" in text


def test_exports_every_error_class() -> None:
    classes = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}
    assert classes <= set(itsm_api.__all__)
    assert {"NotFoundError", "RateLimitError", "ValidationError"} <= classes
