// This project has its own client generator, because the client that @hey-api/openapi-ts 0.95 generates from this
// contract has 7,688 lines, but no paging, retries or idempotency keys.

import { readModel } from './model.ts';
import { pythonSources } from './python.ts';
import { typeScriptSources } from './typescript.ts';

/** Generates the files of the clients from the contract. Returns the source code by path. */
export function clientSources(): Record<string, string> {
  const model = readModel();
  return { ...typeScriptSources(model), ...pythonSources(model) };
}
