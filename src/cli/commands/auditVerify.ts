import { existsSync, readFileSync, statSync } from 'node:fs';
import { plainText } from '@automation-platform/client';
import {
  type AnchorLine,
  anchorLines,
  type Coverage,
  type Finding,
  fingerprintOf,
  publicKeyIn,
  type Source,
  type Verified,
} from '@automation-platform/log-proof';
import { type Config, readConfig } from '../../config.ts';
import { stopSignal } from '../../process/program.ts';
import type { AnchorAt } from '../../store/anchor.ts';
import { type LogUrl, logUrl } from '../../store/url.ts';
import { argumentOr, command, option, type Status, UsageError } from '../engine/command.ts';
import { progressLine, type Terminal } from '../progress.ts';
import { type Column, type RecordOutput, recordWriter } from '../records.ts';

export const auditVerify = command({
  name: 'audit verify',
  about: 'Say what was done to a log since it was written, and what proves that',
  args: { log: argumentOr('an export, sqlite:<file> or esdb://...; the log of the service if not given', '') },
  options: {
    key: option('<key>', 'the public key to believe: base64, PEM, or a file with it; else those that the log holds'),
  },
  help: `\
It needs no secret, and works on a log that is in use. Each finding names a position, or the positions from and to which it
lies: altered, missing, inserted, reordered, altered or reordered, cut. Its last words are what is covered. AUDIT_ANCHOR
names the file that was told the signatures, if there is one. Exit status 3: something was found (docs/tampering.md).`,
  run: async ({ log, key }) => {
    return verifyAndShow({ log, key, config: readConfig(process.env), signal: stopSignal('Stopped') });
  },
});

type Asked = {
  /** '' for the log of the service. */
  readonly log: string;
  readonly key: string | undefined;
  readonly config: Pick<Config, 'EVENTSTORE_URL' | 'AUDIT_ANCHOR'>;
  readonly signal: AbortSignal;
  readonly output?: RecordOutput;
  readonly messages?: Terminal;
};

const columns: readonly Column<Finding>[] = [
  {
    heading: 'position',
    width: 21,
    text: ({ position, from, to }) => (position === undefined ? `${from} to ${to}` : String(position)),
  },
  { heading: 'finding', width: 20, text: ({ finding }) => finding },
  { heading: 'what', width: 0, text: ({ message }) => message },
];

/** The log that was asked for: that of the service, one at a URL, or an export. */
const sourceOf = async ({ log, config }: Asked, report: (message: string) => void): Promise<Source> => {
  const { fileSource, storeSource } = await import('../../store/sources.ts');
  const isExport = log !== '' && !/^(sqlite|esdb|esdb\+discover):/.test(log);
  if (isExport) return (await import('@automation-platform/log-proof')).exportSource(log);
  const at: LogUrl = log === '' ? config.EVENTSTORE_URL : logUrl(log);
  if ('file' in at) return fileSource(at.file);
  return storeSource(await (await import('../../store/open.ts')).openLogToRead(at, report));
};

const givenKey = (key: string): string => {
  try {
    return publicKeyIn(existsSync(key) ? readFileSync(key, 'utf8') : key);
  } catch (error) {
    throw new UsageError(`--key ${(error as Error).message}`);
  }
};

/** The lines that the anchor has; undefined if it is not set, is a URL, or is no file yet. */
const anchorOf = async (at: AnchorAt | undefined): Promise<readonly AnchorLine[] | undefined> =>
  at && 'file' in at && isFile(at.file) ? anchorLines(at.file) : undefined;

const isFile = (file: string): boolean => existsSync(file) && statSync(file).isFile();

/** A sentence about the proof that the anchor gives. An anchor that is set and proves nothing may have been taken away. */
const anchorWords = (at: AnchorAt | undefined, anchored: number): string => {
  if (anchored > 0) return `The anchor was told ${anchored} signatures of this log.`;
  const without =
    'Without an anchor, a thief of the key could have signed the log anew, and a cut below the last signature shows only in the note beside the log.';
  if (!at) return without;
  if ('url' in at) return `AUDIT_ANCHOR is a URL, which is not read: fetch its lines into a file. ${without}`;
  return `The anchor ${at.file} ${isFile(at.file) ? 'says nothing of this log' : 'is not there'}. ${without}`;
};

type Believed = { readonly key: string | undefined; readonly at: AnchorAt | undefined };

/** Sentences about the events that are covered. */
const wordsOf = ({ coverage, keys, anchored }: Verified, { key, at }: Believed): readonly string[] => {
  const { verified, signed, uncovered }: Coverage = coverage;
  const prints = keys.map(fingerprintOf).join(', ');
  const believed =
    key === undefined
      ? `No key was given, so the keys that the log holds are believed: ${prints || 'it has none'}.`
      : `These keys are believed, the given one and those that follow from it: ${prints || fingerprintOf(key)}.`;
  return [
    believed,
    `${verified} events were verified. Signatures prove ${signed} of them. No signature covers ${uncovered}.`,
    anchorWords(at, anchored),
  ];
};

/** Verifies a log and shows what was found. */
export const verifyAndShow = async (request: Asked): Promise<Status> => {
  const { key, config, signal, output = process.stdout, messages = process.stderr } = request;
  const expectedKey = key === undefined ? undefined : givenKey(key);
  const progress = progressLine(messages);
  const { isLinkedStream } = await import('../../events/ownStreams.ts');
  const { verifyLog } = await import('@automation-platform/log-proof');
  const source = await sourceOf(request, (message) => messages.write(`${message}\n`));
  try {
    const verified = await verifyLog({
      source,
      linked: isLinkedStream,
      key: expectedKey,
      anchor: await anchorOf(config.AUDIT_ANCHOR),
      signal,
      told: (position, head) => progress.show(() => `verifying ${Math.floor((100 * position) / head)} %`),
    });
    progress.end();
    const { findings, coverage } = verified;
    if (findings.length > 0 || !output.isTTY) {
      const { write } = recordWriter(output, columns);
      for (const finding of findings) await write(finding, signal);
    }
    if (!output.isTTY) output.write(`${JSON.stringify(coverage)}\n`);
    const words = wordsOf(verified, { key: expectedKey, at: config.AUDIT_ANCHOR });
    for (const line of words) (output.isTTY ? output : messages).write(`${plainText(line)}\n`);
    return findings.length > 0 ? 3 : 0;
  } finally {
    progress.end();
    await source.close();
  }
};
