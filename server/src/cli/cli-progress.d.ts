/** What is used of cli-progress, which brings no types. */
declare module 'cli-progress' {
  export class SingleBar {
    constructor(options: { format: string; clearOnComplete: boolean; gracefulExit: boolean });
    start(total: number, done: number): void;
    update(done: number): void;
    stop(): void;
  }
}
