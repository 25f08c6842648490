import { ticketRows } from '../../resources/tickets/queries.ts';
import { exportOf } from '../lib/export.ts';

const exportRows = exportOf(ticketRows);

export { exportRows as export };
