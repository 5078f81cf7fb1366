import { newKey } from '@automation-platform/log-proof';

/** The key that signs logs, where nodes need the same one. */
export const auditKey = newKey();
