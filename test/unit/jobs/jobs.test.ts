import assert from 'node:assert/strict';
import { fold } from '../../../src/domain/engine/core.ts';
import { decideMoves, jobMoveDecision } from '../../../src/domain/operations-manager/jobMoves.ts';
import {
  carryOut,
  complete,
  fail,
  type JobEvent,
  type JobState,
  job,
  jobMoves,
  originless,
  start,
} from '../../../src/domain/operations-manager/jobs.ts';
import { specification } from '../../support/given.ts';

const given = specification(job);

const tester = 'aaaaaaaaaaaaaaaaaaaaaaaa';

const data = {
  name: 'Back up',
  description: '',
  type: 'workflow',
  variables: { site: 'Bonn' },
  component: { type: 'workflows', name: 'Back up' },
  automation: null,
  trigger: null,
  execution: null,
  groups: [],
  watchers: [tester],
  ...originless,
} as const;

const started: JobEvent = { topic: 'jobStarted', data };

const [paused, resumed, canceled] = [jobMoves.pause.event, jobMoves.resume.event, jobMoves.cancel.event];

const completed: JobEvent = { topic: 'jobCompleted', data: { variables: { saved: 3 } } };

const errored: JobEvent = { topic: 'jobErrored', data: { error: 'No answer' } };

const gbac = { read: [], write: [] };

const none = { unknownGroups: [], variables: {} };

describe('A job', () => {
  it('of a workflow that the platform does not hold keeps its name', () =>
    given()
      .when(start, { workflow: 'Back up', variables: { site: 'Bonn' } }, { ...none, variables: { site: 'Bonn' } })
      .then(started));

  it('says by itself what started it: neither a client nor a worker does', () => {
    const own = { _trigger: { id: 'x' }, _event: { source: 'x' } };
    const variables = { site: 'Bonn', ...own };
    given()
      .when(start, { workflow: 'Back up', variables }, { ...none, variables })
      .then(started);
    given(started)
      .when(complete, {}, { gbac, variables: { saved: 3, ...own } })
      .then(completed);
  });

  it('of an automation runs its component', () => {
    const automation = { id: 'a1', readable: true, name: 'Nightly', component: { type: 'workflows', name: 'Back up' } };
    given()
      .when(
        start,
        { workflow: 'a1', description: 'Again', groups: ['ops', { name: 'ops' }], trigger: 't1', execution: 'e1' },
        { ...none, automation },
      )
      .then({
        topic: 'jobStarted',
        data: {
          ...data,
          name: 'Nightly',
          description: 'Again',
          type: 'automation',
          variables: {},
          automation: 'a1',
          trigger: 't1',
          execution: 'e1',
          groups: ['ops'],
        },
      });
    given()
      .when(start, { workflow: 'x', name: 'Mine', type: 'action' }, { ...none, automation })
      .then({ topic: 'jobStarted', data: { ...data, name: 'Mine', type: 'action', variables: {}, automation: 'a1' } });
  });

  it('is not started for an automation that the actor may not see, one that is not there, or unknown groups', () => {
    const automation = { id: 'a1', readable: false, name: 'Nightly', component: { type: null, name: 'Back up' } };
    given()
      .when(start, { workflow: 'Nightly' }, { ...none, automation })
      .thenRefused('not_found', /workflow/);
    given()
      .when(start, { workflow: 'Nightly', automation: 'gone' }, none)
      .thenRefused('not_found', /workflow/);
    given()
      .when(start, { workflow: 'Nightly', groups: ['x', 'y'] }, { ...none, unknownGroups: ['x', 'y'] })
      .thenRefused('not_found', /x, y/);
  });

  it('is completed with variables that join its own; the same again is no change', () => {
    const refs = { gbac, variables: { saved: 3 } };
    given(started).when(complete, {}, refs).then(completed);
    given(started, paused).when(complete, {}, refs).then(completed);
    given(started, { topic: 'jobInventoriesNoted', data: { inventories: ['i1'] } })
      .when(complete, {}, refs)
      .then(completed);
    given(started, completed).when(complete, {}, refs).thenNothing();
    given(started, completed).when(complete, {}, { gbac, variables: {} }).thenNothing();
    assert.deepEqual(fold(job, [started, completed]).variables, { site: 'Bonn', saved: 3 });
  });

  it('fails with what its worker says; the same again is no change', () => {
    given(started).when(fail, {}, { gbac, error: 'No answer' }).then(errored);
    given(started, paused).when(fail, {}, { gbac, error: 'No answer' }).then(errored);
    given(started, errored).when(fail, {}, { gbac, error: 'No answer' }).thenNothing();
  });

  it('does not change once it has ended', () => {
    for (const ended of [completed, errored, canceled]) {
      if (ended !== completed)
        given(started, ended)
          .when(complete, {}, { gbac, variables: {} })
          .thenRefused('conflict', /has ended/);
      given(started, ended)
        .when(complete, {}, { gbac, variables: { saved: 4 } })
        .thenRefused('conflict', /has ended/);
      given(started, ended)
        .when(fail, {}, { gbac, error: 'Other' })
        .thenRefused('conflict', /has ended/);
      for (const move of ['pause', 'resume', 'cancel'] as const)
        given(started, ended).when(carryOut, { move }).thenNothing();
    }
  });

  it('is moved where its state allows, as a part of a decision', () => {
    given(started).when(carryOut, { move: 'pause' }).then(paused);
    given(started, paused).when(carryOut, { move: 'pause' }).thenNothing();
    given(started, paused).when(carryOut, { move: 'resume' }).then(resumed);
    given(started, paused, resumed).when(carryOut, { move: 'resume' }).thenNothing();
    given(started).when(carryOut, { move: 'cancel' }).then(canceled);
    given(started, paused).when(carryOut, { move: 'cancel' }).then(canceled);
    given().when(carryOut, { move: 'cancel' }).thenNothing();
  });
});

describe('The decision to move several jobs', () => {
  const decision = specification(jobMoveDecision);
  const state = (...events: readonly JobEvent[]): JobState => fold(job, events);
  const refs = (states: Record<string, JobState>, missing: readonly string[] = []) => ({
    missing,
    states: new Map(Object.entries(states)),
  });
  const [running, waiting, ended] = [state(started), state(started, paused), state(started, completed)];

  it('names those that move, each once', () => {
    decision()
      .when(decideMoves, { move: 'pause', jobIds: ['a', 'b', 'a'] }, refs({ a: running, b: waiting }))
      .then({ topic: 'jobsMoved', data: { move: 'pause', jobIds: ['a'] } });
    decision()
      .when(decideMoves, { move: 'cancel', jobIds: ['b', 'a'] }, refs({ a: running, b: waiting }))
      .then({ topic: 'jobsMoved', data: { move: 'cancel', jobIds: ['b', 'a'] } });
  });

  it('is nothing where all are so already', () => {
    decision()
      .when(decideMoves, { move: 'pause', jobIds: ['b'] }, refs({ b: waiting }))
      .thenNothing();
    decision()
      .when(decideMoves, { move: 'cancel', jobIds: ['c'] }, refs({ c: state(started, canceled) }))
      .thenNothing();
    decision().when(decideMoves, { move: 'resume', jobIds: [] }, refs({})).thenNothing();
  });

  it('is refused for all if one is unknown or in another state, naming them', () => {
    decision()
      .when(decideMoves, { move: 'pause', jobIds: ['x', 'a', 'y'] }, refs({ a: running }, ['x', 'y']))
      .thenRefused('not_found', /x, y/);
    decision()
      .when(
        decideMoves,
        { move: 'cancel', jobIds: ['a', 'c', 'd'] },
        refs({ a: running, c: ended, d: state(started, errored) }),
      )
      .thenRefused('conflict', /c \(complete\), d \(error\)/);
  });
});
