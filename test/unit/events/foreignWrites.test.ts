import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Expected, type ForeignWrites, foreignWrites } from '@automation-platform/esdb-server';
import { wrapForeign } from '@automation-platform/event-log';
import type { NewEvent } from '../../../src/store/port.ts';
import { openFileLog } from '../../support/node.ts';
import { gather } from '../../support/store.contract.ts';

describe('writes to streams of others', () => {
  let log: Awaited<ReturnType<typeof openFileLog>>;
  let writes: ForeignWrites;
  beforeEach(async () => {
    log = await openFileLog();
    writes = foreignWrites(log.store);
  });
  afterEach(() => log.close());

  const note = (text: unknown = ''): NewEvent =>
    wrapForeign({
      id: randomUUID(),
      type: 'noteTaken',
      data: Buffer.from(JSON.stringify(text)),
      metadata: Buffer.from(''),
      contentType: 'application/json',
      created: new Date(),
    });
  const texts = async (stream: string) => (await gather(log.store.read(stream))).map(({ data }) => JSON.parse(data));
  const numbers = Array.from({ length: 500 }, (_, n) => n);
  /** The commits that some work takes. */
  const commitsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = log.store.stats().commits;
    await work();
    return log.store.stats().commits - before;
  };

  const expectations: Readonly<Record<string, (n: number) => Expected>> = {
    any: () => 'any',
    stream_exists: () => 'stream_exists',
    'the revision of the one before': (n) => n,
  };
  for (const [what, expected] of Object.entries(expectations)) {
    it(`that wait together share a commit when they expect ${what}`, async () => {
      await writes.append('notes-1', 'no_stream', [note('first')]);
      const commits = await commitsOf(() =>
        Promise.all(numbers.map((n) => writes.append('notes-1', expected(n), [note(n)]))),
      );
      assert.ok(commits < 20, `${commits} commits of ${numbers.length} appends`);
      assert.deepEqual(await texts('notes-1'), ['first', ...numbers]);
    });
  }
  it('that wait together share a commit when only one can create the stream', async () => {
    let refused = 0;
    const commits = await commitsOf(() =>
      Promise.all(
        numbers.map((n) =>
          writes.append('notes-1', 'no_stream', [note(n)]).catch((error: unknown) => {
            assert.match(String(error), /WrongExpectedVersion/);
            refused++;
          }),
        ),
      ),
    );
    assert.ok(commits < 20, `${commits} commits`);
    assert.deepEqual([await texts('notes-1'), refused], [[0], numbers.length - 1]);
  });
  it('that are repeated while they wait are stored once, with one answer', async () => {
    const events = [note('a'), note('b')];
    const answers = await Promise.all(
      numbers.slice(0, 50).map((n) => writes.append('notes-1', n % 2 === 0 ? 'any' : 'no_stream', events)),
    );
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    assert.deepEqual(await texts('notes-1'), ['a', 'b']);
  });
  it('go on after one that the log refused', async () => {
    const { append } = log.store;
    let failing = true;
    log.store.append = async (...args) => {
      if (failing && args[1] === 2) throw new Error('once');
      return append(...args);
    };
    const outcomes = await Promise.allSettled(
      numbers.slice(0, 6).map((n) => writes.append('notes-1', 'any', [note(n)])),
    );
    failing = false;
    // Those behind it were handed in for revisions that then were not there.
    const reasons = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as Error).message : undefined,
    );
    const behind = 'An append before this one failed; send it again';
    assert.deepEqual(reasons, [undefined, undefined, undefined, 'once', behind, behind]);
    assert.equal((await writes.append('notes-1', 'any', [note('later')])).revision, 3);
    assert.deepEqual(await texts('notes-1'), [0, 1, 2, 'later']);
  });
  it('begin anew after a delete that they wait behind', async () => {
    await writes.append('notes-1', 'any', [note('old')]);
    const [, ...answers] = await Promise.all([
      writes.remove('notes-1', 0),
      ...numbers.slice(0, 5).map((n) => writes.append('notes-1', n === 0 ? 'no_stream' : 'any', [note(n)])),
    ]);
    assert.deepEqual(
      answers.map(({ revision }) => revision),
      [1, 2, 3, 4, 5],
    );
    const metadata = await gather(log.store.read('$$notes-1'));
    assert.deepEqual(
      metadata.map(({ data }) => data),
      ['{"$tb":9223372036854775807}', '{"$tb":1}'],
    );
  });
});
