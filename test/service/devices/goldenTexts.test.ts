import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { derivedId } from '@automation-platform/json';
import { builtInOf } from '../../support/builtIn.ts';
import { positionOf } from '../../support/hostile.ts';
import { storedEarlier } from '../../support/logged.ts';
import { ok, refused } from '../../support/people.ts';
import { startService } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

const manager = '/configuration_manager';
const mask = '********';

describe('Texts of golden configurations', () => {
  const service = useService();
  const make = async (name: string, deviceType = 'cisco-ios') => {
    const tree = ok(await service.ask('POST', `${manager}/configs`, { name, deviceType }));
    return { id: tree._id, root: tree.versions[0].root.configId };
  };
  const put = (treeId: string, nodePath: string, template: string, variables: object | undefined = undefined) =>
    service.ask('PUT', `${manager}/node/config`, {
      treeId,
      treeVersion: 'initial',
      nodePath,
      data: { template, variables: variables ?? {} },
      updateVariables: variables !== undefined,
    });
  const check = (treeId: string, more: object) =>
    service.ask('POST', `${manager}/compliance_reports/config`, {
      options: { treeId, version: 'initial', deviceName: 'unknown-01', dryRun: true, ...more },
    });
  const spec = async (configId: string) => ok(await service.ask('GET', `${manager}/config_specs/${configId}`));

  it('are compared within a second of processor time; beyond it the report is an error, and the next check is carried out', async () => {
    const { id } = await make('Slow');
    ok(await put(id, 'base', Array.from({ length: 199 }, (_, i) => `{/a${i}/} x`).join('\n')));
    const configuration = Array.from({ length: 200_000 }, (_, i) => `line ${i}`).join('\n');
    const slow = ok(await check(id, { configuration }));
    assert.deepEqual([slow.status, slow.score, slow.grade, slow.totals.passes], ['error', null, null, 0]);
    assert.match(slow.reason, /takes longer than 1000 ms/);
    const next = ok(await check(id, { configuration: 'a7 x\n' }));
    assert.deepEqual([next.status, next.totals.passes], ['complete', 1]);
  });

  it('are made from a configuration, which they fit, and written as one', async () => {
    const { id } = await make('Generated');
    const nativeConfig = 'hostname r1\nbanner motd ^C\n {{ x }}\n^C\ninterface Gi0/1\n no shutdown\n!\nline {/ vty\n';
    const body = { nativeConfig, deviceType: 'cisco-ios' };
    const lines = ok(await service.ask('POST', `${manager}/generate/config_spec`, body));
    const options = { template: true };
    const made = ok(await service.ask('POST', `${manager}/generate/config_spec`, { ...body, options }));
    assert.deepEqual(made.lines, lines);
    ok(await put(id, 'base', made.template));
    const { totals } = ok(await check(id, { configuration: nativeConfig }));
    assert.deepEqual(totals, { errors: 0, warnings: 0, infos: 0, passes: 5 });
    ok(
      await put(id, 'base', 'ntp server {{ ntp }}\n{d/}ip http server\n<e/>interface {/.+/}\n no shutdown', {
        ntp: '1',
      }),
    );
    const node = { treeID: id, version: 'initial', nodePath: 'base' };
    assert.deepEqual(ok(await service.ask('POST', `${manager}/translate/config_spec`, node)), {
      config: 'ntp server 1\ninterface {/.+/}\n no shutdown\n',
    });
    const page = { nativeConfig: '<html>', deviceType: 'cisco-ios' };
    refused(await service.ask('POST', `${manager}/generate/config_spec`, page), 400, /HTML/);
  });

  it('are read by a parser of the type of their tree, which stays until no tree names it', async () => {
    const parsers = `${manager}/configurations/parser`;
    const lexRules = [
      ['#[^\\n]*', 'comment'],
      ['[^\\s;{}]+', 'word'],
      [';', 'end_line'],
      ['\\{', 'open_statement_block'],
      ['\\}', 'close_statement_block'],
    ];
    const send = (method: string, body: object) => service.ask(method, parsers, body);
    const { parser } = ok(await send('POST', { name: 'acme_os', template: 'juniper-junos', lexRules }));
    const { list, total } = ok(await service.ask('GET', parsers));
    assert.equal(list.length, total);
    assert.deepEqual(list.at(-1), parser);
    const builtIn = list.find(({ name }: { name: string }) => name === 'vyos');
    assert.deepEqual([builtIn.id, builtIn.template], [null, 'vyos']);
    const { id } = await make('Of a parser', 'acme_os');
    ok(await put(id, 'base', 'port {/.+/} {\n  <e/>mtu {/^9\\d{3}$/};\n  {d/}shut;\n}'));
    refused(await put(id, 'base', 'port {'), 400, /line 1: .*not closed/);
    const configuration = 'port a { mtu 9000; } # shut;\nport b { mtu 1500;shut; }';
    const report = ok(await check(id, { configuration }));
    assert.deepEqual(report.totals, { errors: 1, warnings: 1, infos: 0, passes: 3 });
    assert.equal(report.deviceType, 'acme_os');
    const made = { nativeConfig: configuration, deviceType: 'acme_os', options: { template: true } };
    const { template } = ok(await service.ask('POST', `${manager}/generate/config_spec`, made));
    assert.equal(template, 'port a {\n    mtu 9000;\n}\nport b {\n    mtu 1500;\n    shut;\n}\n');
    refused(await send('DELETE', { id: parser.id }), 409, /Of a parser/);
    refused(await send('PUT', { id: 'acme_os', name: 'other' }), 409, /renamed/);
    ok(await send('PUT', { id: 'acme_os', template: 'cisco-ios', lexRules: [] }));
    assert.equal((await check(id, { configuration })).body.status, 'complete');
    const take = (more: object, overwrite = false) =>
      service.ask('POST', `${manager}/import/parsers`, { parsers: [{ ...parser, ...more }], overwrite });
    refused(await take({}), 409);
    assert.deepEqual(ok(await take({}, true)).data[0].data.lexRules, lexRules);
    ok(await service.ask('PUT', `${manager}/configs/${id}`, { deviceType: 'cisco-ios' }));
    const at = await positionOf(service);
    ok(await send('DELETE', { id: 'acme_os' }));
    assert.equal(ok(await service.ask('GET', parsers)).total, total - 1);
    assert.equal(ok(await service.ask('GET', `${parsers}?asOf=${at}`)).total, total);
    ok(await service.ask('POST', '/audit/restore', { kind: 'configurationParser', id: parser.id, position: at }));
    assert.deepEqual(ok(await service.ask('GET', parsers)).list.at(-1).lexRules, lexRules);
  });

  it('are found by a device: it is in their nodes, or in a device group of theirs', async () => {
    const { id, root } = await make('Found');
    const base = `${manager}/configs/${id}/initial/base`;
    const { attributes } = ok(await service.ask('POST', base, { name: 'Ulm' }));
    ok(await service.ask('POST', `${base}/Ulm/devices`, { devices: ['found-1'] }));
    const { id: group } = ok(
      await service.ask('POST', `${manager}/devicegroup`, { name: 'Found', devices: ['found-1'] }),
    );
    const groups = { treeId: id, version: 'initial', nodePath: 'base', deviceGroups: [group] };
    ok(await service.ask('POST', `${manager}/configs/devices/groups`, groups));
    const where = { id, name: 'Found', version: 'initial' };
    assert.deepEqual(ok(await service.ask('POST', `${manager}/devices/device/trees`, { device: 'found-1' })), [
      { ...where, nodePath: 'base', nodeId: root },
      { ...where, nodePath: 'base/Ulm', nodeId: attributes.configId },
    ]);
    assert.deepEqual(ok(await service.ask('POST', `${manager}/devices/device/trees`, { device: 'found-2' })), []);
  });

  it('are set by the path or the id of a node, with variables; the spec shows their lines', async () => {
    const { id, root } = await make('Texts');
    const child = ok(await service.ask('POST', `${manager}/configs/${id}/initial/nodes`, { name: 'EMEA' }));
    const answer = await put(id, '/base', 'ntp server {{ ntp }}\n<e/>{d/}ip http server\n', { ntp: '10.0.0.1' });
    assert.deepEqual(ok(answer), { status: 'success', message: 'Node Config updated' });
    const again = await put('Texts', 'base', 'ntp server {{ ntp }}\n<e/>{d/}ip http server\n', { ntp: '10.0.0.1' });
    assert.equal(again.headers.get('x-event-position'), answer.headers.get('x-event-position'), 'no event');
    ok(await put(id, 'base/EMEA', 'hostname {/lon-.+/}'));
    const { lines, ...about } = await spec(root);
    assert.deepEqual(about, {
      id: root,
      deviceType: 'cisco-ios',
      template: 'ntp server {{ ntp }}\n<e/>{d/}ip http server\n',
    });
    assert.deepEqual(
      lines.map((line: any) => [line.words.map(({ value }: any) => value).join(' '), line.evalMode, line.severity]),
      [
        ['ntp server 10.0.0.1', 'required', 'warning'],
        ['ip http server', 'disallowed', 'error'],
      ],
    );
    const data = { template: 'hostname {{ name', variables: {} };
    refused(await service.ask('PUT', `${manager}/config_specs/${child.configId}`, { data }), 400, /line.*template/);
    const better = { template: 'hostname {{ site }}', variables: { site: 'lon-1' } };
    const stored = ok(await service.ask('PUT', `${manager}/config_specs/${child.configId}`, { data: better }));
    assert.deepEqual([stored.status, stored.lines[0].words[1].value], ['success', 'lon-1']);
    const [{ variables }] = ok(await service.ask('GET', `${manager}/configs/${id}`)).versions;
    assert.deepEqual(variables, { ntp: '10.0.0.1', site: 'lon-1' });
    assert.doesNotMatch((await service.ask('GET', `${manager}/configs/${id}`)).text, /template/, 'trees have no texts');
  });

  it('are refused with the line and the reason, and change nothing', async () => {
    const { id, root } = await make('Refused');
    ok(await put(id, 'base', 'a'));
    const refusals: readonly (readonly [string, number, RegExp])[] = [
      ['a\n{% if x %}', 400, /"line":2|endif/],
      ['a\nb {/x', 400, /"line":2/],
      ['b {/(?=a)/}', 400, /"line":1/],
      ['{/(a+)+\\1$/}', 400, /"line":1/],
      ['a\n b\n{xx/}c', 400, /"line":3/],
      ['<x/>c', 400, /"line":1/],
      [`b {/${'x'.repeat(1001)}/}`, 400, /1000/],
      ['{/a/}\n'.repeat(201), 400, /200 expressions/],
      ['a\n'.repeat(5001), 400, /5000 lines/],
      ['é'.repeat(32 * 1024 + 1), 413, /65536 bytes/],
      ['a\u0000b', 400, /NUL/],
      [Array.from({ length: 65 }, (_, i) => `${' '.repeat(i)}a`).join('\n'), 400, /64 levels/],
    ];
    for (const [template, status, words] of refusals) refused(await put(id, 'base', template), status, words);
    refused(await put(id, 'base', 'x', { token: mask }), 400, /token/);
    for (const path of ['none', 'base/none', 'base/', '//base', 'constructor'])
      refused(await put(id, path, 'b'), 404, /nodePath/);
    refused(await put('none', 'base', 'b'), 404);
    assert.equal((await spec(root)).template, 'a');
    refused(await service.ask('GET', `${manager}/config_specs/none`), 404);
  });

  it('are of nodes with any name, which is one part of a path', async () => {
    const { id } = await make('Names');
    const base = `${manager}/configs/${id}/initial/base`;
    const names = ['a/b', '%2F', 'constructor', '__proto__', 'ü ?#&', 'x'.repeat(256)];
    // Clients of HTTP take these two out of a path: they go by the body.
    for (const name of [...names, '.', '..']) {
      ok(await service.ask('POST', base, { name }));
      ok(await put(id, `base/${name}`, 'hostname a'));
      const { totals } = ok(await check(id, { nodePath: `base/${name}`, configuration: 'hostname a' }));
      assert.equal(totals.passes, 1, name);
    }
    for (const name of names) ok(await service.ask('DELETE', `${base}/${encodeURIComponent(name)}`));
    refused(await service.ask('POST', base, { name: 'x'.repeat(257) }), 400, /name/);
    const { root } = ok(await service.ask('GET', `${manager}/configs/${id}/initial`));
    assert.deepEqual(
      root.children.map(({ name }: { name: string }) => name),
      ['.', '..'],
    );
  });

  it('that do not render with these variables are kept, and say why', async () => {
    const { id, root } = await make('Later');
    for (const template of [
      '{{ device.vlans[0].id }}',
      '{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}',
      '{% for a in range(10000) %}{{ "x" * 10000 }}{% endfor %}',
    ]) {
      ok(await put(id, 'base', template));
      const { lines, fault } = await spec(root);
      assert.equal(lines, null);
      assert.ok(fault.line === 1 && fault.reason !== '', JSON.stringify(fault));
      const report = ok(await check(id, { configuration: 'a' }));
      assert.deepEqual([report.status, report.score, report.grade, report.totals.passes], ['error', null, null, 0]);
      assert.match(report.reason, /./);
    }
  });

  it('of a node and of those above it are what a configuration is compared with', async () => {
    const { id, root } = await make('Compared');
    const child = ok(await service.ask('POST', `${manager}/configs/${id}/initial/nodes`, { name: 'Bonn' }));
    const variables = { key: 'hush-hush', ntp: '10.0.0.1' };
    ok(
      await put(
        id,
        'base',
        'ntp server {{ ntp }} key {{ key }}\n{d/}ip http server\nhostname {{ device.name }}',
        variables,
      ),
    );
    ok(await put(id, 'base/Bonn', 'interface {/Gi.+/}\n no shutdown\n{d/}no such line'));
    const configuration = 'hostname unknown-01\nip http server\ninterface Gi0/1\n shutdown\n';
    const report = ok(await check(id, { nodePath: 'base/Bonn', configuration }));
    assert.deepEqual(
      { ...report, issues: report.issues.length, timestamp: 0, configuration: report.configuration.lines },
      {
        id: null,
        batchId: null,
        planId: null,
        treeId: id,
        version: 'initial',
        nodePath: 'base/Bonn',
        nodeId: child.configId,
        deviceName: 'unknown-01',
        deviceType: 'cisco-ios',
        timestamp: 0,
        status: 'complete',
        specId: child.configId,
        inheritedSpecIds: [root],
        totals: { errors: 0, warnings: 3, infos: 0, passes: 3 },
        score: 50,
        grade: 'fail',
        issues: 3,
        configuration: 4,
      },
    );
    assert.deepEqual(
      report.issues.map(({ type, parents, found, spec }: any) => [
        type,
        parents,
        spec.words.map(({ value }: any) => value).join(' '),
        found,
      ]),
      [
        ['required', [], `ntp server 10.0.0.1 key ${mask}`, null],
        ['disallowed', [], 'ip http server', 'ip http server'],
        ['required', ['interface Gi0/1'], 'no shutdown', null],
      ],
    );
    assert.doesNotMatch(JSON.stringify(report), /hush/);
    assert.doesNotMatch(JSON.stringify(await spec(root)), /hush/);
    assert.equal(ok(await check(id, { configuration: 'hostname unknown-01' })).issues.length, 1, 'the root alone');
  });

  it('are compared with a device as it is now; what cannot be read is an error, never a pass', async () => {
    const { id } = await make('Read');
    ok(await put(id, 'base', 'hostname {{ device.name }}\nntp server {{ device.site_ntp }}\n{i/}nothing'));
    const adapter = { name: 'golden', type: 'lab', properties: {}, devices: [{ name: 'r1', ostype: 'cisco_ios' }] };
    ok(await service.ask('POST', `${manager}/adapters`, adapter));
    ok(
      await service.ask('POST', `${manager}/devices/r1/configuration`, {
        config: { config: 'ntp server 10.9.9.9' },
        options: {},
      }),
    );
    ok(await service.ask('POST', '/inventory_manager/v1/inventories', { name: 'golden' }));
    const nodes = [{ name: 'r1', attributes: { site_ntp: '10.9.9.9', password: 'hush', name: 'not this' } }];
    ok(await service.ask('POST', '/inventory_manager/v1/inventories/golden/nodes', { nodes }));
    const report = ok(await check(id, { deviceName: 'r1' }));
    assert.deepEqual([report.status, report.issues, report.grade], ['complete', [], 'pass'], JSON.stringify(report));
    refused(await check(id, { deviceName: 'nobody' }), 404);
    const away = {
      name: 'away',
      type: 'http',
      properties: { baseUrl: 'http://127.0.0.1:1' },
      devices: [{ name: 'r2' }],
    };
    ok(await service.ask('POST', `${manager}/adapters`, away));
    const failed = ok(await check(id, { deviceName: 'r2' }));
    assert.deepEqual([failed.status, failed.score, failed.grade, failed.configuration], ['error', null, null, null]);
    for (const configuration of ['<!DOCTYPE html><html>', '!', `a\u0000b`, '}'.repeat(3)]) {
      const { id: braces } = configuration.startsWith('}') ? await make('Braces', 'juniper-junos') : { id };
      const bad = ok(await check(braces, { configuration }));
      assert.deepEqual([bad.status, bad.grade], ['error', null], configuration);
    }
    refused(await check(id, { configuration: 'x'.repeat(4 * 1024 * 1024 + 1) }), 413);
    refused(await check((await make('Kept', 'json')).id, { configuration: '{}' }), 409, /json/);
  });
});

describe('A log of the version before', () => {
  const [tree, root, leaf, plan, group] = ['a', 'b', 'c', 'd', 'e'].map((digit) => digit.repeat(24));
  const cm = { source: 'configuration-manager' };
  const published = {
    data: [
      {
        treeId: tree,
        name: 'Routers',
        version: 'initial',
        deviceType: 'cisco-ios',
        created: '2024-08-30T22:44:28.863Z',
        root: {
          name: 'base',
          attributes: {
            configId: root,
            devices: ['r1'],
            deviceGroups: [{ id: group, date: '2023-12-21T15:56:38.782Z' }],
            export: { _id: root, template: 'ntp server {{ ntp }}', lines: [{ id: 'x' }] },
          },
          children: [
            { name: 'Bonn', attributes: { configId: leaf, export: { template: 'hostname bonn' } }, children: [] },
            { name: 'Kiel', attributes: { devices: [], export: { template: 'hostname kiel' } }, children: [] },
          ],
        },
        variables: { ntp: '10.0.0.1' },
      },
    ],
    status: 'success',
  };

  it('gives the texts of imported trees; exports are what was imported, and then what has changed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'earlier-'));
    const kiel = derivedId(`${tree} /children/1`);
    const nodes = (...more: object[]) => ({
      name: 'base',
      configId: root,
      children: [
        { name: 'Bonn', configId: leaf, children: [] },
        { name: 'Kiel', configId: kiel, children: [] },
        ...more,
      ],
    });
    const content = { name: 'Routers', deviceType: 'cisco-ios' };
    const versions = [{ name: 'initial', root: nodes(), variables: { ntp: '10.0.0.1' } }];
    const stream = `tree-${tree}`;
    const about = { description: '', gbac: { read: [], write: [] } };
    const planNodes = [{ treeId: tree, version: 'v2', nodeId: leaf, devices: ['r1'], deviceGroups: ['Core'] }];
    await storedEarlier(folder, [
      { ...cm, stream, topic: 'treeRestored', data: { ...content, versions, imported: published } },
      { ...cm, stream, topic: 'treeVersionAdded', data: { name: 'v2', base: 'initial' } },
      {
        ...cm,
        stream,
        topic: 'treeNodeAdded',
        data: { version: 'v2', parent: root, name: 'Ulm', configId: 'f'.repeat(24) },
      },
      {
        ...cm,
        stream: `plan-${plan}`,
        topic: 'planCreated',
        data: { ...about, name: 'Nightly', status: 'active', nodes: planNodes },
      },
      {
        ...cm,
        stream: `deviceGroup-${group}`,
        topic: 'deviceGroupCreated',
        data: { name: 'Core', description: '', devices: ['r1'] },
      },
    ]);
    const service = await startService({}, folder);
    try {
      const { ask } = service;
      const shown = ok(await ask('GET', `${manager}/configs/Routers`));
      assert.deepEqual(
        shown.versions.map((version: any) => version.root),
        [nodes(), nodes({ name: 'Ulm', configId: 'f'.repeat(24), children: [] })].map((one) => {
          const { name, configId, children } = one;
          return { name, configId, devices: ['r1'], deviceGroups: [group], children };
        }),
      );
      const spec = async (id: string | undefined) => ok(await ask('GET', `${manager}/config_specs/${id}`)).template;
      assert.deepEqual(
        [await spec(root), await spec(leaf), await spec(kiel)],
        ['ntp server {{ ntp }}', 'hostname bonn', 'hostname kiel'],
      );
      const exported = async () => ok(await ask('GET', `${manager}/configs/Routers/export?as=imported`));
      const before = await exported();
      assert.deepEqual({ ...before, data: before.data.slice(0, 1) }, published);
      assert.deepEqual(before.data[1].root.attributes, {
        configId: root,
        devices: ['r1'],
        deviceGroups: [group],
        export: { template: 'ntp server {{ ntp }}' },
      });
      const checked = async (version: string) =>
        ok(
          await ask('POST', `${manager}/compliance_reports/config`, {
            options: {
              treeId: tree,
              version,
              nodePath: 'base/Bonn',
              deviceName: 'r1',
              configuration: 'hostname bonn',
              dryRun: true,
            },
          }),
        ).totals.passes;
      assert.deepEqual([await checked('initial'), await checked('v2')], [1, 1]);
      const { data: documents } = ok(await ask('POST', `${manager}/export/goldenconfigs`, { treeId: tree }));
      const [ofInitial, ofV2] = documents.map(({ root }: any) => root.attributes.export);
      assert.deepEqual(ofInitial, {
        deviceType: 'cisco-ios',
        ...(published.data[0]?.root.attributes.export as object),
      });
      assert.deepEqual(
        [ofV2._id, ofV2.template, ofV2.lines[0].words.at(-1).value],
        [root, 'ntp server {{ ntp }}', '10.0.0.1'],
      );
      const run = ok(await ask('POST', `${manager}/compliance_plans/run`, { planId: 'Nightly' }));
      assert.equal((await builtInOf(ask).inState(run.instanceId, 'complete', 'error')).status, 'complete');
      const [report] = ok(await ask('GET', `${manager}/compliance_reports/batch/${run.batchId}`));
      assert.deepEqual([report.deviceName, report.version, report.status], ['r1', 'v2', 'error'], 'no adapter has r1');
      // Two versions share the ids of their nodes.
      const data = { template: 'hostname ulm', variables: {} };
      refused(await ask('PUT', `${manager}/config_specs/${leaf}`, { data }), 409, /initial.*v2/);
      const put = { treeId: tree, treeVersion: 'v2', nodePath: 'base/Bonn', data, updateVariables: false };
      ok(await ask('PUT', `${manager}/node/config`, put));
      assert.deepEqual([await checked('initial'), await checked('v2')], [1, 0]);
      const after = await exported();
      assert.deepEqual(after.data[0], published.data[0]);
      assert.equal(after.data[1].root.children[0].attributes.export.template, 'hostname ulm');
      assert.equal(ok(await ask('GET', `${manager}/compliance_plans/${plan}`)).status, 'active');
      assert.deepEqual(ok(await ask('GET', `${manager}/devicegroups/Core`)).devices, ['r1']);
      const again = await ask('POST', `${manager}/import/configs`, { trees: [after] });
      assert.equal(ok(again).data[0].success, true, 'the export is no change');
    } finally {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
