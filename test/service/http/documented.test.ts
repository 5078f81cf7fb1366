import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { loadSample } from '../../../src/demo/load.ts';
import type { Kept } from '../../../src/demo/step.ts';
import { gateway, issuing, root } from '../../support/certificates.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { type Answer, adminPassword, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

// What the API document says of the answers, field by field; written from it and not from the code.

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const id = { type: 'string', pattern: '^[0-9a-f]{24}$' };
const time = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$' };
const yesOrNo = { type: 'boolean' };
const whole = { type: 'integer' };
const milliseconds = { type: 'integer', minimum: 0 };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const one = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
const list = (items: Schema): Schema => ({ type: 'array', items });
/** An object with all of the first, maybe some of the second, and nothing else. */
const object = (
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
  additionalProperties: false,
});
const anything: Schema = {};
const anyObject = { type: 'object' };

const method = object(
  { deprecated: { type: 'boolean' } },
  { name: text, provenance: text, route: object({}, { path: text, verb: text, fullPath: text }) },
);
const authored = { createdBy: orNull(text), lastUpdatedBy: orNull(text), created: time, lastUpdated: time };
const gbacGroups = list(object({ provenance: text, name: text, description: text }));

const duration = {
  anyOf: [
    object({ unit: anything, quantity: { type: 'number' } }),
    object({ unit: one('minute', 'hour', 'day', 'week'), quantity: whole }),
  ],
};
const nodes = list({ $ref: '#/$defs/repetition' });
const action = one('execute', 'wait');
const repetition = {
  anyOf: [
    object({}, { type: one('repeating', 'terminating'), duration, action, components: nodes }),
    object({ components: nodes }, { type: anything, start: time, end: time }),
    object({}, { type: anything, duration, count: whole, action, components: nodes }),
  ],
};

const trigger = (required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema =>
  object(
    {
      name: text,
      enabled: yesOrNo,
      actionType: { const: 'automations' },
      actionId: id,
      type: anything,
      _id: id,
      ...required,
    },
    {
      description: text,
      lastExecuted: orNull(milliseconds),
      migrationVersion: whole,
      ...authored,
      options: object(
        {},
        {
          targetType: orNull(one('instance', 'group')),
          targetIdentifier: orNull(text),
          chooseTargetAtRuntime: yesOrNo,
          actionId: { type: 'string', pattern: '^[0-9a-fA-F]{4}$' },
        },
      ),
      ...optional,
    },
  );
const form = { formData: orNull(anyObject), formId: orNull(text) };
const moreOfForm = { formSchemaHash: orNull(text), legacyWrapper: yesOrNo };
const triggers = {
  endpoint: trigger({ verb: anything, routeName: text, schema: orNull(anyObject), jst: anything }),
  event: trigger({ source: text, topic: text, schema: orNull(anyObject), jst: anything }, { legacyWrapper: yesOrNo }),
  manual: trigger(form, moreOfForm),
  schedule: trigger(
    { ...form, firstRunAt: milliseconds, processMissedRuns: one('none', 'last'), repeatInterval: orNull(whole) },
    {
      ...moreOfForm,
      nextRunAt: orNull(milliseconds),
      lastIntervalStart: orNull(milliseconds),
      locked: yesOrNo,
      waitFlag: yesOrNo,
      repeat: orNull({ $ref: '#/$defs/repetition' }),
      repeatUnit: anything,
      repeatFrequency: anything,
    },
  ),
};

const automation = object(
  {
    name: text,
    description: text,
    componentType: anything,
    componentName: orNull(text),
    _id: id,
    gbac: object({ write: gbacGroups, read: gbacGroups }),
  },
  { ...authored, triggers: list({ anyOf: Object.values(triggers) }) },
);
const mapping = object({ externalGroup: text, provenance: text, platformGroups: list(text) });
const banner = object(
  { active: yesOrNo, text, dismissible: yesOrNo, startTime: time, allPages: yesOrNo },
  { _id: text, backgroundColor: text, endTime: time, image: text, messageLastUpdated: time },
);
const verbs = [
  'ACL',
  'BIND',
  'CHECKOUT',
  'CONNECT',
  'COPY',
  'LINK',
  'LOCK',
  'MERGE',
  'MKACTIVITY',
  'MKCALENDAR',
  'MKCOL',
  'MOVE',
  'M-SEARCH',
  'NOTIFY',
  'PROPFIND',
  'PROPPATCH',
  'PURGE',
  'REBIND',
  'REPORT',
  'SEARCH',
  'SUBSCRIBE',
  'TRACE',
  'UNBIND',
  'UNLINK',
  'UNLOCK',
  'UNSUBSCRIBE',
];
const each = (names: string, schema: Schema): Record<string, Schema> =>
  Object.fromEntries(names.split(' ').map((name) => [name, schema]));
const levels = one('error', 'warn', 'info', 'debug', 'trace', 'spam');
const receiver = { description: text, ip: text, community: text, type: one('trap', 'inform') };
const profile = object(
  {},
  {
    ...each('id description serviceDirectory', text),
    services: list(text),
    redisProps: anyObject,
    prebuiltProps: anyObject,
    uiProps: object({}, each('description layout home login profile fav_icon', text)),
    authenticationProps: object(
      {},
      {
        ...each('description cookieName', text),
        ...each('logoutTime principalTimeout relayStateTimeout', whole),
        ...each('uniqueSession brokerPrincipal', yesOrNo),
        admins: list(anything),
      },
    ),
    expressProps: object(
      {},
      {
        ...each('description access_control_allow_origin', text),
        cacheControl: yesOrNo,
        timeout: whole,
        ...each('express_http express_https', anyObject),
        allowedHttpOptionalVerbs: list(one(...verbs)),
      },
    ),
    loggerProps: object(
      { log_format_json: yesOrNo, console_format_json: yesOrNo },
      {
        ...each('description log_directory log_filename', text),
        ...each('log_max_file_size log_max_files', whole),
        log_level: levels,
        console_level: levels,
        ...each('webserver syslog', anyObject),
      },
    ),
    auditProps: object({}, { description: text, audit: yesOrNo, brokerValidation: yesOrNo }),
    pathProps: object({}, { description: text, encrypted: yesOrNo }),
    alarmProps: list(object({}, { ...receiver, properties: object({}, { ...receiver, properties: anyObject }) })),
    adapterStrategy: object({}, { device: anyObject }),
    systemProps: object(
      {
        ...each('eventWorkerCount transformationWorkerCount taskWorkerRateLimit taskWorkerRateLimitPeriod', whole),
        taskWorkerThreadCount: { type: 'integer', maximum: 4 },
      },
      {
        ...each(
          'shutdownTimeout launchDelay launchTimeout serviceHealthCheckInterval serviceHealthCheckUnhealthyThreshold deadProcessCheckInterval deadProcessMaxPeriod externalRequestTimeout deviceCountPollingInterval',
          whole,
        ),
        servicesBlacklist: list(text),
        deadProcessCheck: yesOrNo,
        serverIdStrategy: one('mac:port', 'random'),
      },
    ),
    integrationProps: object({}, each('threadCount timeout', whole)),
    retryStrategy: object({}, each('maxRetries retryResetTimer', whole)),
  },
);
const namespace = object(
  {},
  {
    type: anything,
    _id: text,
    name: text,
    accessControl: object({}, { read: list(text), execute: list(text), write: list(text), manage: list(text) }),
  },
);
const numberOrNull = orNull({ type: 'number' });
/** A struct item: what it must say, and what it may say beside anything else. */
const item = (required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema => ({
  ...object({ nodeId: text, type: text, title: text, description: text, ...required }, optional),
  additionalProperties: true,
});
const structItems = list({ $ref: '#/$defs/structItem' });
const structItem = {
  anyOf: [
    item({ items: structItems }),
    item({ type: { const: 'boolean' } }, { enum: list(object({ id: anything, value: anything })) }),
    item(
      { type: { const: 'number' }, placeholder: text, required: yesOrNo },
      { minimum: numberOrNull, maximum: numberOrNull, default: numberOrNull, disabled: yesOrNo },
    ),
    item({ type: { const: 'string' } }, { enum: list(anything), enumNames: list(anything) }),
  ],
};
const formDocument = object(
  {
    created: text,
    createdBy: text,
    lastUpdated: text,
    lastUpdatedBy: text,
    name: text,
    description: orNull(text),
    version: text,
    struct: object({ type: text, items: structItems }, { nodeId: text, projectId: text }),
    schema: object(
      { type: text, title: text },
      {
        _id: text,
        description: text,
        uniqueItems: yesOrNo,
        minItems: { type: 'number' },
        maxItems: { type: 'number' },
        required: list(text),
        readOnly: yesOrNo,
        options: anything,
        properties: anything,
        items: anything,
        anyOf: list(anything),
        oneOf: list(anything),
        allOf: list(anything),
      },
    ),
    uiSchema: anything,
    validationSchema: anything,
    bindingSchema: anything,
  },
  { _id: text, id: text, tags: list(anything), namespace: orNull(namespace) },
);
const envelope = (data: Schema): Schema => object({ message: text, data, metadata: anyObject });
const failure = object({
  message: text,
  data: { type: 'null' },
  metadata: { type: 'object', required: ['errors'], properties: { errors: { type: 'array' } } },
});
const serviceGroup = object({
  _id: id,
  name: text,
  cluster_id: text,
  description: text,
  created: text,
  created_by: text,
  last_updated: text,
  last_updated_by: text,
  is_default: yesOrNo,
  groups: list(text),
  services: list(object({ id: text, name: text })),
});
const cleared = object({
  status: text,
  message: text,
  result: object({ inventory: object({ id, name: text }), statistics: object({ nodesDeleted: { type: 'number' } }) }),
});
const success = object({ status: { const: 'success' }, message: text });

const template = (commands: Readonly<Record<string, Schema>>): Schema =>
  object(
    { name: text },
    {
      _id: text,
      description: text,
      os: text,
      passRule: yesOrNo,
      namespace: orNull(namespace),
      created: whole,
      lastUpdated: whole,
      createdBy: orNull(text),
      lastUpdatedBy: orNull(text),
      ...commands,
    },
  );
// The project's own members of rules beside the documented ones: docs/command-templates.md.
const more = { severity: text, flags: anyObject };
const commandTemplate = template({
  commands: list(
    object(
      {},
      {
        command: text,
        passRule: yesOrNo,
        rules: list(
          object(
            { rule: text, eval: text },
            { raw: text, result: yesOrNo, ...more, ruleB: text, evaluator: text, percentage: { type: 'number' } },
          ),
        ),
      },
    ),
  ),
});
const analyticTemplate = template({
  prepostCommands: list(
    object(
      {},
      {
        preRawCommand: text,
        postRawCommand: text,
        passRule: yesOrNo,
        rules: list(object({}, { type: text, preRegex: text, postRegex: text, evaluation: text, ...more })),
        preCommandResHTML: text,
        postCommandResHTML: text,
      },
    ),
  ),
});

const bundleType = one(
  'automation',
  'forms',
  'golden-config',
  'integration',
  'integration-model',
  'json-forms',
  'mop-template',
  'mop-analytic-template',
  'template',
  'transformation',
  'workflow',
);
const prebuiltPackage = object({
  metadata: object(
    {
      name: text,
      version: text,
      description: text,
      author: text,
      license: text,
      repository: object({}, { type: one('local', 'hosted_git', 'git'), hostname: text, path: text }),
      PlatformDependencies: anyObject,
    },
    { keywords: list(text), hostedGitId: whole },
  ),
  manifest: object(
    { bundleName: text, artifacts: list(object({}, { id: text, name: text, location: text, type: bundleType })) },
    { fingerprint: text, createdEpoch: text },
  ),
  bundles: list(object({ type: bundleType, data: anyObject })),
  readme: text,
});

const ajv = new Ajv({ strict: true, allErrors: true, code: { optimize: false } });

/** Every documented operation as somebody outside sees it, on a service with these settings. */
const operations = (settings: () => Record<string, string>) => {
  let service: TestService;
  let kept: Kept;
  let began: number;
  before(async () => {
    began = Date.now();
    service = await startService(settings());
    kept = await loadSample(service.url, 'admin', adminPassword);
  });
  after(() => service.stop());

  const fits = ({ status, headers, body, text }: Answer, schema: Schema, wanted = 200): any => {
    // the body, which fits the schema
    assert.equal(status, wanted, text);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    const validate = ajv.compile({ ...schema, $defs: { repetition, structItem } });
    assert.ok(validate(body), `${ajv.errorsText(validate.errors)} in ${text}`);
    return body;
  };

  it('1. lists authorization methods', async () => {
    const all = fits(
      await service.ask('GET', '/authorization/methods'),
      object({ results: list(method), total: whole }),
    );
    assert.equal(all.results.length, 25);
    assert.ok(all.total > 25);
    const names: readonly string[] = all.results.map(({ name }: { name: string }) => name.toLowerCase());
    assert.deepEqual(names, names.toSorted());
    const { body } = await service.ask(
      'GET',
      '/authorization/methods?multiEquals[name]=exportAutomation&multiContains[provenance]=operations',
    );
    assert.deepEqual(body, {
      results: [
        {
          name: 'exportAutomation',
          provenance: 'operations-manager',
          route: {
            path: '/automations/:id/export',
            verb: 'GET',
            fullPath: '/operations-manager/automations/:id/export',
          },
          deprecated: false,
        },
      ],
      total: 1,
    });
  });

  it('2. updates an instance group', async () => {
    const person = object({ firstname: text, provenance: text, username: text, _id: id });
    const lastAction = object({
      _id: anything,
      executionId: id,
      name: text,
      type: one('import', 'create', 'update', 'delete'),
      status: one('running', 'error', 'complete', 'canceled', 'paused'),
    });
    const group = object(
      { description: text, modelId: text, name: text },
      {
        _id: id,
        createdBy: orNull(person),
        created: time,
        lastUpdatedBy: orNull(person),
        lastUpdated: time,
        lastAction,
      },
    );
    const path = '/lifecycle-manager/resources/Edge%20circuit/groups/Headquarters';
    const { data, metadata } = fits(
      await service.ask('PATCH', path, { instancesToAdd: ['BON1-INET-1'], instancesToRemove: ['FRA2-INET-2'] }),
      envelope(group),
    );
    assert.deepEqual(
      [data.name, data.createdBy.username, data.lastAction.status, metadata],
      ['Headquarters', 'admin', 'running', { added: 1, removed: 1, total: 2 }],
    );
    fits(await service.ask('PATCH', path, { instancesToAdd: ['no-such'] }), failure, 404);
    const never = fits(
      await service.ask('POST', '/lifecycle-manager/resources/Edge%20circuit/groups', { name: 'New' }),
      envelope(group),
    );
    assert.equal('lastAction' in never.data, false);
  });

  it('3. exports an automation with all four variants of triggers', async () => {
    const { data } = fits(
      await service.ask('GET', `/operations-manager/automations/${kept.upgrade}/export`),
      envelope(automation),
    );
    assert.deepEqual(data.gbac.write, [
      { provenance: 'local', name: 'network-engineering', description: 'Designs and changes the network' },
    ]);
    assert.equal(data.createdBy, 'admin');
    for (const [variant, schema] of Object.entries(triggers)) {
      const validate = ajv.compile({ ...schema, $defs: { repetition } });
      assert.equal(data.triggers.filter((one: unknown) => validate(one)).length, 1, variant);
    }
  });

  it('3. exports a repetition tree', async () => {
    const repeat = {
      start: '2026-01-01T00:00:00Z',
      components: [
        { type: 'terminating', count: 2, components: [{ action: 'execute', duration: { unit: 'hour', quantity: 1 } }] },
      ],
    };
    const made = await service.ask('POST', '/operations-manager/triggers', {
      type: 'schedule',
      name: 'In turns',
      enabled: true,
      actionType: 'automations',
      actionId: kept.upgrade,
      formData: null,
      formId: null,
      firstRunAt: 1_767_225_600_000,
      processMissedRuns: 'none',
      repeatInterval: null,
      repeat,
      options: { targetType: 'instance', targetIdentifier: 'edge-01', chooseTargetAtRuntime: false, actionId: '0a1F' },
    });
    assert.equal(made.status, 200, made.text);
    const { data } = fits(
      await service.ask('GET', `/operations-manager/automations/${kept.upgrade}/export`),
      envelope(automation),
    );
    assert.deepEqual(data.triggers.find(({ name }: { name: string }) => name === 'In turns').repeat, repeat);
  });

  it('3. fails with the failure envelope', async () => {
    fits(await service.ask('GET', '/operations-manager/automations/no-such/export'), failure, 404);
    fits(await service.as(null)('GET', `/operations-manager/automations/${kept.upgrade}/export`), failure, 401);
  });

  it('4. exports a command template', async () => {
    const exported = fits(
      await service.ask('POST', '/mop/export', { options: { name: 'Upgrade pre-check' }, type: 'templates' }),
      commandTemplate,
    );
    assert.deepEqual(
      [exported._id, exported.createdBy, exported.namespace, exported.commands.length],
      [kept.precheck, 'admin', null, 3],
    );
    assert.ok(exported.created >= began - 1 && exported.created <= Date.now() + 1);
    assert.deepEqual(
      fits(await service.ask('POST', '/mop/export', { options: { _id: kept.precheck } }), commandTemplate),
      exported,
    );
  });

  it('4. exports a template that says only what the document knows', async () => {
    const commands = [
      { command: 'show clock', passRule: false, rules: [{ rule: 'UTC', eval: 'contains', raw: 'UTC', result: true }] },
    ];
    const space = {
      type: 'project',
      _id: 'p1',
      name: 'Lab',
      accessControl: { read: ['a'], execute: [], write: [], manage: ['b'] },
    };
    const template = {
      _id: 'clock',
      name: 'Clock',
      description: 'Time',
      os: 'ios',
      passRule: false,
      namespace: space,
      commands,
      created: 1,
      lastUpdated: 2,
      createdBy: 'admin',
      lastUpdatedBy: null,
    };
    assert.equal((await service.ask('POST', '/mop/import', { type: 'templates', template })).status, 200);
    assert.deepEqual(
      fits(await service.ask('POST', '/mop/export', { options: { name: 'Clock', _id: 'clock' } }), commandTemplate),
      template,
    );
  });

  it('4. exports an analytic template', async () => {
    for (const type of ['analytics', 'analytic']) {
      const exported = fits(
        await service.ask('POST', '/mop/export', { options: { name: 'Upgrade before and after' }, type }),
        analyticTemplate,
      );
      assert.deepEqual([exported._id, exported.prepostCommands[0].rules[0].evaluation], [kept.comparison, '<']);
    }
  });

  it('4. fails with the failure envelope', async () => {
    const missing = fits(await service.ask('POST', '/mop/export', { options: { name: 'No such' } }), failure, 404);
    assert.equal(missing.message, 'Could not find matching template');
    fits(await service.ask('POST', '/mop/export', { options: {} }), failure, 400);
    fits(await service.ask('POST', '/mop/export', { options: { name: 'x' }, type: 'both' }), failure, 400);
  });

  it('5. exports a prebuilt', async () => {
    const body = fits(await service.ask('GET', `/prebuilts/${kept.rollout}/export`), prebuiltPackage);
    assert.deepEqual(
      [body.metadata.name, body.bundles.length, body.manifest.artifacts.length],
      ['@vendor/vlan-rollout', 11, 11],
    );
    fits(await service.ask('GET', '/prebuilts/no-such-prebuilt/export'), failure, 404);
  });

  it('6. updates a group mapping, or creates it', async () => {
    const path = '/group-mappings/okta/net%2Fnew%20people';
    const answered = object({ status: one('OK', 'Created'), message: text, data: mapping });
    const created = fits(await service.ask('PATCH', path, { updates: { platformGroups: ['readers'] } }), answered);
    assert.equal(created.status, 'Created');
    const updated = fits(
      await service.ask('PATCH', path, { updates: { platformGroups: ['operators', 'readers'] } }),
      answered,
    );
    assert.equal(updated.status, 'OK');
    assert.deepEqual(updated.data, {
      externalGroup: 'net/new people',
      provenance: 'okta',
      platformGroups: ['operators', 'readers'],
    });
  });

  it('7. lists group mappings', async () => {
    const answered = object({ results: list(mapping), total: whole });
    const { results, total } = fits(
      await service.ask('GET', '/group-mappings?multiStartsWith[provenance]=ld&skip=1&limit=1&sort=name&order=-1'),
      answered,
    );
    assert.deepEqual(
      { results, total },
      {
        results: [
          {
            externalGroup: 'CN=Network Engineering,OU=Groups,DC=example,DC=net',
            provenance: 'ldap',
            platformGroups: ['network-engineering', 'operators'],
          },
        ],
        total: 3,
      },
    );
    fits(await service.ask('GET', '/group-mappings'), answered);
  });

  it('8. gets a service group', async () => {
    const { result } = fits(
      await service.ask('GET', `/gateway_manager/v1/service-groups/${kept.configServices}`),
      object({ state: text, result: serviceGroup }),
    );
    assert.deepEqual(
      [result.name, result.created_by, result.is_default, result.services.length],
      ['Configuration services', 'admin', true, 3],
    );
    fits(await service.ask('GET', '/gateway_manager/v1/service-groups/no-such'), failure, 404);
  });

  it('9. updates a compliance plan', async () => {
    const treeNode = {
      treeId: kept.edge,
      version: 'initial',
      nodeId: kept.hardening,
      variables: { strict: true },
      devices: ['edge-03'],
      deviceGroups: ['Edge'],
      tasks: ['audit'],
    };
    const options = {
      name: 'Daily edge audit',
      description: 'Every morning',
      status: 'draft',
      nodes: [treeNode],
      gbac: { read: ['network-operations'], write: ['compliance'] },
    };
    fits(
      await service.ask('PUT', '/configuration_manager/compliance_plans', { planId: kept.weekly, options }),
      success,
    );
    const { body } = await service.ask('GET', `/configuration_manager/compliance_plans/${kept.weekly}`);
    assert.deepEqual(
      {
        name: body.name,
        description: body.description,
        status: body.status,
        added: body.nodes.at(-1),
        gbac: body.gbac,
      },
      {
        name: options.name,
        description: options.description,
        status: options.status,
        added: treeNode,
        gbac: options.gbac,
      },
    );
  });

  it('10. runs an agent', async () => {
    const path = '/agent-session-manager/sessions/run-agent';
    const started = object({
      status: text,
      sessionId: { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
      lastMessage: text,
    });
    const inputs = {
      change: {
        id: 'CHG0031443',
        title: 'new uplinks',
        devices: ['leaf-01'],
        window: { start: '2027-02-01T22:00Z', end: '2027-02-01T23:00Z' },
      },
    };
    const terminationCallbackSignature = {
      location: 'change calendar',
      serviceName: 'calendar',
      methodName: 'summarized',
      identifier: 'CHG0031443',
    };
    const { status, sessionId } = fits(
      await service.ask('POST', path, { agent: 'Change summary', inputs, terminationCallbackSignature }),
      started,
    );
    assert.equal(status, 'RUNNING');
    const session = async () => (await service.ask('GET', `/agent-session-manager/sessions/${sessionId}`)).body;
    await until(async () => (await session()).status !== 'RUNNING');
    const { status: end, lastMessage } = await session();
    assert.deepEqual([end, lastMessage.split('\n')[0]], ['COMPLETE', 'CHG0031443: New uplinks on 1 device']);
    fits(await service.ask('POST', path, { agent: 'no-such' }), failure, 404);
    const { metadata } = fits(
      await service.ask('POST', path, {
        agent: 'Change summary',
        inputs: { change: { ...inputs.change, devices: [] } },
      }),
      failure,
      422,
    );
    assert.equal(metadata.errors[0].path, '/inputs/change/devices');
    fits(
      await service.ask('POST', path, {
        agent: 'Change summary',
        inputs,
        terminationCallbackSignature: { serviceName: 'calendar' },
      }),
      failure,
      400,
    );
  });

  it('11. deletes a resource model, with its instances only if asked to', async () => {
    const path = '/lifecycle-manager/resources/Edge%20circuit';
    const {
      metadata: { errors },
    } = fits(await service.ask('DELETE', path), failure, 409);
    assert.ok(errors[0].instances >= 3);
    fits(
      await service.ask('DELETE', path, { queryParameters: { 'delete-associated-instances': 'false' } }),
      failure,
      409,
    );
    const { data } = fits(
      await service.ask('DELETE', path, { queryParameters: { 'delete-associated-instances': 'true' } }),
      envelope(anything),
    );
    assert.equal(data.deletedInstances, errors[0].instances);
    assert.equal((await service.ask('GET', path)).status, 404);
  });

  it('12. gets the banner', async () => {
    const { result } = fits(await service.ask('GET', '/customization/banner'), object({ result: banner }));
    assert.deepEqual(
      [result.active, result.text, result.backgroundColor],
      [true, 'Change freeze from 18 December: only approved changes', '#ffcc00'],
    );
  });

  it('13. updates a profile, or creates it', async () => {
    const answered = object({ status: one('OK', 'Created'), message: text, data: profile });
    const { data } = fits(
      await service
        .ask('GET', '/profiles/production')
        .then((answer) => ({ ...answer, body: { status: 'OK', message: '', data: answer.body } })),
      answered,
    );
    assert.deepEqual(
      Object.keys(data).sort(),
      Object.keys(profile.properties as object).sort(),
      'the sample has every group',
    );
    const created = fits(
      await service.ask('PUT', '/profiles/staging', {
        properties: { uiProps: { home: 'dashboard' }, systemProps: { taskWorkerThreadCount: 4 } },
      }),
      answered,
    );
    assert.deepEqual(
      [created.status, created.data.id, created.data.uiProps],
      ['Created', 'staging', { home: 'dashboard' }],
    );
    assert.deepEqual(created.data.systemProps, {
      eventWorkerCount: 3,
      transformationWorkerCount: 3,
      taskWorkerThreadCount: 4,
      taskWorkerRateLimit: 0,
      taskWorkerRateLimitPeriod: 1,
    });
    const updated = fits(
      await service.ask('PUT', '/profiles/staging', {
        properties: { uiProps: { layout: 'wide' }, alarmProps: [{ ip: '192.0.2.9', type: 'inform' }] },
      }),
      answered,
    );
    assert.deepEqual(
      [updated.status, updated.data.uiProps, updated.data.alarmProps],
      ['OK', { home: 'dashboard', layout: 'wide' }, [{ ip: '192.0.2.9', type: 'inform' }]],
    );
    fits(
      await service.ask('PUT', '/profiles/staging', { properties: { systemProps: { taskWorkerThreadCount: 5 } } }),
      failure,
      400,
    );
    fits(await service.ask('PUT', '/profiles/staging', { properties: { prebuiltProps: {} } }), failure, 400);
  });

  it('14. unwatches jobs', async () => {
    const jobIds = [kept.upgradeJob, kept.backupJob];
    const watchers = async () =>
      Promise.all(
        jobIds.map(async (id) => (await service.ask('GET', `/operations-manager/jobs/${id}`)).body.data.watchers),
      );
    assert.deepEqual(await watchers(), [['admin'], ['admin']]);
    fits(await service.ask('POST', '/operations-manager/jobs/unwatch', { jobIds }), envelope({ type: 'null' }));
    assert.deepEqual(await watchers(), [[], []]);
    fits(
      await service.ask('POST', '/operations-manager/jobs/unwatch', { jobIds: [...jobIds, 'no-such'] }),
      failure,
      404,
    );
  });

  it('15. deletes variables', async () => {
    const path = `/configuration_manager/configs/variables/${kept.edge}/initial`;
    fits(await service.ask('DELETE', path, { variables: { ntp_servers: null, syslog: {} } }), success);
    const { body } = await service.ask('GET', `/configuration_manager/configs/${kept.edge}`);
    assert.deepEqual(body.versions.find(({ name }: { name: string }) => name === 'initial').variables, {
      snmp_location: 'POP',
    });
  });

  it('16. adds a certificate', async () => {
    const answered = object({ state: text, results: anyObject });
    const { results } = fits(
      await service.ask('POST', '/gateway_manager/v1/certificates', {
        raw_certificate: `${gateway}${issuing}${root}`,
        contract_id: 'contract-0001',
        alias: 'gateway-1',
      }),
      answered,
    );
    const { serialNumber, fingerprint256, ...said } = results;
    assert.deepEqual(said, {
      alias: 'gateway-1',
      contractId: 'contract-0001',
      subject: 'O=Example Networks, CN=gateway-1.example.net',
      issuer: 'O=Example Networks, CN=Gateway Issuing CA 1',
      validFrom: '2020-01-01T00:00:00.000Z',
      validTo: '2120-01-01T00:00:00.000Z',
    });
    assert.match(`${serialNumber} ${fingerprint256}`, /^[0-9A-F]+ [0-9A-F]{2}(:[0-9A-F]{2}){31}$/);
    fits(await service.ask('POST', '/gateway_manager/v1/certificates', { raw_certificate: gateway }), answered);
    fits(await service.ask('POST', '/gateway_manager/v1/certificates', { raw_certificate: 'none' }), failure, 400);
  });

  it('17. imports device groups', async () => {
    const groups = [
      { name: 'Core routers', description: 'Both sites', devices: ['core-01', 'core-02'] },
      { name: 'Empty for now' },
    ];
    fits(await service.ask('POST', '/configuration_manager/import/groups', { groups }), success);
    const { body } = await service.ask('GET', '/configuration_manager/devicegroups/Core%20routers');
    assert.deepEqual({ name: body.name, description: body.description, devices: body.devices }, groups[0]);
    fits(
      await service.ask('POST', '/configuration_manager/import/groups', {
        groups: [{ name: 'Core routers', devices: [] }],
      }),
      failure,
      409,
    );
  });

  it('20. applies a device configuration', async () => {
    const path = '/configuration_manager/devices/lab-02/configuration';
    const body = fits(
      await service.ask('POST', path, {
        config: { device: 'lab-02', config: 'hostname lab-02\nntp server 192.0.2.77\n' },
        options: {},
      }),
      anything,
    );
    assert.equal(body.device, 'lab-02');
    assert.match((await service.ask('GET', path)).body.config, /^ntp server 192\.0\.2\.77$/m);
    const { metadata } = fits(
      await service.ask('POST', path, { config: { config: 'no such command as this\nbogus\n' } }),
      failure,
      502,
    );
    fits(
      {
        status: 200,
        headers: new Headers({ 'content-type': 'application/json' }),
        text: JSON.stringify(metadata.adapter),
        body: metadata.adapter,
      },
      object({ name: { const: 'lab' }, status: whole, body: anyObject }),
    );
  });

  it('21. clears the nodes of an inventory', async () => {
    const { result, status, message } = fits(
      await service.ask('DELETE', '/inventory_manager/v1/nodes/clear/Branches'),
      cleared,
    );
    assert.deepEqual(
      { status, message, result },
      {
        status: 'Success',
        message: 'Deleted 24 nodes',
        result: { inventory: { id: kept.branches, name: 'Branches' }, statistics: { nodesDeleted: 24 } },
      },
    );
    assert.equal(
      fits(await service.ask('DELETE', `/inventory_manager/v1/nodes/clear/${kept.branches}`), cleared).result.statistics
        .nodesDeleted,
      0,
    );
    fits(await service.ask('DELETE', '/inventory_manager/v1/nodes/clear/no-such'), failure, 404);
  });

  it('18. renders a template with cast', async () => {
    const path = '/template_builder/templates/IOS-XE%20BGP%20neighbors/renderJinja2TemplateWithCast';
    const rendered = (value: Schema) => object({ renderedTemplate: value });
    const { renderedTemplate } = fits(
      await service.ask('POST', path, {
        variables: {
          asn: 65010,
          router_id: '192.0.2.1',
          neighbors: [{ ip: '198.51.100.1', asn: 64500, name: 'transit' }],
        },
      }),
      rendered(text),
    );
    assert.equal(
      renderedTemplate,
      'router bgp 65010\n bgp router-id 192.0.2.1\n neighbor 198.51.100.1 remote-as 64500\n neighbor 198.51.100.1 description TRANSIT',
    );
    const cast = async (template: string, castDataType: string, value: Schema) =>
      fits(await service.ask('POST', path, { template, variables: { a: 20 }, castDataType }), rendered(value))
        .renderedTemplate;
    assert.equal(await cast('{{ a * 2 }}', 'string', text), '40');
    assert.equal(await cast('{{ a * 2 }}', 'number', { type: 'number' }), 40);
    assert.equal(await cast('{{ a > 2 }}', 'boolean', yesOrNo), true);
    assert.deepEqual(await cast('{"a": {{ a }}, "list": [{{ a }}]}', 'object', anyObject), { a: 20, list: [20] });
    fits(await service.ask('POST', path, { template: 'forty', castDataType: 'number' }), failure, 422);
    fits(await service.ask('POST', path, { template: '{% if', castDataType: 'number' }), failure, 422);
  });

  it('19. gets a form, by its name', async () => {
    const body = fits(await service.ask('GET', '/json-forms/forms/Software%20upgrade%20request'), formDocument);
    assert.deepEqual([body.createdBy, body._id, body.struct.items.length], ['admin', kept.upgradeForm, 6]);
    fits(await service.ask('GET', `/json-forms/forms/${kept.upgradeForm}`), formDocument);
    fits(await service.ask('GET', '/json-forms/forms/no-such-form'), failure, 404);
  });

  it('22. migrates scheduled jobs', async () => {
    const answer = fits(
      await service.ask('POST', '/automation_catalog/automations/migration', {
        agendaJobs: [kept.interfacesJob, kept.certificatesJob],
      }),
      text,
    );
    assert.equal(
      answer,
      'Created 1 automation: poll-interfaces. Skipped 1 already migrated: Weekly certificate check.',
    );
    const { data } = fits(
      await service.ask('GET', '/operations-manager/automations/poll-interfaces/export'),
      envelope(automation),
    );
    assert.deepEqual(
      data.triggers.map(({ type, enabled, formData }: { type: string; enabled: boolean; formData: object }) => ({
        type,
        enabled,
        formData,
      })),
      [
        { type: 'manual', enabled: true, formData: { kind: 'uplink' } },
        { type: 'schedule', enabled: false, formData: { kind: 'uplink' } },
      ],
    );
    fits(
      await service.ask('POST', '/automation_catalog/automations/migration', { agendaJobs: ['0'.repeat(24)] }),
      failure,
      404,
    );
  });
};

describe('the documented operations, called from outside:', () => operations(() => ({})));
describeOwnRedis('the documented operations, called from outside, read models in Redis:', (redis) =>
  operations(() => ({ READSTORE_URL: redis().url })),
);
