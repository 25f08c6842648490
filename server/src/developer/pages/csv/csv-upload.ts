import * as z from 'zod';
import {
  type CsvColumns,
  counted,
  formatResults,
  formatTypeChanges,
  type ImportResults,
} from '../../../resources/csv/csv-columns.ts';
import { checkFile, type Importable, importFile, type Problem } from '../../../resources/csv/csv-import.ts';
import {
  findPreview,
  findUpload,
  keepUpload,
  type Preview,
  previewOf,
  type StoredPreview,
  takeUpload,
} from '../../../resources/csv/csv-uploads.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type AnyPage, type FormState, form, type PageRequest, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { checkbox, checked, FileInForm, fileField, renderForm, submit, summary } from '../../ui/form-fields.ts';
import { html, linkButton, notice, type SafeHtml, section, table } from '../../ui/html.ts';

/** Limits for a CSV file on the import page. The command line accepts 20 times as many lines. */
const limits = { lines: 5000, bytes: 2 ** 20 };

const CsvFile = FileInForm.refine(({ content }) => content.length > 0, { error: 'must not be empty', abort: true })
  .refine(
    ({ content }) => content.length <= limits.bytes,
    'must be at most 1 MiB. Split the file, or import it with the command line.',
  )
  .transform(({ content }) => content);

/** The upload time of the file on the page. It identifies the file, so that the form doesn't import a later upload. */
const OfFile = z.strictObject({ file: z.iso.datetime().pipe(z.coerce.date()) });

/**
 * Defines the page that imports a CSV file in two steps. First, the user uploads the file and sees a preview. Then, the
 * user imports the uploaded file, which the server has stored after the first step (docs/decisions/data-model.md#csv).
 */
export function csvImport<Line extends object, New>(csv: Importable<Line, New>): AnyPage {
  const { columns } = csv;
  const { resource, one, changeLine, preview: shown = {} } = columns;
  const target = { type: one };
  const list = `/developer/${resource}`;
  const path = `${list}/import`;
  const check = async ({ context }: UserContext, content: Uint8Array, update: boolean) => {
    const file = await checkFile(context, csv, content, { max: limits.lines, update });
    return { content, preview: previewOf(file, Object.values(shown), update) };
  };

  return page({
    path,
    roles: ['ADMIN'],
    async show(request) {
      const { visit, sent } = request;
      // If the import failed although the preview had no errors, checks the stored file again to find the new errors.
      const invalid = sent.import === undefined ? sent.upload?.found : await checkAgain(visit);
      const stored = invalid === undefined ? await findPreview(visit.context, resource) : undefined;
      // Earlier releases also stored files with errors. For such a file, the page shows the upload form.
      const body =
        stored === undefined || stored.preview.problems > 0
          ? upload(request, columns, invalid as Preview | undefined)
          : preview(request, columns, { stored, head: Object.keys(shown) });
      return { title: `Import ${resource}`, body: html`<p><a href="${list}">All ${resource}</a></p>${body}` };
    },
    forms: {
      upload: form({
        upload: true,
        fields: z.strictObject({ file: CsvFile, update: checked }),
        audit: `${resource}.uploaded`,
        async run({ visit, fields }) {
          const file = await check(visit, fields.file, fields.update && changeLine !== undefined);
          if (file.preview.problems > 0) return { found: file.preview };
          await keepUpload(visit.context, resource, file);
          return { redirect: path, target };
        },
      }),
      import: form({
        fields: OfFile,
        audit: `${resource}.imported`,
        async run({ visit, fields }) {
          const stored = await takeUpload(visit.context, resource, fields.file);
          if (stored === undefined) throw await missingFile(visit);
          const update = stored.preview.updates !== undefined;
          const options = { max: limits.lines, update };
          const { entries, problems, results } = await importFile(visit.context, csv, stored.content, options);
          // The error rolls the transaction back, so the file remains stored.
          if (problems.length > 0) {
            throw new ApiError(
              'VALIDATION_ERROR',
              'The file was not imported. Correct the errors below and upload it again.',
            );
          }
          const subject = counted(columns, entries.length);
          const changes = {
            created: { from: null, to: results.created },
            ...(update && { updated: { from: null, to: results.updated } }),
          };
          const flash = { imported: entries.length, ...(update && { updates: results }) };
          return { redirect: list, subject, target, changes, flash };
        },
      }),
      discard: form({
        fields: OfFile,
        audit: `${resource}.discarded`,
        async run({ visit, fields }) {
          await takeUpload(visit.context, resource, fields.file);
          return { redirect: path, target };
        },
      }),
    },
  });

  async function missingFile(visit: UserContext): Promise<ApiError> {
    const other = await findPreview(visit.context, resource);
    const message =
      other === undefined
        ? 'There is no file to import. Choose a CSV file.'
        : 'The file was not imported because a newer upload has replaced it. Check the new file below, then import it.';
    return new ApiError('VALIDATION_ERROR', message);
  }

  /** Checks the stored file again. If the file has errors, deletes the file and returns the errors. */
  async function checkAgain(visit: UserContext): Promise<Preview | undefined> {
    const upload = await findUpload(visit.context, resource);
    if (upload === undefined) return undefined;
    const file = await check(visit, upload.content, upload.preview.updates !== undefined);
    if (file.preview.problems === 0) {
      await keepUpload(visit.context, resource, file);
      return undefined;
    }
    const stored = await findPreview(visit.context, resource);
    if (stored !== undefined) await takeUpload(visit.context, resource, stored.at);
    return file.preview;
  }
}

/** Renders a notice with the number of imported rows. Returns null if the user hasn't just imported a file. */
export function importedNotice(columns: { resource: string; one: string }, flash: unknown): SafeHtml | null {
  const { data } = Imported.safeParse(flash);
  if (data === undefined) return null;
  return notice(`Imported ${counted(columns, data.imported)}${formatUpdates(data.updates)}.`);
}

const Imported = z.object({
  imported: z.int(),
  updates: z.object({ created: z.int(), updated: z.int(), unchanged: z.int() }).optional(),
});

function formatUpdates(updates: ImportResults | undefined): string {
  return updates === undefined ? '' : ` (${formatResults(updates)})`;
}

/** Renders the upload form. If the last uploaded file has errors, renders them above the form. */
function upload<Line extends object>(
  request: PageRequest<UserContext>,
  columns: CsvColumns<Line>,
  invalid: Preview | undefined,
): SafeHtml {
  const { resource, one, names, needed, unique, user, hasCustomFields, changeLine } = columns;
  const hint = `UTF-8, separated by commas, semicolons or tabs, at most ${limits.lines} ${resource} and 1 MiB.`;
  const fields = (sent: FormState | undefined) => html`
${fileField(sent, { name: 'file', label: 'CSV file', accept: '.csv,.tsv,.txt,text/csv', hint, required: true })}
${changeLine && checkbox('update', 'yes', `Update existing ${resource}`, sent?.values.update !== undefined)}
${submit('Check the file')}`;
  const customFields = hasCustomFields && html`, and <code>customFields.NAME</code> for each custom field`;
  return html`<p class="lead">Upload a CSV file and check the preview before you import it. If a line has an error, nothing is imported.</p>
${summary(request.sent.import)}${invalid === undefined ? null : renderErrors(invalid)}
${renderForm(request, 'upload', fields, { upload: true })}
${section(
  'File format',
  html`<p>The first line contains the column names, in any order: ${renderNames(names)}${customFields || null}.
 Required columns: ${renderNames(needed)}. Leave a cell empty for no value. <code>${user}</code> accepts an email address.</p>
${changeLine && html`<p>To update an existing ${one}, only <code>${unique}</code> is required. An empty cell changes nothing.</p>`}
<p>${linkButton(`/developer/${resource}/template`, 'Download template')}</p>`,
)}`;
}

function renderNames(names: readonly string[]): SafeHtml[] {
  return names.map((name, index) => html`${index > 0 ? ', ' : ''}<code>${name}</code>`);
}

function preview(
  request: PageRequest<UserContext>,
  columns: { resource: string; one: string },
  { stored, head }: { stored: StoredPreview; head: string[] },
): SafeHtml {
  const { lines, updates, typeChanges, first } = stored.preview;
  const file = html`<input type="hidden" name="file" value="${stored.at.toISOString()}">`;
  const discard = renderForm(request, 'discard', () => html`${file}${submit('Choose another file', 'plain')}`);
  const all = counted(columns, lines);
  const rows = first.map(({ line, cells }) => [line, ...cells]);
  return html`${notice(`${all} can be imported${formatUpdates(updates)}. Nothing has been imported yet.${formatTypeChanges(typeChanges)}`)}
<div class="actions">${renderForm(request, 'import', () => html`${file}${submit(`Import ${all}`)}`)}${discard}</div>
${section('Preview', table(`The first ${columns.resource} of the file`, ['Line', ...head], rows, ''))}`;
}

function renderErrors({ problems, firstProblems }: Preview): SafeHtml {
  const count = problems === 1 ? '1 error' : `${problems} errors`;
  return html`${notice(`The file has ${count}. Correct the file and upload it again.`, 'bad')}
${section('Errors', problemTable(firstProblems, problems))}`;
}

function problemTable(problems: readonly Problem[], all: number): SafeHtml {
  const rows = problems.map(({ line, path, message }) => [line ?? 'file', html`<code>${path}</code>`, message]);
  const more = all - rows.length;
  return html`${table('Errors in the file', ['Line', 'Column', 'Error'], rows, '')}
${more > 0 ? html`<p>${more} more ${more === 1 ? 'error is' : 'errors are'} not shown.</p>` : null}`;
}
