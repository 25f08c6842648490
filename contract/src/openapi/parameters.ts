import type * as z from 'zod';
import { Asset } from '../assets.ts';
import { Delivery } from '../deliveries.ts';
import { Project } from '../projects.ts';
import { Task } from '../tasks.ts';
import { Ticket } from '../tickets.ts';
import { Webhook } from '../webhooks.ts';
import { metaOf } from './schemas.ts';
import type { Parameter, Reference } from './types.ts';

/** Puts a parameter as ts-rest describes it among the components, named and in words, and refers to it. */
export function toComponent(
  drafted: Parameter,
  path: string,
  resource: string,
  parameters: Record<string, Parameter>,
): Reference {
  const [key, parameter] = named(drafted, path, resource);
  if (key in parameters && JSON.stringify(parameters[key]) !== JSON.stringify(parameter)) {
    throw new Error(`Two parameters are called ${key}.`);
  }
  parameters[key] = parameter;
  return { $ref: `#/components/parameters/${key}` };
}

function named(
  { name, in: where, description, schema }: Parameter,
  path: string,
  resource: string,
): [string, Parameter] {
  if (where === 'path') {
    const owner = ownerOf(path, name);
    const words = `The \`id\` of the ${owner.toLowerCase()}.`;
    const { examples: _, ...type } = schema;
    const described = { ...type, description, examples: [exampleIdOf(owner)] };
    return [`${owner}Id`, { name, in: where, required: true, description: words, schema: described }];
  }
  if (name === 'page' || name === 'perPage') {
    return [capitalised(name), { name, in: where, required: false, description, schema }];
  }
  const words = `Only those with one of these values of \`${name}\`. Repeat it, or separate the values by commas.`;
  const filter = { name, in: where, required: false, description: words, style: 'form', explode: true, schema };
  return [`${singular(resource)}${capitalised(name)}Filter`, filter];
}

/** The resources that a path may name. */
const owners: Record<string, z.ZodType> = { Ticket, Asset, Project, Task, Webhook, Delivery };

function exampleIdOf(owner: string): number {
  const resource = owners[owner];
  if (resource === undefined) throw new Error(`A path of the contract names a ${owner}, which is no resource.`);
  return (metaOf(resource).example as { id: number }).id;
}

/** The resource that a parameter of the path names: `Ticket` for `:id` in `/tickets/:id`. */
function ownerOf(path: string, parameter: string): string {
  const parts = path.split('/');
  return singular(parts[parts.indexOf(`:${parameter}`) - 1] ?? '');
}

function singular(resource: string): string {
  return capitalised(resource.replace(/ies$/, 'y').replace(/s$/, ''));
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
