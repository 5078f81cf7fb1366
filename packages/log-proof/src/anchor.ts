import { readFile } from 'node:fs/promises';
import type { DigestSigned, LogRewritten, Place } from './digestLog.ts';

/** A line of an anchor: a signature, or that the log begins anew. */
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
