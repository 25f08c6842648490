import type { NewTask, Task, TaskPatch } from '@itsm-api/contract';
import fc from 'fast-check';
import { changeTask, isTaskIn, newTask } from '../resources/tasks.ts';
import { changed, made, readStep } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { isRejection } from '../world.ts';
import {
  filterOf,
  missingId,
  paging,
  place,
  priority,
  question,
  seldom,
  sending,
  some,
  user,
  userId,
  words,
} from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList, noteList } from './lists.ts';
import { noteTag, tagOf } from './tickets.ts';

const status = fc.constantFrom('TODO', 'IN_PROGRESS', 'BLOCKED', 'DONE', 'CANCELLED');
const date = fc.option(fc.constantFrom('2026-11-27', '2026-12-24', '2027-02-28'));
const fields = { description: fc.option(words), assignee: user, startDate: date, dueDate: date };
const newGiven = fc.record(
  { title: words, priority: fc.option(priority), ...fields },
  { requiredKeys: ['title'], noNullPrototype: true },
);
export const taskPatchGiven = some({ title: words, status, priority, ...fields });

function projectOf({ workspace: { projects } }: Turn, place: number): number {
  return projects[Math.floor(place * projects.length)]?.id ?? missingId;
}

export function withAssignee<Input extends { assignee?: Parameters<typeof userId>[1] }>(
  turn: Turn,
  { assignee, ...body }: Input,
) {
  return { ...body, ...(assignee && { assigneeId: userId(turn, assignee) }) };
}

export const tasks = {
  list: kind(
    3,
    fc.record({
      place,
      ...paging,
      status: filterOf(status),
      priority: filterOf(priority),
      assignees: filterOf(user),
      q: seldom(question),
      isForeign: fc.nat(19),
    }),
    async (turn, { place, assignees, isForeign, ...given }) => {
      if (isForeign === 0) return askForeign(turn, 'tasks.list', { id: turn.other.projects[0]?.id });
      const query = { ...given, assigneeId: assignees?.map((each) => userId(turn, each) ?? missingId) };
      const projectId = projectOf(turn, place);
      const sent = await askList(turn, 'tasks.list', query, { id: projectId });
      const isIn = (row: Task) => row.projectId === projectId && isTaskIn(row, query);
      noteList(turn, turn.workspace.tasks, sent, { query, isIn });
    },
  ),

  get: kind(3, fc.record({ place, isForeign: fc.nat(19) }), async (turn, { place, isForeign }) => {
    const { tasks } = turn.workspace;
    if (isForeign === 0) return askForeign(turn, 'tasks.get', { param: 'taskId', id: turn.other.tasks.pick(place) });
    const id = tasks.pick(place);
    if (id === undefined) return;
    const sent = await turn.ask('tasks.get', { params: { taskId: id } });
    if (sent?.answer === undefined) return;
    noteTag(tasks.of(id), sent.answer);
    tasks.of(id).steps.push(readStep(sent, sent.answer.body?.data ?? {}));
  }),

  create: kind(
    4,
    fc.record({ given: newGiven, place, sending, isForeign: fc.nat(29) }),
    async (turn, { given, place, sending, isForeign }) => {
      const { world, workspace, references, actor } = turn;
      const marker = `c${turn.number}`;
      const body = { ...withAssignee(turn, given), title: `${marker} ${given.title}` } as NewTask;
      if (isForeign === 0) return askForeign(turn, 'tasks.create', { id: turn.other.projects[0]?.id, body });
      const projectId = projectOf(turn, place);
      const other = { ...body, description: 'Another.' };
      const sent = await turn.ask('tasks.create', { params: { id: projectId }, body, sending, other });
      if (sent === undefined) return;
      const { answer } = sent;
      const outcome = newTask(projectId, body, references);
      if ('codes' in outcome) {
        if (answer !== undefined)
          world.expect(isRejection(answer, outcome.codes), 'an invalid task was not rejected', sent);
        return;
      }
      const { row } = outcome;
      if (answer === undefined) {
        const step = (id: number) => ({ ...made({ sent, answer }, { row, actor, id }), isCertain: true });
        workspace.tasks.creations.push({ marker, request: turn.number, step });
        return;
      }
      world.expect(answer.status === 201, 'a task was not created', sent);
      const task = answer.body?.data as Task | undefined;
      if (task === undefined) return;
      workspace.tasks.of(task.id).steps.push(made({ sent, answer }, { row, actor, id: task.id }));
      workspace.tasks.know(task.id);
    },
  ),

  update: kind(
    6,
    fc.record({
      place,
      patch: taskPatchGiven,
      tag: fc.option(fc.nat(2), { nil: undefined, freq: 3 }),
      isForeign: fc.nat(29),
    }),
    async (turn, { place, patch, tag, isForeign }) => {
      const { tasks } = turn.workspace;
      if (isForeign === 0) {
        const id = turn.other.tasks.pick(place);
        return askForeign(turn, 'tasks.update', { param: 'taskId', id, body: { title: 'Seized' } });
      }
      const id = tasks.pick(place);
      if (id === undefined) return;
      const { references, actor } = turn;
      const body = withAssignee(turn, patch) as TaskPatch;
      const ifMatch = tagOf(tasks.of(id), tag);
      const headers = ifMatch && { headers: { 'if-match': ifMatch } };
      const sent = await turn.ask('tasks.update', { params: { taskId: id }, body, ...headers });
      if (sent === undefined) return;
      const reported = { sent, answer: sent.answer };
      tasks
        .of(id)
        .steps.push(changed<Task>(reported, { actor, ifMatch, change: (row) => changeTask(row, body, references) }));
      noteTag(tasks.of(id), sent.answer);
    },
  ),
};
