import { readSettings } from '@itsm-api/server/config/env.ts';
import { describe, expect, it } from 'vitest';

const secretKey = Buffer.alloc(32, 1).toString('base64');

describe('the settings', () => {
  it('uses default values if no environment variables are set', () => {
    expect(readSettings({})).toMatchObject({
      PORT: 3000,
      HOST: '127.0.0.1',
      DATA_DIR: '.data',
      ROLES: ['api', 'worker'],
      RATE_LIMIT_GLOBAL: 60,
      RATE_LIMIT_GROUP: 30,
      RATE_LIMIT_PAGES: 120,
      RATE_LIMIT_STORE: 'memory',
      CORS_ORIGINS: [],
      TRUST_PROXY: [],
    });
  });

  it('uses the default value for an empty setting', () => {
    expect(readSettings({ PORT: '', DATABASE_URL: '' })).toEqual(readSettings({}));
  });

  it.each([
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['SECURITY_CONTACT', 'security@example.com'],
    ['SECURITY_CONTACT', 'http://example.com/security'],
    ['SECURITY_CONTACT', 'mailto:security@example.com\nExpires: never'],
    ['OPERATIONS_PORT', 'http'],
    ['OPERATIONS_PORT', '65536'],
    ['DRAIN_SECONDS', '-1'],
    ['DRAIN_SECONDS', '5s'],
    ['DATABASE_URL', 'mysql://localhost/itsm'],
    ['ROLES', 'api,cook'],
    ['ROLES', ','],
    ['LOG_LEVEL', 'loud'],
    ['RATE_LIMIT_GLOBAL', '0'],
    ['RATE_LIMIT_GROUP', '1e3'],
    ['RATE_LIMIT_STORE', 'postgres'],
    ['ATTACHMENTS_S3_ENDPOINT', 's3.example.com'],
    ['REDIS_URL', 'redis.example.com:6379'],
    ['REDIS_URL', 'https://redis.example.com'],
    ['REDIS_URL', 'redis://'],
    ['REDIS_URL', 'redis://:100%@redis.example.com'],
    ['REDIS_URL', 'redis://redis.example.com/itsm'],
    ['REDIS_URL', 'redis://redis.example.com?family=6'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://collector.example.com'],
    ['CORS_ORIGINS', 'app.example.com'],
    ['CORS_ORIGINS', 'https://app.example.com/path'],
    ['TRUST_PROXY', '10.0.0.0/40'],
    ['TRUST_PROXY', 'proxy'],
    ['TRUST_PROXY', '010.0.0.1'],
    ['TRUST_PROXY', '10.0.0.0/08'],
    ['TRUST_PROXY', '::ffff:10.0.0.0/64'],
    ['WEBHOOK_SECRET_KEY', 'short'],
    ['WEBHOOK_ALLOW_PRIVATE_TARGETS', 'yes'],
    ['WEBHOOK_BLOCKED_NETWORKS', '10.0.0.0/33'],
    ['WEBHOOK_BLOCKED_NETWORKS', '::ffff:0:0/95'],
    ['WEBHOOK_BLOCKED_NETWORKS', '10.0.0.0/8,10.1'],
    ['WEBHOOK_BLOCKED_NETWORKS', 'fe80::1%eth0/64'],
    ['WEBHOOK_BLOCKED_NETWORKS', '2001:db8::/32/1'],
    ['WEBHOOK_BLOCKED_NETWORKS', 'internal'],
  ])('rejects the setting %s=%s with one line that names the setting', (name, value) => {
    const read = () =>
      readSettings({ DATABASE_URL: 'postgresql://localhost/itsm', WEBHOOK_SECRET_KEY: secretKey, [name]: value });
    expect(read).toThrow(new RegExp(`^${name}: must be [^\\n]+$`));
  });

  it('reports every invalid setting on a separate line', () => {
    expect(() => readSettings({ PORT: 'x', LOG_LEVEL: 'x' })).toThrow(/^PORT: .*\nLOG_LEVEL: .*$/);
  });

  it.each([
    'redis://redis.example.com',
    'redis://:secret@10.0.0.7:6380/2',
    'rediss://itsm:s%C3%A9cret@[2001:db8::7]:6379/',
  ])('accepts the setting REDIS_URL=%s', (REDIS_URL) => {
    expect(readSettings({ RATE_LIMIT_STORE: 'redis', REDIS_URL }).REDIS_URL).toBe(REDIS_URL);
  });

  it.each([
    ['OTEL_SDK_DISABLED', 'true'],
    ['OTEL_TRACES_EXPORTER', 'none'],
  ])('accepts an unsupported OTEL_EXPORTER_OTLP_ENDPOINT if %s=%s', (name, value) => {
    const settings = readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317', [name]: value });
    expect(settings.OTEL_EXPORTER_OTLP_ENDPOINT).toBe('collector:4317');
  });

  it('requires REDIS_URL for shared rate limits', () => {
    expect(() => readSettings({ RATE_LIMIT_STORE: 'redis' })).toThrow(/^REDIS_URL: is required [^\n]+$/);
  });

  it('requires both parts of an access key for S3', () => {
    const message = 'ATTACHMENTS_S3_SECRET_ACCESS_KEY: must be set together with ATTACHMENTS_S3_ACCESS_KEY_ID';
    expect(() => readSettings({ ATTACHMENTS_S3_ACCESS_KEY_ID: 'key' })).toThrow(message);
    expect(() => readSettings({ ATTACHMENTS_S3_SECRET_ACCESS_KEY: 'secret' })).toThrow(message);
  });

  it('requires WEBHOOK_SECRET_KEY if DATABASE_URL is set', () => {
    expect(() => readSettings({ DATABASE_URL: 'postgresql://localhost/itsm' })).toThrow(
      /^WEBHOOK_SECRET_KEY: is required/,
    );
  });
});
