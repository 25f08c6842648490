/**
 * Reads the first line of standard input. Returns an empty string if standard input is empty.
 * @param option the option name, which is the prompt in a terminal
 */
export async function readLine(option: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  if (process.stdin.isTTY) process.stderr.write(`${option}: `);
  for await (const line of createInterface({ input: process.stdin })) return line.trim();
  return '';
}
