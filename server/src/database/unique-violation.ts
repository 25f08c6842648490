import { Prisma } from '../../generated/prisma/client.ts';
import { invalidField } from '../shared/errors.ts';

/**
 * Makes a row whose field must be unique. Only the database can tell when two are made at once.
 * @throws ApiError VALIDATION_ERROR naming the field, when its value is taken
 */
export async function createUnique<Row>(field: string, message: string, create: () => Promise<Row>): Promise<Row> {
  try {
    return await create();
  } catch (error) {
    throw isUniqueViolation(error) ? invalidField('VALIDATION_ERROR', field, message) : error;
  }
}

/** Checks whether a row could not be written because a unique value is taken. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
