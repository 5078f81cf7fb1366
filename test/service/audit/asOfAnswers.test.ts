import assert from 'node:assert/strict';
import { sample } from '../../../src/demo/sample.ts';
import type { Kept } from '../../../src/demo/step.ts';
import { again } from '../../support/again.ts';
import { pathsOf, readRows } from '../../support/readRows.ts';
import { sampled } from '../../support/sample.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';

/** An answer as it was when the log ended at a position. */
type Seen = { readonly path: string; readonly position: number; readonly answer: Answer };

// The tag of a compressed answer names its encoding.
const plain = { 'Accept-Encoding': 'identity' };

describe('answers as of a position', () => {
  let service: TestService;
  const seen: Seen[] = [];

  const head = async (): Promise<number> => (await service.ask('GET', '/health/status')).body.eventStore.position;

  /** Reads by all rows: the lists, and the first two documents of each. */
  const readAll = async (): Promise<readonly Omit<Seen, 'position'>[]> => {
    const found = new Map<string, Answer>();
    const read = async (path: string): Promise<Answer> => {
      const answer = found.get(path) ?? (await service.ask('GET', path, undefined, plain));
      found.set(path, answer);
      return answer;
    };
    for (const row of readRows) for (const path of await pathsOf(row, read)) await read(path);
    return Array.from(found, ([path, answer]) => ({ path, answer }));
  };

  /** Notes all answers together with the position that they show. Other work may go on meanwhile: then once more. */
  const note = async (): Promise<void> => {
    for (;;) {
      const position = await head();
      const found = await readAll();
      if ((await head()) !== position) continue;
      seen.push(...found.map((one) => ({ ...one, position })));
      return;
    }
  };

  before(async function () {
    this.timeout(600_000);
    service = await startService();
    let kept: Kept = {};
    const noted = new Set(sampled([...sample.keys()], 2, 8));
    for (const [at, step] of sample.entries()) {
      const { method, path, body, keep } = step(kept);
      const answer = await service.ask(method, path, body);
      assert.equal(answer.status, 200, answer.text);
      if (keep) kept = { ...kept, ...keep(answer.body) };
      if (noted.has(at)) await note();
    }
    await note();
  });
  after(() => service.stop());

  it('are the answers that were given then, byte for byte', async () => {
    assert.ok(seen.length > 200, `${seen.length}`);
    for (const { path, position, answer } of seen) {
      const past = await again(() => service.ask('GET', `${path}?asOf=${position}`, undefined, plain));
      const about = `${path} as of ${position}`;
      assert.equal(past.status, answer.status, `${about}: ${past.text}`);
      assert.equal(past.text, answer.text, about);
      const tag = answer.headers.get('etag');
      if (tag) assert.equal(past.headers.get('etag'), `${tag.slice(0, -1)}@${position}"`, about);
    }
  }).timeout(600_000);
});
