import { common, noun } from '../lib/command.ts';

export const articles = noun({
  verbs: {
    import: {
      summary: 'Import the Markdown files of a folder as articles of the knowledge base',
      details:
        'Reads every *.md file in the folder and its subfolders, except hidden ones. The title of an article is `title` in ' +
        'the front matter, or the first heading. The category is `category` in the front matter, or the name of the ' +
        'subfolder directly below the folder. New articles are published. If you repeat the command, it updates the ' +
        'articles of changed files, which it finds by their paths in the folder. It changes no other article. If a file ' +
        'is invalid, the command imports nothing.',
      arguments: [{ flags: '<folder>', about: 'folder with Markdown files in UTF-8' }],
      options: [common.tenant],
      examples: ['articles import articles --tenant Acme'],
    },
  },
  actions: () => import('../actions/articles.ts'),
});
