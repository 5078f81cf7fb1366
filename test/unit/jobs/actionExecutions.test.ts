import assert from 'node:assert/strict';
import { runAction } from '../../../src/commands/lifecycle-manager/actionExecutions.ts';
import { createResourceModel } from '../../../src/commands/lifecycle-manager/resourceModels.ts';
import { claimJob, lapseClaim } from '../../../src/commands/operations-manager/jobClaims.ts';
import { fold } from '../../../src/domain/engine/core.ts';
import {
  type ActionStarted,
  actionExecution,
  cancel,
  type ExecutionEvent,
  note,
  type RunRefs,
  run,
} from '../../../src/domain/lifecycle-manager/actionExecutions.ts';
import { clear, type LastAction, lastAction, record } from '../../../src/domain/lifecycle-manager/lastActions.ts';
import { resourceModel } from '../../../src/domain/lifecycle-manager/resourceModels.ts';
import { job } from '../../../src/domain/operations-manager/jobs.ts';
import { context, specification } from '../../support/given.ts';
import { fixedClock, nodesOnLog } from '../../support/node.ts';

const given = specification(actionExecution);

const update = { _id: '00af', name: 'Resize', type: 'update', workflow: 'Resize circuit', description: '' } as const;

const started: ActionStarted = {
  modelId: 'm',
  action: update,
  automation: 'an automation',
  target: { type: 'group', _id: 'g', name: 'Edge' },
  instanceDescription: '',
  inputs: { mtu: 9000 },
  tasks: [
    { _id: 'id of task a', instanceId: 'a', instanceName: 'one' },
    { _id: 'id of task b', instanceId: 'b', instanceName: 'two' },
  ],
  started: context.now,
};

const begun: ExecutionEvent = { topic: 'actionStarted', data: started };

const refs: RunRefs = {
  modelExists: true,
  action: update,
  target: started.target,
  size: 2,
  instances: [
    { id: 'a', name: 'one' },
    { id: 'b', name: 'two' },
  ],
  automation: 'an automation',
  faults: [],
  inputs: { mtu: 9000 },
};

const input = { modelId: 'm', actionId: '00AF', group: 'Edge', inputs: { mtu: 9000 } };

const changed = (
  task: string,
  status: 'complete' | 'error' | 'paused' | 'running' | 'canceled',
  more: object = {},
): ExecutionEvent => ({ topic: 'actionTaskChanged', data: { task: `id of task ${task}`, status, ...more } });

const empty = (
  topic: 'actionCompleted' | 'actionPaused' | 'actionResumed' | 'actionCanceled' | 'actionCancelRequested',
): ExecutionEvent => ({ topic, data: {} });

describe('An execution of an action', () => {
  it('has a task for every instance of its target', () => {
    given().when(run, input, refs).then(begun);
  });

  it('is complete at once without a workflow', () => {
    const action = { ...update, workflow: null };
    given()
      .when(run, input, { ...refs, action })
      .then({ topic: 'actionStarted', data: { ...started, action } }, empty('actionCompleted'));
  });

  it('makes an instance that has an id and a name from the start', () => {
    const action = { ...update, type: 'create' } as const;
    const one = { modelId: 'm', actionId: '00af', instanceName: 'new', instanceDescription: 'Fresh' };
    const { target: _, ...without } = refs;
    const making: ExecutionEvent = {
      topic: 'actionStarted',
      data: {
        ...started,
        action,
        instanceDescription: 'Fresh',
        target: { type: 'instance', _id: 'id of instance', name: 'new' },
        tasks: [{ _id: 'id of task id of instance', instanceId: 'id of instance', instanceName: 'new' }],
      },
    };
    given()
      .when(run, one, { ...without, action, size: 0, instances: [] })
      .then(making);
    const promised = [
      { owner: 'resourceInstance-id of instance', name: { kind: 'resourceInstance', parent: 'm', name: 'new' } },
    ];
    assert.deepEqual(actionExecution.reservations!(fold(actionExecution, [making])), promised);
    assert.deepEqual(
      actionExecution.reservations!(fold(actionExecution, [making, { topic: 'actionErrored', data: { error: 'no' } }])),
      [],
    );
    given()
      .when(run, { modelId: 'm', actionId: '00af' }, { ...refs, action })
      .thenRefused('invalid', /\/instanceName/);
    given()
      .when(run, { ...one, instance: 'x' }, { ...refs, action })
      .thenRefused('invalid', /\/instance"/);
  });

  it('is refused without action or target, or on what it cannot reach', () => {
    const { action: _, ...noAction } = refs;
    const { target: __, ...noTarget } = refs;
    given()
      .when(run, input, { ...refs, modelExists: false })
      .thenRefused('not_found');
    given()
      .when(run, input, noAction)
      .thenRefused('not_found', /\/actionId/);
    given()
      .when(run, input, noTarget)
      .thenRefused('not_found', /\/group/);
    given()
      .when(run, { modelId: 'm', actionId: '00af' }, refs)
      .thenRefused('invalid', /\/instance/);
    given()
      .when(run, { ...input, instance: 'one' }, refs)
      .thenRefused('invalid', /\/group/);
    given()
      .when(run, { ...input, instanceName: 'x' }, refs)
      .thenRefused('invalid', /\/instanceName/);
    given()
      .when(run, input, { ...refs, size: 0, instances: [] })
      .thenRefused('unprocessable', /\/group/);
    given()
      .when(run, input, { ...refs, size: 1001, instances: [] })
      .thenRefused('unprocessable', /1001/);
    given()
      .when(run, input, { ...refs, faults: [{ message: 'must be integer', path: '/inputs/mtu' }] })
      .thenRefused('unprocessable', /\/inputs\/mtu/);
  });

  it('takes over what its jobs say, and is complete when all are', () => {
    const done = { status: 'complete', error: null, instanceData: { mtu: 9000 } } as const;
    const first = changed('a', 'complete', { instanceData: { mtu: 9000 } });
    given(begun).when(note, { task: 'id of task a' }, done).then(first);
    given(begun, first).when(note, { task: 'id of task a' }, done).thenNothing();
    given(begun, first)
      .when(note, { task: 'id of task b' }, { status: 'complete', error: null })
      .then(changed('b', 'complete'), empty('actionCompleted'));
    given(begun, first, changed('b', 'complete'), empty('actionCompleted'))
      .when(note, { task: 'id of task b' }, { status: 'error', error: 'late' })
      .thenNothing();
    given(begun).when(note, { task: 'of nobody' }, done).thenNothing();
    given().when(note, { task: 'id of task a' }, done).thenNothing();
  });

  it('fails if a job does, or leaves what does not fit, once the others have ended', () => {
    given(begun)
      .when(note, { task: 'id of task a' }, { status: 'error', error: 'no route' })
      .then(changed('a', 'error', { error: 'no route' }));
    given(begun, changed('a', 'error', { error: 'no route' }))
      .when(note, { task: 'id of task b' }, { status: 'complete', error: null })
      .then(changed('b', 'complete'), { topic: 'actionErrored', data: { error: 'no route' } });
    given(begun, changed('b', 'complete'))
      .when(note, { task: 'id of task a' }, { status: 'complete', error: null, fault: 'does not fit' })
      .then(changed('a', 'error', { error: 'does not fit' }), {
        topic: 'actionErrored',
        data: { error: 'does not fit' },
      });
  });

  it('pauses when nothing runs any more, and goes on', () => {
    const both = [begun, changed('a', 'paused'), changed('b', 'paused'), empty('actionPaused')] as const;
    given(begun).when(note, { task: 'id of task a' }, { status: 'paused', error: null }).then(changed('a', 'paused'));
    given(begun, changed('a', 'paused'))
      .when(note, { task: 'id of task b' }, { status: 'paused', error: null })
      .then(changed('b', 'paused'), empty('actionPaused'));
    given(...both)
      .when(note, { task: 'id of task a' }, { status: 'running', error: null })
      .then(changed('a', 'running'), empty('actionResumed'));
  });

  it('is canceled once its jobs are; what was complete stays so', () => {
    given(begun).when(cancel, {}).then(empty('actionCancelRequested'));
    given(begun, empty('actionCancelRequested')).when(cancel, {}).thenNothing();
    given(begun, changed('a', 'complete'), empty('actionCancelRequested'))
      .when(note, { task: 'id of task b' }, { status: 'canceled', error: null })
      .then(changed('b', 'canceled'), empty('actionCanceled'));
    given(begun, changed('a', 'complete'), changed('b', 'canceled'), empty('actionCanceled'))
      .when(cancel, {})
      .thenNothing();
    given(begun, changed('a', 'complete'), changed('b', 'complete'), empty('actionCompleted'))
      .when(cancel, {})
      .thenRefused('conflict', /complete/);
  });
});

describe('The last action', () => {
  const last: LastAction = {
    _id: '00af',
    executionId: 'e2',
    name: 'Resize',
    type: 'update',
    status: 'running',
    started: '2026-01-02T00:00:00.000Z',
  };
  const givenLast = specification(lastAction);
  it('is the one that started last, as it stands now', () => {
    givenLast().when(record, {}, last).then({ topic: 'lastActionSet', data: last });
    givenLast({ topic: 'lastActionSet', data: last }).when(record, {}, last).thenNothing();
    givenLast({ topic: 'lastActionSet', data: last })
      .when(record, {}, { ...last, status: 'complete' })
      .then({ topic: 'lastActionSet', data: { ...last, status: 'complete' } });
    givenLast({ topic: 'lastActionSet', data: last })
      .when(record, {}, { ...last, executionId: 'e1', started: '2026-01-01T00:00:00.000Z', status: 'complete' })
      .thenNothing();
    givenLast().when(record, {}, undefined).thenNothing();
  });
  it('is forgotten with what it was about', () => {
    givenLast({ topic: 'lastActionSet', data: last }).when(clear, {}).then({ topic: 'lastActionCleared', data: {} });
    givenLast({ topic: 'lastActionSet', data: last }, { topic: 'lastActionCleared', data: {} })
      .when(clear, {})
      .thenNothing();
  });
});

describe('An execution whose workers are lost', () => {
  const clock = fixedClock();
  const { node } = nodesOnLog({ reacting: true, now: clock.now });

  it('ends in error once its job is given up', async () => {
    const one = await node();
    const [model, execution] = ['d', 'e'].map((letter) => letter.repeat(24)) as [string, string];
    const actions = [{ name: 'Deploy', type: 'create', workflow: 'Deploy VLAN' }];
    await one.command(createResourceModel, model, { name: 'VLAN', schema: {}, actions });
    const [made] = (await one.tools.state(resourceModel, model)).content.actions;
    const stateNow = () => one.tools.state(actionExecution, execution);
    await one.command(runAction, execution, { modelId: model, actionId: made?._id, instanceName: 'new', inputs: {} });
    const { _id: id } = (await stateNow()).tasks[0]!;
    for (const claim of [1, 2, 3]) {
      assert.equal((await stateNow()).status, 'running');
      await one.command(claimJob, id, { worker: 'w', lease: 10 });
      clock.pass(10_000);
      await one.command(lapseClaim, id, { claim, until: clock.now() });
    }
    assert.equal((await one.tools.state(job, id)).status, 'incomplete');
    const { status, tasks } = await stateNow();
    assert.deepEqual([status, tasks[0]?.status], ['error', 'error']);
  });
});
