import { Refusal } from '../domain/refusal.ts';
import type { Tools } from './define.ts';

/** Secrets that one request may bring: sealing one takes about ten microseconds, in which nobody else is served. */
const mostSecrets = 20_000;

/** Seals that many secrets and refuses the next one (`invalid`, at the path). */
export const sealingFew = (seal: Tools['seal'], path: string): Tools['seal'] => {
  let sealed = 0;
  return (secret) => {
    if (++sealed > mostSecrets) throw new Refusal('invalid', `One request may bring ${mostSecrets} secrets; send it in several`, { path });
    return seal(secret);
  };
};
