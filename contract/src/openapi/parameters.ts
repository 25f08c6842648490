import * as z from 'zod';
import { Asset } from '../assets.ts';
import type { Endpoint } from '../endpoint.ts';
import { Project } from '../projects.ts';
import { Task } from '../tasks.ts';
import { Ticket } from '../tickets.ts';
import { Webhook } from '../webhooks.ts';
import { metaOf, type Schemas, toSchema } from './schemas.ts';
import type { Parameter, Reference, Schema } from './types.ts';

/** The parameters of one endpoint, as references into `parameters`, where they are collected. */
export function parametersOf(
  resource: string,
  route: Endpoint,
  schemas: Schemas,
  parameters: Record<string, Parameter>,
): Reference[] {
  const add = (key: string, parameter: Parameter): Reference => {
    if (key in parameters && JSON.stringify(parameters[key]) !== JSON.stringify(parameter)) {
      throw new Error(`Two parameters are called ${key}.`);
    }
    parameters[key] = parameter;
    return { $ref: `#/components/parameters/${key}` };
  };
  const inPath = shapeOf(route.pathParams).map(([name, schema]) => {
    const owner = ownerOf(route.path, name);
    return add(`${owner}Id`, {
      name,
      in: 'path',
      required: true,
      description: `The \`id\` of the ${owner.toLowerCase()}.`,
      schema: { ...toSchema(schema, 'input', schemas), examples: [exampleIdOf(owner)] },
    });
  });
  const inQuery = shapeOf(route.query).map(([name, schema]) => {
    const described = toSchema(schema, 'input', schemas);
    const isPage = name === 'page' || name === 'perPage';
    return add(
      isPage ? capitalised(name) : `${singular(resource)}${capitalised(name)}Filter`,
      isPage ? pageParameter(name, described) : filterParameter(name, described),
    );
  });
  return [...inPath, ...inQuery];
}

function pageParameter(name: string, { description, ...schema }: Schema): Parameter {
  return { name, in: 'query', required: false, description: String(description), schema };
}

function filterParameter(name: string, schema: Schema): Parameter {
  const description = `Only those with one of these values of \`${name}\`. Repeat it, or separate the values by commas.`;
  return { name, in: 'query', required: false, description, style: 'form', explode: true, schema };
}

function shapeOf(schema: unknown): [string, z.ZodType][] {
  return schema instanceof z.ZodObject ? Object.entries(schema.shape as Record<string, z.ZodType>) : [];
}

/** The resources that a path may name. */
const owners: Record<string, z.ZodType> = { Ticket, Asset, Project, Task, Webhook };

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
  return capitalised(resource.replace(/s$/, ''));
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
