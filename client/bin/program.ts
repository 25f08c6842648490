import { ItsmClient, type ItsmError } from '@itsm-api/client';

/* What the commands of the program share. */

/** Creates the client of a command. If a setting is invalid, ends the program with a message. */
export function createClient(command: string, baseUrl: string): ItsmClient {
  try {
    const logger = { debug: () => undefined, warn: (message: string) => log(message) };
    return new ItsmClient({ baseUrl, apiKey: process.env.ITSM_KEY, userAgent: `itsm-${command}`, logger });
  } catch (error) {
    log(`${(error as Error).message} Set ITSM_URL and ITSM_KEY.`);
    process.exit(2);
  }
}

export function describeError({ message, code, requestId }: ItsmError): string {
  return `${message} (${code}, request ${requestId ?? 'unknown'})`;
}

export function log(message: string): void {
  process.stderr.write(`${message}\n`);
}
