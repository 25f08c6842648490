import { readFileSync } from 'node:fs';
import { bulkItems, type ErrorCode, errors, events, pathPrefix, requestLimits } from '@itsm-api/contract';
import { acceptsIfMatch, acceptsIfNoneMatch } from '../../contract/src/endpoint.ts';
import { pythonExampleCall, snakeCase } from '../../contract/src/openapi/calls.ts';
import { pythonLiteral } from '../../contract/src/openapi/literal.ts';
import { codesOf } from '../../contract/src/openapi/operations.ts';
import type { Model, Operation } from './model.ts';
import { capitalize, type Declaration, type Field, type Side, type Type } from './type-model.ts';

/**
 * Prints the Python client: `types.py` contains the types, `resources.py` the methods, `errors.py` the error classes, and
 * `_contract.py` the constants.
 */
export function pythonSources(model: Model): Record<string, string> {
  const printer = new Printer(model);
  const folder = 'client/python/src/itsm_api';
  return {
    [`${folder}/_contract.py`]: constantsSource(),
    [`${folder}/errors.py`]: errorsSource(),
    [`${folder}/types.py`]: printer.typesSource(),
    [`${folder}/resources.py`]: printer.resourcesSource(),
  };
}

/** Python names of a module that the types of the API must not have. */
const reservedNames = ['Any', 'Dict', 'List', 'Literal', 'Mapping', 'NotRequired', 'Sequence', 'TypedDict'];

/** Names of parameters that no filter of a list must have. */
const methodOptions = ['self', 'follow', 'poll_seconds'];

class Printer {
  readonly #model: Model;
  /** The declarations that the printer adds for objects without a name, in front of the declaration that contains them. */
  #added: string[] = [];

  constructor(model: Model) {
    this.#model = model;
    for (const name of model.types.declarations.keys()) {
      if (reservedNames.includes(name)) throw new Error(`The type ${name} needs another id: Python has this name.`);
    }
  }

  typesSource(): string {
    const { types, eventNames } = this.#model;
    const queries = new Set(this.#operations().map(({ query }) => query));
    const declarations = [...types.declarations].filter(([name]) => !queries.has(name));
    return source('The types of the API.', [
      'from typing import Any, Dict, List, Literal, Mapping, NotRequired, Sequence, TypedDict',
      ...declarations.map(([name, declaration]) => this.#declaration(name, declaration)),
      unknownEvent,
      `KnownEvent = ${eventNames.join(' | ')}\n${docstring(['An event that this version of the client knows.'], '')}`,
      `WebhookEvent = KnownEvent | UnknownEvent\n${docstring(['An event of a webhook. Its `type` distinguishes the events.'], '')}`,
    ]);
  }

  #operations(): Operation[] {
    return this.#model.resources.flatMap(({ operations }) => operations);
  }

  #declaration(name: string, { description = '', type, sides }: Declaration): string {
    this.#added = [];
    const side = sides.has('request') ? 'request' : 'response';
    const text = type.kind === 'record' && sides.size > 1 ? 'response' : side;
    const printed = this.#named(name, type, text, description);
    return [...this.#added, printed].join('\n\n');
  }

  /** Declares a type. An object becomes a `TypedDict`. */
  #named(name: string, type: Type, side: Side, description: string): string {
    if (type.kind !== 'object') {
      const printed = type.kind === 'enum' ? printLiterals(type.values) : this.#type(type, side, name);
      return `${name} = ${printed}${description === '' ? '' : `\n${docstring([description], '')}`}`;
    }
    const optional = type.atLeastOne.map((field) => ({ ...field, isOptional: true }));
    const fields = [...type.fields, ...optional].map((field) => ({ field, type: this.#field(field, side, name) }));
    const others = type.others === undefined ? [] : ['It can have other keys.'];
    const lines = [[description, ...others].filter(Boolean).join(' ')].filter(Boolean);
    if (fields.every(({ field }) => isPythonName(field.name))) {
      const body = fields.map(({ field, type }) => {
        const text = this.#fieldText(field, side);
        return `    ${field.name}: ${type}\n${text === '' ? '' : docstring([text], '    ')}`;
      });
      const head = lines.length === 0 ? '' : `${docstring(lines, '    ')}\n`;
      return `class ${name}(TypedDict):\n${head}${body.join('') || '    pass\n'}`.trimEnd();
    }
    // A class can't have a key that is a keyword of Python.
    const body = fields.map(({ field, type }) => {
      const text = this.#fieldText(field, side);
      return `${text === '' ? '' : `    # ${text}\n`}    ${JSON.stringify(field.name)}: ${type},\n`;
    });
    const head = `${name} = TypedDict(\n    ${JSON.stringify(name)},\n    {\n${body.join('').replace(/^/gm, '    ').trimEnd()}\n    },\n)`;
    return lines.length === 0 ? head : `${head}\n${docstring(lines, '')}`;
  }

  #field({ name, type, isOptional }: Field, side: Side, owner: string): string {
    const printed = this.#type(type, side, `${owner}${capitalize(name)}`);
    return isOptional ? `NotRequired[${printed}]` : printed;
  }

  /** Returns the description of a field. In responses, it contains the known values. */
  #fieldText({ text, type }: Field, side: Side): string {
    const values = side === 'response' ? this.#knownValues(type) : [];
    return values.length === 0
      ? text
      : `${text} Known values: ${values.map((value) => `\`${value}\``).join(', ')}.`.trim();
  }

  #knownValues(type: Type): string[] {
    if (type.kind === 'enum') return type.values;
    if (type.kind === 'array') return this.#knownValues(type.of);
    if (type.kind === 'union') return type.of.flatMap((each) => this.#knownValues(each));
    const declared = type.kind === 'named' && this.#model.types.declarations.get(type.name)?.type;
    return declared && declared.kind === 'enum' ? declared.values : [];
  }

  /**
   * Prints the annotation of a type.
   * @param owner the name of the declaration if the type is an object without a name
   */
  #type(type: Type, side: Side, owner: string): string {
    switch (type.kind) {
      case 'string':
      case 'template':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'unknown':
        return 'Any';
      case 'null':
        return 'None';
      case 'number':
        return type.isInteger ? 'int' : 'float';
      case 'literal':
        return type.values.every((value) => value === null) ? 'None' : printLiterals(type.values);
      case 'enum':
        // A newer server can return other values.
        return type.isOpen ? 'str' : printLiterals(type.values);
      case 'named':
        return this.#reference(type.name, side);
      case 'union':
        return this.#members(type, side, owner).join(' | ');
      case 'array':
        return `${side === 'request' ? 'Sequence' : 'List'}[${this.#type(type.of, side, `${owner}Item`)}]`;
      case 'record':
        return this.#record(type.of, side, owner);
      case 'object':
        this.#added.push(this.#named(owner, type, side, ''));
        return owner;
    }
  }

  /** Prints the members of a union and of the unions inside it, each once and None last. */
  #members(type: Type, side: Side, owner: string): string[] {
    const parts = type.kind === 'union' ? type.of : [type];
    const members = parts.flatMap((each, index) =>
      each.kind === 'union' ? this.#members(each, side, owner) : this.#type(each, side, `${owner}${index + 1}`),
    );
    const unique = [...new Set(members)];
    return [...unique.filter((each) => each !== 'None'), ...unique.filter((each) => each === 'None')];
  }

  #reference(name: string, side: Side): string {
    const type = this.#model.types.declarations.get(name)?.type;
    if (type?.kind === 'enum' && side === 'response') return 'str';
    return type?.kind === 'record' && side === 'request' ? this.#type(type, side, name) : name;
  }

  #record(of: Type, side: Side, owner: string): string {
    if (side === 'response') return `Dict[str, ${this.#type(of, side, `${owner}Value`)}]`;
    // A `TypedDict` with the fields of a workspace is compatible only with this type.
    const isCustom = of.kind === 'named' && of.name === 'CustomFieldValue';
    return `Mapping[str, ${isCustom ? 'object' : this.#type(of, side, `${owner}Value`)}]`;
  }

  resourcesSource(): string {
    const { resources, types } = this.#model;
    const classes = resources.map(({ name, text, operations }) => {
      const methods = operations.map((operation) => this.#method(operation));
      return `class ${capitalize(name)}(Resource):\n${docstring([text], '    ')}\n${methods.join('\n\n')}`;
    });
    const attributes = resources.map(
      ({ name, text }) => `    ${snakeCase(name)}: ${capitalize(name)}\n${docstring([text], '    ')}`,
    );
    const assignments = resources.map(({ name }) => `        self.${snakeCase(name)} = ${capitalize(name)}(api)\n`);
    const all =
      `class Resources:\n${docstring(['The resources of the API, each with its methods.'], '    ')}\n${attributes.join('')}
    def __init__(self, api: Api) -> None:\n${assignments.join('')}`.trimEnd();
    const used = [...types.declarations.keys()].filter((name) =>
      new RegExp(`^    +[^"#].*\\b${name}\\b`, 'm').test(signatures([...classes, all].join('\n'))),
    );
    const imports = `from __future__ import annotations

from typing import Callable, Iterable, Literal, Mapping, Sequence

from ._bulk import BulkItem, BulkResult
from ._files import Download, FileContent
from ._lists import ApiChanges, ApiList
from ._resource import Api, Resource
from .types import (
${used
  .sort()
  .map((name) => `    ${name},\n`)
  .join('')})`;
    // The base class returns the JSON of the server, whose types mypy can't check.
    return source('The methods of the API.', ['# mypy: disable-error-code=no-any-return', imports, ...classes, all]);
  }

  #method(operation: Operation): string {
    const { name, kind, row, params, route, definition, sent, match, query } = operation;
    const rowType = row === undefined ? 'Download' : this.#type(row, 'response', '');
    const path = params.map(([param, type]) => `${snakeCase(param)}: ${this.#type(type, 'request', '')}`);
    const ids = params.map(([param]) => snakeCase(param));
    const options: string[] = [];
    const values: string[] = [];
    const add = (option: string, type: string, initial = 'None') => {
      options.push(`${option}: ${type}${initial === 'None' ? ' | None' : ''} = ${initial}`);
      values.push(`${option}=${option}`);
    };
    const sentType = sent && this.#type(sent, 'request', '');
    if (kind === 'answers') {
      path.push(`items: Iterable[${sentType}]`);
      if (match) add('match_by', this.#type(match.type, 'request', ''), JSON.stringify(match.default));
      if (route.method === 'POST') add('idempotency_key', 'str');
      add('concurrency', 'int', '1');
      add('on_progress', 'Callable[[int, int, int], None]');
      add('on_batch', `Callable[[Sequence[BulkItem[${sentType}, ${rowType}]]], None]`);
      values.unshift('items');
    } else if (operation.isUpload) {
      path.push('file: FileContent');
      for (const option of ['name', 'content_type']) add(option, 'str');
      add('size', 'int');
      add('idempotency_key', 'str');
      values.unshift('file');
    } else if (kind === 'one') {
      if (sentType !== undefined) path.push(`body: ${sentType}`);
      if (acceptsIfMatch(route)) add('if_match', 'str');
      if (acceptsIfNoneMatch(route)) add('if_none_match', rowType);
      if (route.method === 'POST') add('idempotency_key', 'str');
      if (sentType !== undefined) values.unshift('body');
    }
    const declared = query === undefined ? undefined : this.#model.types.declarations.get(query)?.type;
    const filters = declared?.kind === 'object' ? declared.fields : [];
    const sentQuery = filters.map(({ name }) => `${JSON.stringify(name)}: ${snakeCase(name)}`).join(', ');
    for (const { name, type } of filters) {
      if (methodOptions.includes(snakeCase(name))) throw new Error(`Rename the filter ${name}: methods have it.`);
      options.push(`${snakeCase(name)}: ${this.#type(type, 'request', '')} | None = None`);
    }
    if (query !== undefined) values.unshift(`{${sentQuery}}`);
    if (kind === 'changes') {
      add('follow', 'bool', 'False');
      add('poll_seconds', 'float', '10.0');
    }
    const call = {
      one: operation.isUpload ? '_upload' : '_send',
      list: '_list',
      changes: '_changes',
      answers: '_bulk',
      file: '_download',
    };
    const result = {
      one: rowType,
      file: rowType,
      list: `ApiList[${rowType}]`,
      changes: `ApiChanges[${rowType}]`,
      answers: `BulkResult[${sentType}, ${rowType}]`,
    };
    const parameters = ['self', ...path, ...(options.length > 0 ? ['*', ...options] : [])];
    const passed = [JSON.stringify(definition), ids.length === 0 ? '()' : `(${ids.join(', ')},)`, ...values];
    const line = `    def ${snakeCase(name)}(${parameters.join(', ')}) -> ${result[kind]}:`;
    const broken = `    def ${snakeCase(name)}(\n${parameters.map((each) => `        ${each},\n`).join('')}    ) -> ${result[kind]}:`;
    return `${line.length <= 100 ? line : broken}\n${docstring(this.#methodText(operation), '        ')}        return self.${call[kind]}(${passed.join(', ')})`;
  }

  #methodText(operation: Operation): string[] {
    const { paragraphs, resource, route } = operation;
    const raised = codesOf(resource, route).map((code) => `\`${errorClass(code)}\``);
    const { source, variable, isWalked } = pythonExampleCall(operation, 88);
    const example = isWalked
      ? `for ${variable} in ${source}:\n    print(${variable}["${operation.rowKey}"])`
      : `${variable} = ${source}`;
    return [
      ...paragraphs.flatMap((lines) => [...lines, '']),
      `Errors: ${raised.join(', ')}.`,
      '',
      'Example::',
      '',
      ...example.split('\n').map((line) => `    ${line}`),
    ];
  }
}

function constantsSource(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return source('The constants of the contract.', [
    `VERSION = "${version}"`,
    `# The prefix of every path.\nPATH_PREFIX = "${pathPrefix}"`,
    `# The limits of a bulk request.\nMAX_BULK_ITEMS = ${bulkItems}\nMAX_BODY_BYTES = ${requestLimits.bodyBytes}`,
    `EVENT_TYPES = (${Object.keys(events)
      .map((type) => JSON.stringify(type))
      .join(', ')},)`,
  ]);
}

function errorsSource(): string {
  const classes = Object.entries(errors).map(([code, { when, remedy }]) => {
    return `class ${errorClass(code as ErrorCode)}(ItsmError, code="${code}"):\n${docstring([when, '', remedy], '    ')}`.trimEnd();
  });
  const names = ['ApiConnectionError', 'ApiTimeoutError', 'ItsmError', 'UnexpectedAnswerError'];
  return source('The error classes of the API. Each error code has its own class.', [
    `from ._errors import ${names.join(', ')}`,
    `__all__ = [\n${[...names, ...Object.keys(errors).map((code) => errorClass(code as ErrorCode))].map((name) => `    "${name}",\n`).join('')}]`,
    ...classes,
  ]);
}

/** Returns the class name of an error code, as in the TypeScript client. */
function errorClass(code: ErrorCode): string {
  const words = code.replace(/_ERROR$|(?<=^RATE_LIMIT).+/, '').toLowerCase();
  return `${words.split('_').map(capitalize).join('')}Error`;
}

const unknownEvent = `class UnknownEvent(TypedDict):
    """An event from a newer server."""

    id: str
    """The id of the event. Every attempt has the same id. Use the id to deduplicate events."""
    type: Literal["unknown"]
    """The value for every event type that this version of the client doesn't know."""
    timestamp: str
    """When the event occurred."""
    body: Dict[str, Any]
    """The complete delivered body. Its \`type\` is the original type."""`;

/** Returns only the lines outside of docstrings. */
function signatures(code: string): string {
  return code.replaceAll(/"""[\s\S]*?"""/g, '');
}

function isPythonName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && snakeCase(name.toLowerCase()) === name.toLowerCase();
}

function printLiterals(values: readonly unknown[]): string {
  return `Literal[${values.map((value) => pythonLiteral(value)).join(', ')}]`;
}

function docstring(lines: string[], indent: string): string {
  const text = lines.map((line) => line.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"'));
  if (text.length === 1) return `${indent}"""${text[0]?.replace(/"$/, '\\"')}"""\n`;
  const body = text.map((line, index) => (index === 0 || line === '' ? line : indent + line));
  return `${indent}"""${body.join('\n')}\n${indent}"""\n`;
}

function source(description: string, parts: string[]): string {
  const head = `# Generated from the contract by \`pnpm generate\`. Do not edit.\n"""${description}"""`;
  return `${[head, ...parts]
    .join('\n\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`;
}
