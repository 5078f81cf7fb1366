import assert from 'node:assert/strict';
import { filters } from '@automation-platform/bounded-schemas';
import {
  createAutomation,
  deleteAutomation,
  updateAutomation,
} from '../../../src/commands/operations-manager/automations.ts';
import { runNotes } from '../../../src/commands/operations-manager/runNotes.ts';
import { type Evaluate, type Run, triggerRuns } from '../../../src/commands/operations-manager/triggerRuns.ts';
import { createTrigger, deleteTrigger, updateTrigger } from '../../../src/commands/operations-manager/triggers.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { isSealed } from '../../../src/domain/engine/sealed.ts';
import { automation } from '../../../src/domain/operations-manager/automations.ts';
import { job } from '../../../src/domain/operations-manager/jobs.ts';
import {
  refuseRuns,
  triggerRuns as runsOfTrigger,
  type TriggerRan,
} from '../../../src/domain/operations-manager/triggerRuns.ts';
import { type TriggerContent, trigger } from '../../../src/domain/operations-manager/triggers.ts';
import { transformationOf, variablesOf, withOrigin } from '../../../src/domain/operations-manager/triggerVariables.ts';
import { project } from '../../../src/projections/engine/define.ts';
import { type JobDoc, jobs } from '../../../src/projections/operations-manager/jobs.ts';
import type { Recorded } from '../../../src/store/event.ts';
import { context, specification } from '../../support/given.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';

const content = {
  name: 'On call',
  type: 'eventSystem',
  enabled: true,
  actionType: 'automations',
  actionId: 'auto',
  source: 'itsm',
  topic: 'opened',
  schema: null,
  jst: null,
  legacyWrapper: true,
  migrationVersion: 3,
} as const satisfies TriggerContent;
const event = { id: 'e1', source: 'itsm', topic: 'opened', position: 7, at: '2026-01-01T00:00:00.000Z' };

describe('The variables of a job', () => {
  it('of an event are its payload, wrapped or not', () => {
    const open = { ...content, legacyWrapper: false };
    assert.deepEqual(variablesOf(content, { payload: { a: 1 } }), { payload: { a: 1 } });
    assert.deepEqual(variablesOf(open, { payload: { a: 1 } }), { a: 1 });
    for (const payload of [null, 5, 'x', [1], true])
      for (const one of [content, open]) assert.deepEqual(variablesOf(one, { payload }), { payload });
    // As an early version has stored it.
    const { legacyWrapper: _, ...early } = content;
    assert.deepEqual(variablesOf(early, { payload: { a: 1 } }), { payload: { a: 1 } });
  });

  it('name the trigger and the event, in the place of what has these names', () => {
    const named = withOrigin({ a: 1, _trigger: 'x', _event: 'y' }, { id: 't', content }, event);
    assert.deepEqual(named, { a: 1, _trigger: { id: 't', name: 'On call', type: 'eventSystem' }, _event: event });
    assert.deepEqual(withOrigin({ _event: 'y' }, { id: 't', content }), {
      _trigger: { id: 't', name: 'On call', type: 'eventSystem' },
    });
  });

  it('keep members that have the names of inherited ones', () => {
    const payload: unknown = JSON.parse('{"__proto__": {"a": 1}, "toString": 2}');
    const variables = withOrigin(variablesOf({ ...content, legacyWrapper: false }, { payload }), { id: 't', content });
    assert.deepEqual(Object.keys(variables), ['__proto__', 'toString', '_trigger']);
  });

  it('are transformed by what jst asks for', () => {
    const kind = (jst: unknown) => transformationOf({ jst }).kind;
    assert.equal(kind(null), 'none');
    assert.equal(transformationOf({}).kind, 'none');
    assert.equal(kind({ type: 'jsonata', expression: '1' }), 'jsonata');
    assert.equal(kind('name'), 'named');
    assert.equal(kind({ incoming: [], outgoing: [], steps: [] }), 'document');
    for (const jst of ['', {}, { type: 'jsonata' }, { incoming: 1, outgoing: 2, steps: 3, functions: 4 }, 5, false])
      assert.equal(kind(jst), 'refused');
  });
});

describe('The document of a job', () => {
  const started = {
    name: 'n',
    description: '',
    type: 'automation',
    variables: {},
    component: { type: null, name: 'n' },
  };
  const origin = { automation: 'a', trigger: 't', execution: null, groups: [], watchers: [] };
  const shown = (data: object) => {
    const metadata = { at: '2026-01-01T00:00:00.000Z', actor: { id: 'x' } };
    const doc = project(jobs, undefined, { stream: 'job-j', topic: 'jobStarted', data, metadata } as Recorded);
    const { event, instant, depth, parent } = doc as JobDoc;
    return { event, instant, depth, parent };
  };

  it('of an earlier version has null and 0 where it says nothing', () =>
    assert.deepEqual(shown({ ...started, ...origin }), { event: null, instant: null, depth: 0, parent: null }));

  it('says where the job comes from', () => {
    const from = { event: 'e', instant: 5, depth: 2, parent: { job: 'j', task: 'a1', index: 0 } };
    assert.deepEqual(shown({ ...started, ...origin, ...from, workflow: null }), from);
  });
});

describe('A run of a trigger', () => {
  const { node } = nodesOnLog({ reacting: true });
  const transform: Evaluate = async (_, input) => input;
  let one: TestNode;
  beforeEach(async () => {
    one = await node();
    await one.command(createAutomation, 'auto', { name: 'Back up', componentType: 'workflows' });
    await one.command(createTrigger, 't', content);
    await one.catchUp();
  });
  const runs = (how: Evaluate = transform) =>
    triggerRuns({ handle: one.handle, tools: one.tools, filters: filters(10), evaluate: how, now: Date.now });
  const about = { operation: 'trigger', requestId: 'r', correlation: 'c', causation: 'e1' };
  const asked = async (more: Partial<Run> = {}): Promise<Run> => ({
    trigger: { id: 't', content },
    automation: { id: 'auto', content: (await one.tools.state(automation, 'auto')).content },
    actor: context.actor,
    given: { payload: { site: 'Bonn' } },
    event,
    depth: 1,
    jobId: 'j1',
    about,
    ...more,
  });
  const refusal = async (more: Partial<Run>, how?: Evaluate): Promise<string> => {
    const ran = await runs(how).run(await asked(more));
    assert.ok('refused' in ran);
    assert.ok(ran.refused.message.length > 10);
    assert.equal((await one.tools.state(job, more.jobId ?? 'j1')).status, undefined, 'no job');
    return ran.refused.reason;
  };
  const startedJob = async (more: Partial<Run> = {}, how?: Evaluate) => {
    const ran = await runs(how).run(await asked(more));
    assert.ok('job' in ran, JSON.stringify(ran));
    return ran.job;
  };

  it('starts a job that says where it comes from, and that nobody watches', async () => {
    const { doc, id, changed } = await startedJob();
    assert.ok(changed);
    assert.equal(id, 'j1');
    const {
      name,
      variables,
      event: firedBy,
      depth,
      instant,
      trigger: by,
      automation: of,
      watchers,
      component,
    } = doc as JobDoc;
    assert.deepEqual(
      { name, variables, firedBy, depth, instant, by, of, watchers, component },
      {
        name: 'Back up',
        variables: {
          payload: { site: 'Bonn' },
          _trigger: { id: 't', name: 'On call', type: 'eventSystem' },
          _event: event,
        },
        firedBy: 'e1',
        depth: 1,
        instant: null,
        by: 't',
        of: 'auto',
        watchers: [],
        component: { type: 'workflows', name: 'Back up' },
      },
    );
    const [stored] = await one.events('job-j1', 0, 9);
    const { $causationId, $correlationId, actor } = stored!.metadata;
    assert.deepEqual([$causationId, $correlationId, actor.id], ['e1', 'c', context.actor.id]);
  });

  it('under an id that has a job already gives that job, whatever has become of the trigger', async () => {
    await startedJob();
    await one.command(deleteTrigger, 't');
    const again = await startedJob({ given: { payload: 'other' } });
    assert.equal(again.changed, false);
    assert.deepEqual((again.doc as JobDoc).variables.payload, { site: 'Bonn' });
    assert.equal((await one.events('job-j1', 0, 9)).length, 1);
  });

  it('that is tried by two nodes at the same moment starts one job', async () => {
    const other = await node();
    const second = triggerRuns({
      handle: other.handle,
      tools: other.tools,
      filters: filters(10),
      evaluate: transform,
      now: Date.now,
    });
    const run = await asked();
    const both = await Promise.all([runs().run(run), second.run(run)]);
    assert.ok(both.every((ran) => 'job' in ran));
    assert.equal((await one.events('job-j1', 0, 9)).length, 1);
  });

  it('is refused when the trigger is disabled or gone by now', async () => {
    await one.command(updateTrigger, 't', { enabled: false });
    assert.equal(await refusal({}), 'disabled');
    await one.command(deleteTrigger, 't');
    assert.equal(await refusal({}), 'gone');
  });

  it('is refused when the trigger was disabled as it decides', async () =>
    assert.equal(await refusal({ trigger: { id: 't', content: { ...content, enabled: false } } }), 'disabled'));

  it('is refused when the automation is gone', async () => {
    const run = await asked();
    await one.command(deleteAutomation, 'auto');
    assert.equal(await refusal({ automation: run.automation }), 'gone');
  });

  it('is refused when the account is gone, or may not read the automation by now', async () => {
    assert.equal(await refusal({ actor: undefined }), 'rights');
    assert.equal(await refusal({ actor: async () => undefined }), 'rights');
    const plain = { ...context.actor, admin: false, groups: ['noc'] };
    await startedJob({ actor: plain, jobId: 'j2' });
    await one.group('ops');
    await one.catchUp();
    await one.command(updateAutomation, 'auto', { gbac: { read: [], write: ['ops'] } });
    assert.equal(await refusal({ actor: plain }), 'rights');
    assert.equal(await refusal({ actor: async () => plain }), 'rights');
    await startedJob({ actor: async () => ({ ...plain, groups: ['ops'] }) });
  });

  it('looks at trigger, automation and account after the transformation', async () => {
    const slow: Evaluate = async (_, input) => {
      await one.command(updateTrigger, 't', { enabled: false });
      return input;
    };
    const jst = { type: 'jsonata', expression: '$' };
    assert.equal(await refusal({ trigger: { id: 't', content: { ...content, jst } } }, slow), 'disabled');
  });

  it('is refused when the transformation fails; other errors are thrown', async () => {
    const trigger = { id: 't', content: { ...content, jst: { type: 'jsonata', expression: '$' } } };
    const failing =
      (code: 'unprocessable' | 'limited'): Evaluate =>
      async () => {
        throw new RequestError(code, 'It does not work');
      };
    assert.equal(await refusal({ trigger }, failing('unprocessable')), 'transformation');
    await assert.rejects(runs(failing('limited')).run(await asked({ trigger })), /does not work/);
    assert.equal(await refusal({ trigger: { id: 't', content: { ...content, jst: 'saved' } } }), 'transformation');
  });

  it('keeps what is sealed in a payload sealed, seals the rest, and takes a mask as it is', async () => {
    const sealed = one.seal('hunter2');
    const payload = { a: { password: sealed, x: sealed }, token: 'clear', secret: '********', key: { nested: sealed } };
    const { doc } = await startedJob({ given: { payload } });
    const { a, token, secret, key } = (doc as JobDoc).variables.payload as any; // as above
    assert.deepEqual(a, { password: sealed, x: sealed });
    assert.ok(isSealed(token) && one.unseal(token) === 'clear');
    assert.equal(secret, '********');
    assert.ok(isSealed(key));
    assert.deepEqual(JSON.parse(one.unseal(key)), { nested: 'hunter2' }, 'nothing is sealed twice');
    assert.ok(!JSON.stringify(await one.events('job-j1', 0, 0)).includes('clear'));
  });

  it('gives the transformation no secret, and seals what it moves', async () => {
    const seen: string[] = [];
    const moving: Evaluate = async (_, input) => {
      seen.push(JSON.stringify(input));
      const { payload } = input as { payload: { password: unknown } };
      return { login: payload.password, password: { inner: payload.password } };
    };
    const jst = { type: 'jsonata', expression: '$' };
    const given = { payload: { password: 'hunter2' } };
    const { doc } = await startedJob({ trigger: { id: 't', content: { ...content, jst } }, given }, moving);
    assert.ok(!seen[0]!.includes('hunter2') && !seen[0]!.includes('$sealed'), seen[0]);
    const { login, password } = (doc as JobDoc).variables as any; // as above
    assert.equal(one.unseal(login), 'hunter2');
    assert.deepEqual(JSON.parse(one.unseal(password)), { inner: 'hunter2' });
    assert.equal((await one.tools.state(trigger, 't')).exists, true);
  });
});

describe('Notes of runs', () => {
  type Noted = { readonly id: string; readonly input: TriggerRan };
  const noting = (failures = 0) => {
    const stored: Noted[] = [];
    const log: string[] = [];
    const notes = runNotes({
      handle: (async (_: unknown, { id, input }: Noted) => {
        await new Promise(setImmediate);
        if (failures-- > 0) throw new Error('The store is away');
        stored.push({ id, input });
      }) as never,
      log: (message) => log.push(message),
      gatherMs: 50,
    });
    return { stored, log, notes };
  };

  it('are gathered by trigger; the last one tells job and time', async () => {
    const { stored, notes } = noting();
    notes.ran('t', 'j0', '0');
    await until(() => stored.length === 1);
    for (const n of [1, 2, 3]) notes.ran('t', `j${n}`, `${n}`);
    notes.ran('u', 'k', '9');
    await notes.stop();
    assert.deepEqual(
      stored.toSorted((a, b) => a.id.localeCompare(b.id)),
      [
        { id: 't', input: { count: 1, job: 'j0', at: '0' } },
        { id: 't', input: { count: 3, job: 'j3', at: '3' } },
        { id: 'u', input: { count: 1, job: 'k', at: '9' } },
      ],
    );
  });

  it('are tried again while they cannot be stored', async () => {
    const { stored, log, notes } = noting(3);
    notes.ran('t', 'j', '0');
    await until(() => stored.length === 1);
    assert.equal(log.length, 1, 'the same reason is logged once');
    await notes.stop();
  });

  it('of many triggers are stored a few at once; when the service stops, no note waits for another', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const notes = runNotes({
      handle: (async (_: unknown, { id }: Noted) => {
        begun.push(id);
        await new Promise<void>((resolve) => ends.push(resolve));
      }) as never,
      log: () => undefined,
    });
    const ids = Array.from({ length: 50 }, (_, n) => `t${n}`);
    for (const id of ids) notes.ran(id, 'j', '0');
    await new Promise(setImmediate);
    assert.ok(begun.length < 10, `${begun.length} at once`);
    const stopped = notes.stop();
    ends.shift()?.();
    await until(() => begun.length === ids.length);
    for (const end of ends) end();
    await stopped;
    assert.deepEqual(begun, ids);
  });

  it('that cannot be stored before the service stops are lost, with a word', async () => {
    const { stored, log, notes } = noting(Infinity);
    notes.ran('t', 'j', '0');
    await notes.stop();
    assert.deepEqual(stored, []);
    assert.match(log.at(-1) ?? '', /were not noted/);
  });
});

describe('Refusals of runs by events', () => {
  const given = specification(runsOfTrigger);
  const refusals = (event: string | undefined, after: string | null) => {
    const data = {
      reason: 'rights',
      message: 'The account may not read it',
      count: 2,
      ...(event && { event }),
    } as const;
    return { input: { ...data, after }, stored: { topic: 'runsRefused', data } } as const;
  };

  it('are stored after those that were known to be the last, whatever schedules have refused between', () => {
    const [first, second] = [refusals('e1', null), refusals('e2', 'e1')];
    given().when(refuseRuns, first.input).then(first.stored);
    given(first.stored).when(refuseRuns, second.input).then(second.stored);
    given(first.stored, refusals(undefined, null).stored).when(refuseRuns, second.input).then(second.stored);
  });

  it('are refused when somebody else has stored some since: they may be the same', () => {
    const first = refusals('e1', null);
    given(first.stored).when(refuseRuns, first.input).thenRefused('conflict');
    given(first.stored).when(refuseRuns, refusals('e2', 'e0').input).thenRefused('conflict');
    given().when(refuseRuns, refusals('e2', 'e1').input).thenRefused('conflict');
  });
});
