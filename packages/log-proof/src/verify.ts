import type { AnchorLine } from './anchor.ts';
import { againstAnchor, againstNote } from './cut.ts';
import { digestChecker } from './digests.ts';
import { beginOf, type Coverage, type Finding } from './findings.ts';
import { isLine } from './lines.ts';
import { linkChecker } from './links.ts';
import type { Source } from './source.ts';
import { trustIn } from './trust.ts';

type Needs = {
  readonly source: Source;
  /** True if every event of a stream must have a link. */
  readonly linked: (stream: string) => boolean;
  /** The public key that is believed. Without it, the keys that the log holds are. */
  readonly key: string | undefined;
  /** The lines of the anchor, if it can be read. */
  readonly anchor: readonly AnchorLine[] | undefined;
  readonly signal: AbortSignal;
  readonly told: (position: number, head: number) => void;
};

export type Verified = {
  /** In the order of the log. */
  readonly findings: readonly Finding[];
  readonly coverage: Coverage;
  /** The keys that were believed, in base64. */
  readonly keys: readonly string[];
  /** How many lines of the anchor are about this log. */
  readonly anchored: number;
};

/** Reads a log once from its beginning to its end, and says what was done to it and what that proves. */
export const verifyLog = async ({ source, linked, key, anchor, signal, told }: Needs): Promise<Verified> => {
  const { id: log, head, noted } = source;
  const trust = trustIn(await source.proofs(), { key, export: source.signed });
  const { signatures, keys, found } = trust;
  const links = linkChecker({ ...source.lookUps, linked });
  const digests = digestChecker(signatures);
  for await (const events of source.events()) {
    for (const event of events) {
      links.next(event);
      if (isLine(event)) digests.add(event);
    }
    signal.throwIfAborted();
    told(events.at(-1)?.position ?? 0, head);
  }
  const { found: ranges, lines, signed } = digests.end(head);
  // The signature of an export is over all its events.
  const proved = trust.isExportBelieved ? lines : signed;
  const cut = noted && againstNote(noted, head, await source.at(noted.position));
  const anchoring = againstAnchor(anchor ?? [], { log, signatures, head });
  const positional = links.findings();
  const isKnown = positional.some(({ position }) => position !== undefined && position === cut?.position);
  const findings = [
    ...source.findings,
    ...positional,
    ...found,
    ...ranges,
    ...anchoring.found,
    ...(cut && !isKnown ? [cut] : []),
  ];
  return {
    findings: findings.sort((one, other) => beginOf(one) - beginOf(other)),
    coverage: { verified: lines, signed: proved, uncovered: lines - proved },
    keys,
    anchored: anchoring.lines,
  };
};
