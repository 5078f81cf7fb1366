import { randomUUID } from 'node:crypto';
import { type Access, messageOf, platformAt } from './askService.ts';
import type { Terminal } from './progress.ts';

type Publication = { readonly source: string; readonly topic: string; readonly payload: string };

type Published = { readonly data: { readonly id: string; readonly position: number } };

/** The whole text of an input. */
export const allOf = async (input: NodeJS.ReadableStream): Promise<string> => {
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
  const { id, position } = (body as Published).data;
  output.write(output.isTTY ? `Published ${id} at position ${position}\n` : `${JSON.stringify({ id, position })}\n`);
};
