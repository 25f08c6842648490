import cors from '@fastify/cors';
import { idempotencyKeyHeader, replayedHeader } from '@itsm-api/contract';
import type { FastifyInstance } from 'fastify';
import { requestIdHeader } from './request-id.ts';

const exposedHeaders = [
  requestIdHeader,
  'content-disposition',
  'etag',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'deprecation',
  'sunset',
  replayedHeader,
];

/**
 * Allows web pages from the listed origins to call the API (docs/decisions/api-conventions.md). If the list is empty,
 * CORS is disabled.
 */
export async function addCors(app: FastifyInstance, origins: string[]): Promise<void> {
  if (origins.length === 0) return;
  await app.register(cors, {
    origin: origins,
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'authorization',
      'content-type',
      'if-match',
      'if-none-match',
      'x-api-key',
      requestIdHeader,
      idempotencyKeyHeader,
    ],
    exposedHeaders,
    maxAge: 3600,
    optionsSuccessStatus: 200,
    strictPreflight: false,
  });
}
