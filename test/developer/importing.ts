import type { Answer } from '../support/api.ts';
import type { Visitor } from '../support/visitor.ts';

/** Returns the identifier of the uploaded file that a page shows. */
export function fileOn(text: string): string {
  return /name="file" value="([^"]+)"/.exec(text)?.[1] ?? '';
}

/** Sends a form for the file that the page shows. */
export async function sendAbout(visitor: Visitor, path: string, form: 'import' | 'discard'): Promise<Answer> {
  return visitor.submit(path, form, { file: fileOn((await visitor.get(path)).text) });
}
