/** Runs tasks concurrently, except those that must run alone. */
export class Gate {
  readonly #running = new Set<Promise<void>>();
  #alone: Promise<void> | undefined;

  async run(task: () => Promise<void>, isAlone: boolean): Promise<void> {
    while (this.#alone !== undefined) await this.#alone;
    const running = isAlone ? Promise.allSettled(this.#running).then(task) : task();
    if (isAlone) this.#alone = running.catch(() => undefined);
    else this.#running.add(running);
    try {
      await running;
    } finally {
      if (isAlone) this.#alone = undefined;
      else this.#running.delete(running);
    }
  }
}
