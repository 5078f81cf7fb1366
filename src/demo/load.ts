import { sample } from './sample.ts';
import type { Kept } from './step.ts';

/**
 * Creates the sample through the HTTP API. Each request has its own Idempotency-Key, so a second run creates nothing
 * twice. Throws an Error that shows the first answer that is not 200.
 */
export const loadSample = async (url: string, username: string, password: string): Promise<Kept> => {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  let kept: Kept = {};
  for (const [i, step] of sample.entries()) {
    const { method, path, body, keep } = step(kept);
    const response = await fetch(url + path, {
      method,
      body: JSON.stringify(body),
      headers: { Authorization: authorization, 'Content-Type': 'application/json', 'Idempotency-Key': `sample-${i}` },
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    if (keep) kept = { ...kept, ...keep(JSON.parse(text)) };
  }
  return kept;
};
