import { commentRows } from '../../resources/comments/queries.ts';
import { exportAction } from '../lib/export.ts';

const exportRows = exportAction(commentRows);

export { exportRows as export };
