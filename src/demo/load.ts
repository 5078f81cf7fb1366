import { randomUUID } from 'node:crypto';
import { type Auth, authorizationOf, subscribe } from '@automation-platform/client';
import { sample } from './sample.ts';
import type { Kept, Step } from './step.ts';

/**
 * Creates the sample through the HTTP API. Each request has its own Idempotency-Key, so a second run creates nothing
 * twice. `setDaysAgo` is called before each request with the days since it happened; unless given, all of it happens now.
 * Throws an Error that shows the first answer that is not 200.
 */
export const loadSample = async (
  url: string,
  username: string,
  password: string,
  setDaysAgo?: (days: number) => void,
): Promise<Kept> => {
  const login: Auth = { username, password };
  let auth: Auth = login;
  const send = async (step: Omit<Step, 'keep' | 'awaits'>, key: string) => {
    const { method, path, body, isOnce } = step;
    const headers = {
      Authorization: authorizationOf(auth),
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    };
    const ask = () => fetch(url + path, { method, body: JSON.stringify(body), headers });
    // A connection that was idle while a job ran may end just now. The key makes it safe to ask again.
    const response = await ask().catch(ask);
    const text = await response.text();
    if (isOnce && response.status === 503) {
      process.stderr.write(`The sample goes on after ${method} ${path}: ${JSON.parse(text).message}\n`);
      return {};
    }
    if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    const isReplayed = response.headers.has('Idempotency-Replayed');
    return {
      answer: JSON.parse(text),
      from: isReplayed ? undefined : Number(response.headers.get('X-Event-Position')),
    };
  };
  const ended = async (job: string, from: number): Promise<void> => {
    for await (const { topic } of subscribe({ url, auth, resource: `job/${job}`, from }))
      if (['jobCompleted', 'jobErrored', 'jobCanceled'].includes(topic)) return;
  };
  // The schedules of a sample that is some days old run at once.
  await send({ method: 'POST', path: '/health/clock', body: {} }, randomUUID());
  if (setDaysAgo) {
    // A password that was checked some days ago is checked anew, which takes long. So the time passes for a token.
    const body = { name: 'sample', expires: new Date(Date.now() + 3_600_000).toISOString() };
    auth = (await send({ method: 'POST', path: '/authorization/tokens', body }, randomUUID())).answer.data;
  }
  let demoIds: Kept = {};
  // The key of a step is its place in the sample, whenever it happened.
  for (const [i, step] of [...sample.entries()].sort(([, a], [, b]) => (b.daysAgo ?? 0) - (a.daysAgo ?? 0))) {
    const { keep, awaits, ...request } = step(demoIds);
    setDaysAgo?.(step.daysAgo ?? 0);
    if (step.daysAgo === undefined) auth = login;
    const { answer, from } = await send(request, `sample-${i}`);
    if (awaits && from !== undefined) await ended(answer[awaits], from);
    if (keep) demoIds = { ...demoIds, ...keep(answer) };
  }
  return demoIds;
};
