import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pnpm } from '../../../test/support/pnpm.ts';
import { publishedFolders } from '../../../tools/published-folders.ts';
import { type ExternalCheck, inFolder, run, toResult, versionReader } from '../external-check.ts';

interface Analysis {
  entrypoints: Record<string, { resolutions: Record<string, unknown> }>;
  problems: { kind: string; entrypoint?: string; resolutionKind?: string }[];
}

/** Are the Types Wrong, for the published npm packages. */
export const attw: ExternalCheck = {
  name: 'Are the Types Wrong',
  about: 'The published npm packages. A check is an entry point in one of four ways of module resolution.',
  version: versionReader('@arethetypeswrong/cli'),
  run: () =>
    inFolder(async (folder) => {
      for (const published of publishedFolders) {
        await pnpm(['pack', '--pack-destination', folder], join(import.meta.dirname, '../../..', published));
      }
      const packages = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
      const outputs = await Promise.all(packages.map((name) => run('attw', [join(folder, name), '--format', 'json'])));
      const analyses = outputs.map((output) => JSON.parse(output).analysis as Analysis);
      const ways = analyses.flatMap(({ entrypoints }) =>
        Object.values(entrypoints).flatMap(({ resolutions }) => Object.keys(resolutions)),
      );
      const findings = analyses.flatMap(({ problems }, index) =>
        problems.map(({ kind, entrypoint, resolutionKind }) => ({
          rule: kind,
          message: `${packages[index]}: ${entrypoint} with ${resolutionKind}`,
        })),
      );
      return toResult(ways.length, findings);
    }),
};
