import type { FastifyBaseLogger } from 'fastify';
import type { Databases } from '../../database/client/databases.ts';
import { createKeyLookup, type KeyLookup } from './key-lookup.ts';
import { createLastUsed, type LastUsed } from './last-used.ts';

interface KeysOptions {
  databases: Databases;
  now: () => Date;
  logger: Pick<FastifyBaseLogger, 'warn' | 'error'>;
  /** Called if too many look-ups wait. */
  onRejected: () => void;
}

/** Opens the look-up of API keys, and the recorder of their last use. Logs what fails. */
export function openKeys({ databases, now, logger, onRejected }: KeysOptions): {
  keys: KeyLookup;
  lastUsed: LastUsed;
} {
  const { outages } = databases.options;
  const lastUsed = createLastUsed({
    prisma: databases.system.prisma,
    now,
    onError: (err) => {
      if (!outages.explains(err, 'uses of keys'))
        logger.error({ err }, '`lastUsedAt` of API keys could not be written');
    },
  });
  const keys = createKeyLookup({
    databases,
    now,
    onRejected,
    onUnavailable: (err) =>
      logger.warn(
        { err },
        'Notifications of the database are unavailable. Every request looks up its API key in the database.',
      ),
    onAvailable: () => logger.warn('Notifications of the database are available again. API keys are cached.'),
  });
  return { keys, lastUsed };
}
