import { TicketStatus, ticketTransitions } from '@itsm-api/contract';
import { expect, it } from 'vitest';

/* What docs/decisions/tickets.md says; api/tickets-patch.test.ts makes every move, and tries every other. */
it('a ticket moves as the decisions say', () => {
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
