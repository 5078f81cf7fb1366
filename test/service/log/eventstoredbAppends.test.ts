import assert from 'node:assert/strict';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import rpc from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import { WrongRevision } from '../../../src/store/port.ts';
import { breakOff, ids, read, workbench } from '../../support/eventstoredbWorkbench.ts';
import { freePort } from '../../support/freePort.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { type AppendCall, memoryEventStore, type Proposal } from '../../support/memoryEventStore.ts';
import { newEvent, newEvents, newStream, refused } from '../../support/store.contract.ts';
import { until } from '../../support/until.ts';

type Memory = ReturnType<typeof memoryEventStore>;
type Fate = (proposal: Proposal, call: AppendCall, usual: () => void) => void;

describe('an append by the adapter of EventStoreDB', () => {
  const bench = workbench();
  const { serve } = bench;
  // A busy machine takes its time, so only the tests of a refusal have another limit.
  const open = (url: string, times: Parameters<typeof bench.open>[1] = {}) =>
    bench.open(url, { tries: 100_000, ...times });

  it('gives the position of the last event, whichever the answer names', async () => {
    const memory: Memory = memoryEventStore({
      script: (proposal, call) => {
        const answer = memory.store(proposal);
        const position = answer.getSuccess()?.getPosition();
        if (proposal.messages.length > 1 && position)
          position.setCommitPosition(String(Number(position.getCommitPosition()) - 100));
        call.write(answer);
      },
    });
    const store = await open((await serve(memory.handlers)).url);
    assert.equal((await store.append(newStream(), -1, newEvents(2))).position, await store.head());
  });

  describe('when an append fails', () => {
    /** The first try of each append of a test's own has this fate. */
    const first = (fate: Fate): Fate => {
      const seen = new Set<string>();
      return (proposal, call, usual) => {
        const key = proposal.messages[0]!.getId()!.getString();
        if (!proposal.stream.startsWith('thing-') || seen.has(key)) return usual();
        seen.add(key);
        fate(proposal, call, usual);
      };
    };
    for (const remembers of [true, false]) {
      const fates: Record<string, (memory: () => Memory) => Fate> = {
        'is stored, and nobody answers': (memory) => (proposal) => void memory().store(proposal),
        'is lost, and nobody answers': () => () => undefined,
        'is stored, and answered when it is too late': (memory) => (proposal, call) => {
          const answer = memory().store(proposal);
          setTimeout(() => call.write(answer), 300);
        },
        'is stored, and the call is cancelled': (memory) => (proposal, call) => {
          memory().store(proposal);
          breakOff(call, status.CANCELLED);
        },
        'is lost, and the call is cancelled': () => (_, call) => breakOff(call, status.CANCELLED),
        'is stored, and EventStoreDB becomes unavailable': (memory) => (proposal, call) => {
          memory().store(proposal);
          breakOff(call, status.UNAVAILABLE);
        },
        'is lost, and EventStoreDB becomes unavailable': () => (_, call) => breakOff(call, status.UNAVAILABLE),
        'is stored, and the call ends': (memory) => (proposal, call) => {
          memory().store(proposal);
          call.end();
        },
        'is stored, and something unheard of is reported': (memory) => (proposal, call) => {
          memory().store(proposal);
          breakOff(call, status.DATA_LOSS);
        },
      };
      for (const [what, fate] of Object.entries(fates)) {
        it(`that ${what}, it is stored once and acknowledged${remembers ? '' : ' (by an EventStoreDB that calls it a wrong revision)'}`, async () => {
          const memory: Memory = memoryEventStore({ remembers, script: first(fate(() => memory)) });
          const store = await open((await serve(memory.handlers)).url);
          const stream = newStream();
          const events = newEvents(2);
          const appended = await store.append(stream, -1, events);
          const stored = await read(store, stream);
          assert.deepEqual(ids(stored), ids(events));
          assert.deepEqual(appended, { revision: 1, position: stored[1]!.position });
          assert.equal((await store.append(stream, 1, [newEvent()])).revision, 2);
        });
      }
    }

    it('those under way with it are stored once each, too', async () => {
      const held: { proposal: Proposal; usual: () => void }[] = [];
      const memory: Memory = memoryEventStore({
        script: first((proposal, call, usual) => {
          held.push({ proposal, usual });
          if (held.length < 20) return;
          for (const [n, { proposal }] of held.entries()) if (n % 2) memory.store(proposal);
          breakOff(call, status.UNAVAILABLE);
        }),
      });
      const store = await open((await serve(memory.handlers)).url, { answer: 2000 });
      const streams = Array.from({ length: 20 }, newStream);
      const appended = await Promise.all(streams.map((stream) => store.append(stream, -1, [newEvent()])));
      for (const [n, stream] of streams.entries())
        assert.deepEqual(
          (await read(store, stream)).map(({ revision, position }) => ({ revision, position })),
          [appended[n]],
        );
    });

    it('those of another log in the process are not disturbed', async () => {
      let tries = 0;
      let held: (() => void) | undefined;
      let holds = false;
      const calm = memoryEventStore({
        script: (_, __, usual) => {
          tries++;
          if (holds) held = usual;
          else usual();
        },
      });
      const broken = memoryEventStore({ script: first((_, call) => breakOff(call, status.UNAVAILABLE)) });
      const one = await open((await serve(calm.handlers)).url, { answer: 100_000 });
      const two = await open((await serve(broken.handlers)).url);
      tries = 0;
      holds = true;
      const appended = one.append(newStream(), -1, [newEvent()]);
      await until(() => tries === 1, 'the append to arrive');
      await two.append(newStream(), -1, [newEvent()]);
      held?.();
      await appended;
      assert.equal(tries, 1);
    });

    it('it is refused as unavailable when that goes on for some seconds, and works when EventStoreDB is back', async () => {
      const port = await freePort();
      const memory = memoryEventStore();
      const server = await serve(memory.handlers, { port });
      const store = await open(server.url, { tries: 600 });
      assert.equal(store.connected(), true);
      server.stop();
      const stream = newStream();
      const events = newEvents(1);
      await assert.rejects(
        store.append(stream, -1, events),
        (error) => refused('unavailable')(error) && (error as { retryAfterSeconds?: number }).retryAfterSeconds === 1,
      );
      await assert.rejects(store.head(), refused('unavailable'));
      assert.equal(store.connected(), false);
      await serve(memory.handlers, { port });
      await until(() => store.connected(), 'a new connection');
      assert.equal((await store.append(stream, -1, events)).revision, 0);
      assert.equal(store.connected(), true);
    });

    itInSoak('those that come after it, one after the other, are refused in the time of one', async () => {
      let answers = false;
      const memory = memoryEventStore({
        script: ({ stream }, __, usual) => {
          if (answers || !stream.startsWith('thing-')) usual();
        },
      });
      const store = await open((await serve(memory.handlers)).url, { tries: 1000 });
      const began = performance.now();
      for (let n = 0; n < 6; n++)
        await assert.rejects(store.append(newStream(), -1, [newEvent()]), refused('unavailable'));
      const ms = performance.now() - began;
      assert.ok(ms < 3500, `six appends were refused after ${Math.round(ms)} ms`);
      answers = true;
      await until(async () => (await store.append(newStream(), -1, [newEvent()]).catch(() => undefined)) !== undefined);
    });

    it('because EventStoreDB calls it a bad request, that is told in its words, nothing is tried again, and the connection is not to blame', async () => {
      let tries = 0;
      const details = new any.Any();
      details.pack(new shared.BadRequest().setMessage('as below').serializeBinary(), 'event_store.client.BadRequest');
      const error = new rpc.Status().setMessage('no metadata for this stream').setDetails(details);
      const memory = memoryEventStore({
        script: ({ id, stream }, call, usual) => {
          if (!stream.startsWith('thing-')) return usual();
          tries++;
          call.write(new streams.BatchAppendResp().setCorrelationId(new shared.UUID().setString(id)).setError(error));
        },
      });
      const store = await open((await serve(memory.handlers)).url, { answer: 100_000 });
      await assert.rejects(
        store.append(newStream(), -1, newEvents(1)),
        /EventStoreDB refuses: no metadata for this stream/,
      );
      assert.deepEqual([tries, store.connected()], [1, true]);
    });

    it('because another was faster, the revision is told, and nothing is tried again', async () => {
      let tries = 0;
      const memory = memoryEventStore({
        script: (_, __, usual) => {
          tries++;
          usual();
        },
      });
      const store = await open((await serve(memory.handlers)).url, { answer: 100_000 });
      const stream = newStream();
      await store.append(stream, -1, newEvents(3));
      tries = 0;
      await assert.rejects(
        store.append(stream, 0, newEvents(1)),
        (error) => error instanceof WrongRevision && error.actual === 2,
      );
      assert.equal(tries, 1);
    });
  });
});
