import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { isLeftOut, migrateAll, type Report } from '../../../src/cli/commands/migrate.ts';
import { vlanRollout } from '../../../src/demo/prebuilts.ts';
import { positionOf } from '../../support/hostile.ts';
import { ok } from '../../support/people.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';

const sourceAuth = { username: 'admin', password: adminPassword };

describe('migrate, over HTTP', () => {
  let here: TestService;
  let elsewhere: TestService;
  let folder: string;
  before(async () => {
    here = await startService();
    elsewhere = await startService();
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-migrate-'));
  });
  after(async () => {
    await here.stop();
    await elsewhere.stop();
    rmSync(folder, { recursive: true });
  });

  /** Runs a migration and returns its reports, what it says of its progress, and the number of refused documents. */
  const migrated = async (
    source: string,
    target: TestService,
    more: { readonly dryRun?: boolean; readonly overwrite?: boolean; readonly password?: string } = {},
  ) => {
    const { dryRun = false, overwrite = false, password = adminPassword } = more;
    const [report, progress] = [new PassThrough(), new PassThrough()];
    const summary = await migrateAll(
      { source, sourceAuth, target: { url: target.url, auth: { username: 'admin', password } }, dryRun, overwrite },
      new AbortController().signal,
      { report, progress },
    );
    const lines = String(report.read() ?? '').split('\n');
    const reports = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Report);
    const refused = summary.documents.filter(isLeftOut).length;
    return { reports, progress: String(progress.read() ?? ''), refused, summary };
  };
  const outcomes = (reports: readonly Report[]) =>
    reports.map(({ kind, name, outcome }) => `${kind} ${name}: ${outcome}`);
  const write = (name: string, value: unknown): void => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));
  };

  it('imports a folder in the order in which documents name each other', async () => {
    const automation = {
      _id: 'a'.repeat(24),
      name: 'Nightly',
      description: '',
      componentType: null,
      componentName: null,
      gbac: {},
      triggers: [
        {
          _id: 'b'.repeat(24),
          name: 'By hand',
          enabled: true,
          actionType: 'automations',
          actionId: 'a'.repeat(24),
          type: 'manual',
          formId: 'Site',
          formData: null,
        },
      ],
    };
    write('a/automation.json', { message: 'Exported', data: automation, metadata: {} });
    write('b/form.json', [{ name: 'Site', struct: { type: 'object', items: [] }, extra: 1 }]);
    write('b/package.json', { prebuilt: vlanRollout });
    write('mop.json', '{"name": "Check", "commands": [{"command": "show version", "x": 1.0}]}');
    write('flow.json', { name: 'Flow', tasks: {}, transitions: {} });
    write('moves.json', { name: 'Moves', incoming: [], outgoing: [], steps: [] });
    const bundles = [
      { type: 'templates', data: { name: 'T' } },
      { type: 'integrationModel', data: { name: 'Flow' } },
    ];
    write('b/parts.json', { ...vlanRollout, metadata: { ...vlanRollout.metadata, name: 'parts' }, bundles });
    write('notes.json', '{"remember": "milk"}');
    const component = (type: string, document: object) => ({ type, document });
    const components = [
      component('jsonForm', { name: 'Which site' }),
      component('template', { name: 'No text', template: 1 }),
    ];
    write('sites.project.json', { _id: 'b'.repeat(24), name: 'Sites', components });
    write('broken.json', '{');
    const expected = [
      'package @vendor/vlan-rollout: installed',
      'package parts: kept',
      'project Sites: installed',
      'form Site: installed',
      'command template Check: installed',
      'transformation Moves: installed',
      'workflow Flow: installed',
      'automation Nightly: installed',
      'null : refused',
      'null : skipped',
    ];
    const dry = await migrated(folder, here, { dryRun: true });
    assert.deepEqual(outcomes(dry.reports), expected);
    assert.equal(ok(await here.ask('GET', '/json-forms/forms')).total, 0);
    const { reports, refused, progress } = await migrated(folder, here);
    assert.deepEqual([outcomes(reports), refused], [expected, 3]);
    assert.match(
      progress,
      /7 installed; 1 kept: 1 package; 1 refused: 1 document; 1 skipped: 1 document; 2 refused within packages/,
    );
    const text = (await here.ask('POST', '/mop/export', { options: { name: 'Check', as: 'imported' } })).text;
    assert.equal(text, '{"name":"Check","commands":[{"command":"show version","x":1.0}]}');
    const before = await positionOf(here);
    const again = (line: string) => line.replace(/: (?:installed|kept)$/, ': unchanged');
    for (const dryRun of [true, false]) {
      const second = await migrated(folder, here, { dryRun });
      assert.deepEqual(outcomes(second.reports), expected.map(again), String(dryRun));
    }
    assert.equal(await positionOf(here), before, 'a second run is a change');
  });

  it('walks another platform, page by page', async () => {
    const many = Array.from({ length: 120 }, (_, i) => ({ name: `Form ${i}`, unknown: i }));
    ok(await here.ask('POST', '/json-forms/import/forms', { forms: many }));
    const { reports, refused } = await migrated(here.url, elsewhere);
    assert.equal(refused, 0, JSON.stringify(reports.filter(({ outcome }) => outcome !== 'installed')));
    for (const path of [
      '/json-forms/forms',
      '/operations-manager/automations',
      '/prebuilts',
      '/configuration_manager/configs',
    ]) {
      const list = `${path}?limit=1`;
      const [from, to] = [await here.ask('GET', list), await elsewhere.ask('GET', list)];
      assert.equal(to.body.total ?? to.body.metadata.total, from.body.total ?? from.body.metadata.total, path);
    }
    const same = async (service: TestService) =>
      (await service.ask('GET', '/json-forms/forms/Form%20119/export?as=imported')).text;
    assert.equal(await same(elsewhere), await same(here));
    assert.equal(await same(here), '{"name":"Form 119","unknown":119}');
  });

  it('says what is missing, by kind, and which workflows can run', async () => {
    const edges = { workflow_start: { a1: { type: 'standard', state: 'success' } } };
    const flow = (name: string, task: object) => ({
      name,
      tasks: { workflow_start: {}, workflow_end: {}, a1: task },
      transitions: { ...edges, a1: { workflow_end: { type: 'standard', state: 'success' } } },
    });
    write(
      'some/a.json',
      flow('Alone', { name: 'newVariable', app: 'WorkFlowEngine', variables: { incoming: { name: 'x', value: 1 } } }),
    );
    const incoming = { token: '********' };
    write(
      'some/b.json',
      flow('Needs', { name: 'send', app: 'Mailer', location: 'Application', variables: { incoming } }),
    );
    const { summary, progress } = await migrated(join(folder, 'some'), here);
    assert.deepEqual(summary.kinds, { workflow: { installed: 2 } });
    assert.deepEqual(summary.ready, ['Alone']);
    assert.deepEqual(
      new Set(summary.missing.map((one) => `${one.in} ${one.kind}`)),
      new Set(['Needs secret', 'Needs task']),
    );
    assert.match(
      progress,
      /installed +unchanged +kept +refused +skipped\nworkflow +2 +0 +0 +0 +0\n1 can run\n1 miss something/,
    );
  });

  it('says what is refused, and why', async () => {
    write('only/mop.json', { name: 'Check', commands: [{ command: 'show clock' }] });
    const conflict = await migrated(join(folder, 'only'), here);
    assert.deepEqual([outcomes(conflict.reports), conflict.refused], [['command template Check: refused'], 1]);
    assert.match(conflict.reports[0]?.why ?? '', /exists with other content/);
    const dry = await migrated(join(folder, 'only'), here, { dryRun: true });
    assert.deepEqual(
      [outcomes(dry.reports), dry.reports[0]?.why],
      [outcomes(conflict.reports), conflict.reports[0]?.why],
    );
    assert.equal((await migrated(join(folder, 'only'), here, { overwrite: true })).refused, 0);
    await assert.rejects(migrated(folder, here, { password: 'wrong' }), /does not let you in/);
  });
});
