import { hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withinTime } from '@automation-platform/client';
import { type AnchorLine, digestStream, proofIn, rewrittenLine, signedLine } from '@automation-platform/log-proof';
import type { Metadata } from './event.ts';
import { makeFolder } from './folders.ts';
import type { StoredEvent, WholeLog } from './port.ts';

/** Where signatures are told besides the log: a file, or a URL that takes each as a POST. */
export type AnchorAt = { readonly file: string } | { readonly url: string };

/** Adds a line to a file durably. A line that an earlier stop has cut short stays a line of its own. */
const addToFile = async (file: string, line: string): Promise<void> => {
  makeFolder(dirname(file));
  const handle = await open(file, 'a+', 0o600);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    const isCut = bytesRead === 1 && buffer.toString('latin1') !== '\n';
    await handle.write(`${isCut ? '\n' : ''}${line}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const postMs = 10_000;

const post = (url: string, line: string, ending: AbortSignal): Promise<void> =>
  withinTime(postMs, [ending], async (signal) => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: line, redirect: 'error', signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`AUDIT_ANCHOR answered ${response.status}`);
  });

/** Tells an anchor. Resolves once a file has the line durably, or the URL has answered. */
export const tellAnchor = (at: AnchorAt, line: AnchorLine, signal: AbortSignal): Promise<void> => {
  const text = JSON.stringify(line);
  return 'file' in at ? addToFile(at.file, text) : post(at.url, text, signal);
};

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
  const lastPosition = (await store.checkpoint(checkpoint)) ?? 0;
  const waiting: StoredEvent[] = [];
  for await (const events of store.read(digestStream, lastPosition)) waiting.push(...events);
  left(waiting.length);
  for (const [n, event] of waiting.entries()) {
    const line = lineOf(store.id, event);
    if (line) await tell(line, signal);
    await store.setCheckpoint(checkpoint, event.revision + 1);
    left(waiting.length - n - 1);
  }
};
