import assert from 'node:assert/strict';
import { answerMs, logLead, patienceMs, restMs } from '../../../src/runners/logLead.ts';
import { eventStoreDbLead, type LeadNotes, leadStream } from '../../../src/store/eventstoredb/lead.ts';
import { type StoredEvent, TamperedStream, WrongRevision } from '../../../src/store/port.ts';
import { fixedClock } from '../../support/node.ts';

const second = 1000;

/** Lets everything happen that waits for nothing. */
const turns = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A log in which processes note who leads, and a clock that all of them see. */
const scene = () => {
  const clock = fixedClock(0);
  const stored: StoredEvent[] = [];
  const processes: {
    readonly lead: ReturnType<typeof logLead>;
    readonly look: () => Promise<void>;
    isFrozen: boolean;
    heard: number;
  }[] = [];
  const server = { leads: false };
  const failure: {
    of?: Error;
    afterStoring?: boolean;
    hangs?: { readonly node: string; readonly over: Promise<void> };
  } = {};
  const event = (stream: string, revision: number, type: string, data: object): void => {
    const rest = { id: `${stored.length}`, metadata: '{}', position: stored.length + 1 };
    stored.push({ ...rest, stream, revision, type, data: JSON.stringify(data) });
  };
  const notesIn = () => stored.filter(({ stream }) => stream === leadStream);
  const newest = (): Awaited<ReturnType<LeadNotes['newest']>> => {
    const last = notesIn().at(-1);
    if (!last) return { revision: -1, leader: undefined };
    const isLeader = last.type === '@platform/log:leadTaken';
    return { revision: last.revision, leader: isLeader ? JSON.parse(last.data) : undefined };
  };
  const notes: LeadNotes = {
    newest: async () => {
      if (failure.of && !failure.afterStoring) throw failure.of;
      return newest();
    },
    note: async (after, leader, what) => {
      if (failure.hangs?.node === leader.node) await failure.hangs.over;
      const { of: error, afterStoring } = failure;
      if (error && !afterStoring) throw error;
      const { revision } = newest();
      if (after !== revision) throw new WrongRevision(leadStream, after, revision);
      event(leadStream, revision + 1, `@platform/log:${what === 'leads' ? 'leadTaken' : 'leadReleased'}`, leader);
      if (error) throw error;
      return revision + 1;
    },
  };
  return {
    clock,
    server,
    failure,
    notesIn,
    /** Something that a leader has to do. */
    happens: () => event('thing-1', stored.length, 'x:y', {}),
    /** A process of a node. */
    begin: async (node: string) => {
      const me = { node, process: `process ${processes.length} of ${node}` };
      const works = new Map<object, () => void>();
      const everySecond = (work: () => Promise<void>, onFailure: (error: unknown) => void) => {
        let atWork: Promise<void> | undefined;
        const id = {};
        works.set(id, () => {
          atWork ??= work()
            .catch(onFailure)
            .finally(() => {
              atWork = undefined;
            });
        });
        return {
          stop: async () => {
            works.delete(id);
            await atWork;
          },
        };
      };
      const look = async (): Promise<void> => {
        for (const work of works.values()) work();
        await turns();
      };
      const lead = logLead({
        notes,
        me,
        mayLead: () => !server.leads,
        now: clock.now,
        everySecond,
        log: () => undefined,
      });
      await lead.start();
      const process = { lead, look, isFrozen: false, heard: stored.length };
      processes.push(process);
      return process;
    },
    /**
     * Lets time pass. Each second all processes that are not frozen look, and hear what was stored. Never do two of them
     * lead.
     */
    pass: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += second) {
        clock.pass(second);
        const awake = processes.filter(({ isFrozen }) => !isFrozen);
        for (const one of awake) {
          await one.look();
          for (const event of stored.slice(one.heard)) one.lead.onStored(event);
          one.heard = stored.length;
        }
        assert.ok(awake.filter(({ lead }) => lead.held()).length <= 1, `two lead at ${clock.now()}`);
      }
    },
    stop: () => Promise.all(processes.map(({ lead }) => lead.stop())),
  };
};

describe('The lead by notes in the log', () => {
  let all: ReturnType<typeof scene>;
  beforeEach(() => {
    all = scene();
  });
  let goOn = (): void => undefined;
  /** Makes the notes of a node hang until `goOn`. */
  const hang = (node: string): void => {
    const over = new Promise<void>((resolve) => {
      goOn = () => {
        delete all.failure.hangs;
        resolve();
      };
    });
    all.failure.hangs = { node, over };
  };
  afterEach(async () => {
    goOn();
    delete all.failure.of;
    await all.stop();
  });
  const held = (...some: readonly { lead: { held(): boolean } }[]) => some.map(({ lead }) => lead.held());

  it('stays with the first one, with one note a minute while nothing is stored', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    assert.deepEqual(held(a, b), [true, false]);
    await all.pass(10 * 60 * second);
    assert.deepEqual(held(a, b), [true, false]);
    assert.ok(all.notesIn().length <= 12, `${all.notesIn().length}`);
  });

  it('stays under load, with one note each five seconds at most', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    for (let n = 0; n < 120; n++) {
      all.happens();
      await all.pass(second);
      assert.deepEqual(held(a, b), [true, false]);
    }
    assert.ok(all.notesIn().length <= 2 + (120 * second) / answerMs, `${all.notesIn().length}`);
  });

  it('passes on at once when its holder stops', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    await a.lead.stop();
    await all.pass(2 * second);
    assert.deepEqual(held(a, b), [false, true]);
  });

  for (const [when, within, happens] of [
    ['something is stored', patienceMs + 3 * second, true],
    ['nothing is stored', restMs + patienceMs + 3 * second, false],
  ] as const)
    it(`passes on when its holder stands still and ${when}, and the holder leads no more when it goes on`, async () => {
      const [a, b] = [await all.begin('a'), await all.begin('b')];
      await all.pass(2 * second);
      a.isFrozen = true;
      const before = all.clock.now();
      if (happens) all.happens();
      while (!b.lead.held()) await all.pass(second);
      assert.ok(all.clock.now() - before <= within + second, `${all.clock.now() - before}`);
      a.isFrozen = false;
      await all.pass(2 * second);
      assert.deepEqual(held(a, b), [false, true]);
    });

  it('is taken at once by the next process of the node that had it, not by one of another', async () => {
    const [a, b, again] = [await all.begin('a'), await all.begin('b'), await all.begin('a')];
    assert.equal(again.lead.held(), true);
    await all.pass(3 * second);
    assert.deepEqual(held(a, b, again), [false, false, true]);
  });

  it('is kept if the answer to a note is lost, and given up if none can be stored', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    all.failure.of = new Error('No answer');
    all.failure.afterStoring = true;
    all.happens();
    await all.pass(answerMs + 2 * second);
    delete all.failure.of;
    await all.pass(3 * second);
    assert.deepEqual(held(a, b), [true, false]);
    all.failure.of = new Error('No log');
    all.failure.afterStoring = false;
    all.happens();
    await all.pass(patienceMs);
    assert.deepEqual(held(a, b), [false, false]);
    delete all.failure.of;
    await all.pass(answerMs + 2 * second);
    assert.equal(held(a, b).filter(Boolean).length, 1);
  });

  it('is given up in time by a holder whose notes hang, and a late answer does not bring it back', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    await all.pass(2 * second);
    hang('a');
    all.happens();
    await all.pass(answerMs + second);
    assert.deepEqual(held(a, b), [true, false]);
    await all.pass(patienceMs);
    assert.deepEqual(held(a, b), [false, true]);
    goOn();
    await all.pass(3 * second);
    assert.deepEqual(held(a, b), [false, true]);
  });

  it('is not brought back by the answer to a note that came too late', async () => {
    const a = await all.begin('a');
    await all.pass(2 * second);
    hang('a');
    all.happens();
    await all.pass(20 * second);
    goOn();
    await turns();
    assert.equal(a.lead.held(), false);
    await all.pass(answerMs + 2 * second);
    assert.equal(a.lead.held(), true);
  });

  it('is had within seconds by a process that took it and lost the answer', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    await a.lead.stop();
    all.failure.of = new Error('No answer');
    all.failure.afterStoring = true;
    await all.pass(2 * second);
    assert.deepEqual(held(a, b), [false, false]);
    delete all.failure.of;
    await all.pass(answerMs + second);
    assert.deepEqual(held(a, b), [false, true]);
  });

  it('is over for a holder that stood still, though it hears a note of its own first', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    all.happens();
    await all.pass(answerMs);
    a.isFrozen = true;
    await all.pass(restMs + patienceMs + second);
    const own = all
      .notesIn()
      .filter(({ data }) => data.includes(' of a'))
      .at(-1);
    assert.ok(own);
    a.lead.onStored(own);
    await a.look();
    assert.deepEqual(held(a, b), [false, true]);
  });

  it('is nobody’s while the log refuses appends, and somebody’s soon after', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    all.failure.of = new Error('The disk is full');
    all.happens();
    await all.pass(60 * second);
    assert.deepEqual(held(a, b), [false, false]);
    delete all.failure.of;
    await all.pass(answerMs + second);
    assert.equal(held(a, b).filter(Boolean).length, 1);
    const notes = all.notesIn().length;
    await all.pass(10 * 60 * second);
    assert.ok(all.notesIn().length <= notes + 12, 'one note a minute again');
  });

  it('is nobody’s while the process of the log leads, and taken once another server does not', async () => {
    all.server.leads = true;
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    all.happens();
    await all.pass(3 * (restMs + patienceMs));
    assert.deepEqual([held(a, b), all.notesIn()], [[false, false], []]);
    all.server.leads = false;
    await all.pass(second);
    assert.deepEqual(held(a, b), [true, false]);
    all.server.leads = true;
    await all.pass(second);
    assert.deepEqual(held(a, b), [false, false]);
  });

  it('is left by a holder that gave up, when it stops', async () => {
    const [a, b] = [await all.begin('a'), await all.begin('b')];
    all.failure.of = new Error('No log');
    all.happens();
    await all.pass(11 * second);
    assert.deepEqual(held(a, b), [false, false]);
    delete all.failure.of;
    await a.lead.stop();
    await all.pass(2 * second);
    assert.deepEqual(held(a, b), [false, true]);
  });

  it('is everybody’s if the stream cannot be used, because work must go on', async () => {
    all.failure.of = new TamperedStream(leadStream, 'was deleted for ever');
    const lead = logLead({
      notes: {
        newest: async () => ({ revision: -1, leader: undefined }),
        note: async () => Promise.reject(all.failure.of),
      },
      me: { node: 'a', process: 'p' },
      mayLead: () => true,
      log: () => undefined,
    });
    await lead.start();
    assert.equal(lead.held(), true);
    await lead.stop();
  });
});

it('The notes of the lead are few, though EventStoreDB could not be asked to remove old ones at first', async () => {
  const asked: unknown[] = [];
  let revision = -1;
  const { note } = eventStoreDbLead({ newest: async () => undefined }, async (stream, _, [event]) => {
    if (stream === leadStream) return { revision: ++revision, position: 0 };
    assert.equal(stream, `$$${leadStream}`);
    if (revision === 0) throw new Error('No answer');
    asked.push(JSON.parse(event?.data ?? ''));
    return { revision: 0, position: 0 };
  });
  for (let n = 0; n < 150; n++) await note(revision, { node: 'a', process: 'p' }, 'leads');
  assert.deepEqual(asked, [{ $maxCount: 10 }]);
});
