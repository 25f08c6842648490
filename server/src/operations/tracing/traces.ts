import { asksForTraces, type Settings, SettingsError } from '../../config/env.ts';
import { errorCode } from '../../shared/error-codes.ts';
import type { Traces } from './open-telemetry.ts';

export type { Traces };

const install =
  'npx -y pnpm@12.21.0 --filter @itsm-api/server add --save-prod @opentelemetry/api@1.10.0 @opentelemetry/sdk-node@0.301.0';

/**
 * Starts tracing if the OTEL_* variables enable it. If tracing is off, returns undefined and loads no OpenTelemetry
 * package.
 * @param onTrouble called if traces can't be sent, at most once every 10 minutes
 * @throws SettingsError if the OpenTelemetry packages are not installed or a variable is invalid
 */
export async function openTraces(settings: Settings, onTrouble: (reason: string) => void): Promise<Traces | undefined> {
  if (!asksForTraces(settings)) return undefined;
  const { startOpenTelemetry } = await import('./open-telemetry.ts').catch((error: unknown) => {
    throw errorCode(error) === 'ERR_MODULE_NOT_FOUND' ? missingPackagesError() : error;
  });
  return startOpenTelemetry(onTrouble);
}

function missingPackagesError(): SettingsError {
  return new SettingsError(
    `OTEL_*: tracing is enabled, but OpenTelemetry is not installed; run \`${install}\`, or set OTEL_SDK_DISABLED=true`,
  );
}
