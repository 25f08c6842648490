import { startItsm } from '@itsm-api/testing';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the ITSM server. */
    itsm: string;
  }
}

/** Starts one server for all workers of Vitest. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const itsm = await startItsm();
  project.provide('itsm', itsm.url);
  return itsm.stop;
}
