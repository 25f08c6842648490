import { type Handlers, handlersOf } from '../handler-type.ts';
import { articleFeed, getArticle, listArticles } from './queries.ts';

export const articles: Handlers<'articles'> = handlersOf({ list: listArticles, rows: articleFeed, get: getArticle });
