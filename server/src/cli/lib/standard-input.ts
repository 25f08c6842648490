/**
 * The first line of standard input; empty where there is none.
 * @param option what it is for, which a person at a terminal is told
 */
export async function readLine(option: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  if (process.stdin.isTTY) process.stderr.write(`${option}: `);
  for await (const line of createInterface({ input: process.stdin })) return line.trim();
  return '';
}
