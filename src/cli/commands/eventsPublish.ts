import { randomUUID } from 'node:crypto';
import { wordsIn } from '@automation-platform/client';
import { isObject } from '@automation-platform/json';
import { stopSignal } from '../../process/program.ts';
import {
  type Access,
  accessFrom,
  askHelp,
  askOptions,
  asksPassword,
  messageOf,
  noAnswer,
  platformAt,
} from '../askService.ts';
import { argument, argumentOr, command, UsageError } from '../engine/command.ts';
import { jsonFault } from '../faults.ts';
import type { Terminal } from '../progress.ts';

export const eventsPublish = command({
  name: 'events publish',
  about: 'Publish an event through the running service',
  args: {
    source: argument('not beginning with @platform/ or $'),
    topic: argument('without a colon'),
    payload: {
      ...argumentOr('JSON; - reads it from standard input', 'null'),
      fault: (text: string) => (text === '-' ? undefined : jsonFault(text)),
    },
  },
  options: askOptions,
  help: askHelp,
  run: async ({ source, topic, payload, ...asking }) => {
    if (payload === '-' && asksPassword(asking))
      throw new UsageError(
        'standard input has the payload, so API_TOKEN must have a token, or AUTOMATION_PLATFORM_PASSWORD the password',
      );
    const text = payload === '-' ? await allOf(process.stdin) : payload;
    await publishEvent({ source, topic, payload: text }, await accessFrom(asking), stopSignal('Stopped'));
    return 0;
  },
});

type Publication = { readonly source: string; readonly topic: string; readonly payload: string };

/** The whole text of an input. */
const allOf = async (input: NodeJS.ReadableStream): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
};

/**
 * Publishes an event through the running service, and reports its id and position: as a line of JSON, or on a terminal
 * in a sentence. The request is repeated while the service does not answer; the event is published once all the same.
 */
export const publishEvent = async (
  { source, topic, payload }: Publication,
  access: Access,
  signal: AbortSignal,
  output: Terminal = process.stdout,
): Promise<void> => {
  const { status, body } = await platformAt(access, signal).ask({
    method: 'POST',
    path: `/operations-manager/events/${encodeURIComponent(source)}/${encodeURIComponent(topic)}`,
    body: payload,
    headers: { 'idempotency-key': randomUUID() },
  });
  if (status !== 200) throw new Error(messageOf(body, status));
  const { id, position } = (isObject(body) && isObject(body.data) && body.data) || {};
  if (typeof id !== 'string' || typeof position !== 'number') throw noAnswer(access);
  output.write(
    output.isTTY ? `Published ${wordsIn(id)} at position ${position}\n` : `${JSON.stringify({ id, position })}\n`,
  );
};
