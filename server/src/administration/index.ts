import type { NounDeclaration } from './noun.ts';

/** An administered noun, of which the command line loads only the words of its summary before the command runs. */
interface Entry {
  /** The object of "Manage …" in the list of commands. */
  about: string;
  /** The verbs for files, after the verbs that all nouns have. */
  files: readonly string[];
  load(): Promise<NounDeclaration>;
}

/**
 * All nouns that administrators manage, by the name of their command. The commands, the pages and the completions derive
 * from this list, in this order.
 */
export const nouns = {
  teams: { about: 'the teams of a tenant', files: ['export'], load: async () => (await import('./teams.ts')).teams },
  fields: {
    about: 'the definitions of custom fields',
    files: [],
    load: async () => (await import('./custom-fields.ts')).customFieldDefinitions,
  },
  categories: {
    about: 'the ticket categories of a tenant',
    files: ['import', 'template'],
    load: async () => (await import('./ticket-categories.ts')).ticketCategories,
  },
  forms: {
    about: 'the request forms of a tenant',
    files: [],
    load: async () => (await import('./request-forms.ts')).requestForms,
  },
  assets: { about: 'assets', files: ['import', 'export'], load: async () => (await import('./assets.ts')).assets },
  projects: {
    about: 'projects',
    files: ['import', 'export'],
    load: async () => (await import('./projects.ts')).projects,
  },
} satisfies Record<string, Entry>;

export type NounName = keyof typeof nouns;
