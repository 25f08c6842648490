/** A rule that fails, and why the product doesn't follow it. */
export interface AllowedFailure {
  tool: string;
  rule: string;
  /** How often the rule fails. */
  count: number;
  /** What a correction would cost users. */
  reason: string;
}

/** Returns exceptions with the same reason. @param counts how often each rule fails */
function allow(tool: string, reason: string, counts: Record<string, number>): AllowedFailure[] {
  return Object.entries(counts).map(([rule, count]) => ({ tool, rule, count, reason }));
}

const ibm = 'IBM OpenAPI validator';
const owasp = 'Spectral OWASP';
const mcp = 'MCP conformance';
const html = 'html-validate standard, a11y';

export const exceptions: readonly AllowedFailure[] = [
  ...allow(
    ibm,
    'The specification has names in camelCase and values in capitals. Other names would break every client.',
    {
      'ibm-property-casing-convention': 287,
      'ibm-parameter-casing-convention': 31,
      'ibm-enum-casing-convention': 146,
    },
  ),
  ...allow(
    ibm,
    'The specification has the envelope with `data`, `meta` and `error`. Another envelope would break clients.',
    {
      'ibm-collection-array-property': 11,
      'ibm-error-response-schemas': 2,
    },
  ),
  ...allow(ibm, 'The rule wants `_` in paths. Other paths would break clients, and URLs usually have hyphens.', {
    'ibm-path-segment-casing-convention': 8,
  }),
  ...allow(
    ibm,
    'Generated clients name their methods and types after these names. Other names would break their code.',
    {
      'ibm-operationid-naming-convention': 41,
      'ibm-operationid-casing-convention': 15,
      'ibm-schema-naming-convention': 14,
    },
  ),
  ...allow(
    ibm,
    'OpenAPI 3.1 allows it, but the rule is for OpenAPI 3.0. Users would lose descriptions, nullable types and events.',
    {
      'ibm-no-unsupported-keywords': 1,
      'ibm-schema-keywords': 89,
      'no-$ref-siblings': 82,
      'ibm-schema-type-format': 18,
      'ibm-openapi-tags-used': 1,
    },
  ),
  ...allow(
    ibm,
    'The specification has pages with numbers and a total. Pages with cursors are only in the change feeds.',
    {
      'ibm-pagination-style': 63,
    },
  ),
  ...allow(
    ibm,
    'Responses contain fields without a value as null. If such fields were absent, clients of earlier servers would break.',
    {
      'ibm-no-nullable-properties': 221,
    },
  ),
  ...allow(ibm, 'The specification has PATCH with `application/json`. Clients that send it would fail.', {
    'ibm-patch-request-content-type': 7,
  }),
  ...allow(
    ibm,
    'An id is an integer or a ticket number, so a word such as `changes` is never an id. Other paths would break clients.',
    {
      'ibm-no-ambiguous-paths': 12,
    },
  ),
  ...allow(
    ibm,
    'Requests have the limits that the server checks, except for cursors and ETags, which are opaque. Limits of stored texts and of lists in responses would break clients that validate, as soon as a limit rises. Lists of ids are limited by their distinct ids, so `maxItems` would reject lists that the server accepts.',
    { 'ibm-string-attributes': 577, 'ibm-array-attributes': 156 },
  ),
  ...allow(
    ibm,
    'A page number, a total and a file size can exceed 32 bits. With `int64`, generated clients would get types such as `Long` or `bigint`, which users would have to convert.',
    {
      'ibm-integer-attributes': 4,
    },
  ),
  ...allow(
    ibm,
    'Objects that occur once have no name. With names, clients would have more types and the reference more jumps.',
    {
      'ibm-avoid-inline-schemas': 93,
    },
  ),
  ...allow(ibm, 'Errors without invalid fields have no `details`. An empty list would say that no field is wrong.', {
    'ibm-required-array-properties-in-response': 3,
  }),
  ...allow(ibm, "Files have any media type, so the document can't list them.", { 'ibm-content-type-is-specific': 1 }),
  ...allow(
    ibm,
    'The response is an OpenAPI document, or contains a JSON Schema or the request of any operation. Their properties vary.',
    {
      'ibm-accept-and-return-models': 1,
      'ibm-well-defined-dictionaries': 4,
    },
  ),
  ...allow(ibm, '`ifMatch` is the condition of the proposed request, so it is in the body with this request.', {
    'ibm-precondition-headers': 1,
  }),
  ...allow(ibm, 'The response to a new webhook contains its signing secret, which later responses never contain.', {
    'ibm-resource-response-consistency': 1,
  }),
  ...allow(ibm, 'Parameters are named components. The place of their references makes no difference to users.', {
    'ibm-avoid-repeating-path-parameters': 9,
  }),

  ...allow(
    owasp,
    'The rule accepts only one family of headers. The API sends `RateLimit` and `X-RateLimit-Limit`, which clients need.',
    {
      'owasp:api4:2023-rate-limit': 167,
    },
  ),
  ...allow(
    owasp,
    'Each operator sets the allowed origins (`CORS_ORIGINS`), so the document would promise a header that most servers lack.',
    {
      'owasp:api8:2023-define-cors-origin': 185,
    },
  ),
  ...allow(owasp, '`GET /ping` needs no API key and has no rate limit, so that monitoring can call it.', {
    'owasp:api2:2023-read-restricted': 1,
    'owasp:api4:2023-rate-limit-responses-429': 2,
    'owasp:api8:2023-define-error-responses-401': 2,
  }),
  ...allow(owasp, 'Each server serves the document with its own address, and its operator decides who uses it.', {
    'owasp:api9:2023-inventory-access': 1,
    'owasp:api9:2023-inventory-environment': 1,
  }),
  ...allow(
    owasp,
    'Texts in requests have the limits that the server checks. Other texts have a pattern or a format, and cursors and ETags are opaque. Limits of texts in responses would break clients that validate responses when the server raises a limit.',
    {
      'owasp:api4:2023-string-limit': 226,
      'owasp:api4:2023-string-restricted': 214,
    },
  ),
  ...allow(
    owasp,
    'Lists of ids are limited by their distinct ids, so `maxItems` would reject lists that the server accepts. In responses, a longer page would break clients that validate.',
    {
      'owasp:api4:2023-array-limit': 66,
    },
  ),
  ...allow(
    owasp,
    'A page number, a total and a file size can exceed 32 bits. With `int64`, generated clients would get types such as `Long` or `bigint`, which users would have to convert.',
    {
      'owasp:api4:2023-integer-format': 4,
    },
  ),
  ...allow(
    owasp,
    'The specification has numeric ids. The server checks the tenant of each row, so a guessed id returns 404.',
    {
      'owasp:api1:2023-no-numeric-ids': 13,
    },
  ),

  ...allow('Portman and Newman', 'Files have any media type, and the tool compares it with `*/*` as a text.', {
    'Content-Type is */*': 1,
  }),

  ...allow(mcp, 'The scenario calls a tool, resource or prompt of the test server that belongs to the tool.', {
    'tools-call-simple-text': 1,
    'tools-call-image': 1,
    'tools-call-audio': 1,
    'tools-call-embedded-resource': 1,
    'tools-call-mixed-content': 1,
    'tools-call-with-logging': 1,
    'tools-call-error': 1,
    'tools-call-with-progress': 1,
    'tools-call-sampling': 1,
    'tools-call-elicitation': 1,
    'elicitation-sep1034-defaults': 1,
    'elicitation-sep1330-enums': 1,
    'resources-read-text': 1,
    'resources-read-binary': 1,
    'resources-templates-read': 1,
    'prompts-get-simple': 1,
    'prompts-get-with-args': 1,
    'prompts-get-embedded-resource': 1,
    'prompts-get-with-image': 1,
  }),
  ...allow(
    mcp,
    "The server has no sessions and doesn't declare this optional capability. Agents would need more tokens and connections.",
    {
      'logging-set-level': 1,
      'completion-complete': 1,
      'resources-subscribe': 1,
      'resources-unsubscribe': 1,
      'prompts-list': 1,
    },
  ),

  ...allow(
    html,
    'On a phone, rows of tables are blocks, and browsers then drop the roles of cells. Users of screen readers would lose the tables.',
    {
      'no-redundant-role': 6,
    },
  ),
  ...allow(html, "A `<select>` can't contain the excerpts of search results. A `<section>` is the same to users.", {
    'prefer-native-element': 2,
  }),
];

/** The programs that don't run, and why. */
export const skippedPrograms: readonly string[] = [
  'kin-openapi (Go), because OpenAPI::Client (Perl) already validates the responses in a language other than TypeScript.',
];
