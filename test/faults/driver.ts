import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import { createTicket } from '@itsm-api/server/resources/tickets/queries.ts';
import type { DispatchJobs } from '@itsm-api/server/webhooks/dispatch-jobs.ts';
import type { Workspace } from './workspaces.ts';

/** What the one who makes changes knows of them, each by its name, which is the title of the ticket. */
export interface Changes {
  /** Answered 2xx: they must be told of. */
  committed: Set<string>;
  /** Refused with 4xx, or surely rolled back: they must not be told of. */
  undone: Set<string>;
  /** Answered 5xx or not at all: nobody knows, and the database decides. */
  unknown: Set<string>;
}

export interface Driver {
  changes: Changes;
  /** Makes no more changes; resolves when the last has been answered, or has not. */
  stop(): Promise<void>;
}

interface DriverOptions {
  apiUrl: string;
  workspaces: Workspace[];
  /** Changes that are begun in a second, as long as enough of them are answered. */
  perSecond: number;
}

const clients = 24;
const answerPatience = 15_000;

/** Creates and updates tickets over HTTP at a steady pace; every tenth change is made to be undone. */
export function startDriver({ apiUrl, workspaces, perSecond }: DriverOptions): Driver {
  const changes: Changes = { committed: new Set(), undone: new Set(), unknown: new Set() };
  const tickets = new Map<Workspace, number[]>(workspaces.map((workspace) => [workspace, []]));
  let next = Date.now();
  let count = 0;
  let stopped = false;

  async function client(): Promise<void> {
    for (;;) {
      // Every client takes the next moment; those that wait for an answer have the others go on.
      next = Math.max(next + 1000 / perSecond, Date.now() - 1000);
      await sleep(Math.max(0, next - Date.now()));
      if (stopped) return;
      const name = `change ${count++}`;
      const workspace = workspaces[count % workspaces.length] as Workspace;
      if (count % 20 === 0) await rollBack(workspace, name);
      else if (count % 20 === 10) await request(workspace, name, { assigneeId: 2 ** 40 });
      else await request(workspace, name);
    }
  }

  /** Creates a ticket, or gives one a new title. */
  async function request(workspace: Workspace, title: string, faulty: object = {}): Promise<void> {
    const known = tickets.get(workspace) ?? [];
    const id = Math.random() < 0.4 ? known[Math.floor(Math.random() * known.length)] : undefined;
    const status = await call(workspace, id, { title, ...faulty }).then(
      ({ status, id }) => {
        if (status === 201 && id !== undefined) known.push(id);
        return status;
      },
      () => undefined,
    );
    if (status === undefined || status >= 500) changes.unknown.add(title);
    else if (status >= 400) changes.undone.add(title);
    else changes.committed.add(title);
    if (status === undefined) await sleep(50);
  }

  async function call({ key }: Workspace, id: number | undefined, fields: object) {
    const ticket = { description: 'Made while things fail.', type: 'INCIDENT', category: 'NETWORK', ...fields };
    const response = await fetch(`${apiUrl}${pathPrefix}/tickets${id === undefined ? '' : `/${id}`}`, {
      method: id === undefined ? 'POST' : 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(id === undefined ? ticket : fields),
      signal: AbortSignal.timeout(answerPatience),
    });
    const { data } = (await response.json()) as { data?: { id: number } };
    return { status: response.status, id: data?.id };
  }

  async function rollBack(workspace: Workspace, title: string): Promise<void> {
    changes.undone.add(title);
    await createAndRollBack(workspace, title);
  }

  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    changes,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** All that creating a ticket does, its event, deliveries and jobs included, and then the transaction fails. */
async function createAndRollBack({ context }: Workspace, title: string): Promise<void> {
  const addWithin: DispatchJobs['addWithin'] = async (...added) => {
    await context.dispatchJobs.addWithin(...added);
    throw new Error('rolled back');
  };
  const ticket = { title, description: 'Never was.', type: 'INCIDENT', category: 'OTHER' } as const;
  const result = await createTicket({ ...context, dispatchJobs: { ...context.dispatchJobs, addWithin } }, ticket).catch(
    () => undefined,
  );
  if (result !== undefined) throw new Error('a transaction that was to fail was committed');
}
