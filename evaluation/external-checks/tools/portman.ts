import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathPrefix } from '@itsm-api/contract';
import { type ExternalCheck, inFolder, openApiPath, run, toResult, versionReader } from '../external-check.ts';

/** Portman, which creates a Postman collection with tests from the OpenAPI document. Newman runs the collection. */
export const portman: ExternalCheck = {
  name: 'Portman and Newman',
  about: 'Each GET operation, with its required parameters. A check is an assertion about a response.',
  version: async () => `${await versionReader('@apideck/portman')()}, ${await versionReader('newman')()}`,
  run: ({ origin, key }) =>
    inFolder(async (folder) => {
      const write = async (name: string, content: unknown) => {
        const file = join(folder, `${name}.json`);
        await writeFile(file, JSON.stringify(content));
        return file;
      };
      const [collection, results] = [join(folder, 'collection.json'), join(folder, 'results.json')];
      await run(
        'portman',
        [
          ...['--local', await write('document', onlyReads(JSON.parse(await readFile(openApiPath, 'utf8'))))],
          ...['--portmanConfigFile', await write('portman', settings(key))],
          ...['--postmanConfigFile', await write('postman', { parametersResolution: 'Example' })],
          ...['--baseUrl', origin + pathPrefix, '--output', collection],
        ],
        { folder },
      );
      await run('newman', ['run', collection, '--reporters', 'cli,json', '--reporter-json-export', results]);
      const { stats, failures } = JSON.parse(await readFile(results, 'utf8')).run as Summary;
      const findings = failures.map(({ source, error }) => ({
        rule: error.test.replace(/^\[GET\]::\S+ - /, ''),
        message: `${source.name}: ${error.message}`,
      }));
      return toResult(stats.assertions.total, findings);
    }),
};

interface Summary {
  stats: { assertions: { total: number } };
  failures: { source: { name: string }; error: { test: string; message: string } }[];
}

/** Returns the settings of Portman: the tests of each response, and the API key. */
function settings(key: string) {
  const tests = ['statusSuccess', 'contentType', 'jsonBody', 'schemaValidation', 'headersPresent'];
  const enabled = Object.fromEntries(tests.map((name) => [name, { enabled: true }]));
  return {
    version: 1,
    tests: { contractTests: [{ openApiOperation: 'GET::/*', ...enabled }] },
    globals: { securityOverwrites: { bearer: { token: key } } },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the document is JSON
type Part = any;

/**
 * Removes everything but GET operations and their required parameters. Portman would send all optional parameters in one
 * request, and some of them exclude each other.
 */
function onlyReads({ webhooks: _, ...document }: Part): Part {
  const isRequired = ({ $ref, required }: Part) =>
    $ref === undefined ? required : document.components.parameters[$ref.split('/').at(-1)].required;
  const paths = Object.entries(document.paths as Part)
    .filter(([, { get }]: Part) => get !== undefined)
    .map(([path, { get }]: Part) => [path, { get: { ...get, parameters: (get.parameters ?? []).filter(isRequired) } }]);
  return { ...document, paths: Object.fromEntries(paths) };
}
