import { readFileSync } from 'node:fs';
import { closest, distance } from 'fastest-levenshtein';
import { parseDocument } from 'yaml';
import * as z from 'zod';

/**
 * Returns the schema of a ticket field that depends on a label. The schema transforms it to a function that returns the
 * value of the field: the translation of the label in `values`, or the label itself if there are no `values`. If that
 * isn't a valid value, it returns the `default`.
 */
function fromLabel<Value>(value: z.ZodType<Value, string | number | boolean>) {
  return z
    .strictObject({ label: z.string(), values: z.record(z.string(), value), default: value })
    .partial()
    .refine((field) => field.label || field.default !== undefined, 'needs a label, a default or both')
    .refine((field) => field.label || !field.values, 'needs a label for its values')
    .transform(({ label = '', values, default: fallback }) => {
      const translations = values && new Map<unknown, Value>(Object.entries(values));
      return (labels: Record<string, string>): Value | undefined => {
        const given = labels[label] || undefined;
        return (translations ? translations.get(given) : value.safeParse(given).data) ?? fallback;
      };
    });
}

const Priority = z.enum(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL']);
const Category = z.enum(['SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER']);
const Type = z.enum(['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST']);
const tagPattern = /^[\p{L}\p{Nd}][\p{L}\p{M}\p{Nd}:_./-]{0,49}$/u;
const Tag = z.string().toLowerCase().normalize('NFC').regex(tagPattern, 'must be a tag, such as monitoring');
const Tags = z.strictObject({
  fixed: z.array(Tag).max(20).default([]),
  labels: z.array(z.string()).max(20).default([]),
});
/** The names in a field that depends on a label. */
const fieldNames = ['label', 'values', 'default'];

/** The settings in the YAML file (README.md). */
const File = z.strictObject({
  spool: z.string().min(1),
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(9096),
  identity: z.enum(['fingerprint', 'groupKey']).default('fingerprint'),
  repeat: z.enum(['ignore', 'comment']).default('ignore'),
  reopenWithinHours: z.number().min(0).default(24),
  type: Type.default('INCIDENT'),
  priority: fromLabel(Priority).prefault({ default: 'MEDIUM' }),
  category: fromLabel(Category).prefault({ default: 'OTHER' }),
  team: fromLabel(z.coerce.number<string | number>().int().min(1)).optional(),
  assignee: fromLabel(z.email()).optional(),
  asset: fromLabel(
    z
      .string()
      .trim()
      .normalize('NFC')
      .min(1)
      .max(100)
      .regex(/^\P{Cc}+$/u),
  ).optional(),
  customFields: z
    .record(z.string(), fromLabel(z.union([z.string(), z.number(), z.boolean()])))
    .refine((fields) => Object.keys(fields).length <= 50, 'must have at most 50 fields')
    .default({}),
  tags: Tags.prefault({}),
});

/** The settings in environment variables, which contain the secrets. */
const Environment = z
  .object({
    ITSM_URL: z.url({ protocol: /^https?$/, error: 'Set the URL of the server' }),
    ITSM_KEY: z.string('Set an API key').min(1, 'Set an API key'),
    ...z.object({ ALERTS_TOKEN: z.string(), ALERTS_USER: z.string(), ALERTS_PASSWORD: z.string() }).partial().shape,
  })
  .refine((env) => env.ALERTS_TOKEN || (env.ALERTS_USER && env.ALERTS_PASSWORD), {
    ...{ path: ['ALERTS_TOKEN'], error: 'Set the token of the senders, or ALERTS_USER and ALERTS_PASSWORD' },
    // Reports this error beside the others.
    when: () => true,
  });

/** The validated settings of the program. */
export type Settings = z.output<typeof File> & z.output<typeof Environment>;

/** The settings are invalid. The message lists all errors. */
export class SettingsError extends Error {}

/**
 * Reads the settings.
 * @param path the path of the YAML file
 * @throws SettingsError with all errors of the file and of the environment variables
 */
export function readSettings(path: string, env: Record<string, string | undefined>): Settings {
  const document = parseDocument(readFileSync(path, 'utf8'));
  const file = File.safeParse(document.toJS() ?? {});
  const environment = Environment.safeParse(env);
  const isYaml = document.errors.length === 0;
  const problems = [
    ...document.errors.map(({ message }) => `${path}: ${message}`),
    ...describe(isYaml ? file.error : undefined, `${path}: `),
    ...describe(environment.error, ''),
  ];
  if (!isYaml || !file.success || !environment.success) throw new SettingsError(problems.join('\n'));
  return { ...file.data, ...environment.data };
}

function describe(error: z.ZodError | undefined, prefix: string): string[] {
  return (error?.issues ?? []).flatMap((issue) => {
    const [first] = issue.path;
    const place = first === undefined ? prefix : `${prefix}${issue.path.join('.')}: `;
    if (issue.code !== 'unrecognized_keys') return `${place}${issue.message}`;
    const known =
      first === undefined ? Object.keys(File.shape) : first === 'tags' ? Object.keys(Tags.shape) : fieldNames;
    return issue.keys.map((key) => {
      const nearest = closest(key, known);
      const isSimilar = distance(key, nearest) <= Math.max(1, Math.round(key.length / 3));
      return `${place}Unrecognized key: "${key}".${isSimilar ? ` Did you mean "${nearest}"?` : ' Remove it.'}`;
    });
  });
}
