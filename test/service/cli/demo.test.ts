import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { lateClocks } from '../../../src/demo/lateClocks.ts';
import { loadSample } from '../../../src/demo/load.ts';
import { demoSettings } from '../../../src/demo/settings.ts';
import { longAgo } from '../../../src/demo/step.ts';
import { ok } from '../../support/people.ts';
import { publishedIn } from '../../support/published.ts';
import { adminPassword } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

describe('the sample', () => {
  const clocks = lateClocks(longAgo);
  const service = useService({ RETENTION_DAYS: '365' }, clocks);

  it('is created through the HTTP API, and once however often it is loaded', async () => {
    const kept = await loadSample(service.url, 'admin', adminPassword, clocks.setDays);
    // Its session ends, and tells of it, on its own.
    await until(() => publishedIn(service.folder).length !== 0);
    // So do the run of its compliance plan, and its change of devices.
    await until(async () => {
      const path = '/configuration_manager/search/compliance_plan_instances';
      return (await service.ask('POST', path, {})).body.plans[0]?.jobStatus === 'complete';
    });
    await until(async () => {
      const path = '/operations-manager/jobs?multiEquals[status]=running&limit=1000';
      const { data } = (await service.ask('GET', path)).body;
      return !data.some(({ _id }: { readonly _id: string }) => _id === kept.labChange);
    });
    const position = (await service.ask('GET', '/health/status')).body.eventStore.position;
    assert.deepEqual(await loadSample(service.url, 'admin', adminPassword), kept);
    assert.equal((await service.ask('GET', '/health/status')).body.eventStore.position, position);
  });

  it('has half a year of checks, in which a device drifts and comes back', async () => {
    const search = await service.ask('POST', '/configuration_manager/search/compliance_plans', { name: 'Lab' });
    const path = `/configuration_manager/compliance_plans/${search.body.plans[0]._id}/compliance-score-trend?days=365`;
    const trend: readonly { date: string; score: number }[] = ok(await service.ask('GET', path));
    const days = trend.map(({ date }) => (Date.parse(trend.at(-1)!.date) - Date.parse(date)) / 86_400_000);
    assert.deepEqual(
      days,
      Array.from({ length: 13 }, (_, i) => 180 - i * 15),
    );
    const scores = trend.map(({ score }) => score);
    assert.ok(Math.min(...scores) < scores[0]! - 10, String(scores));
    assert.equal(scores.at(-1), scores[0]);
    assert.deepEqual(
      service.lines.filter((line) => /clock/.test(line)),
      [],
    );
  });

  it('has a model of circuits, and executions of its actions in every state but canceled and paused', async () => {
    const { body } = await service.ask('GET', '/lifecycle-manager/resources/Edge%20circuit/instances');
    assert.deepEqual(
      body.data.map(
        ({ name, lastAction }: { name: string; lastAction?: { status: string } }) => `${name}: ${lastAction?.status}`,
      ),
      [
        'BON1-INET-1: error',
        'FRA2-INET-1: undefined',
        'FRA2-INET-2: undefined',
        'HAM1-INET-1: complete',
        'MUC3-INET-1: complete',
      ],
    );
    const executions = (await service.ask('GET', '/lifecycle-manager/action-executions')).body.data;
    assert.deepEqual(
      executions.map(({ action, status }: { action: { name: string }; status: string }) => `${action.name}: ${status}`),
      ['Change bandwidth: running', 'Change bandwidth: error', 'Take in: complete', 'Deploy: complete'],
    );
  });

  it('has an automation with all four kinds of trigger, group mappings, trees and plans', async () => {
    const exported = await service.ask('GET', '/operations-manager/automations/Software%20upgrade/export');
    assert.deepEqual(exported.body.data.triggers.map(({ type }: { type: string }) => type).sort(), [
      'endpoint',
      'eventSystem',
      'manual',
      'schedule',
    ]);
    assert.ok((await service.ask('GET', '/group-mappings')).body.total >= 6);
    assert.equal((await service.ask('GET', '/configuration_manager/configs')).body.length, 3);
    const { body } = await service.ask('POST', '/configuration_manager/search/compliance_plans', {});
    assert.deepEqual(
      body.plans.map(({ name, status }: { name: string; status: string }) => `${name}: ${status}`),
      ['Before the freeze: draft', 'Lab hardening: active', 'Weekly edge audit: active'],
    );
  });

  it('has forms, one of which a trigger takes its input from, and templates', async () => {
    const forms = (await service.ask('GET', '/json-forms/forms')).body.results;
    assert.deepEqual(
      forms.map(({ name }: { name: string }) => name),
      [
        '@5e0a1b2c3d4e5f6071829301: Which site',
        'Access port',
        'Software upgrade request',
        'VLAN rollout approval',
        'VLAN rollout request',
      ],
    );
    const trigger = (await service.ask('GET', '/operations-manager/triggers/Upgrade%20by%20hand')).body.data;
    assert.equal(trigger.formId, 'Software upgrade request');
    assert.match(trigger.formSchemaHash, /^[0-9a-f]{64}$/);
    assert.deepEqual(
      (await service.ask('GET', '/template_builder/templates')).body.results.map(({ type }: { type: string }) => type),
      ['textfsm', 'jinja2', 'jinja2', 'jinja2', 'jinja2'],
    );
  });

  it('has an installed package with a document of every kind', async () => {
    const {
      results: [{ name, installed, kept }],
    } = (await service.ask('GET', '/prebuilts')).body;
    assert.deepEqual([name, installed.length, kept.length], ['@vendor/vlan-rollout', 9, 2]);
  });

  const ask = async (method: string, path: string, body?: unknown): Promise<any> =>
    ok(await service.ask(method, path, body)); // a body is whatever the route says

  /** Starts the workflow of a link for a circuit, answers for the person, and gives the job at its end. */
  const describeLink = async (circuit: string, result: string): Promise<any> => {
    const ends = [
      { device: 'lab-01', peer: 'lab-02' },
      { device: 'lab-02', peer: 'lab-01' },
    ];
    const variables = { link: { circuit, port: 'GigabitEthernet2', ends } };
    const start = { workflow: 'Describe a link', options: { variables } };
    const { _id: id } = (await ask('POST', '/operations-manager/jobs/start', start)).data;
    const get = async () => (await ask('GET', `/operations-manager/jobs/${id}`)).data;
    await until(async () => (await get()).tasks.ask.status === 'waiting', 'the task for people');
    await ask('POST', `/operations-manager/tasks/${id}.ask.1/finish`, { result });
    await until(async () => (await get()).status !== 'running', 'the end of the job');
    return get();
  };
  const described = async (): Promise<readonly string[]> => {
    const run = { template: 'Port as it is', devices: ['lab-01', 'lab-02'], variables: { port: 'GigabitEthernet2' } };
    const { commands_results: results } = await ask('POST', '/mop/RunCommandTemplate', run);
    return results.map(({ response }: { response: string }) => /description (.*)/.exec(response)?.[1]);
  };

  it('has a workflow that changes both ends of a link, or none', async () => {
    const [before, toldOf] = [
      await described(),
      ({ tasks }: any) => [tasks.tellDone.status, tasks.tellRestored.status],
    ];
    assert.deepEqual(toldOf(await describeLink('CID-1', 'failure')), ['dead', 'dead'], 'the person does not agree');
    assert.deepEqual(await described(), before);
    // The devices take two spaces for one: the check does not find what it looks for.
    const checked = await describeLink('CID  2', 'success');
    assert.deepEqual([checked.status, ...toldOf(checked)], ['complete', 'dead', 'done']);
    assert.deepEqual([checked.tasks.apply.run, checked.tasks.putBack.run], [2, 2]);
    assert.deepEqual(await described(), before);
    assert.deepEqual(toldOf(await describeLink('CID-3', 'success')), ['done', 'dead']);
    assert.deepEqual(await described(), ['CID-3 to lab-02', 'CID-3 to lab-01']);
  });
});

describe('the settings of the demo', () => {
  it('are such that it runs beside another one: ports and a folder of its own', async () => {
    const first = await demoSettings({});
    const others = [first.PORT, first.ESDB_PORT].map((port) => createServer().listen(Number(port), '127.0.0.1'));
    try {
      await Promise.all(others.map((other) => once(other, 'listening')));
      const second = await demoSettings({});
      for (const name of ['PORT', 'ESDB_PORT', 'DATA_DIR'] as const) assert.notEqual(second[name], first[name], name);
      assert.equal(second.DATA_DIR, `data/demo-${second.PORT}`);
    } finally {
      for (const other of others) other.close();
    }
  });

  it('are those of the environment where it sets them', async () => {
    const given = {
      PORT: '1',
      ESDB_PORT: '',
      DATA_DIR: 'x',
      RETENTION_DAYS: '7',
      ADMIN_PASSWORD: 'y',
      LOG_LEVEL: 'warn',
    };
    assert.deepEqual(await demoSettings(given), given);
    const onEventStoreDb = await demoSettings({ PORT: '3000', EVENTSTORE_URL: 'esdb://host', HOST: '' });
    assert.deepEqual([onEventStoreDb.ESDB_PORT, onEventStoreDb.DATA_DIR], [undefined, 'data/demo']);
  });
});
