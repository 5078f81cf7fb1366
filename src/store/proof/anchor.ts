import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withinTime } from '@automation-platform/client';
import { makeFolder } from '../folders.ts';
import type { DigestSigned, LogRewritten, Place } from './digestLog.ts';

/** Where signatures are told besides the log: a file, or a URL that takes each as a POST. */
export type AnchorAt = { readonly file: string } | { readonly url: string };

/** What an anchor is told: a signature, or that the log begins anew. */
export type AnchorLine = {
  /** The id of the log. */
  readonly log: string;
  readonly topic: 'digestSigned' | 'logRewritten';
  readonly at: string;
  readonly upTo: Place | null;
  readonly events: number;
  readonly digest: string | null;
  readonly key: string | null;
  readonly signature: string | null;
};

type About = { readonly log: string; readonly at: string };

export const signedLine = ({ log, at }: About, { upTo, events, digest, key, signature }: DigestSigned): AnchorLine => ({
  log,
  topic: 'digestSigned',
  at,
  upTo,
  events,
  digest,
  key,
  signature,
});

/** The line after which a shorter chain of signatures is right. It names the digest and key of the old log. */
export const rewrittenLine = ({ log, at }: About, { digest, key }: LogRewritten): AnchorLine => ({
  log,
  topic: 'logRewritten',
  at,
  upTo: null,
  events: 0,
  digest,
  key,
  signature: null,
});

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

const lineIn = (text: string): AnchorLine | undefined => {
  try {
    const line = JSON.parse(text) as Partial<AnchorLine> | null;
    const isLine = typeof line?.log === 'string' && typeof line.events === 'number';
    return isLine ? (line as AnchorLine) : undefined;
  } catch {
    return undefined;
  }
};

/** The lines in the file of an anchor, in order. A line that was cut short is left out. */
export const anchorLines = async (file: string): Promise<readonly AnchorLine[]> => {
  const text = await readFile(file, 'utf8');
  return text.split('\n').flatMap((line) => lineIn(line) ?? []);
};
