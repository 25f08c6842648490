/** What a process is doing: in this order, but for `migrating`, which is left out where there is nothing to migrate. */
export type Phase = 'starting' | 'migrating' | 'ready' | 'stopping';

/** The phase of a process, which main.ts and start.ts tell and whoever answers for the process reads. */
export class Lifecycle {
  #phase: Phase;

  constructor(phase: Phase = 'starting') {
    this.#phase = phase;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Nothing comes after `stopping`: a signal may arrive while the process still starts. */
  enter(phase: Phase): void {
    if (this.#phase !== 'stopping') this.#phase = phase;
  }
}

/** One thing that a process stands on. */
export interface HealthCheck {
  /** As the detail of `/readyz` names it, in camel case. */
  name: string;
  /** Resolves to how it is; what it throws, or doesn't say in a second, is told as its failure. */
  look(): Health | Promise<Health>;
}

/** Whether it does what it is for, and what else an operator may want to know of it. No ids, keys or people's data. */
export interface Health {
  ok: boolean;
  [detail: string]: unknown;
}
