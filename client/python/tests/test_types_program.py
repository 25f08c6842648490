"""Tests of the types that `python -m itsm_api types` writes."""

from __future__ import annotations

from typing import cast

from itsm_api.__main__ import print_types
from itsm_api.types import CustomFieldDefinition


def definition(key: str, type: str, required: bool = False) -> CustomFieldDefinition:
    shown = {
        "key": key,
        "resource": "TICKET",
        "type": type,
        "label": f"The {key}",
        "description": None,
        "options": [{"value": "berlin", "label": "Berlin", "active": True}] if type == "SELECT" else None,
        "required": required,
        "active": True,
    }
    return cast(CustomFieldDefinition, shown)


def test_writes_the_answers_of_each_request_form() -> None:
    schema = {"properties": {"site": {}, "floor": {}}, "required": ["site"], "additionalProperties": False}
    empty = {"properties": {}, "additionalProperties": False}
    hidden = {"properties": {}, "if": {"type": "null"}, "else": {"patternProperties": {"^constructor$": {}}}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/FormNewLaptopSubmission"}}}}
    answers = {"allOf": [body, {"$ref": "#/components/schemas/FormNewLaptopAnswers"}]}
    document = {
        "paths": {
            "/request-forms/new-laptop/tickets": {"post": {"requestBody": answers}},
            "/request-forms/help/tickets": {"post": {"requestBody": {"$ref": "#/components/schemas/FormHelpAnswers"}}},
            "/request-forms/old/tickets": {"post": {"requestBody": {"$ref": "#/components/schemas/FormOldAnswers"}}},
            "/ping": {"get": {}},
        },
        "components": {
            "schemas": {"FormNewLaptopAnswers": schema, "FormHelpAnswers": empty, "FormOldAnswers": hidden},
        },
    }
    fields = [definition("site", "SELECT"), definition("floor", "NUMBER"), definition("constructor", "TEXT")]
    text = print_types(fields, document)
    assert 'class NewLaptopAnswers(TypedDict):\n    """The answers to the request form `new-laptop`."""' in text
    assert "    site: Literal['berlin']\n" in text
    # Null is no answer.
    assert "    floor: NotRequired[float]\n" in text
    assert "    floor: NotRequired[float | None]\n" in text[: text.index("class NewLaptopAnswers")]
    # A form without questions accepts no answers.
    assert "class HelpAnswers(TypedDict):" in text
    assert "    constructor: NotRequired[str]\n" in text
    assert "AssetFields = Dict[str, CustomFieldValue]" in text
    compile(text, "itsm_fields.py", "exec")
