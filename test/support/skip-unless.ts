import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** The reason why a test is skipped. The summary of the test run lists it. */
    skipReason?: string;
  }
}

/** Returns options of `it` and `describe` that skip tests unless a condition is met. */
export function skipUnless(isMet: boolean, skipReason: string): TestOptions {
  return isMet ? {} : { skip: true, meta: { skipReason } };
}

/** Returns options that skip tests which run commands in a terminal. Other systems have another program `script`. */
export const skipUnlessLinux = () => skipUnless(process.platform === 'linux', 'This system is not Linux.');
