import assert from 'node:assert/strict';
import { isOwnEvent } from '../../../src/events/ownStreams.ts';
import { metrics } from '../../../src/http/engine/metrics.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

describe('/metrics', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => service.stop());

  const text = async (): Promise<string> => (await service.ask('GET', '/metrics')).text;

  /** All samples of a metric of the service's own. */
  const samples = async (name: string): Promise<Sample[]> =>
    [...(await text()).matchAll(new RegExp(`^automation_platform_${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))].map(
      ([, labels = '', value]) => ({
        labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, of]) => [label, of])),
        value: Number(value),
      }),
    );

  const matching = async (name: string, labels: Record<string, string>): Promise<number> =>
    (await samples(name))
      .filter((sample) => Object.entries(labels).every(([label, of]) => sample.labels[label] === of))
      .reduce((sum, { value }) => sum + value, 0);

  it("has names of the service's own but for those of Node and the process, and counters where a name ends in _total", async () => {
    const types = [...(await text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
      ([, name, type]) => [name!, type!] as const,
    );
    for (const [name, type] of types) {
      assert.match(name, /^(automation_platform|process|nodejs)_/);
      if (name.startsWith('automation_platform_'))
        assert.equal(type === 'counter', name.endsWith('_total'), `${name} is a ${type}`);
    }
  });

  it('counts what the log has done, again at each scrape', async () => {
    const before = await matching('store_events_total', {});
    for (const name of ['a', 'b'])
      await service.ask('PATCH', `/group-mappings/ldap/${name}`, { updates: { platformGroups: [] } });
    await text();
    assert.equal(await matching('store_events_total', {}), before + 2);
  });

  it('counts answers by area, operation and status; paths and methods that nobody knows make no labels', async () => {
    await service.ask('GET', '/group-mappings');
    for (const path of ['/made-up/1', '/made-up/2', '/operations-manager/made-up']) await service.ask('GET', path);
    assert.equal(
      await matching('http_requests_total', { area: 'group-mappings', operation: 'getGroupMappings', status: '200' }),
      1,
    );
    assert.equal(
      await matching('http_request_duration_seconds_count', { area: 'group-mappings', operation: 'getGroupMappings' }),
      1,
    );
    assert.equal(await matching('http_requests_total', { area: '', operation: '', status: '404' }), 3);
    assert.doesNotMatch(await text(), /made-up/);
  });

  it('counts logins that fail, not callers without any', async () => {
    const wrong = service.as({ user: 'admin', password: 'guessed password' });
    assert.equal((await wrong('GET', '/group-mappings')).status, 401);
    assert.equal(
      (await service.ask('POST', '/login', { username: 'admin', password: 'guessed' }, {}, null)).status,
      401,
    );
    assert.equal((await service.ask('GET', '/group-mappings', undefined, {}, null)).status, 401);
    assert.equal(await matching('failed_logins_total', {}), 2);
  });

  it('counts events by topic; of sources that others name it says other', async () => {
    await service.ask('PATCH', '/group-mappings/ldap/noc', { updates: { platformGroups: [] } });
    await until(
      async () => (await matching('events_total', { area: 'group-mappings', topic: 'groupMappingCreated' })) !== 0,
    );
    assert.equal(await matching('events_total', { area: 'group-mappings', topic: 'groupMappingCreated' }), 1);
    const measured = metrics({ areas: [], isOwnEvent });
    for (const type of [
      'made-up:made-up',
      '@platform/made-up:groupMappingCreated',
      '@platform/group-mappings:made-up',
      'made-up',
      '@platform/group-mappings:groupMappingCreated',
    ])
      measured.stored({ stream: 'groupMapping-ldap x', type });
    for (const stream of ['evil-2', 'group-x', 'nothing'])
      measured.stored({ stream, type: '@platform/group-mappings:groupMappingCreated' });
    assert.deepEqual((await measured.text()).text.match(/^automation_platform_events_total\{.*$/gm), [
      'automation_platform_events_total{area="other",topic="other"} 7',
      'automation_platform_events_total{area="group-mappings",topic="groupMappingCreated"} 1',
    ]);
  });

  it('counts starts that were refused, and no other refusal', async () => {
    assert.equal(
      (await service.ask('POST', '/agent-session-manager/sessions/run-agent', { agent: 'nobody', inputs: {} })).status,
      404,
    );
    assert.equal((await service.ask('GET', '/agent-session-manager/agents/nobody')).status, 404);
    assert.deepEqual(await samples('refused_starts_total'), [
      { labels: { area: 'agent-session-manager', operation: 'runAgent', status: '404' }, value: 1 },
    ]);
  });
});
