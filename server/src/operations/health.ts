/** One thing that a process stands on, and how it is. */
export interface HealthCheck {
  /** As the detail of `/readyz` names it, in camel case. */
  name: string;
  /** Resolves to what is to be told of it; what it throws is told as its failure. */
  look(): Health | Promise<Health>;
}

/** Whether it does what it is for, and what else an operator may want to know of it. */
export interface Health {
  ok: boolean;
  [detail: string]: unknown;
}
