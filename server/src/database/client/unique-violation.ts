import { Prisma } from '../../../generated/prisma/client.ts';
import { invalidField } from '../../shared/errors.ts';

/**
 * Creates a row with a unique field. Relies on the unique constraint, because a check before the insert would miss
 * concurrent requests.
 * @throws ApiError VALIDATION_ERROR with the field, if another row already has the value
 */
export async function createUnique<Row>(field: string, message: string, create: () => Promise<Row>): Promise<Row> {
  try {
    return await create();
  } catch (error) {
    throw isUniqueViolation(error) ? invalidField('VALIDATION_ERROR', field, message) : error;
  }
}

/** Returns true if a write failed because another row already has the value of a unique field. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
