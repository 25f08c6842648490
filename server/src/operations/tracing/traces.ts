import { asksForTraces, type Settings, SettingsError } from '../../config/env.ts';
import { errorCode } from '../../shared/pg-errors.ts';
import type { Traces } from './open-telemetry.ts';

export type { Traces };

const install =
  'npx -y pnpm@12 --filter @itsm-api/server add --save-prod @opentelemetry/api@1.10.0 @opentelemetry/sdk-node@0.301.0';

/**
 * Begins to trace where the variables of OpenTelemetry ask for it; else nothing of OpenTelemetry is loaded.
 * @param onTrouble told when traces can't be sent, at most once in some minutes
 * @throws SettingsError when its packages are not installed, or one of its variables makes no sense
 */
export async function openTraces(settings: Settings, onTrouble: (reason: string) => void): Promise<Traces | undefined> {
  if (!asksForTraces(settings)) return undefined;
  const { startOpenTelemetry } = await import('./open-telemetry.ts').catch((error: unknown) => {
    throw errorCode(error) === 'ERR_MODULE_NOT_FOUND' ? packagesMissing() : error;
  });
  return startOpenTelemetry(onTrouble);
}

function packagesMissing(): SettingsError {
  return new SettingsError(
    `OTEL_*: traces are asked for, and OpenTelemetry is not installed; run \`${install}\`, or set OTEL_SDK_DISABLED=true`,
  );
}
