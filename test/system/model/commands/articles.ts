import fc from 'fast-check';
import { articlePage } from '../resources/articles.ts';
import { isSame } from '../resources/rows.ts';
import { filterOf, paging, place, question, seldom } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';

const category = fc.constantFrom('Network', 'Email', 'Printers');

/** The commands for articles only read articles, because no endpoint changes articles. */
export const articles = {
  list: kind(1, fc.record({ ...paging, category: filterOf(category), q: seldom(question) }), async (turn, query) => {
    const sent = await askList(turn, 'articles.list', query);
    if (sent?.answer === undefined) return;
    const { data, meta } = sent.answer.body ?? {};
    const isRight = isSame({ data, meta }, articlePage(turn.workspace.articles, query));
    turn.world.expect(isRight, 'a list of articles differs from the model', sent);
  }),

  get: kind(1, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    const { articles } = turn.workspace;
    if (isForeign === 0) return askForeign(turn, 'articles.get', { id: turn.other.articles[0]?.id });
    const article = articles[Math.floor(place * articles.length)];
    const sent = await turn.ask('articles.get', { params: { id: article?.id ?? 0 } });
    if (sent?.answer !== undefined) {
      turn.world.expect(isSame(sent.answer.body?.data, article), 'an article differs from its creation', sent);
    }
  }),
};
