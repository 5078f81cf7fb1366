import { type PlatformEvent, subscribe } from '../client/index.ts';
import type { Access } from './askService.ts';
import { fromIn } from './fromIn.ts';
import { type Column, type RecordOutput, recordWriter } from './records.ts';

/** Which events to show. */
export type TailOptions = {
  readonly source?: string | undefined;
  readonly topic?: string | undefined;
  readonly resource?: string | undefined;
  readonly from?: string;
};

const columns: readonly Column<PlatformEvent>[] = [
  { heading: 'at', width: 24, text: ({ at }) => at },
  { heading: 'position', width: 10, text: ({ position }) => String(position) },
  { heading: 'actor', width: 12, text: ({ actor }) => actor?.username ?? '' },
  { heading: 'event', width: 44, text: ({ source, topic }) => `${source}:${topic}` },
  { heading: 'resource', width: 40, text: ({ resource }) => (resource ? `${resource.kind}/${resource.id}` : '') },
  { heading: 'data', width: 0, text: ({ data }) => JSON.stringify(data) },
];

/** Shows events as they happen, until the signal aborts: as lines of JSON, or on a terminal as a table. */
export const tailEvents = async (
  { source, topic, resource, from = 'now' }: TailOptions,
  { url, username, password }: Access,
  signal: AbortSignal,
  output: RecordOutput = process.stdout,
): Promise<void> => {
  const auth = { username, password };
  // Whoever read the output has gone: `events tail | head` ends so.
  const gone = new AbortController();
  output.once('error', () => gone.abort());
  const ending = AbortSignal.any([signal, gone.signal]);
  const records = recordWriter(output, columns);
  for await (const event of subscribe({ url, auth, source, topic, resource, from: fromIn(from), signal: ending }))
    await records.write(event, ending);
};
