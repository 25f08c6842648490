/** True in `pnpm test:nightly`. Otherwise, the tests run in their short forms, with fewer cases. */
export const isNightly = process.env.NIGHTLY === 'true';
