import type { StoredEvent } from '@automation-platform/event-log';
import { type Proof, proofIn } from './digestLog.ts';
import type { Signature } from './digests.ts';
import type { Finding } from './findings.ts';
import { digestText, fingerprintOf, isSignedBy, keyChangeText } from './keys.ts';

type Placed = { readonly proof: Proof; readonly event: StoredEvent };

/** The signatures of a log, the keys that are believed, and what is wrong with signatures and changes of keys. */
export type Trust = {
  readonly signatures: readonly Signature[];
  /** In base64, in the order of the log. */
  readonly keys: readonly string[];
  readonly found: readonly Finding[];
  /** True if the signature of an export as a whole is by the key of the log. */
  readonly isExportBelieved: boolean;
};

/** The key that has signed an export as a whole, and the position of the export's last event. */
export type SignedExport = { readonly key: string; readonly position: number };

type Given = {
  /** The key that is believed; without it, the keys that the log holds are. */
  readonly key: string | undefined;
  readonly export: SignedExport | undefined;
};

/** The keys that signatures and changes of keys name, in their order. */
const keysIn = (proofs: readonly Placed[]): readonly string[] => {
  const named = proofs.flatMap(({ proof: { topic, data } }) => {
    if (topic === 'digestSigned') return [data.key];
    return topic === 'signingKeyChanged' ? [data.old, data.new] : [];
  });
  return [...new Set(named)];
};

/**
 * The keys that follow from one: those that it vouches for, and those that its changes name as the keys before. Nobody
 * else can sign such a change.
 */
const keysFrom = (keyText: string, proofs: readonly Placed[]): ReadonlySet<string> => {
  const believed = new Set([keyText]);
  const changes = proofs.flatMap(({ proof }) => (proof.topic === 'signingKeyChanged' ? [proof.data] : []));
  for (const { old, new: next, signatures } of changes) {
    const isVouched = signatures.old !== null && isSignedBy(old, keyChangeText(old, next), signatures.old);
    if (believed.has(old) && isVouched) believed.add(next);
  }
  for (const { old, new: next, signatures } of changes.reverse()) {
    if (believed.has(next) && isSignedBy(next, keyChangeText(old, next), signatures.new)) believed.add(old);
  }
  return believed;
};

/**
 * Reads the events of the stream of signatures. Without a given key it believes the keys that the log holds; in an export
 * of a log that was never signed, the key of the export. Another check judges the digests.
 */
export const trustIn = (events: readonly StoredEvent[], { key: given, export: signed }: Given): Trust => {
  const found: Finding[] = [];
  const tell = ({ position, stream, revision }: StoredEvent, message: string): void => {
    found.push({ position, stream, revision, finding: 'altered', message });
  };
  const proofs: Placed[] = [];
  for (const event of events) {
    const proof = proofIn(event);
    if (proof) proofs.push({ proof, event });
    else tell(event, 'This is no event of the stream of signatures');
  }
  const proofKeys = keysIn(proofs);
  const named = proofKeys.length === 0 && signed ? [signed.key] : proofKeys;
  const believed = given === undefined ? new Set(named) : keysFrom(given, proofs);
  const signatures: Signature[] = [];
  let current: string | undefined;

  for (const { proof, event } of proofs) {
    if (proof.topic === 'digestSigned') {
      const { data } = proof;
      const { key, digest, signature } = data;
      const isValid = isSignedBy(key, digestText(data.events, digest), signature);
      if (!isValid) tell(event, 'This signature is not by its key');
      else if (!believed.has(key))
        tell(event, `This signature is by a key that is not believed: ${fingerprintOf(key)}`);
      else if (current !== undefined && key !== current)
        tell(event, 'This signature is by another key than the one before');
      signatures.push({ ...data, position: event.position, believed: isValid && believed.has(key) });
      current = key;
    } else if (proof.topic === 'signingKeyChanged') {
      const { old, new: next, signatures: by } = proof.data;
      const text = keyChangeText(old, next);
      const change = `the change of key from ${fingerprintOf(old)} to ${fingerprintOf(next)}`;
      if (by.old === null) tell(event, `Nothing proves ${change}: the old key was not at hand`);
      else if (!isSignedBy(old, text, by.old)) tell(event, `The old key does not vouch for ${change}`);
      else if (!isSignedBy(next, text, by.new)) tell(event, `The new key has not signed ${change}`);
      current = next;
    }
  }
  const isExportBelieved = signed !== undefined && believed.has(signed.key) && signed.key === (current ?? signed.key);
  if (signed && !isExportBelieved) {
    const message = `The export is signed by a key that is not that of the log: ${fingerprintOf(signed.key)}`;
    found.push({ position: signed.position, finding: 'altered', message });
  }
  return { signatures, keys: named.filter((key) => believed.has(key)), found, isExportBelieved };
};
