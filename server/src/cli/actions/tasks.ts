import { taskRows } from '../../resources/tasks/queries.ts';
import { exportOf } from '../lib/export.ts';

const exportRows = exportOf(taskRows);

export { exportRows as export };
