import type { Filter, StoredEvent } from '@automation-platform/event-log';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { RE2JS } from 're2js';
import { badRequest } from './faults.ts';

/** Which events of the log a reader wants. */
export type EventFilter = {
  readonly passes: (event: StoredEvent) => boolean;
  /** Prefixes of types, if the filter has nothing else. Then the store itself leaves other events out. */
  readonly types: Filter | undefined;
  /** After how many positions a subscriber gets a checkpoint. */
  readonly checkpointInterval: number;
};

const mostCharacters = 1000;
const mostPrefixes = 1000;
const mostInstructions = 2000;
// How many events EventStoreDB searches in one step if the caller names no number.
const presetWindow = 32;

/** The factor by which counted repetitions can enlarge a pattern. The time to compile a pattern grows with its size. */
const repetitions = (text: string): number =>
  [...text.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce(
    (product, [, least, most]) => product * Math.max(1, Number(least), Number(most ?? 0)),
    1,
  );

/** Compiles a caller's regular expression, which is matched in linear time. Throws when it is too large. */
const patternIn = (text: string): RE2JS => {
  if (text.length > mostCharacters || text.length * repetitions(text) > 100 * mostInstructions)
    throw badRequest('The regular expression is too large');
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(RE2JS.translateRegExp(text));
  } catch (error) {
    throw badRequest(
      `The regular expression cannot be matched in linear time, or is none: ${(error as Error).message}`,
    );
  }
  if (pattern.programSize() > mostInstructions) throw badRequest('The regular expression is too large');
  return pattern;
};

const test = (expression: ReadReq.Options.FilterOptions.Expression): ((text: string) => boolean) => {
  const prefixes = expression.getPrefixList();
  if (prefixes.length > mostPrefixes) throw badRequest(`A filter has at most ${mostPrefixes} prefixes`);
  if (prefixes.length > 0) return (text) => prefixes.some((prefix) => text.startsWith(prefix));
  if (expression.getRegex() === '') throw badRequest('A filter has a regular expression or prefixes');
  const pattern = patternIn(expression.getRegex());
  return (text) => pattern.matcher(text).find();
};

/** The filter of a read of the log; undefined when every event is wanted. */
export const filterIn = (options: ReadReq.Options): EventFilter | undefined => {
  const filter = options.getFilter();
  if (!filter) return undefined;
  const [ofType, ofStream] = [filter.getEventType(), filter.getStreamIdentifier()];
  const expression = ofType ?? ofStream;
  if (!expression) throw badRequest('The filter does not say what it is about');
  const matches = test(expression);
  const window = filter.hasMax() ? filter.getMax() : presetWindow;
  const checkpointInterval = filter.getCheckpointintervalmultiplier() * window;
  const prefixes = expression.getPrefixList();
  return {
    passes: ofType ? ({ type }) => matches(type) : ({ stream }) => matches(stream),
    // A statement of the store can have only a limited number of prefixes.
    types: ofType && prefixes.length > 0 && prefixes.length <= 50 ? prefixes : undefined,
    checkpointInterval,
  };
};
