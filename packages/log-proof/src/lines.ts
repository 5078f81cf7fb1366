import { createHash, hash } from 'node:crypto';
import { hashIn, isForeign, isOfLog, type StoredEvent, textsOf, unwrapForeign } from '@automation-platform/event-log';

/** The stream of the signatures. */
export const digestStream = 'digest-log';

/** The number of lines after which a step is taken. */
const stepLines = 100;

type Content = Pick<StoredEvent, 'id' | 'stream' | 'revision' | 'type' | 'data' | 'metadata'>;

/** True if digests cover an event: they cover what a copy of the log carries. */
export const isLine = ({ stream, type }: Pick<StoredEvent, 'stream' | 'type'>): boolean =>
  !stream.startsWith('$') && !type.startsWith('$') && !isOfLog(stream);

/**
 * The hash by which a digest covers an event: its link, or a hash of its content. The content of a foreign event is
 * taken in the form that all kinds of logs have, so that a log that is moved keeps its digests.
 */
const lineHash = ({ type, data, metadata }: Pick<Content, 'type' | 'data' | 'metadata'>): string => {
  const foreign = isForeign({ metadata }) ? unwrapForeign({ data, metadata }) : undefined;
  const texts = foreign
    ? textsOf({
        type,
        contentType: foreign.contentType,
        data: Buffer.from(foreign.data),
        metadata: Buffer.from(foreign.metadata),
      })
    : { data, metadata };
  return hashIn(texts.metadata) ?? hash('sha256', `${type}\n${texts.data}\n${texts.metadata}`, 'base64');
};

/** The line of an event in a digest. */
export const lineOf = (event: Content): string =>
  `${event.id}\n${event.stream}\n${event.revision}\n${lineHash(event)}\n`;

/**
 * Hashes lines after the digest of the last signature ('' at first). Lines are hashed a hundred at a time, because a
 * hash of each would cost a twentieth of an append.
 */
export const runningDigest = (before: string) => {
  const running = createHash('sha256').update(before);
  let block = '';
  let lines = 0;
  const digest = (): string => {
    running.update(block);
    block = '';
    return running.copy().digest('base64');
  };
  return {
    lines: (): number => lines,
    /** Adds a line. Returns the digest where a step is taken. */
    add(line: string): string | undefined {
      block += line;
      lines++;
      return lines % stepLines === 0 ? digest() : undefined;
    },
    digest,
  };
};
