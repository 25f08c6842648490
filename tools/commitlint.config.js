import { terms } from './prose-terms.ts';

/** Rejects subjects with the terms that docs/STYLE.md excludes. */
function usesStandardTerms({ header }) {
  const found = terms.flatMap(([pattern, use]) => {
    const [term] = new RegExp(pattern, 'i').exec(header ?? '') ?? [];
    return term === undefined ? [] : `instead of "${term.trim()}", use "${use}"`;
  });
  return [found.length === 0, found.join('; ')];
}

/** The commit message rules of docs/STYLE.md. commitlint prints `helpUrl` below the problems. */
export default {
  extends: ['@commitlint/config-conventional'],
  plugins: [{ rules: { 'standard-terms': usesStandardTerms } }],
  // Two commits are older than the rule `standard-terms`.
  ignores: [(message) => /^(docs|test)\(yardsticks\): /.test(message)],
  rules: { 'header-max-length': [2, 'always', 72], 'standard-terms': [2, 'always'] },
  helpUrl: `docs/STYLE.md. Say what changes and where, so that a stranger understands it:
  docs: list the findings of external linters and validators
  feat(testing): age rows, run scheduled jobs and shorten retry delays
  perf(tags): skip the tags column if an update does not set it`,
};
