import type { Project } from '@itsm-api/contract';
import { anyOf, type ListQuery } from './lists.ts';
import { holdsWords } from './search.ts';

/** Returns true if a project matches a list query (docs/decisions/pagination-design.md). */
export function isProjectIn(project: Project, query: ListQuery): boolean {
  return (
    anyOf(query.status, project.status) &&
    (query.q === undefined || holdsWords(query.q as string, [project.key, project.name, project.description ?? '']))
  );
}
