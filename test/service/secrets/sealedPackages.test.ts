import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonical } from '@automation-platform/json';
import { prebuiltId } from '../../../src/commands/prebuilts/prebuilts.ts';
import { makeKey, secrets as sealing } from '../../../src/secrets/secrets.ts';
import { automationDocument, manualTrigger, packed } from '../../support/documents.ts';
import { positionOf } from '../../support/hostile.ts';
import { storedEarlier, streamsWith, textsKept } from '../../support/logged.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

const mask = '********';
type Doc = any; // a package is any JSON here

const id = (digit: string) => digit.repeat(24);
const automation = (digit: string, more: object = {}) =>
  automationDocument(id(digit), { name: `Automation ${digit}`, ...more });
const trigger = (digit: string, of: string, formData: object) =>
  manualTrigger(id(digit), id(of), { name: `By hand ${digit}`, formData });

/** A package with a document of each kind that can hold secrets; `pass` makes them. */
const secretive = (name: string, pass: (where: string) => string): Doc =>
  packed(name, [
    {
      type: 'automation',
      data: automation('1', { triggers: [trigger('2', '1', { site: 'a', password: pass('trigger') })] }),
    },
    {
      type: 'json-forms',
      data: { name: 'Form', schema: { type: 'object', title: 'F', properties: { password: { type: 'string' } } } },
    },
    { type: 'template', data: { name: 'Template', template: 'x', data: { user: 'u', token: pass('template') } } },
    {
      type: 'golden-config',
      data: {
        name: 'Tree',
        versions: [
          {
            name: 'initial',
            root: { name: 'base', configId: id('3'), children: [] },
            variables: { community: pass('tree') },
          },
        ],
      },
    },
    {
      type: 'integration',
      data: {
        name: 'tickets',
        properties: { authentication: { password: pass('integration') }, auth: { user: 'u', pass: pass('object') } },
      },
    },
    {
      type: 'integration-model',
      data: { model: 'm', components: { properties: { password: { type: 'string' }, token: { $ref: '#/token' } } } },
    },
    {
      type: 'integrationModel',
      data: {
        name: 'Flow',
        tasks: { a: { incoming: { apiKey: pass('workflow'), merge: [{ key: 'site', value: 1 }] } } },
      },
    },
  ]);

describe('Secrets in the documents of a package', () => {
  let service: TestService;
  const secrets = new Map<string, string>();
  const clear =
    (round: string) =>
    (where: string): string => {
      const text = `secret-${where}-${round}`;
      secrets.set(text, where);
      return text;
    };
  const masked = { ...secretive('p', () => mask) };
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await service.ask(method, path, body);
    for (const text of secrets.keys()) assert.ok(!answer.text.includes(text), answer.text);
    return answer;
  };
  const install = (prebuilt: Doc, overwrite?: boolean) =>
    ask('POST', '/prebuilts/import', {
      prebuilt,
      options: { strict: true, ...(overwrite !== undefined && { overwrite }) },
    });
  const exported = async (name = 'p') => ok(await ask('GET', `/prebuilts/${name}/export`));
  const head = () => positionOf(service);
  before(async () => {
    service = await startService({ LOG_LEVEL: 'trace' });
  });
  after(() => service.stop());

  // An object that is a secret as a whole is masked as a whole.
  masked.bundles[4].data.properties.auth = mask;

  it('are masked where it is exported, and where the documents are', async () => {
    ok(await install(secretive('p', clear('one'))));
    const { bundles, manifest } = await exported();
    assert.deepEqual(bundles, masked.bundles);
    assert.equal(
      manifest.fingerprint,
      hash('sha256', canonical(masked.bundles), 'hex').slice(0, 24),
      'nothing that can be guessed is hashed',
    );
    assert.deepEqual(ok(await ask('GET', `/operations-manager/triggers/${id('2')}`)).data.formData, {
      site: 'a',
      password: mask,
    });
    assert.equal(ok(await ask('GET', '/configuration_manager/configs/Tree')).versions[0].variables.community, mask);
    assert.deepEqual(ok(await ask('GET', '/template_builder/templates/Template')).data, { user: 'u', token: mask });
    for (const path of [
      '/prebuilts',
      '/prebuilts/p',
      `/operations-manager/automations/${id('1')}/export`,
      '/json-forms/forms/Form',
    ])
      ok(await ask('GET', path));
  });

  it('are kept by the mask: what is exported is installed already', async () => {
    const before = await head();
    for (const whole of [masked, await exported()])
      for (const overwrite of [undefined, true])
        assert.equal(ok(await install(whole, overwrite)).message, 'The prebuilt is installed already');
    assert.equal(await head(), before);
  });

  it('are kept by the mask where a new version of the package changes something else, or moves its documents', async () => {
    const next = structuredClone(masked);
    next.bundles.reverse();
    next.bundles[0].data.tasks.a.incoming.more = 1;
    refused(await install(next), 409, /metadata\/name/);
    ok(await install(next, true));
    assert.deepEqual((await exported()).bundles, next.bundles);
    ok(await install(masked, true));
  });

  it('are brought back to what the package says', async () => {
    const path = `/operations-manager/triggers/${id('2')}`;
    ok(await ask('PATCH', path, { formData: { site: 'b', password: clear('patched')('trigger') } }));
    ok(await install(masked, true));
    assert.equal(ok(await ask('GET', path)).data.formData.site, 'a');
    const before = await head();
    ok(await install(masked, true));
    assert.equal(await head(), before);
  });

  it('are never told apart: in clear it is another package, whether they are right or wrong', async () => {
    const before = await head();
    const answers = [await install(secretive('p', clear('one'))), await install(secretive('p', clear('wrong')))];
    for (const answer of answers) refused(answer, 409, /metadata\/name/);
    assert.deepEqual(answers[0]!.body, answers[1]!.body);
    const others = [await install(secretive('q', clear('one'))), await install(secretive('q', clear('wrong')))];
    for (const answer of others)
      for (const bundle of [0, 2, 3]) refused(answer, 409, new RegExp(`bundles/${bundle}/data`));
    assert.deepEqual(others[0]!.body, others[1]!.body);
    assert.equal(await head(), before);
    for (const round of ['one', 'wrong', 'one']) {
      const stored = await head();
      ok(await install(secretive('p', clear(round)), true));
      assert.ok((await head()) > stored, 'an event');
    }
  });

  it('come from the documents that are there, where the package is not', async () => {
    const bundles = masked.bundles.filter(({ type }: { type: string }) =>
      ['automation', 'template', 'golden-config'].includes(type),
    );
    ok(await install(packed('r', bundles)));
    assert.deepEqual((await exported('r')).bundles, bundles);
  });

  it('stay masked where nothing is stored, and the answer names them', async () => {
    const { data } = ok(await install(packed('s', masked.bundles)));
    const missing: readonly string[] = data.missingSecrets;
    assert.ok(missing.includes('/prebuilt/bundles/4/data/properties/authentication/password'), missing.join());
    assert.ok(
      missing.every((path) => /bundles\/[46]\/data/.test(path)),
      missing.join(),
    );
    assert.deepEqual((await exported('s')).bundles, masked.bundles);
    const template = { type: 'template', data: { name: 'No such', template: 'x', data: { token: mask } } };
    assert.deepEqual(ok(await install(packed('s2', [template]))).data.missingSecrets, [
      '/prebuilt/bundles/0/data/data/token',
    ]);
    assert.deepEqual((await exported('s2')).bundles, [template]);
  });

  it('are not for another document under the same name', async () => {
    ok(await ask('DELETE', `/operations-manager/automations/${id('1')}`));
    const other = {
      type: 'automation',
      data: { ...automation('7'), name: 'Automation 1', triggers: [trigger('8', '7', { password: mask })] },
    };
    assert.deepEqual(ok(await install(packed('p', [other]), true)).data.missingSecrets, [
      '/prebuilt/bundles/0/data/triggers/0/formData/password',
    ]);
  });

  it('are so many at most', async () => {
    const many = Array.from({ length: 3 }, (_, i) => ({
      type: 'integrationModel',
      data: { name: `w${i}`, list: Array.from({ length: 4000 }, () => ({ key: 'x' })) },
    }));
    refused(
      await install(packed('many', many)),
      400,
      /bundles\/2\/data.*10000 secrets|10000 secrets.*bundles\/2\/data/,
    );
  });

  it('are in no file, and in no line of the log', () => {
    assert.ok(secrets.size > 12);
    assert.deepEqual(textsKept(service, [...secrets.keys()]), []);
    assert.deepEqual(textsKept(service, ['Automation 1']), ['Automation 1']);
  });
});

/** A package whose documents name and describe secrets and hold none; `wire` makes the members that earlier versions sealed. */
const wired = (name: string, wire = (value: unknown): unknown => value): Doc =>
  packed(name, [
    {
      type: 'integrationModel',
      data: {
        name: 'Rotate a key',
        tasks: {
          20: {
            matched: [{ key: wire('summary'), highlightString: '<b>rest</b>' }],
            variables: {
              incoming: {
                password: wire('$var.job.password'),
                key: wire('$var.b2.response.key'),
                auth: wire({}),
                variables: {
                  password: { task: 'job', value: 'password' },
                  token: wire({ editable: true, task: 'b2', variable: 'token' }),
                  merge: [{ key: 'site', value: 'x' }],
                },
              },
            },
          },
          3: {},
        },
        inputSchema: {
          type: 'object',
          properties: {
            key: wire({ type: ['string', 'null'], examples: [1.5] }),
            secret: wire({ anyOf: [{ type: 'string' }] }),
            token: wire({ enum: ['a', 'b'] }),
          },
        },
      },
    },
  ]);

describe('A package whose documents name and describe secrets', () => {
  let service: TestService;
  const old = 'old-wiring';
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    const { seal } = sealing({ key: makeKey(join(folder, 'secret.key')) });
    const prebuilt = wired(old, (value) => seal(typeof value === 'string' ? value : JSON.stringify(value)));
    prebuilt.bundles[0].data.tasks[20].variables.incoming.password = mask;
    const hashed = wired(old, () => mask).bundles;
    const imported = {
      prebuilt,
      parts: [],
      removed: [],
      installed: [],
      kept: [{ type: 'integrationModel', name: 'Rotate a key' }],
      refused: [],
      accounts: {},
      bundlesHash: hash('sha256', canonical(hashed), 'hex'),
      createdEpoch: '1767225600000',
    };
    const stream = `prebuilt-${prebuiltId(old)}`;
    await storedEarlier(folder, [{ stream, source: 'prebuilts', topic: 'prebuiltImported', data: imported }]);
    service = await startService({}, folder);
  });
  after(async () => {
    await service.stop();
    rmSync(service.folder, { recursive: true });
  });
  const install = (prebuilt: Doc) => service.ask('POST', '/prebuilts/import', { prebuilt });
  const exported = async (name: string) => ok(await service.ask('GET', `/prebuilts/${name}/export`)).bundles;

  it('is exported as it came, and no change when it comes again', async () => {
    assert.equal(ok(await install(wired('wired'))).data.missingSecrets, undefined);
    assert.deepEqual(await exported('wired'), wired('wired').bundles);
    const again = await service.ask('POST', '/prebuilts/import', { prebuilt: wired('wired') });
    assert.equal(ok(again).message, 'The prebuilt is installed already');
    const secret = packed('static', [
      {
        type: 'integrationModel',
        data: { name: 's', incoming: { password: { task: 'static', value: 'hunter2' }, key: '$var' } },
      },
    ]);
    ok(await install(secret));
    assert.deepEqual((await exported('static'))[0].data.incoming, { password: mask, key: mask });
  });

  it('shows again what an earlier version has sealed, and is the same', async () => {
    const shown = wired(old);
    shown.bundles[0].data.tasks[20].variables.incoming.password = mask;
    assert.deepEqual(await exported(old), shown.bundles);
    const before = await positionOf(service);
    for (const same of [shown, wired(old, () => mask)])
      assert.equal(ok(await install(same)).message, 'The prebuilt is installed already');
    assert.equal(await positionOf(service), before);
  });
});

describe('A package that was installed before secrets were sealed', () => {
  let folder: string;
  let service: TestService;
  const old = packed('old', [
    { type: 'template', data: { name: 'Old', template: 'x', data: { token: 'early-token' } } },
    { type: 'integrationModel', data: { name: 'Old', password: 'early-password' } },
  ]);
  const shown = packed('old', [
    { type: 'template', data: { name: 'Old', template: 'x', data: { token: mask } } },
    { type: 'integrationModel', data: { name: 'Old', password: mask } },
  ]);
  const stream = `prebuilt-${prebuiltId('old')}`;
  const imported = {
    prebuilt: old,
    parts: [{ category: 'template', id: id('a'), names: [{ kind: 'template', name: 'Old' }], bundle: 0 }],
    removed: [],
    installed: [{ type: 'template', _id: id('a'), name: 'Old' }],
    kept: [{ type: 'integrationModel', name: 'Old' }],
    accounts: {},
    bundlesHash: hash('sha256', canonical(old.bundles), 'hex'),
    createdEpoch: '1767225600000',
  };
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    // Stopped before it was carried out: that happens now, and must not bring the secret into another stream.
    await storedEarlier(folder, [{ stream, source: 'prebuilts', topic: 'prebuiltImported', data: imported }]);
    service = await startService({}, folder);
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });
  const install = (prebuilt: Doc, overwrite = false) =>
    service.ask('POST', '/prebuilts/import', { prebuilt, options: { overwrite } });
  const carriedOut = async (): Promise<void> => {
    while ((await install(shown)).status === 503)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  };

  it('shows masks, and no fingerprint that was made of secrets', async () => {
    await carriedOut();
    const { bundles, manifest } = ok(await service.ask('GET', '/prebuilts/old/export'));
    assert.deepEqual(bundles, shown.bundles);
    assert.equal('fingerprint' in manifest, false);
    assert.equal('fingerprint' in ok(await service.ask('GET', '/prebuilts/old')).manifest, false);
    assert.equal(ok(await service.ask('GET', '/template_builder/templates/Old')).data.token, mask);
  });

  it('is installed already when it comes back as it is exported, and its secrets are kept', async () => {
    assert.equal(
      ok(await install(ok(await service.ask('GET', '/prebuilts/old/export')))).message,
      'The prebuilt is installed already',
    );
    refused(await install(old), 409);
    ok(await install({ ...shown, readme: 'new' }, true));
    assert.deepEqual(ok(await service.ask('GET', '/prebuilts/old/export')).bundles, shown.bundles);
  });

  it('brings its secrets into no further event', async () => {
    const kept = await streamsWith(folder, 'early-');
    assert.deepEqual(kept, [stream]);
  });
});

describe('A package with an automation that not everybody may read', () => {
  let service: TestService;
  let who: People;
  const hidden = automation('1', { name: 'Very hidden', gbac: { read: [], write: ['ops'] } });
  const open = automation('2', { name: 'Open' });
  const whole = (
    bundles: readonly object[] = [
      { type: 'automation', data: hidden },
      { type: 'automation', data: open },
      { type: 'integrationModel', data: { name: 'Flow' } },
    ],
  ) => packed('p', bundles);
  const nothingOf = (text: string): void => assert.doesNotMatch(text, new RegExp(`hidden|${id('1')}`, 'i'));
  before(async () => {
    service = await startService();
    who = await people(service);
    ok(await service.ask('POST', '/prebuilts/import', { prebuilt: whole() }));
  });
  after(() => service.stop());

  it('is hidden from them', async () => {
    for (const way of ['', '/export']) {
      const answer = await who.stranger('GET', `/prebuilts/p${way}`);
      refused(answer, 404);
      const { text } = await who.stranger('GET', `/prebuilts/missing${way}`);
      assert.equal(answer.text.replaceAll('\\"p\\"', '\\"missing\\"'), text);
      refused(await who.stranger('GET', `/prebuilts/${prebuiltId('p')}${way}`), 404);
      assert.match((await who.member('GET', `/prebuilts/p${way}`)).text, /Very hidden/);
    }
    assert.deepEqual(ok(await who.stranger('GET', '/prebuilts')), { results: [], total: 0 });
    assert.match((await who.member('GET', '/prebuilts')).text, /Very hidden/);
  });

  it('tells them nothing when they import it, be it the same or not', async () => {
    const answers = [];
    for (const bundles of [undefined, [{ type: 'automation', data: hidden }], []])
      for (const overwrite of [false, true])
        answers.push(
          await who.stranger('POST', '/prebuilts/import', { prebuilt: whole(bundles), options: { overwrite } }),
        );
    for (const answer of answers) {
      refused(answer, 409, /metadata\/name/);
      nothingOf(answer.body.message + JSON.stringify(answer.body.metadata.errors));
      assert.deepEqual(answer.body, answers[0]!.body);
    }
  });

  it('answers an import without what its author may not read', async () => {
    const own = packed('own', [
      { type: 'automation', data: automation('3', { name: 'Given away', gbac: { write: ['ops'] } }) },
    ]);
    const answer = ok(await who.stranger('POST', '/prebuilts/import', { prebuilt: own }, { 'Idempotency-Key': 'own' }));
    assert.deepEqual(answer.data.installed, []);
    assert.deepEqual(
      ok(await who.stranger('POST', '/prebuilts/import', { prebuilt: own }, { 'Idempotency-Key': 'own' })),
      answer,
    );
    assert.equal(ok(await who.member('GET', '/prebuilts/own')).installed.length, 1);
  });

  it('keeps to the last access lists of one that has been deleted', async () => {
    ok(await who.member('DELETE', `/operations-manager/automations/${id('1')}`));
    refused(await who.stranger('GET', '/prebuilts/p/export'), 404);
    ok(await who.member('GET', '/prebuilts/p/export'));
    refused(await who.stranger('DELETE', '/prebuilts/p'), 404);
    ok(await who.member('DELETE', '/prebuilts/p'));
  });
});
