import type { Proof, ProofEnd, ProofLog, WriteProof } from './digestLog.ts';
import { keyChangeText, type SigningKeys } from './keys.ts';
import { digestStream } from './lines.ts';
import type { Unsigned } from './unsignedLines.ts';

type Needs = {
  readonly store: Pick<ProofLog, 'append'>;
  readonly keys: SigningKeys;
  /** Where the stream of signatures ends now. */
  readonly end: ProofEnd;
  readonly now: () => number;
  readonly newId: () => string;
  readonly write: WriteProof;
};

/**
 * Appends to the stream of signatures, one after the other. It rejects with `WrongRevision` when another process has
 * appended. After any failure it must not be used again.
 */
export const proofAppends = ({ store, keys, end, now, newId, write }: Needs) => {
  let { revision, hash, key } = end;
  let last = Promise.resolve();

  const append = (proof: Proof): Promise<void> => {
    const place = { revision: revision + 1, previous: hash, id: newId(), at: new Date(now()).toISOString() };
    const { hash: linked, ...event } = write(proof, place);
    const expected = revision;
    revision++;
    hash = linked;
    last = last.then(async () => {
      await store.append(digestStream, expected, [event]);
    });
    return last;
  };

  /** Says that another key signs from now on. The old key vouches for the new one if it is at hand. */
  const changeKey = (old: string): Promise<void> => {
    const { own, earlier } = keys;
    const text = keyChangeText(old, own.key);
    const vouching = earlier.find((one) => one.key === old);
    const signatures = { old: vouching?.sign(text) ?? null, new: own.sign(text) };
    return append({ topic: 'signingKeyChanged', data: { old, new: own.key, signatures } });
  };

  return {
    append,
    /** Signs the lines and appends the signature. */
    sign: async (lines: Unsigned): Promise<void> => {
      const data = lines.sign(keys.own);
      if (!data) return;
      const changing = key === undefined || key === keys.own.key ? undefined : changeKey(key);
      key = keys.own.key;
      const signing = append({ topic: 'digestSigned', data });
      await Promise.all([changing, signing]);
    },
  };
};
