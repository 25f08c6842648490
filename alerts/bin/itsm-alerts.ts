#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { checkFields, readSettings, type Settings, startAlerts } from '@itsm-api/alerts';

/* The program of the package. It receives alerts until it gets SIGINT or SIGTERM. */

const usage = `Usage: itsm-alerts [--config <file>] [--check]

Receives alerts of Prometheus Alertmanager, Grafana and other programs, and creates and resolves ITSM tickets.

Options:
  --config <file>  the settings (default: alerts.yaml)
  --check          validate the settings, and exit

Environment variables:
  ITSM_URL                      the URL of the server
  ITSM_KEY                      an API key with the scopes tickets:read and tickets:write; assignee also needs users:read, and asset needs assets:read
  ALERTS_TOKEN                  the bearer token of the senders
  ALERTS_USER, ALERTS_PASSWORD  the user and the password of senders that use basic authentication
`;

try {
  const { values } = parseArgs({
    options: { config: { type: 'string' }, check: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) process.stdout.write(usage);
  else {
    const settings = readSettings(values.config ?? 'alerts.yaml', process.env);
    if (values.check) await check(settings);
    else await run(settings);
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}

async function run(settings: Settings): Promise<void> {
  const starting = startAlerts(settings);
  const close = () =>
    starting.then(
      (alerts) => alerts.close(),
      () => undefined,
    );
  // A signal can arrive before the server listens.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, close);
  await starting;
}

/** Prints warnings. The settings are valid also while the service is unavailable. */
async function check(settings: Settings): Promise<void> {
  const warnings = await checkFields(settings).catch((error: Error) => [
    `Custom fields were not checked: ${error.message}`,
  ]);
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
}
