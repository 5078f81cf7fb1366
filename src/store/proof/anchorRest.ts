import { hash } from 'node:crypto';
import type { Metadata } from '../event.ts';
import type { StoredEvent, WholeLog } from '../port.ts';
import { type AnchorAt, type AnchorLine, rewrittenLine, signedLine } from './anchor.ts';
import { proofIn } from './digestLog.ts';
import { digestStream } from './lines.ts';

type Needs = {
  readonly store: WholeLog;
  readonly at: AnchorAt;
  /** Resolves once the anchor has the line. */
  readonly tell: (line: AnchorLine, signal: AbortSignal) => Promise<void>;
  /** How many events are still to be told. */
  readonly left: (count: number) => void;
};

/** The checkpoint that says how many events of the stream of signatures an anchor was told. A URL may hold a secret. */
const checkpointOf = (at: AnchorAt): string =>
  `anchor:${hash('sha256', 'file' in at ? at.file : at.url, 'hex').slice(0, 24)}`;

const lineOf = (log: string, event: StoredEvent): AnchorLine | undefined => {
  const proof = proofIn(event);
  if (!proof || proof.topic === 'signingKeyChanged') return undefined;
  const { at } = JSON.parse(event.metadata) as Metadata;
  return proof.topic === 'digestSigned' ? signedLine({ log, at }, proof.data) : rewrittenLine({ log, at }, proof.data);
};

/** Tells the anchor of a log, in order, what it was not told yet. After a stop the last line may be told again. */
export const tellRest = async ({ store, at, tell, left }: Needs, signal: AbortSignal): Promise<void> => {
  const checkpoint = checkpointOf(at);
  const told = (await store.checkpoint(checkpoint)) ?? 0;
  const waiting: StoredEvent[] = [];
  for await (const events of store.read(digestStream, told)) waiting.push(...events);
  left(waiting.length);
  for (const [n, event] of waiting.entries()) {
    const line = lineOf(store.id, event);
    if (line) await tell(line, signal);
    await store.setCheckpoint(checkpoint, event.revision + 1);
    left(waiting.length - n - 1);
  }
};
