import assert from 'node:assert/strict';
import { gateway } from '../../support/certificates.ts';
import { ok } from '../../support/people.ts';
import { adminPassword, type Login, startService, type TestService } from '../../support/service.ts';
import { type Frame, openStream, type Stream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';

const password = 'a long enough password';

/** Eight roles: what an account is a member of, and which methods its own role allows besides the stream. */
const roles: Readonly<Record<string, { readonly memberOf?: readonly string[]; readonly methods?: readonly string[] }>> =
  {
    admin: {},
    operator: { memberOf: ['operators'] },
    opsOperator: { memberOf: ['operators', 'ops'] },
    reader: { memberOf: ['readers'] },
    opsReader: { memberOf: ['readers', 'ops'] },
    nobody: {},
    // Methods alone, without the groups that access lists name, and with them.
    methods: { methods: ['operations-manager getAutomation', 'operations-manager getTrigger', 'mop listATemplate'] },
    opsMethods: {
      memberOf: ['ops'],
      methods: ['operations-manager getTrigger', 'operations-manager getJob', 'authorization getRole'],
    },
  };

/** A resource, and the path of its GET row. */
type Made = { readonly resource: string; readonly path: string };

/** The events by which the kinds below are made. Jobs that triggers start fire nothing here. */
const makes: readonly { readonly area: string; readonly topic: string; readonly schema?: object }[] = [
  { area: 'authorization', topic: 'accountCreated' },
  { area: 'authorization', topic: 'roleCreated' },
  { area: 'group-mappings', topic: 'groupMappingCreated' },
  { area: 'operations-manager', topic: 'automationCreated' },
  { area: 'operations-manager', topic: 'triggerCreated' },
  { area: 'operations-manager', topic: 'jobStarted', schema: { properties: { trigger: { const: null } } } },
  { area: 'lifecycle-manager', topic: 'resourceInstanceCreated' },
  { area: 'mop', topic: 'commandTemplateCreated' },
  { area: 'gateway-manager', topic: 'certificateAdded' },
  { area: 'configuration-manager', topic: 'planCreated' },
];

describe('who sees an event', () => {
  let service: TestService;
  const open: Stream[] = [];
  const post = async (path: string, body: unknown, method = 'POST') => ok(await service.ask(method, path, body));
  const logins = new Map<string, Login>();

  before(async () => {
    service = await startService();
    await post('/authorization/groups', { name: 'ops' });
    await post('/authorization/roles', {
      name: 'streamers',
      allowedMethods: [{ provenance: 'operations-manager', name: 'streamEvents' }],
    });
    for (const [username, { memberOf = [], methods }] of Object.entries(roles)) {
      logins.set(username, { user: username, password: username === 'admin' ? adminPassword : password });
      if (username === 'admin') continue;
      const allowedMethods = (methods ?? []).map((each) => {
        const [provenance, name] = each.split(' ');
        return { provenance, name };
      });
      await post('/authorization/roles', { name: username, allowedMethods });
      const assignedRoles = ['streamers', username];
      await post('/authorization/accounts', { username, password, memberOf, assignedRoles });
    }
  });
  after(async () => {
    for (const stream of open) stream.close();
    await service.stop();
  });

  const listed = { gbac: { read: ['ops'], write: ['ops'] } };
  const automation = async (name: string, more: object = {}) =>
    (await post('/operations-manager/automations', { name, ...more })).data._id as string;
  const $om = '/operations-manager';

  const kinds: Readonly<Record<string, () => Promise<Made>>> = {
    account: async () => {
      const { _id } = (await post('/authorization/accounts', { username: 'anna', password })).data;
      return { resource: `account/${_id}`, path: `/authorization/accounts/${_id}` };
    },
    role: async () => {
      const { _id } = (await post('/authorization/roles', { name: 'painters', allowedMethods: [] })).data;
      return { resource: `role/${_id}`, path: `/authorization/roles/${_id}` };
    },
    'group mapping': async () => {
      await post('/group-mappings/ldap/noc', { updates: { platformGroups: ['ops'] } }, 'PATCH');
      return { resource: 'groupMapping/ldap noc', path: '/group-mappings/ldap/noc' };
    },
    automation: async () => {
      const id = await automation('open');
      return { resource: `automation/${id}`, path: `${$om}/automations/${id}` };
    },
    'automation with an access list': async () => {
      const id = await automation('listed', listed);
      return { resource: `automation/${id}`, path: `${$om}/automations/${id}` };
    },
    trigger: async () => {
      const actionId = await automation('triggered', listed);
      const manual = {
        type: 'manual',
        name: 'by hand',
        enabled: true,
        actionType: 'automations',
        actionId,
        formId: null,
      };
      const { _id } = (await post(`${$om}/triggers`, { ...manual, formData: {}, legacyWrapper: false })).data;
      return { resource: `trigger/${_id}`, path: `${$om}/triggers/${_id}` };
    },
    job: async () => {
      const { _id } = (await post(`${$om}/jobs/start`, { workflow: 'w', options: {} })).data;
      return { resource: `job/${_id}`, path: `${$om}/jobs/${_id}` };
    },
    'job of groups': async () => {
      const { _id } = (await post(`${$om}/jobs/start`, { workflow: 'w', options: { groups: ['ops'] } })).data;
      return { resource: `job/${_id}`, path: `${$om}/jobs/${_id}` };
    },
    'job of an automation': async () => {
      const componentType = 'workflows';
      const id = await automation('started', { ...listed, componentType, componentName: 'w' });
      const { _id } = (await post(`${$om}/jobs/start`, { workflow: id, options: {} })).data;
      return { resource: `job/${_id}`, path: `${$om}/jobs/${_id}` };
    },
    instance: async () => {
      const model = (await post('/lifecycle-manager/resources', { name: 'm', schema: {} })).data._id;
      const path = `/lifecycle-manager/resources/${model}/instances`;
      const { _id } = (await post(path, { name: 'i', instanceData: {} })).data;
      return { resource: `resourceInstance/${_id}`, path: `${path}/${_id}` };
    },
    'command template': async () => {
      const mop = { name: 't', os: 'ios', passRule: true, commands: [] };
      const { _id } = (await post('/mop/createTemplate', { mop })).data;
      return { resource: `commandTemplate/${_id}`, path: '/mop/listATemplate/t' };
    },
    certificate: async () => {
      await post('/gateway_manager/v1/certificates', { raw_certificate: gateway, alias: 'g' });
      return { resource: 'certificate', path: '/gateway_manager/v1/certificates' };
    },
    'compliance plan': async () => {
      const plan = await post('/configuration_manager/compliance_plans', { name: 'p', ...listed });
      const id = plan._id ?? plan.data?._id ?? plan.id;
      return { resource: `plan/${id}`, path: `/configuration_manager/compliance_plans/${id}` };
    },
  };

  /** What each role sees of the log from its start, up to an event that everybody sees. */
  const streams = async (): Promise<ReadonlyMap<string, Stream>> => {
    const all = new Map<string, Stream>();
    const banner = { active: true, dismissible: false, startTime: '2026-01-01T00:00:00.000Z', allPages: true };
    const set = await service.ask('PUT', '/customization/banner', { ...banner, text: String(Math.random()) });
    const position = Number(set.headers.get('x-event-position'));
    assert.ok(position > 0, set.text);
    for (const [name, login] of logins) {
      const stream = await openStream(service.url, '?from=start', { login });
      open.push(stream);
      assert.equal(stream.status, 200, name);
      await until(() => stream.frames.some(({ event, id }) => event?.endsWith(':bannerSet') && Number(id) >= position));
      all.set(name, stream);
    }
    return all;
  };
  const isOf =
    (resource: string) =>
    ({ data }: Frame): boolean => {
      const { kind, id } = data.resource;
      return (resource.includes('/') ? `${kind}/${id}` : kind) === resource;
    };
  const sees = ({ frames }: Stream, resource: string): boolean => frames.some(isOf(resource));

  /** One trigger for each role and topic, which the account of the role has changed last. Resolves to their ids. */
  const triggersOfRoles = async (): Promise<ReadonlyMap<string, string>> => {
    const ids = new Map<string, string>();
    const waits = { type: 'eventSystem', enabled: true, actionType: 'automations', actionId: await automation('runs') };
    const triggers = [...logins.keys()].flatMap((role) =>
      makes.map(({ area, topic, schema = null }) => {
        const name = `${role} ${topic}`;
        const _id = String(ids.size + 1).padStart(24, '0');
        ids.set(name, _id);
        return { ...waits, _id, name, source: `@platform/${area}`, topic, schema, jst: null, lastUpdatedBy: role };
      }),
    );
    const { data } = await post(`${$om}/triggers`, { triggers }, 'PUT');
    for (const { success, ...more } of data) assert.equal(success, true, JSON.stringify(more));
    return ids;
  };

  describe('of 8 roles and 13 kinds', () => {
    const live = new Map<string, Stream>();
    const made = new Map<string, Made>();
    let triggers: ReadonlyMap<string, string>;
    before(async () => {
      triggers = await triggersOfRoles();
      for (const [name, login] of logins) {
        live.set(name, await openStream(service.url, '?from=now', { login }));
        open.push(live.get(name)!);
      }
      for (const [kind, make] of Object.entries(kinds)) made.set(kind, await make());
    });

    /** Where something is so for a role, and GET is not 200, or the other way round; and for how many it is so. */
    const compared = async (isSo: (role: string, made: Made) => boolean) => {
      const wrong: string[] = [];
      let count = 0;
      for (const [kind, one] of made) {
        for (const [role, login] of logins) {
          const { status } = await service.ask('GET', one.path, undefined, {}, login);
          assert.ok([200, 403, 404].includes(status), `${role} ${one.path}: ${status}`);
          const is = isSo(role, one);
          if (is) count++;
          if (is !== (status === 200)) wrong.push(`${kind} as ${role}: GET ${status}, but ${is}`);
        }
      }
      return { wrong, count };
    };
    const isMixed = (count: number) => assert.ok(count > 30 && count < 13 * 8 - 30, `${count} of ${13 * 8}`);

    it('is who gets 200 for the resource', async () => {
      const seen = await streams();
      const { wrong, count } = await compared((role, { resource }) => sees(seen.get(role)!, resource));
      assert.deepEqual(wrong, []);
      isMixed(count);
      for (const [role, stream] of live) {
        const later = seen.get(role)!.frames.filter(({ id }) => Number(id) >= Number(stream.frames[0]!.id));
        await until(() => stream.frames.length >= later.length);
        const told = stream.frames.slice(0, later.length);
        assert.deepEqual(told, later, `${role}: what is told as it happens is what is read later`);
      }
    });

    it('is whose triggers the event fires', async () => {
      const lag = async () => (await service.ask('GET', '/metrics')).text.includes('triggers_lag_events 0\n');
      await until(lag, 'all events are settled');
      const jobs = (await service.ask('GET', `${$om}/jobs?limit=1000`)).body.data as any[];
      const started = new Set(jobs.map(({ trigger, event }) => `${trigger} ${event}`));
      const { frames } = (await streams()).get('admin')!;
      const { wrong, count } = await compared((role, { resource }) => {
        const { data } = frames.find(isOf(resource)) ?? assert.fail(resource);
        const trigger = triggers.get(`${role} ${data.topic}`) ?? assert.fail(`nothing waits for ${data.topic}`);
        return started.has(`${trigger} ${data.id}`);
      });
      assert.deepEqual(wrong, []);
      isMixed(count);
    });
  });

  const whoSees = async (resource: string): Promise<readonly string[]> => {
    const seen = await streams();
    return [...seen].filter(([, stream]) => sees(stream, resource)).map(([role]) => role);
  };

  it('is who may list events for a published one', async () => {
    const { id } = (await post(`${$om}/events/tests/anything`, { any: 'thing' })).data;
    assert.ok(id);
    assert.deepEqual(await whoSees('publishedEvent'), ['admin', 'operator', 'opsOperator', 'reader', 'opsReader']);
  });

  it('is an admin for what no GET row shows', async () => {
    const { _id } = (await post(`${$om}/jobs/start`, { workflow: 'w', options: {} })).data;
    await post(`${$om}/jobs/unwatch`, { jobIds: [_id] });
    assert.deepEqual(await whoSees('watching'), ['admin']);
  });

  it('is who could read it last for what is deleted', async () => {
    const actionId = await automation('deleted', listed);
    const manual = { type: 'manual', name: 'too', enabled: true, actionType: 'automations', actionId, formId: null };
    const { _id } = (await post(`${$om}/triggers`, { ...manual, formData: {}, legacyWrapper: false })).data;
    await post(`${$om}/automations/${actionId}`, undefined, 'DELETE');
    await until(async () => (await service.ask('GET', `${$om}/triggers/${_id}`)).status === 404);
    assert.deepEqual(await whoSees(`automation/${actionId}`), ['admin', 'opsOperator', 'opsReader']);
    assert.deepEqual(await whoSees(`trigger/${_id}`), ['admin', 'opsOperator', 'opsReader', 'opsMethods']);
  });

  it('is what the access list says now, not when it happened', async () => {
    const id = await automation('narrowed');
    assert.ok((await whoSees(`automation/${id}`)).includes('reader'));
    await post(`${$om}/automations/${id}`, listed, 'PATCH');
    assert.deepEqual(await whoSees(`automation/${id}`), ['admin', 'opsOperator', 'opsReader']);
  });

  it('is nobody for how the platform works inside', async () => {
    const { frames } = (await streams()).get('admin')!;
    const kindsSeen = new Set(frames.map(({ data }) => data.resource.kind));
    for (const kind of ['login', 'name', 'series', 'parkedReaction', 'payload', 'log', 'secret', 'checkpoint'])
      assert.ok(!kindsSeen.has(kind), kind);
    assert.ok(kindsSeen.has('account'));
  });
});
