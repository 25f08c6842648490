/** The phases of a process, in order. A process skips `migrating` if the database is up to date. */
export type Phase = 'starting' | 'migrating' | 'ready' | 'stopping';

/**
 * The current phase of a process. Only main.ts, start.ts and graceful-close.ts set the phase. Health checks and servers
 * read it.
 */
export class Lifecycle {
  #phase: Phase;

  constructor(phase: Phase = 'starting') {
    this.#phase = phase;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /**
   * Changes the phase. Has no effect in the phase `stopping`, because a signal can stop a process that is still
   * starting.
   */
  enter(phase: Phase): void {
    if (this.#phase !== 'stopping') this.#phase = phase;
  }
}

/** A health check for one dependency of the process. */
export interface HealthCheck {
  /** The name of the check in the `/readyz` response, in camel case. */
  name: string;
  /**
   * Returns the health of the dependency. If `run` throws or takes longer than 1 second, the dependency is unhealthy.
   */
  run(): Health | Promise<Health>;
}

/** The result of a health check, with details for operators. It contains no ids, keys or personal data. */
export interface Health {
  ok: boolean;
  [detail: string]: unknown;
}
