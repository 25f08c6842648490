import type { ItsmClient } from '@itsm-api/client';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Spool } from './spool.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of a program, whose names start with `itsm_alerts_`. */
export function createMetrics(spool: Spool, client: ItsmClient) {
  const registry = new Registry();
  const metric = (name: string, help: string) => ({ name: `itsm_alerts_${name}`, help, registers: [registry] });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ ...metric(`${name}_total`, help), labelNames });

  const waiting = new Gauge(metric('waiting', 'Number of alerts in the spool.'));
  const oldest = new Gauge(metric('oldest_waiting_seconds', 'Age of the oldest alert in the spool.'));
  const remaining = new Gauge({
    ...metric('rate_limit_remaining', 'Number of requests that the API key can still send in the window of a limit.'),
    labelNames: ['limit'],
  });
  return {
    received: counter('received', 'Number of received alerts.', ['form', 'status']),
    unreadable: counter('unreadable', 'Number of alerts that were skipped because they are unreadable.', ['form']),
    changes: counter('changes', 'Number of changes: create, reopen, resolve, comment and link.', ['change']),
    rejections: counter('rejections', 'Number of tickets, links and comments that the service rejected.', ['code']),
    failures: counter('failures', 'Number of failed attempts to send a batch.', ['code']),
    contentType: registry.contentType,
    /** Returns the current values in the text format of Prometheus. */
    async format(): Promise<string> {
      const backlog = spool.backlog;
      waiting.set(backlog.waiting);
      oldest.set(backlog.oldestSeconds);
      for (const limit of client.rateLimits) remaining.set({ limit: limit.name }, limit.remaining);
      return registry.metrics();
    },
  };
}
