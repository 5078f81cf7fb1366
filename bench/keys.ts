import { newKey } from '@automation-platform/log-proof';

/** What every service that is measured seals with: the logs that were written for it hold secrets. */
export const secretKey = 'the key of all benchmarks';

/** The keys that nodes on one log share. */
export const keys = { SECRET_KEY: secretKey, AUDIT_KEY: newKey() };
