import { ticketRows } from '../../resources/tickets/queries.ts';
import { exportAction } from '../lib/export.ts';

const exportRows = exportAction(ticketRows);

export { exportRows as export };
