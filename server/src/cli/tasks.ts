import type { Command } from 'commander';
import { taskRows } from '../resources/tasks/queries.ts';
import { addExport } from './export.ts';

export function addTasks(program: Command): void {
  addExport(program.command('tasks').description('Export tasks'), taskRows);
}
