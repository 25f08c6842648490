import { assetTemplate } from '../../resources/assets/template.ts';

/** Prints a file to begin with, whatever the database is. */
export async function template(): Promise<void> {
  process.stdout.write(assetTemplate());
}
