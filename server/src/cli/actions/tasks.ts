import { taskRows } from '../../resources/tasks/queries.ts';
import { exportAction } from '../lib/export.ts';

const exportRows = exportAction(taskRows);

export { exportRows as export };
