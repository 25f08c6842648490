/**
 * The options of Node.js with which the server runs. `--expose-gc` lets it free the buffers of uploads early. The others
 * save CPU time (docs/decisions/startup-and-shutdown.md).
 */
export const v8Options = [
  '--expose-gc',
  '--no-allocation-site-pretenuring',
  '--concurrent-marking-max-worker-num=1',
  '--no-parallel-scavenge',
];
