import { newKey } from '../../src/store/proof/keys.ts';

/** The key that signs logs, where nodes need the same one. */
export const auditKey = newKey();
