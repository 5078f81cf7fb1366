import { randomUUID } from 'node:crypto';
import { sample } from './sample.ts';
import type { Kept, Step } from './step.ts';

/**
 * Creates the sample through the HTTP API. Each request has its own Idempotency-Key, so a second run creates nothing
 * twice. Throws an Error that shows the first answer that is not 200.
 */
export const loadSample = async (url: string, username: string, password: string): Promise<Kept> => {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const send = async (
    { method, path, body }: Pick<Step, 'method' | 'path' | 'body'>,
    key: string,
  ): Promise<unknown> => {
    const response = await fetch(url + path, {
      method,
      body: JSON.stringify(body),
      headers: { Authorization: authorization, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  // The schedules of a sample that is some days old run at once.
  await send({ method: 'POST', path: '/health/clock', body: {} }, randomUUID());
  let demoIds: Kept = {};
  for (const [i, step] of sample.entries()) {
    const { keep, ...request } = step(demoIds);
    const answer = await send(request, `sample-${i}`);
    if (keep) demoIds = { ...demoIds, ...keep(answer) };
  }
  return demoIds;
};
