/** What every service that is measured seals with: the logs that were written for it hold secrets. */
export const secretKey = 'the key of all benchmarks';
