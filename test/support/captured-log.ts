import { Writable } from 'node:stream';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';

/** Creates a logger that collects the log lines with the level `warn` and above. */
export function captureWarnings() {
  const lines: { msg: string; reason?: string }[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      const texts = String(chunk).trim().split('\n');
      lines.push(...texts.map((line) => JSON.parse(line)));
      done();
    },
  });
  return { logger: createLogger('warn', stream), lines };
}
