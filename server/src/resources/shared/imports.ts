import { isImportField } from '@itsm-api/contract';
import type * as z from 'zod';
import { invalidField } from '../../shared/errors.ts';
import type { Context } from './context.ts';

/**
 * Checks the fields that only an import key can set (docs/decisions/imports.md).
 * @param schema the contract schema of the input
 * @param path the path of the input in the request body, which ends with a dot; empty if the input is the body
 * @throws ApiError VALIDATION_ERROR if the API key isn't an import key, or a time is in the future
 */
export function checkImportFields({ isImport, now }: Context, schema: z.ZodObject, input: object, path = ''): void {
  for (const [name, value] of Object.entries(input)) {
    const field: z.ZodType | undefined = schema.shape[name];
    if (value === undefined || field === undefined || !isImportField(field)) continue;
    if (isImport !== true) throw invalidField('VALIDATION_ERROR', path + name, 'can be set only with an import key');
    if (name.endsWith('At') && Date.parse(String(value)) > now().getTime()) {
      throw invalidField('VALIDATION_ERROR', path + name, 'must not be in the future');
    }
  }
}
