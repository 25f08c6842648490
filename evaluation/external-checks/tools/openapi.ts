import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathPrefix } from '@itsm-api/contract';
import {
  type ExternalCheck,
  inFolder,
  load,
  openApiPath,
  type Result,
  run,
  toRuleResult,
  versionReader,
} from '../external-check.ts';

/** Redocly with all rules of `recommended-strict`. */
export const redocly: ExternalCheck = {
  name: 'Redocly recommended-strict',
  about: 'The OpenAPI document. A check is a rule.',
  version: versionReader('@redocly/cli'),
  async run() {
    const output = await run('redocly', ['lint', openApiPath, '--extends', 'recommended-strict', '--format', 'json']);
    const { problems } = JSON.parse(output) as { problems: { ruleId: string; message: string }[] };
    const { createConfig } = load('@redocly/openapi-core');
    const { rules } = await createConfig({ extends: ['recommended-strict'] });
    const findings = problems.map(({ ruleId, message }) => ({ rule: ruleId, message }));
    return toRuleResult(countActive(rules.oas3_1), findings);
  },
};

/** A finding of Spectral's rules, which IBM's validator also uses. */
interface Finding {
  path: (string | number)[];
  message: string;
}

const toFinding = (rule: string, { path, message }: Finding) => ({ rule, message: `${path.join('/')}: ${message}` });

type Rules = Record<string, string | { severity?: string; recommended?: boolean }>;

interface Ruleset {
  rules: Rules;
  extends?: { rules: Rules };
}

/** Counts the rules that are not switched off. */
function countActive(rules: Rules): number {
  const active = Object.values(rules).filter((rule) => {
    return typeof rule === 'string' ? rule !== 'off' : rule.severity !== 'off' && rule.recommended !== false;
  });
  return active.length;
}

/** Counts the active rules of a ruleset. A ruleset can switch off rules of the ruleset that it extends. */
function countRules(ruleset: Ruleset): number {
  return countActive({ ...ruleset.extends?.rules, ...ruleset.rules });
}

/** IBM's validator with its default rules. */
export const ibm: ExternalCheck = {
  name: 'IBM OpenAPI validator',
  about: 'The OpenAPI document. A check is a rule.',
  version: versionReader('ibm-openapi-validator'),
  async run() {
    const report = JSON.parse(await run('lint-openapi', ['--json', openApiPath]));
    const results = [...report.error.results, ...report.warning.results] as (Finding & { rule: string })[];
    const findings = results.map((finding) => toFinding(finding.rule, finding));
    return toRuleResult(countRules(load('@ibm-cloud/openapi-ruleset')), findings);
  },
};

/**
 * Runs Spectral, and returns the result of its rules.
 * @param extended the name of the rules in Spectral's configuration
 * @param documents the paths of the OpenAPI documents
 */
function runSpectral(extended: string, ruleset: Ruleset, documents: string[]): Promise<Result> {
  return inFolder(async (folder) => {
    const [rules, results] = [join(folder, 'rules.yaml'), join(folder, 'results.json')];
    await writeFile(rules, JSON.stringify({ extends: [extended] }));
    const options = ['--ruleset', rules, '--format', 'json', '--output', results, '-v'];
    await run('spectral', ['lint', ...documents, ...options]);
    const found = JSON.parse(await readFile(results, 'utf8')) as (Finding & { code: string })[];
    const findings = found.map((finding) => toFinding(finding.code, finding));
    return toRuleResult(countRules(ruleset), findings);
  });
}

/** Spectral with its own rules for OpenAPI. */
export const spectral: ExternalCheck = {
  name: 'Spectral OpenAPI',
  about: 'The OpenAPI documents 3.1 and 3.0, and the document of a workspace. A check is a rule.',
  version: versionReader('@stoplight/spectral-rulesets'),
  run: ({ origin, key }) =>
    inFolder(async (folder) => {
      const headers = { authorization: `Bearer ${key}` };
      const paths = ['/openapi.json', '/openapi-3.0.json', `${pathPrefix}/openapi.json`];
      const files = paths.map(async (path, index) => {
        const file = join(folder, `${index}.json`);
        await writeFile(file, await (await fetch(`${origin}${path}`, { headers })).text());
        return file;
      });
      return runSpectral('spectral:oas', load('@stoplight/spectral-rulesets').oas, await Promise.all(files));
    }),
};

/** Spectral with the rules for the OWASP API Security Top 10 of 2023. */
export const owasp: ExternalCheck = {
  name: 'Spectral OWASP',
  about: 'The OpenAPI document. A check is a rule.',
  version: versionReader('@stoplight/spectral-owasp-ruleset'),
  run: () => {
    const ruleset = load.resolve('@stoplight/spectral-owasp-ruleset');
    return runSpectral(ruleset, load(ruleset), [openApiPath]);
  },
};
