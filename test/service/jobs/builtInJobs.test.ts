import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { note } from '../../support/cluster.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok, type People, people } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { says as answers, webhookServer } from '../../support/webhookServer.ts';

/** The processes that this one has started. */
const childrenNow = (): readonly string[] =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');

const endless = '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}';

/** All events of the log. */
const loggedIn = ({ folder }: TestService) => withLog(join(folder, 'events.db'), eventsIn);

describe('Built-in components', function () {
  this.timeout(120_000);
  let service: TestService;
  let who: People;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  let devices: Controller;
  let admin: ReturnType<typeof builtInOf>;
  before(async () => {
    service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
    who = await people(service);
    devices = await controller();
    agents = await webhookServer({
      '/done': answers({ status: 'COMPLETE', lastMessage: 'Done' }),
      '/failed': answers({ status: 'FAILED', lastMessage: 'No disk' }),
      '/hang': () => undefined,
      '/later': (response) => void response.writeHead(202).end(),
    });
    ok(await service.ask('POST', '/configuration_manager/adapters', devices.adapter()));
    admin = builtInOf(service.ask);
  });
  after(async () => {
    await service.stop();
    agents.close();
    devices.close();
  });
  beforeEach(() => {
    devices.commands.length = 0;
    devices.answer = says('fine');
  });

  const topicsOf = async (id: string): Promise<readonly string[]> =>
    (await loggedIn(service)).filter(({ stream }) => stream === `job-${id}`).map(({ topic }) => topic);

  const trigger = async (name: string, more: object): Promise<void> => {
    const given = { name, type: 'eventSystem', actionType: 'automations', enabled: true, schema: null, jst: null };
    ok(await service.ask('POST', '/operations-manager/triggers', { ...given, ...more }));
  };

  const jobsOf = async (automation: string): Promise<readonly any[]> => {
    const { data } = ok(await service.ask('GET', '/operations-manager/jobs?limit=1000'));
    return data.filter((job: any) => job.automation === automation);
  };

  /** The job that an event starts, whose variables are the payload. */
  const jobOfEvent = async (name: string, type: string, payload: object): Promise<string> => {
    const actionId = await admin.automation(type, name);
    await trigger(name, { source: 'itsm', topic: name, actionId, legacyWrapper: false });
    ok(await service.ask('POST', `/operations-manager/events/itsm/${name}`, payload));
    await until(async () => (await jobsOf(actionId)).length === 1);
    return (await jobsOf(actionId))[0]._id;
  };

  /** How long a cancel takes until the work has ended. */
  const cancelAndMeasure = async (what: string, id: string, over: () => boolean | Promise<boolean>): Promise<void> => {
    const began = performance.now();
    await admin.move('cancel', id);
    assert.equal((await admin.get(id)).status, 'canceled');
    await until(over, `the end of what was under way: ${what}`);
    note(`cancel of a hung ${what}: ${Math.round(performance.now() - began)} ms`);
  };

  describe('template', () => {
    it('is rendered over the variables by itself', async () => {
      await admin.template('Greeting', 'Hello {{ name }}, {{ nested.list[1] }}{{ login.password }}');
      await admin.automation('template', 'Greeting');
      const variables = { name: 'Bonn', nested: { list: [1, 2] }, login: { password: 'hunter2' } };
      const id = await admin.start('Greeting', variables);
      const { status, variables: after, claim, error } = await admin.inState(id, 'complete', 'error');
      assert.deepEqual([status, error, claim], ['complete', null, null]);
      assert.equal(after.renderedTemplate, 'Hello Bonn, 2********');
      assert.equal(after.name, 'Bonn');
      assert.deepEqual(await topicsOf(id), ['jobStarted', 'jobClaimed', 'jobCompleted']);
    });

    it('may use others, and says in words why it does not render', async () => {
      await admin.template('Part', 'part of {{ whole }}');
      await admin.template('Whole', '{% include "Part" %}');
      await admin.template('Broken', 'line 1\n{{ 1 / 0 }}');
      for (const name of ['Whole', 'Broken']) await admin.automation('template', name);
      const whole = await admin.inState(await admin.start('Whole', { whole: 'x' }), 'complete', 'error');
      assert.equal(whole.variables.renderedTemplate, 'part of x');
      const broken = await admin.inState(await admin.start('Broken'), 'complete', 'error');
      assert.equal(broken.status, 'error');
      assert.match(broken.error, /does not render: line 2/);
    });

    it('that is gone, or cannot be rendered, is told in words', async () => {
      await admin.automation('template', 'Missing template');
      ok(await service.ask('POST', '/template_builder/templates', { name: 'FSM', template: 'x', type: 'textfsm' }));
      await admin.automation('template', 'FSM');
      for (const name of ['Missing template', 'FSM']) {
        const { status, error } = await admin.inState(await admin.start(name), 'complete', 'error');
        assert.equal(status, 'error');
        assert.match(error, /no template "/);
      }
    });

    it('of an event trigger sees _trigger and _event', async () => {
      await admin.template('Told', '{{ _event.topic }} {{ _trigger.name }} {{ n }}');
      const told = await admin.inState(await jobOfEvent('Told', 'template', { n: 7 }), 'complete');
      assert.equal(told.variables.renderedTemplate, 'Told Told 7');
    });

    it('that is rendering ends with a cancel of its job', async () => {
      await admin.template('Endless', endless);
      await admin.automation('template', 'Endless');
      const id = await admin.start('Endless');
      await until(async () => (await admin.get(id)).claim !== null);
      // The engine that renders takes no other work.
      const engines = childrenNow();
      await cancelAndMeasure('template', id, () => engines.some((pid) => !childrenNow().includes(pid)));
      // The account renders one at a time: the next one shows that the engine is free.
      await admin.template('Short', 'short');
      await admin.automation('template', 'Short');
      await admin.inState(await admin.start('Short'), 'complete');
      assert.deepEqual(await topicsOf(id), ['jobStarted', 'jobClaimed', 'jobCanceled']);
    });

    it('of a paused job is rendered once the job is resumed', async () => {
      await admin.template('Paused', `${endless}never`);
      await admin.automation('template', 'Paused');
      const id = await admin.start('Paused');
      await until(async () => (await admin.get(id)).claim !== null);
      await admin.move('pause', id);
      await until(async () => (await admin.get(id)).claim === null);
      assert.equal((await admin.get(id)).status, 'paused');
      ok(await service.ask('PUT', '/template_builder/templates/Paused', { template: 'now' }));
      await admin.move('resume', id);
      assert.equal((await admin.inState(id, 'complete', 'error')).variables.renderedTemplate, 'now');
    });
  });

  describe('mop-template', () => {
    it('is run on the devices of the variables', async () => {
      await admin.commandTemplate('Check', [{ command: 'show <!what!>', rules: [{ rule: 'fine', eval: 'contains' }] }]);
      await admin.automation('mop-template', 'Check');
      const id = await admin.start('Check', { devices: ['r1', 'r2'], variables: { what: 'version' } });
      const { status, variables } = await admin.inState(id, 'complete', 'error');
      assert.equal(status, 'complete');
      const { name, result, commands_results: results } = variables.mop_template_results;
      assert.deepEqual([name, result, results.length], ['Check', true, 2]);
      assert.deepEqual(
        results.map(({ device, evaluated }: any) => [device, evaluated]),
        [
          ['r1', 'show version'],
          ['r2', 'show version'],
        ],
      );
      assert.equal(devices.commands.length, 2);
      assert.deepEqual(await topicsOf(id), ['jobStarted', 'jobClaimed', 'jobCompleted']);
    });

    it('sends secrets in clear, and keeps them out of the results', async () => {
      await admin.commandTemplate('Secret', [{ command: 'enable <!password!>' }]);
      await admin.automation('mop-template', 'Secret');
      devices.answer = says('you said s3cr3t-word');
      const id = await admin.start('Secret', { devices: ['r1'], variables: { password: 's3cr3t-word' } });
      const { variables } = await admin.inState(id, 'complete', 'error');
      const [{ evaluated, response }] = variables.mop_template_results.commands_results;
      assert.deepEqual([evaluated, response], ['enable ********', 'you said ********']);
      assert.equal(devices.commands[0]?.command, 'enable s3cr3t-word');
      assert.doesNotMatch(JSON.stringify(await loggedIn(service)), /s3cr3t-word/);
    });

    it('says in words what is wrong with the variables, and asks no device', async () => {
      await admin.commandTemplate('Faulty', [{ command: 'show <!what!>' }]);
      await admin.automation('mop-template', 'Faulty');
      await admin.automation('mop-template', 'Missing command template');
      const wrong = [
        ['Faulty', {}, /devices must be a list/],
        ['Faulty', { devices: [] }, /devices must be a list/],
        ['Faulty', { devices: ['r1', 7] }, /devices must be a list/],
        ['Faulty', { devices: ['r1'], variables: 'x' }, /must be an object/],
        ['Faulty', { devices: ['r1'] }, /what/],
        ['Faulty', { devices: ['r1', 'nobody'], variables: { what: 'x' } }, /No such devices: nobody/],
        ['Missing command template', { devices: ['r1'] }, /There is no mop-template "Missing command template"/],
      ] as const;
      for (const [name, variables, about] of wrong) {
        const { status, error } = await admin.inState(await admin.start(name, variables), 'complete', 'error');
        assert.equal(status, 'error');
        assert.match(error, about);
      }
      assert.equal(devices.commands.length, 0);
    });

    it('says that a secret is missing', async () => {
      await admin.commandTemplate('Masked', [{ command: 'enable <!password!>' }]);
      const id = await jobOfEvent('Masked', 'mop-template', {
        devices: ['r1'],
        variables: { password: '********' },
      });
      const { status, error } = await admin.inState(id, 'complete', 'error');
      assert.equal(status, 'error');
      assert.match(error, /The secret at \/password is missing/);
      assert.equal(devices.commands.length, 0);
    });

    it('is broken off by a cancel, and sends nothing more', async () => {
      await admin.commandTemplate('Hung', [{ command: 'one' }, { command: 'two' }]);
      await admin.automation('mop-template', 'Hung');
      devices.answer = () => undefined;
      const id = await admin.start('Hung', { devices: ['r1', 'r2'] });
      await until(() => devices.commands.length === 2);
      await cancelAndMeasure('command run', id, () => devices.commands.every(({ response }) => response.destroyed));
      assert.deepEqual(
        devices.commands.map(({ command }) => command),
        ['one', 'one'],
      );
      assert.deepEqual(await topicsOf(id), ['jobStarted', 'jobClaimed', 'jobCanceled']);
    });

    it('sends no further command while its job is paused', async () => {
      await admin.commandTemplate('Halting', [{ command: 'one' }, { command: 'two' }]);
      await admin.automation('mop-template', 'Halting');
      devices.answer = () => undefined;
      const id = await admin.start('Halting', { devices: ['r1'] });
      await until(() => devices.commands.length === 1);
      await admin.move('pause', id);
      // What renders here has seen the pause of the job before.
      await admin.template('After the pause', 'x');
      await admin.automation('template', 'After the pause');
      await admin.inState(await admin.start('After the pause'), 'complete');
      const [first] = devices.commands;
      devices.answer = says('fine');
      if (first) says('fine')(first.response);
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(devices.commands.length, 1);
      assert.equal((await admin.get(id)).status, 'paused');
      await admin.move('resume', id);
      assert.equal((await admin.inState(id, 'complete', 'error')).status, 'complete');
      assert.deepEqual(
        devices.commands.map(({ command }) => command),
        ['one', 'two'],
      );
    });

    it('stops at the next command once the account has lost its rights', async () => {
      await admin.commandTemplate('Rights', [{ command: 'one' }, { command: 'two' }]);
      const automation = await admin.automation('mop-template', 'Rights', { gbac: { read: [], write: ['ops'] } });
      devices.answer = () => undefined;
      const member = builtInOf(who.member);
      const id = await member.start('Rights', { devices: ['r1'] });
      await until(() => devices.commands.length === 1);
      ok(
        await service.ask('PATCH', `/operations-manager/automations/${automation}`, {
          gbac: { read: [], write: ['admins'] },
        }),
      );
      const [first] = devices.commands;
      if (first) says('fine')(first.response);
      const { status, error } = await admin.inState(id, 'complete', 'error');
      assert.equal(status, 'error');
      assert.match(error, /may not read its automation any more/);
      assert.equal(devices.commands.length, 1);
    });
  });

  describe('agent', () => {
    it('runs a session with the variables, and the job follows it', async () => {
      await admin.agent('Doer', { runner: 'webhook', url: agents.url('/done') });
      await admin.automation('agent', 'Doer');
      const id = await admin.start('Doer', { site: 'Bonn', token: 'hunter2', _trigger: { id: 'x' }, _event: {} });
      const { status, variables } = await admin.inState(id, 'complete', 'error');
      assert.equal(status, 'complete');
      assert.deepEqual([variables.status, variables.lastMessage], ['COMPLETE', 'Done']);
      const call = agents.called.find(({ body }) => body.agent === 'Doer');
      assert.equal(call?.body.sessionId, variables.sessionId);
      assert.deepEqual(call?.body.inputs, { site: 'Bonn', token: 'hunter2' });
      const session = ok(await service.ask('GET', `/agent-session-manager/sessions/${variables.sessionId}`));
      assert.deepEqual(session.inputs, { site: 'Bonn', token: '********' });
    });

    it('that fails, is missing, or refuses its inputs ends the job in error', async () => {
      await admin.agent('Failing', { runner: 'webhook', url: agents.url('/failed') });
      await admin.agent('Picky', { runner: 'webhook', url: agents.url('/done'), inputSchema: { required: ['site'] } });
      for (const name of ['Failing', 'Picky', 'Missing agent']) await admin.automation('agent', name);
      const wrong = [
        ['Failing', /has failed: No disk/],
        ['Picky', /do not fit the agent's input schema/],
        ['Missing agent', /There is no agent "Missing agent"/],
      ] as const;
      for (const [name, about] of wrong) {
        const { status, error } = await admin.inState(await admin.start(name), 'complete', 'error');
        assert.equal(status, 'error');
        assert.match(error, about);
      }
    });

    it('that does not report in time has an outcome that is unknown', async () => {
      await admin.agent('Late', { runner: 'webhook', url: agents.url('/later'), timeout: 1 });
      await admin.automation('agent', 'Late');
      const { status, error } = await admin.inState(await admin.start('Late'), 'complete', 'error');
      assert.equal(status, 'error');
      assert.match(error, /within 1 seconds: its outcome is unknown/);
    });

    it('that hangs is broken off by a cancel of its job', async () => {
      await admin.agent('Hanging', { runner: 'webhook', url: agents.url('/hang') });
      await admin.automation('agent', 'Hanging');
      const id = await admin.start('Hanging');
      let call: (typeof agents.called)[number] | undefined;
      await until(() => {
        call = agents.called.find(({ body }) => body.agent === 'Hanging');
        return call !== undefined;
      });
      await cancelAndMeasure('agent', id, () => call?.request.socket.destroyed === true);
      const session = ok(await service.ask('GET', `/agent-session-manager/sessions/${call?.body.sessionId}`));
      assert.equal(session.status, 'CANCELED');
    });

    it('begins another session when its job is retried', async () => {
      await admin.agent('Again', { runner: 'webhook', url: agents.url('/failed') });
      await admin.automation('agent', 'Again');
      const id = await admin.start('Again');
      await admin.inState(id, 'error');
      await admin.move('retry', id);
      await until(() => agents.called.filter(({ body }) => body.agent === 'Again').length === 2);
      await admin.inState(id, 'error');
      const sessions = agents.called.filter(({ body }) => body.agent === 'Again').map(({ body }) => body.sessionId);
      assert.equal(new Set(sessions).size, 2);
    });

    it('has events with the depth of its job, so that loops end', async () => {
      await admin.agent('Looping', { runner: 'webhook', url: agents.url('/done') });
      const actionId = await admin.automation('agent', 'Looping');
      const schema = { properties: { lastMessage: { const: 'Done' } } };
      const on = { source: '@platform/agent-session-manager', topic: 'sessionCompleted' };
      await trigger('Loop', { ...on, schema, actionId });
      await admin.start('Looping');
      await until(async () =>
        (await loggedIn(service)).some(({ topic, data }) => topic === 'runsRefused' && data.reason === 'loop'),
      );
      const depths = (await jobsOf(actionId)).map(({ depth }) => depth).sort();
      assert.deepEqual(depths, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });

    it('has them also when its job ends before it, and when the agent reports later', async () => {
      await admin.agent('Reporting', { runner: 'webhook', url: agents.url('/later') });
      const actionId = await admin.automation('agent', 'Reporting');
      await trigger('Report', { source: 'tests', topic: 'reported', schema: null, actionId });
      const begun = async (n: number) => {
        ok(await service.ask('POST', '/operations-manager/events/tests/reported', {}));
        await until(async () => (await jobsOf(actionId)).length === n);
        const isOurs = ({ body }: (typeof agents.called)[number]) => body.agent === 'Reporting';
        await until(() => agents.called.filter(isOurs).length === n);
        return agents.called.findLast(isOurs)?.body.sessionId;
      };
      const depthOfEnd = async (session: string, end: string) => {
        let found: Awaited<ReturnType<typeof loggedIn>>[number] | undefined;
        await until(async () => {
          const ofSession = (await loggedIn(service)).filter(({ stream }) => stream === `agentSession-${session}`);
          found = ofSession.find(({ topic }) => topic === end);
          return found !== undefined;
        });
        return found?.metadata.depth;
      };
      const abandoned = await begun(1);
      await admin.move('cancel', (await jobsOf(actionId))[0]._id);
      assert.equal(await depthOfEnd(abandoned, 'sessionCanceled'), 1);
      const late = await begun(2);
      ok(await service.ask('POST', `/agent-session-manager/sessions/${late}/complete`, { lastMessage: 'Late' }));
      assert.equal(await depthOfEnd(late, 'sessionCompleted'), 1);
    });

    it('ends within 10 s once its automation or account is gone, and its session with it', async () => {
      const password = 'a long enough password';
      const body = { username: 'leaver of a session', password, memberOf: ['operators'] };
      const { _id: account } = ok(await service.ask('POST', '/authorization/accounts', body)).data;
      const leaver = builtInOf(service.as({ user: body.username, password }));
      await admin.agent('Left alone', { runner: 'webhook', url: agents.url('/later') });
      const gone = await admin.automation('agent', 'Left alone', { name: 'Gone soon' });
      await admin.automation('agent', 'Left alone', { name: 'Stays' });
      const [ofGone, ofLeaver] = [await admin.start('Gone soon'), await leaver.start('Stays')];
      const sessions = (): string[] =>
        agents.called.filter(({ body }) => body.agent === 'Left alone').map(({ body }) => body.sessionId);
      await until(() => sessions().length === 2, 'both sessions');
      ok(await service.ask('DELETE', `/operations-manager/automations/${gone}`));
      ok(await service.ask('DELETE', `/authorization/accounts/${account}`));
      const began = performance.now();
      assert.match((await admin.inState(ofGone, 'complete', 'error')).error, /automation of the job was deleted/);
      assert.match((await admin.inState(ofLeaver, 'complete', 'error')).error, /deleted or inactive/);
      assert.ok(performance.now() - began < 10_000);
      for (const id of sessions())
        await until(async () => {
          const { status } = ok(await service.ask('GET', `/agent-session-manager/sessions/${id}`));
          return status === 'CANCELED';
        }, 'the end of a session');
    });

    it('is canceled with its session', async () => {
      await admin.agent('Waiting', { runner: 'webhook', url: agents.url('/later') });
      await admin.automation('agent', 'Waiting');
      const id = await admin.start('Waiting');
      await until(() => agents.called.some(({ body }) => body.agent === 'Waiting'));
      const session = agents.called.find(({ body }) => body.agent === 'Waiting')?.body.sessionId;
      ok(await service.ask('POST', `/agent-session-manager/sessions/${session}/cancel`));
      assert.match((await admin.inState(id, 'complete', 'error')).error, /was canceled/);
    });
  });

  describe('accounts', () => {
    it('that are inactive run nothing any more', async () => {
      const password = 'a long enough password';
      const body = { username: 'leaver', password, memberOf: ['operators'] };
      const { _id } = ok(await service.ask('POST', '/authorization/accounts', body)).data;
      const leaver = builtInOf(service.as({ user: 'leaver', password }));
      await admin.commandTemplate('Left', [{ command: 'one' }, { command: 'two' }]);
      await admin.automation('mop-template', 'Left');
      devices.answer = () => undefined;
      const id = await leaver.start('Left', { devices: ['r1'] });
      await until(() => devices.commands.length === 1);
      ok(await service.ask('PATCH', `/authorization/accounts/${_id}`, { inactive: true }));
      const [first] = devices.commands;
      if (first) says('fine')(first.response);
      assert.match((await admin.inState(id, 'complete', 'error')).error, /deleted or inactive/);
      assert.equal(devices.commands.length, 1);
    });
  });
});
