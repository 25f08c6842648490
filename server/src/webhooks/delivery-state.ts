import * as z from 'zod';

/** PENDING until it is settled as one of the others. */
export const DeliveryState = z.enum(['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED']);
export type DeliveryState = z.output<typeof DeliveryState>;
