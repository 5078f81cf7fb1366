import assert from 'node:assert/strict';
import { sample } from '../src/demo/sample.ts';
import type { Kept } from '../src/demo/step.ts';
import { areas } from '../src/http/areas.ts';
import { takesAsOf } from '../src/http/engine/asOf.ts';
import { fullPathOf } from '../src/http/engine/router.ts';
import { again } from './again.ts';
import { sampled } from './sample.ts';
import { type Answer, startService, type TestService } from './service.ts';

/** An answer as it was when the log ended at a position. */
type Seen = { readonly path: string; readonly position: number; readonly answer: Answer };

const reads = areas.flatMap((area) =>
  area.routes.filter((route) => route.method === 'get' && takesAsOf(route)).map((route) => fullPathOf(area, route)),
);
// The tag of a compressed answer names its encoding.
const plain = { 'Accept-Encoding': 'identity' };
const lists = reads.filter((path) => !path.includes(':'));

/** What a list answers as documents. */
const documentsIn = (body: any): readonly any[] => {
  // a list is an array, or a member of an envelope
  if (Array.isArray(body)) return body;
  if (Array.isArray(body?.data)) return body.data;
  return Array.isArray(body?.results) ? body.results : [];
};

describe('answers as of a position', () => {
  let service: TestService;
  const seen: Seen[] = [];

  const head = async (): Promise<number> => (await service.ask('GET', '/health/status')).body.eventStore.position;

  /** Reads all lists, and what their first two documents are asked for. */
  const readAll = async (): Promise<readonly Omit<Seen, 'position'>[]> => {
    const found: Omit<Seen, 'position'>[] = [];
    const read = async (path: string): Promise<Answer> => {
      const answer = await service.ask('GET', path, undefined, plain);
      found.push({ path, answer });
      return answer;
    };
    for (const list of lists) {
      const { body } = await read(list);
      for (const { _id, id = _id, name = id } of documentsIn(body).slice(0, 2))
        for (const path of reads.filter((one) => one.startsWith(`${list}/:`) || one.startsWith(`${byName(list)}/:`))) {
          const called = path.startsWith(`${list}/:`) ? id : name;
          const [, rest = ''] = /:\w+(\/[^:]*)?$/.exec(path.slice(path.indexOf('/:'))) ?? [];
          if (typeof called === 'string')
            await read(`${path.slice(0, path.indexOf('/:'))}/${encodeURIComponent(called)}${rest}`);
        }
    }
    return found;
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
    const noted = new Set(sampled([...sample.keys()], 8));
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
    assert.ok(seen.length > 300, `${seen.length}`);
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

/** The path below which a document of a list is read, where that is another one. */
const byName = (list: string): string =>
  list.replace('listTemplates', 'listATemplate').replace('deviceGroups', 'devicegroups');
