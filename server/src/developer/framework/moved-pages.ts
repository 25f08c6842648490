/** Patterns of the addresses of pages in earlier releases, with the current addresses. */
const moved: readonly [from: RegExp, to: string][] = [
  [/^\/developer\/(teams|assets|projects)\/(\d+)$/, '/developer/$1/one?id=$2'],
  [/^\/developer\/custom-fields\/(TICKET|ASSET)\/(\w+)$/, '/developer/custom-fields/one?resource=$1&key=$2'],
  [/^\/developer\/ticket-categories\?id=/, '/developer/ticket-categories/one?id='],
];

/** Returns the current address of a page that had another address in an earlier release, or undefined. */
export function findNewAddress(url: string): string | undefined {
  const found = moved.find(([from]) => from.test(url));
  return found && url.replace(...found);
}
