import type { RequestFormSubmission } from '@itsm-api/contract';
import fc from 'fast-check';
import { newForms, retiredForm, toNewTicket } from '../resources/request-forms.ts';
import { isSame } from '../resources/rows.ts';
import { isRejection } from '../world.ts';
import { externalId, paging, seldom, sending, user, userId, words } from './arbitraries.ts';
import { kind } from './command.ts';
import { askList } from './lists.ts';
import { assets, noteNew, toReferences } from './tickets.ts';

const key = fc.constantFrom('laptop', 'outage', retiredForm);

/** The answers to the form `laptop`. The form `outage` sets the field `owner`, so that its answer is unknown. */
const answers = fc.record(
  {
    contract: fc.oneof({ weight: 15, arbitrary: words }, { weight: 1, arbitrary: fc.constantFrom(null, 7) }),
    owner: words,
    contact: words,
  },
  { noNullPrototype: true },
);
const kept = fc.constantFrom<string[]>(
  ['contract'],
  ['contract'],
  ['contract', 'owner'],
  ['owner'],
  ['contract', 'contact'],
);

const submissionGiven = fc.record(
  {
    ...{ answers, kept, title: seldom(words), description: seldom(words), requester: user },
    ...{ watchers: fc.array(user, { maxLength: 2 }), assets, externalId: seldom(externalId) },
  },
  { requiredKeys: ['answers', 'kept'], noNullPrototype: true },
);

export const requestForms = {
  list: kind(1, fc.record(paging), async (turn, query) => {
    const sent = await askList(turn, 'requestForms.list', query);
    if (sent?.answer === undefined) return;
    const { requestForms } = turn.workspace;
    const { page, perPage } = query;
    const expected = {
      data: requestForms.slice((page - 1) * perPage, page * perPage),
      meta: { page, perPage, totalCount: requestForms.length },
    };
    const reported = { data: sent.answer.body?.data, meta: sent.answer.body?.meta };
    turn.world.expect(isSame(expected, reported), 'the list of request forms differs from the model', sent);
  }),

  get: kind(1, key, async (turn, key) => {
    const sent = await turn.ask('requestForms.get', { params: { key } });
    if (sent?.answer === undefined) return;
    const { fields, schema, etag, ...form } = sent.answer.body?.data ?? {};
    const { etag: _, ...expected } = { ...turn.workspace.requestForms.find((each) => each.key === key) };
    const keys = newForms([], true).flatMap((each) => (each.key === key ? (each.fields ?? []) : []));
    const questions = keys.filter(({ fixed }) => fixed === null).map(({ key }) => key);
    const isRight = isSame(expected, form) && isSame(questions, Object.keys(schema?.properties ?? {}));
    turn.world.expect(isRight, 'a request form differs from the model', sent);
    const again = await turn.ask('requestForms.get', { params: { key }, headers: { 'if-none-match': etag } });
    if (again?.answer !== undefined) {
      turn.world.expect(again.answer.status === 304, 'an unchanged request form was sent again', again);
    }
  }),

  submit: kind(
    8,
    fc.record({
      key: fc.oneof({ weight: 9, arbitrary: key }, fc.constant('unknown')),
      given: submissionGiven,
      sending,
    }),
    async (turn, { key, given, sending }) => {
      const { workspace, world, references } = turn;
      const marker = `c${turn.number}`;
      const { kept, answers, title, requester, watchers: _watchers, assets: _assets, ...others } = given;
      const chosen = Object.entries(answers).filter(([name]) => kept.includes(name));
      const marked = chosen.map(([name, value]) => [name, typeof value === 'string' ? `${marker} ${value}` : value]);
      const body: RequestFormSubmission = {
        ...others,
        answers: Object.fromEntries(marked),
        ...(title !== undefined && { title: `${marker} ${title}` }),
        ...toReferences(turn, given),
        ...(requester && { requesterId: userId(turn, requester) }),
      };
      const other = { ...body, description: 'Another.' };
      const sent = await turn.ask('requestForms.submit', { params: { key }, body, sending, other });
      if (sent === undefined) return;
      const { answer } = sent;
      const form = newForms(workspace.teams, workspace.categories.length > 0).find((each) => each.key === key);
      if (form === undefined || key === retiredForm) {
        const isRight = answer === undefined || isRejection(answer, ['NOT_FOUND'], 404);
        world.expect(isRight, 'an unknown or inactive form created a ticket', sent);
        return;
      }
      const outcome = toNewTicket(form, body, references);
      if ('codes' in outcome) {
        const isRight = answer === undefined || isRejection(answer, outcome.codes);
        world.expect(isRight, `invalid answers were not rejected: ${marker}`, sent);
        return;
      }
      noteNew(turn, { sent, answer }, outcome.row, { marker, formKey: key });
    },
  ),
};
