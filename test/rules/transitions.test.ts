import { TicketStatus, ticketTransitions } from '@itsm-api/contract';
import { expect, it } from 'vitest';

/** Tests the table of ticket status transitions. api/tickets-patch.test.ts tests every transition in the API. */
it('defines the same ticket status transitions as docs/decisions/tickets.md', () => {
  expect(ticketTransitions).toEqual({
    OPEN: ['IN_PROGRESS', 'PENDING', 'RESOLVED', 'CANCELLED'],
    IN_PROGRESS: ['PENDING', 'RESOLVED', 'CANCELLED'],
    PENDING: ['IN_PROGRESS', 'RESOLVED', 'CANCELLED'],
    RESOLVED: ['CLOSED', 'IN_PROGRESS'],
    CLOSED: [],
    CANCELLED: [],
  });
  expect(TicketStatus.options).toEqual(Object.keys(ticketTransitions));
});
