import * as z from 'zod';
import { ApiError } from '../errors.ts';
import { assetColumns, neededAssetColumns } from '../resources/assets/columns.ts';
import { type AssetFile, checkAssetFile, importAssetFile, type Problem } from '../resources/assets/import.ts';
import { findUpload, keepUpload, takeUpload } from '../resources/assets/uploads.ts';
import { fileField, formOf, submit } from './fields.ts';
import { html, linkButton, notice, type SafeHtml, section, table } from './html.ts';
import { type Asked, form, page, type Sent } from './page.ts';
import type { UserVisit } from './visit.ts';

const path = '/developer/assets/import';

/** What a file may hold; the command line takes twenty times as much. */
const most = { assets: 5000, bytes: 2 ** 20 };
const shownEntries = 10;
const shownProblems = 100;

const CsvFile = z
  .instanceof(Uint8Array, { error: 'must be a file' })
  .refine(({ length }) => length > 0, { error: 'must be chosen, and not be empty', abort: true })
  .refine(({ length }) => length <= most.bytes, 'must take at most 1 MiB; split it, or import it on the command line');

/**
 * Assets from a CSV file, in two steps: it is sent and looked at, and then imported. In between the server keeps it, so that
 * nobody sends or chooses it twice, and the page stays small (docs/decisions/assets.md#csv).
 */
export const assetImport = page({
  path,
  roles: ['ADMIN'],
  async show(asked) {
    const { context } = asked.visit;
    const content = await findUpload(context);
    const body =
      content === undefined ? upload(asked) : preview(asked, await checkAssetFile(context, content, most.assets));
    return { title: 'Import assets', body: html`<p><a href="/developer/assets">All assets</a></p>${body}` };
  },
  forms: {
    upload: form({
      fields: z.strictObject({ file: CsvFile }),
      audit: 'assets.uploaded',
      async run({ visit, fields }) {
        await keepUpload(visit.context, fields.file);
        return { redirect: path };
      },
    }),
    import: form({
      fields: z.strictObject({}),
      audit: 'assets.imported',
      async run({ visit }) {
        const content = await takeUpload(visit.context);
        if (content === undefined) throw new ApiError('VALIDATION_ERROR', 'There is no file to import: choose one.');
        const { entries, problems } = await importAssetFile(visit.context, content, most.assets);
        // The file is there again: the transaction is undone.
        if (problems.length > 0)
          throw new ApiError('VALIDATION_ERROR', 'Nothing was imported: see what is wrong below.');
        const imported = entries.length;
        return { redirect: '/developer/assets', subject: counted(imported), flash: { imported } };
      },
    }),
    discard: form({
      fields: z.strictObject({}),
      audit: 'assets.discarded',
      async run({ visit }) {
        await takeUpload(visit.context);
        return { redirect: path };
      },
    }),
  },
});

function upload(asked: Asked<UserVisit>): SafeHtml {
  const fields = (sent: Sent | undefined) => html`
${fileField(sent, { name: 'file', label: 'CSV file', accept: '.csv,text/csv', hint: `In UTF-8, with commas: at most ${most.assets} assets and 1 MiB.`, required: true })}
${submit('Check the file')}`;
  return html`<p class="lead">All assets of a file are created, or none when a line is wrong. You see them before.</p>
${formOf(asked, 'upload', fields, { upload: true })}
${section(
  'The file',
  html`<p>The first line names the columns, in any order: ${assetColumns.map((name) => html`<code>${name}</code> `)} and
 <code>customFields.NAME</code> for each custom field. Needed are ${neededAssetColumns.join(', ')}. An empty cell means none;
 <code>assignedToId</code> may hold an e-mail address.</p>
<p>${linkButton('/developer/assets/template', 'A file to begin with')}</p>`,
)}`;
}

function preview(asked: Asked<UserVisit>, { entries, problems }: AssetFile): SafeHtml {
  const discard = formOf(asked, 'discard', () => submit('Choose another file', 'plain'));
  if (problems.length > 0) {
    return html`${notice(`The file can't be imported: ${problems.length === 1 ? '1 thing is' : `${problems.length} things are`} wrong. Correct it, and send it again.`, 'bad')}
${discard}${section('What is wrong', problemTable(problems))}`;
  }
  return html`${notice(`${counted(entries.length)} can be imported. Nothing was yet.`)}
<div class="actions">${formOf(asked, 'import', () => submit(`Import ${counted(entries.length)}`))}${discard}</div>
${section('The first of them', entryTable(entries))}`;
}

function entryTable(entries: AssetFile['entries']): SafeHtml {
  const rows = entries.slice(0, shownEntries).map(({ line, given, asset }) => [
    ...[
      line,
      given.assetTag,
      given.name,
      given.type,
      asset.status ?? '',
      given.assignedToId ?? '',
      given.location ?? '',
    ],
    Object.entries(given.customFields ?? {})
      .map(([name, value]) => `${name}: ${value}`)
      .join(', '),
  ]);
  const head = ['Line', 'Tag', 'Name', 'Type', 'Status', 'Assigned to', 'Location', 'Custom fields'];
  return table('The first assets of the file', head, rows, '');
}

function problemTable(problems: readonly Problem[]): SafeHtml {
  const rows = problems
    .slice(0, shownProblems)
    .map(({ line, path, message }) => [line ?? 'file', html`<code>${path}</code>`, message]);
  const more = problems.length - rows.length;
  return html`${table('What is wrong with the file', ['Line', 'Column', 'What is wrong'], rows, '')}
${more > 0 ? html`<p>And ${more} more.</p>` : null}`;
}

function counted(assets: number): string {
  return `${assets} ${assets === 1 ? 'asset' : 'assets'}`;
}
