import { type ExternalCheck, load, run, toResult, toRuleResult, versionReader } from '../external-check.ts';
import { pagesOf } from '../pages.ts';

interface Report {
  results: { messages: { ruleId: string; message: string }[] }[];
}

/** html-validate with the presets `standard` and `a11y`. */
export const htmlValidate: ExternalCheck = {
  name: 'html-validate standard, a11y',
  about:
    'All pages of the documentation site and of the developer area. A check is a rule, and the number of failures is the ' +
    'number of different messages.',
  version: versionReader('html-validate'),
  async run(product) {
    const { HtmlValidate, StaticConfigLoader } = load('html-validate');
    const presets = ['html-validate:standard', 'html-validate:a11y'];
    // Without scripts, the page of a pending delivery reloads every two seconds until the delivery ends.
    const rules = { 'meta-refresh': 'off' };
    const validator = new HtmlValidate(new StaticConfigLoader({ root: true, extends: presets, rules }));
    // The number of rows in the tables of a page varies, so the tool counts each different message once.
    const findings = new Map<string, { rule: string; message: string }>();
    for (const { path, html } of await pagesOf(product)) {
      const { results } = (await validator.validateString(html)) as Report;
      for (const { ruleId, message } of results.flatMap(({ messages }) => messages)) {
        findings.set(message, { rule: ruleId, message: `${path}: ${message}` });
      }
    }
    const { rules: checked } = (await validator.getConfigFor('page.html')).getConfigData();
    const active = Object.values(checked as Record<string, unknown>).filter((severity) => severity !== 'off');
    return toRuleResult(active.length, [...findings.values()]);
  },
};

/** linkinator, which follows links and checks their fragments. */
export const linkinator: ExternalCheck = {
  name: 'linkinator',
  about: 'The documentation site. A check is a link or a file within the site.',
  version: versionReader('linkinator'),
  async run({ origin }) {
    // Also skips the operations in the interactive reference, whose elements a script creates.
    const skipped = `^(?!${origin})|/docs/#tag/`;
    const args = [origin, '--recurse', '--check-fragments', '--check-css', '--skip', skipped];
    const { links } = JSON.parse(await run('linkinator', [...args, '--format', 'json'])) as {
      links: { url: string; state: string; status: number; parent?: string }[];
    };
    const broken = links.filter(({ state }) => state === 'BROKEN');
    return toResult(
      links.filter(({ state }) => state !== 'SKIPPED').length,
      broken.map(({ url, status, parent }) => ({ rule: String(status), message: `${url} in ${parent}` })),
    );
  },
};
