import { createArticle, getEditableArticle } from '@itsm-api/server/resources/articles/queries.ts';
import { describe, expect, vi } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';
import { etagOf, signIn, type Visitor } from '../support/visitor.ts';

/** A visitor with the role AGENT. */
let agent: Visitor;

it.beforeAll(async () => {
  const { id } = await workspace.createUser({ role: 'AGENT' });
  agent = await signIn(api, { tenantId: workspace.tenantId, userId: id });
});

const path = '/developer/articles';
const statusOf = async (id: number) => (await workspace.call('GET', `/articles/${id}`)).status;

describe('/developer/articles', () => {
  it('writes, publishes, changes and archives an article', async () => {
    const fields = { title: 'Use the scanner', category: 'Hardware', body: '# Steps\r\n\r\n1. Lift the lid.' };
    const { headers } = await agent.submit(`${path}/new`, 'create', fields);
    const here = headers.location ?? '';
    const id = Number(here.split('/').at(-1));
    expect(await getEditableArticle(workspace.context, id)).toMatchObject({
      ...{ title: 'Use the scanner', category: 'Hardware', status: 'DRAFT', body: '# Steps\n\n1. Lift the lid.' },
    });
    expect(await statusOf(id)).toBe(404);

    const published = await agent.submitAndFollow(here, 'publish', { etag: await etagOf(agent, here) });
    expect(published.text).toContain('Article published: Use the scanner');
    expect(await statusOf(id)).toBe(200);
    expect((await agent.get(`${path}?q=lid&status=PUBLISHED`)).text).toContain(`${here}"`);
    expect((await agent.get(`${path}?q=lid&status=DRAFT`)).text).not.toContain(`${here}"`);

    const change = { title: 'Scan', category: '', body: 'Lift it.', etag: await etagOf(agent, here) };
    await agent.submitAndFollow(here, 'change', change);
    expect((await workspace.call('GET', `/articles/${id}`)).body.data).toMatchObject({ title: 'Scan', category: null });
    expect((await agent.submit(here, 'change', change)).status).toBe(412);
    expect((await agent.submit(here, 'archive', { etag: change.etag })).status).toBe(412);

    await agent.submitAndFollow(here, 'archive', { etag: await etagOf(agent, here) });
    expect(await statusOf(id)).toBe(404);
    const admin = await signIn(api, workspace);
    const log = (await admin.get('/developer/audit')).text;
    for (const action of ['created', 'published', 'updated', 'archived']) {
      expect(log).toContain(`<code>article.${action}</code>`);
    }
  });

  it('previews the typed text without storing it, and keeps the ETag of the edited version', async () => {
    const { id } = await createArticle(workspace.context, { title: 'Preview', body: 'Stored' });
    const typed = { title: 'Typed title', category: '', body: 'Typed **text**', etag: '"1-abc"' };
    for (const page of [`${path}/new`, `${path}/${id}`]) {
      const { status, text } = await agent.submit(page, 'preview', typed);
      expect(status).toBe(200);
      expect(text).toContain('<p>Typed <strong>text</strong></p>');
      expect(text).toContain('value="Typed title"');
      if (page !== `${path}/new`) expect(text).toContain('name="etag" value="&quot;1-abc&quot;"');
    }
    expect(await getEditableArticle(workspace.context, id)).toMatchObject({ title: 'Preview', body: 'Stored' });
  });

  it('escapes HTML in the preview, and links only to web pages and email addresses', async () => {
    const body = [
      '<script>alert(1)</script> <b onclick="x">bold</b>',
      '[js](javascript:alert(1)) [entity](&#106;avascript:alert(1)) [data](data:text/html,x) [relative](/developer)',
      '[web](https://example.com/?a="b"&c) [mail](mailto:a@example.com) <https://example.org>',
      '![<img src=x onerror=alert(1)>](https://example.com/x.png) `<i>code</i>`',
      '```html\n<u>block</u>\n```\n\n- [x] done\n\n| <s>a</s> |\n| --- |\n| [b](vbscript:x) |',
      '<code><img/src=x onerror=alert(1)> <kbd> <form/action=x>',
      '<pre> <form/action=x>',
    ].join('\n\n');
    const { text } = await agent.submit(`${path}/new`, 'preview', { title: 'A', category: '', body });
    const preview = text.slice(text.indexOf('<div class="markdown">'), text.lastIndexOf('</section>'));
    const tags = new Set([...preview.matchAll(/<(\w+)/g)].map(([, tag]) => tag));
    expect(tags).toEqual(new Set(['div', 'p', 'a', 'code', 'pre', 'ul', 'li', 'table', 'tr', 'th', 'td']));
    const links = [...preview.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    expect(links.every((href) => /^(https:|mailto:)/.test(href ?? ''))).toBe(true);
    expect(links).toHaveLength(3);
    expect(preview).toContain('☑ done');
  });

  it('shows a notice instead of a preview of a text that is nested too deeply or takes too long', async () => {
    const preview = async (body: string) =>
      (await agent.submit(`${path}/new`, 'preview', { title: 'A', category: '', body })).text;
    expect(await preview('>'.repeat(20_000))).toContain('too many nested elements');
    const { timeout } = AbortSignal;
    const shortened = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout.call(AbortSignal, 100));
    expect(await preview(`${'a.'.repeat(100_000)}@`)).toContain('takes too long');
    shortened.mockRestore();
    expect(await preview('**Short**')).toContain('<strong>Short</strong>');
  });

  it('shows form errors next to the fields, and accepts 256 KiB of text', async () => {
    const create = (fields: object) => agent.submit(`${path}/new`, 'create', { title: 'A', category: '', ...fields });
    const wrong = await create({ title: '', category: 'a,b', body: 'ä'.repeat(131_073) });
    expect(wrong.status).toBe(400);
    for (const name of ['title', 'category', 'body']) expect(wrong.text).toContain(`id="error-${name}"`);
    expect((await create({ body: 'ä'.repeat(131_072) })).status).toBe(303);
  });
});
