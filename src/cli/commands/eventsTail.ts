import type { PlatformEvent } from '@automation-platform/client';
import { stopSignal } from '../../process/program.ts';
import { type Access, accessFrom, askHelp, askOptions } from '../askService.ts';
import { command, option, optionOr } from '../engine/command.ts';
import { type Column, type RecordOutput, recordWriter } from '../records.ts';

/** The value of `--from`; undefined if it is none. */
const fromIn = (text: string): 'start' | 'now' | number | undefined => {
  if (text === 'start' || text === 'now') return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};

export const eventsTail = command({
  name: 'events tail',
  about: 'Show events of the running service as they happen',
  options: {
    source: option('<source>', 'only events of this source'),
    topic: option('<topic>', 'only events of this topic'),
    resource: option('<resource>', 'only events of a kind of resource (job), or of one (job/65f0...)'),
    from: {
      ...optionOr('<position>', 'the position after which to begin, or start, or now', 'now'),
      fault: (text: string) => (fromIn(text) === undefined ? 'It is neither start, now nor a position.' : undefined),
    },
    ...askOptions,
  },
  help: askHelp,
  run: async ({ url, user, tokenFile, ...options }) => {
    await tailEvents(options, await accessFrom({ url, user, tokenFile }), stopSignal('Stopped'));
    return 0;
  },
});

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
  { url, auth }: Access,
  signal: AbortSignal,
  output: RecordOutput = process.stdout,
): Promise<void> => {
  const { subscribe } = await import('@automation-platform/client');
  // The reader of the output has gone: `events tail | head` ends so.
  const disconnect = new AbortController();
  output.once('error', () => disconnect.abort());
  const ending = AbortSignal.any([signal, disconnect.signal]);
  const records = recordWriter(output, columns);
  for await (const event of subscribe({ url, auth, source, topic, resource, from: fromIn(from), signal: ending }))
    await records.write(event, ending);
};
