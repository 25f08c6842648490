/** What a process is doing, in this order; an orderly process leaves `starting` once and `stopping` never. */
export type Phase = 'starting' | 'migrating' | 'ready' | 'stopping';

/** Written by main.ts alone; whoever answers for the process reads it. */
export interface Lifecycle {
  phase: Phase;
}
