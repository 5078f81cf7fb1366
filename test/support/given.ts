import assert from 'node:assert/strict';
import { type Aggregate, type Context, type Event, fold } from '../../src/domain/engine/core.ts';
import { type Code, RequestError } from '../../src/domain/engine/requestError.ts';

/** What decisions in tests know: a fixed clock, ids that show their word, an admin. */
export const context: Context<any> = {
  // refs are the test's affair
  id: '0123456789abcdef01234567',
  now: '2026-01-01T00:00:00.000Z',
  actor: { id: 'aaaaaaaaaaaaaaaaaaaaaaaa', username: 'tester', provenance: 'local', groups: ['admins'], admin: true },
  newId: (word) => `id of ${word}`,
  refs: undefined,
};

/**
 * given(...facts).when(decision, input, refs?).then(...facts), .thenNothing() or .thenRefused(code, words?). Every
 * decision that stores is run again on its own outcome's state only by the test that says so.
 */
export const specification =
  <State, E extends Event>(aggregate: Aggregate<State, E>) =>
  (...past: readonly E[]) => ({
    when: <I, R>(decide: (state: State, input: I, context: Context<R>) => readonly E[], input: I, refs?: R) => {
      const run = () => decide(fold(aggregate, past), input, { ...context, refs: refs as R });
      return {
        then: (...expected: readonly E[]) => {
          const events = run();
          assert.deepEqual(events, expected);
          assert.deepEqual(JSON.parse(JSON.stringify(events)), events, 'events are JSON and nothing else');
          fold(aggregate, [...past, ...events]);
        },
        thenNothing: () => assert.deepEqual(run(), []),
        thenRefused: (code: Code, words?: RegExp) =>
          assert.throws(run, (error) => {
            assert.ok(error instanceof RequestError, String(error));
            assert.equal(error.code, code);
            if (words) assert.match(JSON.stringify([error.message, error.faults]), words);
            return true;
          }),
      };
    },
  });
