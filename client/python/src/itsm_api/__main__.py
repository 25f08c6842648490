"""The program `python -m itsm_api types`, which writes the types of the fields and the forms of a workspace."""

from __future__ import annotations

import argparse
import json
import keyword
import os
import re
import sys
from typing import Any, Dict, Iterable, List, Tuple

from . import ItsmClient, ItsmError
from .types import CustomFieldDefinition

_HEAD = '''"""Written by `python -m itsm_api types`. Run it again after custom fields or request forms have changed."""

from typing import Dict, Literal, NotRequired, Sequence, TypedDict

from itsm_api.types import CustomFieldValue
'''

# A field of a TypedDict: its key, its type and its description.
_Field = Tuple[str, str, str]


def main() -> int:
    """Runs the program. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m itsm_api", description="Tools for the ITSM public API.")
    commands = parser.add_subparsers(required=True, metavar="command")
    types = commands.add_parser(
        "types",
        help="write the types of the custom fields and request forms of your workspace to stdout",
        description="Writes the types of the custom fields and request forms of your workspace to stdout.",
        epilog="Environment variables: ITSM_KEY, an API key of the workspace with any scope; ITSM_URL.",
    )
    types.add_argument("--url", help="the URL of the server (default: ITSM_URL, or http://127.0.0.1:3000)")
    url = parser.parse_args().url or os.environ.get("ITSM_URL", "http://127.0.0.1:3000")
    try:
        client = ItsmClient(url, api_key=os.environ.get("ITSM_KEY"), user_agent="itsm-api-types")
    except ValueError as error:
        types.error(str(error))
    try:
        document = json.loads(client.document.get().read())
        sys.stdout.buffer.write(print_types(list(client.fields.list()), document).encode())
    except ItsmError as error:
        request = "" if error.request_id is None else f", request {error.request_id}"
        sys.stderr.write(f"{error}{'' if error.remedy is None else f' {error.remedy}'} ({error.code}{request})\n")
        return 1
    return 0


def print_types(definitions: Iterable[CustomFieldDefinition], document: Dict[str, Any]) -> str:
    """Returns a module with the types of the custom fields, and of the answers to the request forms.

    - `document`: the OpenAPI document of the workspace, which has an operation for each active form.
    """
    fields: Dict[str, List[_Field]] = {"TICKET": [], "ASSET": []}
    ticket_fields: Dict[str, CustomFieldDefinition] = {}
    for definition in definitions:
        is_required = definition["required"] and definition["active"]
        fields.setdefault(definition["resource"], []).append(_field_of(definition, is_required))
        if definition["resource"] == "TICKET":
            ticket_fields[definition["key"]] = definition
    parts = [
        _declare(f"{resource.capitalize()}Fields", f"The custom fields of {resource.lower()}s.", of_resource)
        for resource, of_resource in fields.items()
    ]
    for path, operations in document["paths"].items():
        form = re.fullmatch(r"/request-forms/([\w-]+)/tickets", path)
        answers = re.search(r'schemas/(Form\w+Answers)"', json.dumps(operations.get("post", {}).get("requestBody")))
        if form is None or answers is None:
            continue
        schema = document["components"]["schemas"][answers[1]]
        required = schema.get("required", [])
        # The names that all objects of JavaScript have, such as `constructor`, are patterns such as `^constructor$`.
        hidden = [pattern[1:-1] for pattern in schema.get("else", {}).get("patternProperties", {})]
        keys = [*schema["properties"], *hidden]
        asked = [_field_of(ticket_fields[key], key in required, is_nullable=False) for key in keys]
        name = "".join(word.capitalize() for word in re.split(r"[_-]", form[1]))
        text = f"The answers to the request form `{form[1]}`."
        parts.append(_declare(f"{name}Answers", text, asked, is_closed=True))
    return "\n\n".join([_HEAD, *parts])


def _declare(name: str, text: str, fields: List[_Field], is_closed: bool = False) -> str:
    """Prints a TypedDict. Without fields, any keys are allowed, unless the type is closed."""
    if not fields and not is_closed:
        return f'{name} = Dict[str, CustomFieldValue]\n"""{text}"""\n'
    if any(keyword.iskeyword(key) for key, _, _ in fields):
        # A class can't have a key that is a keyword.
        body = "".join(f"        # {text}\n        {key!r}: {type_},\n" for key, type_, text in fields)
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{body}    }},\n)\n"""{text}"""\n'
    body = "".join(f"    # {text}\n    {key}: {type_}\n" for key, type_, text in fields)
    return f'class {name}(TypedDict):\n    """{text}"""\n\n{body}'


def _field_of(definition: CustomFieldDefinition, is_required: bool, is_nullable: bool = True) -> _Field:
    description = definition["description"]
    is_active = definition["active"]
    text = definition["label"] + ("" if description is None else f": {description}") + ("" if is_active else " (inactive)")
    type_ = _type_of(definition) if is_active else "CustomFieldValue"
    if not is_required:
        type_ = f"NotRequired[{type_}{' | None' if is_nullable else ''}]"
    return definition["key"], type_, _comment(text)


def _type_of(definition: CustomFieldDefinition) -> str:
    options = [option["value"] for option in definition["options"] or [] if option["active"]]
    # `repr` escapes characters that aren't printable, such as those that change the direction of text.
    literal = f"Literal[{', '.join(map(repr, options))}]" if options else "str"
    types = {"TEXT": "str", "NUMBER": "float", "BOOLEAN": "bool", "DATE": "str", "USER": "int", "SELECT": literal}
    types["MULTI_SELECT"] = f"Sequence[{literal}]"
    return types.get(definition["type"], "CustomFieldValue")


def _comment(text: str) -> str:
    """Returns a text that can't end its comment or change the direction of the code."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


if __name__ == "__main__":
    sys.exit(main())
