import { auditTargetTypes } from '../../resources/audit/audit-entry.ts';
import { common, noun } from '../lib/command.ts';

export const audit = noun({
  verbs: {
    export: {
      summary: 'Export the audit log of a tenant to a file, and print the SHA-256 of the file',
      details: 'The format is JSON Lines: one entry per line, oldest first.',
      arguments: [{ flags: '<file>', about: 'file to create' }],
      options: [
        common.tenant,
        { flags: '--since <moment>', about: 'only entries since then: 2h or 3d ago, or 2026-11-20T10:00:00Z' },
        { flags: '--until <moment>', about: 'only entries before then' },
        {
          flags: '--actor <actor>',
          about: 'only changes by this user (ID or email address) or operating-system user',
          values: 'users',
        },
        {
          flags: '--target <target>',
          about: `only changes to one object (key:7) or to all objects of a type (${auditTargetTypes.join(', ')})`,
          values: auditTargetTypes,
        },
        { flags: '--yes', about: 'replace an existing file without confirmation' },
      ],
      examples: [
        'audit export audit.jsonl --tenant Acme',
        'audit export keys.jsonl --tenant Acme --since 30d --target key',
      ],
    },
  },
  actions: () => import('../actions/audit.ts'),
});
