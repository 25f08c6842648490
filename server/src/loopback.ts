import ipaddr from 'ipaddr.js';
import type { Settings } from './env.ts';

/** Whether the server is for this machine alone: it listens on a loopback address, and no proxy leads to it. */
export function isForThisMachine({ HOST, TRUST_PROXY }: Pick<Settings, 'HOST' | 'TRUST_PROXY'>): boolean {
  const isLoopback = ipaddr.isValid(HOST) ? ipaddr.process(HOST).range() === 'loopback' : HOST === 'localhost';
  return isLoopback && TRUST_PROXY.length === 0;
}
