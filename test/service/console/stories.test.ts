import assert from 'node:assert/strict';
import { type ConsolePage, describeInBrowser, handsOf, useBrowser, type Way, waysNow } from '../../support/browser.ts';
import { type Issuer, startIssuer } from '../../support/issuer.ts';
import { ok } from '../../support/people.ts';
import { sampled } from '../../support/sample.ts';
import { adminPassword } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

type Story = (page: ConsolePage, way: Way) => Promise<void>;

// Each story by mouse, then by keyboard alone. Takes some 40 s: one service and one Chromium.
describeInBrowser('console: stories', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const newPage = useBrowser(service);
  let issuer: Issuer;
  const operations = '/operations-manager';
  let automation: string;
  let trigger: string;
  let tree: string;

  before(async () => {
    automation = ok(await service.ask('POST', `${operations}/automations`, { name: 'React' })).data._id;
    const shared = { enabled: true, actionType: 'automations', actionId: automation };
    trigger = ok(
      await service.ask('POST', `${operations}/triggers`, {
        ...shared,
        ...{ name: 'A link is down', type: 'eventSystem', source: 'monitoring', topic: 'linkDown', jst: null },
        schema: { type: 'object', required: ['severity'], properties: { severity: { const: 'critical' } } },
      }),
    ).data._id;
    const made = await service.ask('POST', '/configuration_manager/configs', { name: 'Edge', deviceType: 'cisco-ios' });
    tree = ok(made).id ?? ok(made)._id;
    for (const username of ['anna', 'ben'])
      ok(
        await service.ask('POST', '/authorization/accounts', {
          ...{ username, password: 'a long enough password', provenance: 'corp', externalGroups: ['Network'] },
        }),
      );
    const people = { dora: { preferred_username: 'dora', given_name: 'Dora' } };
    issuer = await startIssuer({ service: service.url, name: 'issuer', people });
    const provider = { name: 'issuer', type: 'oidc', properties: issuer.properties };
    ok(await service.ask('POST', '/authorization/providers', provider));
  });
  after(() => issuer.stop());

  const stories: Readonly<Record<string, Story>> = {
    'says why an event does not fire a trigger, and which variables a job would get': async (page, way) => {
      const { press, type, choose } = handsOf(page, way);
      await page.enter('/triggers');
      await press(page.getByRole('link', { name: 'A link is down' }));
      await type(page.getByLabel('Payload of an event'), '{"severity": "low"}');
      await press(page.getByRole('button', { name: 'Test' }));
      await page.getByText('It would not fire.').waitFor();
      await page.getByRole('cell', { name: '/severity' }).waitFor();
      await type(page.getByLabel('Payload of an event'), '{"severity": "critical"}');
      await press(page.getByRole('button', { name: 'Test' }));
      await page.getByText('It would fire.').waitFor();
      await page.getByRole('group', { name: 'Variables of the job' }).getByText('critical').waitFor();
      await type(page.getByLabel('Payload of an event'), '{');
      await press(page.getByRole('button', { name: 'Test' }));
      await page.getByRole('alert').getByText('The payload is no JSON.').waitFor();
      const payload = { severity: 'critical', site: way };
      const { position } = ok(await service.ask('POST', `${operations}/events/monitoring/linkDown`, payload)).data;
      const option = page.getByRole('option', { name: `position ${position}` });
      await option.waitFor({ state: 'attached' });
      await choose(page.getByLabel('Event of the log'), (await option.textContent()) ?? '');
      assert.match(await page.getByLabel('Payload of an event').inputValue(), /"severity": "critical"/);
      await press(page.getByRole('button', { name: 'Test' }));
      await page.getByText('It would fire.').waitFor();
      await page.getByRole('group', { name: 'Variables of the job' }).getByText(way).waitFor();
      await page.looksRight('an event of the log in the test bench');
    },

    'makes an automation with a schedule, and deletes it': async (page, way) => {
      const { press, type, choose } = handsOf(page, way);
      const name = `Nightly by ${way}`;
      await page.enter('/automations');
      await press(page.getByRole('link', { name: 'New automation' }));
      await type(page.getByLabel('Name'), name);
      await press(page.getByRole('button', { name: 'Save' }));
      await page.getByText('Nothing starts it.').waitFor();
      await press(page.getByRole('link', { name: 'New trigger' }));
      await choose(page.getByLabel('Kind'), 'schedule');
      await type(page.getByLabel('Name'), 'At night');
      await page.getByLabel('First run').fill('2036-01-01T03:00:00');
      await type(page.getByLabel('Again each'), '1');
      await choose(page.getByLabel('Unit'), 'day');
      await press(page.getByRole('button', { name: 'Save' }));
      await page.getByRole('img', { name: /Instants on an axis of time: .* to come/ }).waitFor();
      await page.looksRight('a schedule');
      const [made] = ok(await service.ask('GET', `${operations}/triggers?multiEquals[name]=At night`)).data;
      assert.deepEqual([made.repeatFrequency, made.repeatUnit], [1, 'day']);
      const repeat = { action: 'execute', count: 3, duration: { unit: 'hour', quantity: 2 } };
      await type(page.getByLabel('Again each'), '');
      await choose(page.getByLabel('Unit'), 'None');
      await type(page.getByLabel('Repetition tree'), JSON.stringify(repeat));
      await press(page.getByRole('button', { name: 'Save' }));
      await page.getByRole('img', { name: /Instants on an axis of time: .* 3 to come/ }).waitFor();
      assert.deepEqual(ok(await service.ask('GET', `${operations}/triggers/${made._id}`)).data.repeat, repeat);
      const hourly = { repeat: null, repeatUnit: 'hour', repeatFrequency: 1, firstRunAt: Date.now() - 2.5 * 3_600_000 };
      ok(await service.ask('PATCH', `${operations}/triggers/${made._id}`, { ...hourly, enabled: true }));
      await page.getByRole('img', { name: /: (3 settled, 0|0 settled, 3) missed, 10 to come/ }).waitFor();
      await press(page.getByRole('link', { name: 'its automation' }));
      await press(page.getByRole('button', { name: 'Delete' }));
      await page.waitForURL(/#\/automations$/);
      assert.deepEqual(ok(await service.ask('GET', `${operations}/automations?multiEquals[name]=${name}`)).data, []);
    },

    'shows both versions after another one has changed a trigger, and saves one': async (page, way) => {
      const { press, type } = handsOf(page, way);
      await page.enter(`/triggers/${trigger}`);
      await type(page.getByLabel('Description'), `Mine by ${way}`);
      ok(await service.ask('PATCH', `${operations}/triggers/${trigger}`, { description: `Theirs by ${way}` }));
      await press(page.getByRole('button', { name: 'Save' }));
      const both = page.getByRole('row', { name: /^Description/ });
      await both.getByRole('cell', { name: `Theirs by ${way}` }).waitFor();
      await both.getByRole('cell', { name: `Mine by ${way}` }).waitFor();
      await page.looksRight('both versions');
      const now = async () => ok(await service.ask('GET', `${operations}/triggers/${trigger}`)).data.description;
      assert.equal(await now(), `Theirs by ${way}`);
      await press(page.getByRole('button', { name: 'Save mine' }));
      await page.getByRole('status').getByText('The trigger is saved.').waitFor();
      assert.equal(await now(), `Mine by ${way}`);
      await press(page.getByRole('link', { name: 'its changes' }));
      await page.getByRole('row', { name: `description Theirs by ${way} Mine by ${way}` }).waitFor();
      await page.looksRight('a history');
    },

    'tries lines out, applies them, finds who did, and goes back': async (page, way) => {
      const { press, type } = handsOf(page, way);
      const lines = `interface Loopback8\n description by ${way}`;
      const configuration = page.getByRole('group', { name: 'Running configuration' });
      await page.enter('/devices/lab-02');
      await type(page.getByLabel('Lines'), lines);
      await type(page.getByLabel('Minutes to confirm'), '5');
      await press(page.getByRole('button', { name: 'Dry run' }));
      await page.getByText('does not go back by itself').first().waitFor();
      await type(page.getByLabel('Minutes to confirm'), '');
      await press(page.getByLabel('Save it as the startup configuration'), 'Space');
      await press(page.getByRole('button', { name: 'Dry run' }));
      await page.getByText('this would change. Nothing was sent that lasts.').waitFor();
      await page.getByRole('group', { name: 'Changed lines' }).getByText(`+ description by ${way}`).waitFor();
      await page.looksRight('a dry run');
      assert.ok(!(await configuration.textContent())?.includes(`by ${way}`));
      await press(page.getByRole('button', { name: 'Apply' }));
      await page.getByRole('status').getByText('The device took the configuration and shows every line').waitFor();
      await configuration.getByText(`description by ${way}`).waitFor();
      const change = page.getByRole('region', { name: 'Changes' }).getByRole('row').nth(1);
      await change.getByText('verified').waitFor();
      await change.getByRole('cell', { name: 'admin' }).waitFor();
      await press(change.getByRole('link', { name: 'before it' }));
      const sides = page.getByRole('group', { name: 'Differences' });
      await sides.getByText(`description by ${way}`).waitFor();
      await page.looksRight('side by side');
      await press(page.getByRole('button', { name: 'Restore' }));
      await page.getByText('Both are the same.').waitFor();
      await configuration.getByText(`description by ${way}`).waitFor({ state: 'detached' });
      await page.looksRight('a device that went back');
    },

    'reads a golden text while it is typed, and names the line that is wrong': async (page, way) => {
      const { press, type } = handsOf(page, way);
      await page.enter('/compliance');
      await press(page.getByRole('link', { name: 'Golden configurations' }));
      await press(page.getByRole('link', { name: 'Edge' }));
      await type(page.getByLabel('Golden lines'), 'ntp server 10.0.0.1\n{% if x %}');
      await page.getByText(/^Line \d+: /).waitFor();
      await page.looksRight('a golden text');
      await type(page.getByLabel('Golden lines'), `ntp server 10.0.0.${way.length}`);
      await page.getByText(/^Line \d+: /).waitFor({ state: 'detached' });
      await press(page.getByRole('region', { name: 'Text' }).getByRole('button', { name: 'Save' }));
      await page.getByRole('cell', { name: `ntp server 10.0.0.${way.length}` }).waitFor();
      const { versions } = ok(await service.ask('GET', `/configuration_manager/configs/${tree}`));
      assert.equal(versions.length, 1);
      const stored = new Date().toISOString();
      await type(page.getByLabel('Golden lines'), 'ntp server 10.0.0.99');
      await press(page.getByRole('region', { name: 'Text' }).getByRole('button', { name: 'Save' }));
      await page.getByRole('cell', { name: 'ntp server 10.0.0.99' }).waitFor();
      await page.view(`/compliance/trees/${tree}?asOf=${stored}`);
      await page.getByRole('cell', { name: `ntp server 10.0.0.${way.length}` }).waitFor();
      assert.equal(await page.getByLabel('Golden lines').inputValue(), `ntp server 10.0.0.${way.length}`);
    },

    'keeps a golden text that another one has changed meanwhile, shows both, and gives it a variable': async (
      page,
      way,
    ) => {
      const { press, type } = handsOf(page, way);
      const { _id: id } = ok(
        await service.ask('POST', '/configuration_manager/configs', {
          name: `Logs by ${way}`,
          deviceType: 'cisco-ios',
        }),
      );
      const put = async (template: string): Promise<void> =>
        void ok(
          await service.ask('PUT', '/configuration_manager/node/config', {
            ...{ treeId: id, treeVersion: 'initial', nodePath: 'base', updateVariables: false },
            data: { template, variables: {} },
          }),
        );
      const stored = async (): Promise<any> =>
        ok(await service.ask('GET', `/configuration_manager/configs/${id}/initial`));
      const region = page.getByRole('region', { name: 'Text' });
      const mine = 'logging host {{ host }}\nntp server 10.0.0.1';
      await page.enter(`/compliance/trees/${id}`);
      await type(page.getByLabel('Golden lines'), mine);
      await put('logging host 10.0.0.2\nntp server 10.0.0.2');
      await page.getByRole('cell', { name: 'ntp server 10.0.0.2' }).waitFor();
      assert.equal(await page.getByLabel('Golden lines').inputValue(), mine);
      await press(region.getByRole('button', { name: 'Save' }));
      await region.getByRole('group', { name: 'Golden lines now' }).getByText('ntp server 10.0.0.2').waitFor();
      await region.getByRole('group', { name: 'Your Golden lines' }).getByText('ntp server 10.0.0.1').waitFor();
      await page.looksRight('both texts');
      await press(region.getByRole('button', { name: 'Save mine' }));
      await page.getByRole('status').getByText('The text is saved.').waitFor();
      const variables = page.getByRole('region', { name: 'Variables of the version' });
      await type(variables.getByRole('textbox', { name: 'Variables' }), '{"host": "10.0.0.7"}');
      // It is no change of the variables.
      await put(mine.replace('10.0.0.1', '10.0.0.3'));
      await press(variables.getByRole('button', { name: 'Save' }));
      await page.getByRole('cell', { name: 'logging host 10.0.0.7' }).waitFor();
      await page.getByRole('cell', { name: 'ntp server 10.0.0.3' }).waitFor();
      assert.deepEqual((await stored()).variables, { host: '10.0.0.7' });
    },

    'makes a golden configuration and a plan, sees it fall, and finds the worst device and its lines': async (
      page,
      way,
    ) => {
      const { press, type, choose } = handsOf(page, way);
      const [tree, plan] = [`Time by ${way}`, `Nightly check by ${way}`];
      const line = `ntp server 10.9.0.${way.length}`;
      const configure = async (device: string, config: string): Promise<void> =>
        void ok(
          await service.ask('POST', `/configuration_manager/devices/${device}/configuration`, { config: { config } }),
        );
      const devices = ['lab-01', 'lab-03'];
      for (const device of devices) await configure(device, line);
      await page.enter('/compliance/trees');
      await press(page.getByRole('link', { name: 'New golden configuration' }));
      await type(page.getByLabel('Name'), tree);
      await type(page.getByLabel('Device type'), 'cisco-ios');
      await press(page.getByRole('button', { name: 'Save' }));
      await type(page.getByLabel('A node below'), 'Edge');
      await press(page.getByRole('button', { name: 'Add node' }));
      await press(page.getByRole('link', { name: 'Edge', exact: true }));
      await type(page.getByLabel('Golden lines'), `<i/>logging host 10.9.0.1\n<e/>${line}`);
      await press(page.getByRole('region', { name: 'Text' }).getByRole('button', { name: 'Save' }));
      await page.getByRole('cell', { name: line }).waitFor();
      for (const device of devices) {
        await type(page.getByLabel('Device', { exact: true }), device);
        await press(page.getByRole('button', { name: 'Add device', exact: true }));
        await page.getByRole('link', { name: device }).waitFor();
      }
      const racks = { name: `Racks by ${way}`, devices: ['lab-03'] };
      ok(await service.ask('POST', '/configuration_manager/import/groups', { groups: [racks] }));
      const groups = page.getByRole('group', { name: 'Device groups of the node' });
      await type(page.getByLabel('Device group', { exact: true }), racks.name);
      await press(page.getByRole('button', { name: 'Add device group' }));
      await groups.getByRole('link', { name: racks.name }).waitFor();
      await page.looksRight('a golden configuration');
      await press(groups.getByRole('button', { name: 'Remove' }));
      await groups.waitFor({ state: 'detached' });

      await page.view('/compliance/new');
      await type(page.getByLabel('Name'), plan);
      await press(page.getByRole('button', { name: 'Save' }));
      await choose(page.getByLabel('Node to add'), `${tree} initial: base/Edge`);
      await press(page.getByRole('button', { name: 'Add', exact: true }));
      await page.getByRole('cell', { name: `${tree} initial: base/Edge` }).waitFor();
      await choose(page.getByLabel('Status'), 'active');
      const grading = { weights: { error: 3, warning: 1, info: 0 }, benchmarks: { pass: 70, review: 60 } };
      for (const [name, value] of Object.entries({ ...grading.weights, ...grading.benchmarks }))
        await type(page.getByRole('textbox', { name: new RegExp(`^${name}$`, 'i') }), String(value));
      await press(page.getByRole('button', { name: 'Save' }));
      const runs = page.getByRole('region', { name: 'Runs' });
      const run = async (count: number): Promise<void> => {
        await press(runs.getByRole('button', { name: 'Run' }));
        await runs
          .getByText('complete')
          .nth(count - 1)
          .waitFor();
      };
      await run(1);
      const score = page.getByRole('img', { name: /^Mean score/ });
      assert.match((await score.getAttribute('aria-label'))!, /last: 100 on/);
      await configure('lab-03', `no ${line}`);
      await run(2);
      await page.getByRole('img', { name: /: 75 on/ }).waitFor();
      await page.looksRight('a plan that fell');
      await press(runs.getByRole('row').nth(1).getByRole('link').first());
      const worst = page.getByRole('table').getByRole('row').nth(1);
      await worst.getByText('fail').waitFor();
      await press(worst.getByRole('link', { name: 'lab-03' }));
      await page.getByRole('region', { name: 'Issues' }).getByRole('cell', { name: line }).waitFor();
      await page.looksRight('a report');
      const severities = page.getByRole('region', { name: 'Issues' }).locator('tbody td:first-child');
      assert.deepEqual(await severities.allTextContents(), ['error', 'info']);
      await press(page.getByRole('link', { name: 'Try them out on lab-03' }));
      await press(page.getByRole('button', { name: 'Dry run' }));
      await page.getByRole('group', { name: 'Changed lines' }).getByText(`+${line}`).waitFor();
      await page.getByRole('region', { name: 'Compliance' }).getByText('fail').first().waitFor();
      await page.view('/compliance');
      await press(page.getByRole('link', { name: plan }));
      await press(page.getByRole('button', { name: 'Delete' }));
      await page.waitForURL(/#\/compliance$/);
    },

    'changes chosen devices by a template, after a dry run of them, and sees the outcome at each': async (
      page,
      way,
    ) => {
      const { press, type, choose } = handsOf(page, way);
      const template = {
        name: `Logging by ${way}`,
        template: 'logging host {{ host }}',
        variables: { host: '192.0.2.1' },
      };
      ok(await service.ask('POST', '/configuration_manager/templates', template));
      await page.enter('/devices');
      for (const device of ['lab-01', 'lab-02']) await press(page.getByLabel(`Choose ${device}`), 'Space');
      await press(page.getByRole('link', { name: 'Change 2 chosen' }));
      await choose(page.getByLabel('Template'), template.name);
      await type(page.getByLabel('host'), `192.0.2.${10 + way.length}`);
      await type(page.getByLabel('Most failures'), '1');
      await page.looksRight('a change of many devices');
      await press(page.getByRole('button', { name: 'Dry run' }));
      const rows = page.getByRole('group', { name: 'Devices of the change' });
      await rows.getByText('dry run').nth(1).waitFor();
      await press(rows.getByText('changed lines').first());
      await rows
        .getByText(`+logging host 192.0.2.${10 + way.length}`)
        .first()
        .waitFor();
      await page.looksRight('the dry run of many devices');
      await press(page.getByRole('link', { name: 'The form of the change' }));
      await press(page.getByRole('button', { name: 'Apply' }));
      await page.getByRole('link', { name: '2 sent' }).waitFor();
      assert.equal(await rows.getByText('sent').count(), 2);
    },

    'changes the devices of a group, stops after a failure, and confirms all of them': async (page, way) => {
      const { press, type } = handsOf(page, way);
      const devices = ['a', 'b', 'c'].map((one) => `${one}-${way}`);
      ok(
        await service.ask('POST', '/configuration_manager/adapters', {
          ...{ name: `Ring by ${way}`, type: 'lab' },
          devices: devices.map((name) => ({ name, ostype: 'juniper-junos' })),
        }),
      );
      const groups = [{ name: `Ring by ${way}`, devices }];
      ok(await service.ask('POST', '/configuration_manager/import/groups', { groups }));
      await page.enter('/devices/-/groups');
      await press(page.getByRole('link', { name: `Ring by ${way}` }));
      await press(page.getByRole('link', { name: 'Change these devices' }));
      await type(page.getByRole('textbox', { name: 'Lines' }), 'no such line');
      await type(page.getByLabel('Devices at once'), '1');
      await type(page.getByLabel('Most failures'), '1');
      await press(page.getByRole('button', { name: 'Apply' }));
      await page.getByRole('link', { name: '1 failed' }).waitFor();
      await page.getByRole('link', { name: '2 not sent' }).waitFor();
      await page.looksRight('a change that stopped');
      await press(page.getByRole('link', { name: 'The form of the change' }));
      await type(page.getByRole('textbox', { name: 'Lines' }), `set system host-name ring-${way}`);
      await type(page.getByLabel('Minutes to confirm'), '5');
      await press(page.getByRole('button', { name: 'Apply' }));
      await page.getByRole('link', { name: '3 sent' }).waitFor();
      await press(page.getByRole('button', { name: 'Confirm all' }));
      await page.getByRole('status').getByText('The changes are confirmed.').waitFor();
      const { results } = ok(await service.ask('GET', '/audit/events?operation=confirmDeviceConfig&limit=100'));
      assert.equal(results.filter(({ data }: any) => devices.includes(data.device)).length, devices.length);
    },

    'makes a device template, changes it after another one did, and deletes it': async (page, way) => {
      const { press, type } = handsOf(page, way);
      const name = `Location by ${way}`;
      const path = '/configuration_manager/templates';
      await page.enter('/devices');
      await press(page.getByRole('link', { name: 'Device templates' }));
      await press(page.getByRole('link', { name: 'New device template' }));
      await type(page.getByLabel('Name'), name);
      await type(page.getByLabel('Lines'), 'snmp-server location {{ place }}');
      await type(page.getByLabel('Variables'), '{"place": "Bonn"}');
      await press(page.getByRole('button', { name: 'Save' }));
      await page.getByRole('heading', { name }).waitFor();
      await type(page.getByLabel('Lines'), 'snmp-server location {{ place }}, mine');
      const data = { template: 'snmp-server location {{ place }}, theirs' };
      ok(await service.ask('PUT', path, { id: name, data }));
      await press(page.getByRole('button', { name: 'Save' }));
      const both = page.getByRole('row', { name: /^Lines/ });
      await both.getByRole('cell', { name: data.template }).waitFor();
      await page.looksRight('both templates');
      await press(page.getByRole('button', { name: 'Take theirs' }));
      await type(page.getByLabel('Variables'), '{"place": "Ulm"}');
      await press(page.getByRole('button', { name: 'Save' }));
      await page.getByRole('status').getByText('The device template is saved.').waitFor();
      const stored = ok(await service.ask('GET', `${path}/${encodeURIComponent(name)}`));
      assert.deepEqual([stored.template, stored.variables], [data.template, { place: 'Ulm' }]);
      await press(page.getByRole('button', { name: 'Delete' }));
      await page.waitForURL(/templates$/);
      assert.equal((await service.ask('GET', `${path}/${encodeURIComponent(name)}`)).status, 404);
    },

    'makes, changes and deletes a node of an inventory': async (page, way) => {
      const { press, type } = handsOf(page, way);
      const [name, node] = [`Lab by ${way}`, `rack-${way}`];
      const path = '/inventory_manager/v1/inventories';
      const { _id: id } = ok(await service.ask('POST', path, { name, groups: [] })).result;
      await page.enter(`/devices/-/inventories/${id}`);
      await press(page.getByRole('link', { name: 'New node' }));
      await type(page.getByLabel('Name'), node);
      await type(page.getByLabel('Attributes'), '{"itential_host": "192.0.2.7"}');
      await press(page.getByRole('button', { name: 'Save' }));
      await page.getByRole('heading', { name: node }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).waitFor();
      await type(page.getByLabel('Attributes'), '{"itential_host": "192.0.2.8"}');
      await page.looksRight('a node');
      await press(page.getByRole('button', { name: 'Save' }));
      await page.getByRole('status').getByText('The node is saved.').waitFor();
      const stored = ok(await service.ask('GET', `${path}/${id}/nodes/${node}`));
      assert.equal(stored.attributes.itential_host, '192.0.2.8');
      await press(page.getByRole('button', { name: 'Delete' }));
      await page.getByText('The inventory has no node.').waitFor();
    },

    'restores a template that was deleted, after a dry run': async (page, way) => {
      const { press } = handsOf(page, way);
      const template = { name: `Greeting by ${way}`, template: 'Hello {{ name }}', type: 'jinja2' };
      const path = `/template_builder/templates/${encodeURIComponent(template.name)}`;
      const { _id: id } = ok(await service.ask('POST', '/template_builder/templates', template)).data;
      ok(await service.ask('DELETE', path));
      await page.enter(`/time/template/${id}`);
      const created = page.getByRole('region', { name: /templateCreated/ });
      await created.waitFor();
      assert.equal(await created.getByRole('button', { name: 'Restore' }).isDisabled(), true);
      await press(created.getByRole('button', { name: 'Dry run' }));
      await created.getByText('A restore would change this:').waitFor();
      assert.equal((await service.ask('GET', path)).status, 404);
      await press(created.getByRole('button', { name: 'Restore' }));
      await page.getByRole('status').getByText('The resource is restored.').waitFor();
      assert.equal((await service.ask('GET', path)).status, 200);
    },

    'shows a moment in the past, in which nothing can be changed, and comes back': async (page, way) => {
      const { press } = handsOf(page, way);
      await page.enter('/triggers?filter=link');
      await page.getByRole('link', { name: 'A link is down' }).waitFor();
      const slider = page.getByRole('slider', { name: 'As of' });
      if (way === 'mouse') await slider.click({ position: { x: 2, y: 8 } });
      else await press(slider, 'Home');
      await page.waitForURL(/asOf=/);
      await page.getByText('Nothing fits the filter.').waitFor();
      await page.view(`/people?asOf=${new Date().toISOString()}`);
      await page.getByLabel('Name of the token').fill('past');
      assert.equal(await page.getByRole('button', { name: 'Create token' }).isDisabled(), true);
      await press(page.getByRole('button', { name: 'Now', exact: true }));
      await page.locator('button:enabled', { hasText: 'Create token' }).waitFor();
    },

    'maps a group of a directory, and says who gains': async (page, way) => {
      const { press, type } = handsOf(page, way);
      const path = '/group-mappings/corp/Network';
      await page.enter('/people');
      await press(page.getByRole('link', { name: 'Mappings' }));
      await press(page.getByRole('link', { name: 'New mapping' }));
      await type(page.getByLabel('Provider of the people'), 'corp');
      await type(page.getByLabel('Their external group'), 'Network');
      await press(page.getByRole('button', { name: 'Show' }));
      await page.getByText('2 accounts have the external group Network of corp.').waitFor();
      await type(page.getByLabel('Provider', { exact: true }), 'corp');
      await type(page.getByLabel('External group', { exact: true }), 'Network');
      await press(page.getByRole('button', { name: 'Add to Groups of the platform' }));
      await type(page.getByRole('combobox', { name: 'Groups of the platform 1' }), 'readers');
      await page.looksRight('a new mapping');
      await press(page.getByRole('button', { name: 'Save' }));
      await page.getByRole('link', { name: 'anna' }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).waitFor();
      assert.deepEqual(ok(await service.ask('GET', path)).platformGroups, ['readers']);
      const mapping = page.url();
      await press(page.getByRole('link', { name: 'anna' }));
      await page.getByRole('row', { name: /^readers group by the group readers, which Network of corp/ }).waitFor();
      await page.goto(mapping);
      await press(page.getByRole('button', { name: 'Delete' }));
      await page.getByText('No external group is mapped').waitFor();
      assert.equal((await service.ask('GET', path)).status, 404);
    },

    'logs in at an issuer, comes back to the same view, and logs out': async (page, way) => {
      const { press } = handsOf(page, way);
      const button = page.getByRole('link', { name: 'Log in with issuer' });
      issuer.letIn('dora');
      await page.view('/jobs?filter=night');
      await button.waitFor();
      await page.looksRight('single sign-on');
      await press(button);
      await page.getByRole('button', { name: 'Log out' }).waitFor();
      assert.equal(new URL(page.url()).hash, '#/jobs?filter=night');
      const caller: any = await page.evaluate(async () => (await fetch('/whoami')).json());
      assert.deepEqual([caller.username, caller.provenance, caller.via], ['dora', 'issuer', 'cookie']);
      await press(page.getByRole('button', { name: 'Log out' }));
      await button.waitFor();
      ok(await service.ask('PATCH', '/authorization/providers/issuer', { enabled: false }));
      await page.reload();
      await page.getByLabel('Username').waitFor();
      await button.waitFor({ state: 'detached' });
      ok(await service.ask('PATCH', '/authorization/providers/issuer', { enabled: true }));
    },

    'looks as the active profile says, and takes no name of a file for words': async (page, way) => {
      const { press, type } = handsOf(page, way);
      const look = async (uiProps: object): Promise<void> => {
        const properties = { uiProps: { home: '', layout: '', login: '', fav_icon: '', ...uiProps } };
        ok(await service.ask('PUT', '/profiles/main', { properties }));
        ok(await service.ask('PUT', '/profiles/main/active'));
      };
      const icon = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
      const shown = () =>
        page.evaluate(() => {
          const { document } = globalThis as any;
          const words = document.querySelector('.words')?.textContent ?? '';
          const isNarrow = document.body.classList.contains('narrow');
          return { words, isNarrow, icon: document.querySelector('link[rel=icon]').href.slice(0, 15) };
        });
      const words = 'Only for the <b>network</b> team';
      await look({ home: '/jobs', layout: 'narrow', login: words, fav_icon: icon });
      await page.goto(`${service.url}/console`);
      await page.getByText(words).waitFor();
      await page.looksRight('a login with words');
      assert.deepEqual(await shown(), { words, isNarrow: true, icon: icon.slice(0, 15) });
      await type(page.getByLabel('Username'), 'admin');
      await type(page.getByLabel('Password'), adminPassword);
      await press(page.getByRole('button', { name: 'Log in', exact: true }));
      await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
      assert.equal(new URL(page.url()).hash, '#/jobs');
      await press(page.getByRole('button', { name: 'Log out' }));
      await page.getByLabel('Username').waitFor();
      await look({ home: 'index.html', login: 'login.html', fav_icon: 'favicon.ico' });
      await page.goto('about:blank');
      await page.goto(`${service.url}/console`);
      await page.getByRole('link', { name: 'Log in with issuer' }).waitFor();
      const { icon: usual, ...rest } = await shown();
      assert.deepEqual(rest, { words: '', isNarrow: false });
      assert.ok(!usual.startsWith('data:image/gif'));
    },

    'makes a token, shows it once, and revokes it': async (page, way) => {
      const { press, type } = handsOf(page, way);
      await page.enter('/people');
      await type(page.getByLabel('Name of the token'), 'ci');
      await press(page.getByRole('button', { name: 'Create token' }));
      const token = await page.locator('p[role=status] code').textContent();
      const call = () => service.as(null)('GET', '/whoami', undefined, { Authorization: `Bearer ${token}` });
      assert.equal((await call()).status, 200);
      await press(page.getByRole('button', { name: 'Revoke' }));
      await page.getByText('There is no token.').waitFor();
      assert.equal((await call()).status, 401);
    },

    'shows the banner in its time and on its pages': async (page, way) => {
      const { press } = handsOf(page, way);
      const set = async (more: object): Promise<void> => {
        const startTime = new Date(Date.now() - 1000).toISOString();
        const text = `Maintenance, told to the ${way}`;
        const body = { active: true, text, dismissible: true, startTime, allPages: false, ...more };
        ok(await service.ask('PUT', '/customization/banner', body));
      };
      const notice = page.getByRole('region', { name: 'Notice' });
      await set({ backgroundColor: '#ffcc00' });
      await page.enter('/now');
      await notice.waitFor();
      assert.equal(await notice.evaluate((element: any) => element.style.backgroundColor), 'rgb(255, 204, 0)');
      await page.looksRight('the banner');
      await page.view('/jobs');
      await notice.waitFor({ state: 'detached' });
      await set({ allPages: true, endTime: new Date(Date.now() + 2500).toISOString() });
      await notice.waitFor();
      await notice.waitFor({ state: 'detached' });
      await set({ allPages: true, backgroundColor: 'rgba(1, 2, 3, 0.1)' });
      await press(notice.getByRole('button', { name: 'Dismiss' }));
      await notice.waitFor({ state: 'detached' });
      await set({ active: false });
    },
  };

  // In `npm test` five stories go one way each, every other one by mouse.
  for (const [at, [title, story]] of sampled(Object.entries(stories), 5).entries())
    for (const way of waysNow(at)) it(`${title}, by ${way}`, async () => story(await newPage(), way));
});
