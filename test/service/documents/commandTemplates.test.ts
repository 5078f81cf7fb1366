import assert from 'node:assert/strict';
import { mopSteps } from '../../../src/demo/mop.ts';
import { ok, refused } from '../../support/people.ts';
import { content, document } from '../../support/samples/commandTemplates.ts';
import type { TestService } from '../../support/service.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('command templates', () => {
  const service = useService();
  const who = usePeople(service);
  const post: (path: string, body?: unknown, headers?: Record<string, string>) => ReturnType<TestService['ask']> = (
    path,
    body,
    headers,
  ) => service.ask('POST', `/mop/${path}`, body, headers);
  const make = async (name: string, more = {}) =>
    ok(await post('createTemplate', { mop: { ...document, name, ...more } })).data;
  const list = async (query = '') =>
    ok(await service.ask('GET', `/mop/listTemplates${query}`)) as { readonly name: string }[];

  it('are created, and show up in both GETs', async () => {
    const before = Date.now();
    const answer = await who.member('POST', '/mop/createTemplate', { mop: { ...document, name: 'Made' } });
    const { status, message, data } = ok(answer);
    assert.deepEqual(
      [status, message, answer.headers.get('etag')?.slice(0, 2)],
      ['Created', 'Successfully created template', '"0'],
    );
    const { _id, created, lastUpdated, ...rest } = data;
    assert.match(_id, /^[0-9a-f]{24}$/);
    assert.ok(Number.isInteger(created) && created === lastUpdated && created >= before - 1);
    assert.deepEqual(rest, { ...content, name: 'Made', createdBy: 'member', lastUpdatedBy: 'member' });
    assert.deepEqual(ok(await service.ask('GET', '/mop/listATemplate/Made')), [data]);
    assert.deepEqual(ok(await service.ask('GET', `/mop/listATemplate/${_id}`)), [data]);
    assert.deepEqual(
      (await list()).filter(({ name }) => name === 'Made'),
      [data],
    );
    assert.deepEqual(ok(await service.ask('GET', '/mop/listATemplate/none')), []);
  });

  it('keep severities, flags and comparisons of rules', async () => {
    const rules = [
      { rule: 'up', eval: 'contains1', severity: 'warning', flags: { case: true, multiline: false, global: true } },
      {
        rule: '/(\\d+) free/',
        eval: '#comparison',
        ruleB: '/(\\d+) total/',
        evaluator: '%',
        percentage: 80,
        raw: 'x',
        result: false,
      },
    ];
    assert.deepEqual((await make('Rules', { commands: [{ command: 'show', rules }] })).commands[0].rules, rules);
  });

  it('are brought to what a document says', async () => {
    const made = await make('Changing', { os: 'ios' });
    const { status, message, data } = ok(
      await who.member('POST', '/mop/updateTemplate/Changing', { mop: { ...made, name: 'Changed', os: 'eos' } }),
    );
    assert.deepEqual(
      [status, message, data.os, data.created, data.createdBy, data.lastUpdatedBy],
      ['OK', 'Successfully updated template', 'eos', made.created, 'admin', 'member'],
    );
    assert.deepEqual(ok(await service.ask('GET', '/mop/listATemplate/Changing')), []);
    const again = await post(`updateTemplate/${made._id}`, { mop: data });
    assert.deepEqual(ok(again).data, data);
    refused(await post(`updateTemplate/${made._id}`, { mop: data }, { 'If-Match': '"0"' }), 412);
  });

  it('show no secret that an import has brought in the namespace, not even sealed', async () => {
    const namespace = { name: 'red', token: 's3cret', more: { password: 'pa55' } };
    const masked = { name: 'red', token: '********', more: { password: '********' } };
    const made = ok(await post('import', { template: { name: 'Within', namespace } })).data;
    const [found] = ok(await service.ask('GET', '/mop/listATemplate/Within'));
    const [listed] = await list('?multiEquals[name]=Within');
    const changed = ok(await post(`updateTemplate/${made._id}`, { mop: { ...found, os: 'eos' } })).data;
    for (const answer of [made, found, listed, changed]) assert.deepEqual(answer.namespace, masked);
  });

  it('keep rules that nobody knows, empty rules and commands of several lines; what is not known is refused when they run', async () => {
    const commands = [
      { command: 'show version\nshow inventory', passRule: true, rules: [{ rule: '', eval: 'contains' }] },
      {
        command: 'show ip route',
        passRule: true,
        rules: [
          { rule: '(', eval: 'XPath 3', ruleB: 'x' },
          { rule: 'a', eval: '' },
        ],
      },
    ];
    const made = ok(await post('createTemplate', { mop: { name: 'Foreign', description: null, commands } }));
    assert.equal(made.data.description, '');
    assert.deepEqual(made.data.commands, commands);
    assert.deepEqual(ok(await post('export', { options: { name: 'Foreign' } })).commands, commands);
    refused(
      await post('RunCommandTemplate', { template: 'Foreign', devices: ['lab-01'] }),
      422,
      /XPath 3.*rules\/0\/eval.*rules\/1\/eval/,
    );
    ok(await post(`updateTemplate/${made.data._id}`, { mop: { name: 'Foreign', commands: commands.slice(0, 1) } }));
    const [{ response, rules }] = ok(
      await post('RunCommandTemplate', { template: 'Foreign', devices: ['lab-01'] }),
    ).commands_results;
    assert.match(response, /Version 17[^]*\nNAME: "Chassis"/);
    assert.deepEqual([rules[0].result, rules[0].error], [true, undefined]);
    ok(await post(`deleteTemplate/${made.data._id}`));
  });

  it('are exported by name or id, which must agree', async () => {
    const made = await make('Exported');
    for (const options of [{ name: 'Exported' }, { _id: made._id }, { name: 'Exported', _id: made._id }])
      assert.deepEqual(ok(await post('export', { options })), made);
    for (const options of [
      { name: 'None' },
      { _id: 'Exported' },
      { name: made._id },
      { name: 'Once', _id: made._id },
    ]) {
      const answer = await post('export', { options });
      refused(answer, 404);
      assert.equal(answer.body.message, 'Could not find matching template');
    }
    refused(await post('export', { options: { name: 'Exported' }, type: 'analytics' }), 404);
    for (const body of [{}, { options: {} }, { type: 'templates' }])
      refused(await post('export', body), 400, /"\/options"/);
    refused(await post('export', { options: { id: made._id } }), 400, /"\/options\/id"/);
    ok(await who.reader('POST', '/mop/export', { options: { name: 'Exported' } }));
  });

  it('are imported with id, times and authors; the same again changes nothing', async () => {
    const template = {
      ...(await make('Moved')),
      created: 1_700_000_000_000,
      createdBy: 'stranger',
      lastUpdated: 1_700_000_001_000,
      lastUpdatedBy: 'Somebody else',
      _id: 'moved-1',
      name: 'Moved here',
    };
    const answer = await post('import', { type: 'templates', template });
    assert.deepEqual(
      [ok(answer).status, answer.body.message, answer.body.data],
      ['Created', 'Successfully imported template', template],
    );
    assert.deepEqual(ok(await post('export', { options: { _id: 'moved-1' } })), template);
    const again = await post('import', { template });
    assert.deepEqual(
      [ok(again).status, again.headers.get('x-event-position')],
      ['OK', answer.headers.get('x-event-position')],
    );
    const { _id: _, ...nameless } = template;
    assert.equal(ok(await post('import', { template: nameless })).data._id, 'moved-1');
  });

  it('are imported over others only when told so', async () => {
    const made = await make('Held');
    const other = { ...made, os: 'other' };
    refused(await post('import', { type: 'templates', template: other }), 409);
    refused(await post('import', { type: 'templates', template: { ...other, _id: 'elsewhere' } }), 409, /Held/);
    assert.equal(ok(await post('import', { template: other, options: { overwrite: true } })).data.os, 'other');
    const taken = ok(
      await post('import', { template: { ...other, _id: 'elsewhere', os: 'third' }, overwrite: true }),
    ).data;
    assert.deepEqual([taken._id, taken.os], [made._id, 'third']);
    refused(
      await post('import', { type: 'templates', template: { name: 'x', prepostCommands: [] } }),
      400,
      /"\/template\/prepostCommands"/,
    );
    refused(
      await post('import', { type: 'analytics', template: { name: 'x', commands: [] } }),
      400,
      /"\/template\/commands"/,
    );
  });

  it('are imported with rules that no run can use; a run says so and asks nothing', async () => {
    const rules = [
      { rule: '(', eval: 'RegEx' },
      { rule: '(\\d+)', eval: '#comparison' },
    ];
    const name = 'From elsewhere';
    ok(await post('import', { template: { name, commands: [{ command: 'show version', rules }] } }));
    const run = await service.ask('POST', '/mop/RunCommandTemplate', { template: name, devices: ['no such device'] });
    refused(run, 422, /cannot be run.*\/commands\/0\/rules\/1\/ruleB.*\/commands\/0\/rules\/0\/rule/);
  });

  it('keep what the service does not know, through changes by hand', async () => {
    const text =
      '{"tags":[1.0],"name":"Kept","ignoreWarnings":true,"createdBy":{"username":"nora","_id":"1"},' +
      '"commands":[{"command":"show version","tempCommand":"t","rules":[{"eval":"contains","rule":"","evaluator":"none"}]},' +
      '{"command":"show clock","rules":[],"10":1,"2":12345678901234567890}]}';
    const inTheirWords = async () => (await post('export', { options: { name: 'Kept', as: 'imported' } })).text;
    const made = ok(await service.ask('POST', '/mop/import', `{"template":${text}}`)).data;
    assert.equal(await inTheirWords(), text);
    assert.deepEqual([made.tags, made.createdBy, made.commands[0].tempCommand], [undefined, 'nora', undefined]);
    const ours = ok(await post('export', { options: { name: 'Kept' } }));
    assert.deepEqual(
      [ours.os, ours.createdBy, ours.ignoreWarnings, ours.commands[0].tempCommand, ours.commands[0].rules[0].evaluator],
      ['', 'nora', true, 't', 'none'],
    );
    const [first, second] = made.commands;
    ok(await post(`updateTemplate/${made._id}`, { mop: { ...made, os: 'ios', commands: [second, first] } }));
    assert.equal(
      await inTheirWords(),
      text.replace(/"commands":\[(.*?\]\}),(\{"command":"show clock".*\})\]\}$/, '"commands":[$2,$1],"os":"ios"}'),
    );
    assert.equal(
      ok(await service.ask('POST', '/mop/import', await inTheirWords())).message,
      'Successfully imported template',
    );
  });

  it('take what exports give, and are refused for what is wrong in it', async () => {
    ok(await post('import', { name: 'Bare', commands: [] }));
    refused(await post('import', { name: 'Bare', commands: [{ command: 7 }] }), 400, /"\/commands\/0\/command"/);
    refused(await post('createTemplate', { mop: { name: 'Typed', warnings: true } }), 400, /not a known field/);
  });

  it('are deleted unless an automation runs them, which is named', async () => {
    const { _id } = await make('Run nightly');
    const automation = ok(
      await service.ask('POST', '/operations-manager/automations', {
        name: 'Nightly',
        componentType: 'mop-template',
        componentName: 'Run nightly',
        gbac: { write: ['ops'] },
      }),
    ).data;
    refused(await post(`deleteTemplate/${_id}`), 409, /Nightly/);
    const hidden = await who.stranger('POST', '/mop/deleteTemplate/Run%20nightly');
    refused(hidden, 409, /hidden/);
    assert.doesNotMatch(hidden.text, /Nightly/);
    refused(await post(`updateTemplate/${_id}`, { mop: { ...document, name: 'Renamed' } }), 409, /Nightly/);
    ok(await service.ask('DELETE', `/operations-manager/automations/${automation._id}`));
    const byId = ok(
      await service.ask('POST', '/operations-manager/automations', {
        name: 'By id',
        componentType: 'mop-template',
        componentName: _id,
      }),
    ).data;
    refused(await post('deleteTemplate/Run%20nightly'), 409, /By id/);
    ok(await service.ask('DELETE', `/operations-manager/automations/${byId._id}`));
    const done = ok(await post(`deleteTemplate/${_id}`));
    assert.deepEqual(
      [done.status, done.message, done.data.name],
      ['OK', 'Successfully deleted template', 'Run nightly'],
    );
  });

  it('run on devices that adapters know, else nothing is asked', async () => {
    await make('Runs', { commands: [{ command: 'show version <!a!>' }] });
    refused(await post('RunCommandTemplate', { template: 'none', devices: ['r1'] }), 404);
    refused(
      await post('RunCommandTemplate', { template: 'Runs', devices: ['none-1', 'none-2'], variables: { a: 1 } }),
      404,
      /none-1, none-2/,
    );
    refused(await post('RunCommandTemplate', { template: 'Runs', devices: ['none'] }), 422, /variables\/a/);
    refused(await post('RunCommandTemplate', { template: 'Runs', devices: [] }), 400, /"\/devices"/);
    refused(
      await who.reader('POST', '/mop/RunCommandTemplate', { template: 'Runs', devices: ['r1'] }),
      403,
      /runCommandTemplate/,
    );
  });

  it('run on the devices of the lab: the sample, which one vendor passes and the other does not', async () => {
    for (const step of mopSteps) {
      const { path, body } = step();
      ok(await service.ask('POST', path, body));
    }
    const variables = { uplink: 'GigabitEthernet2', target_version: '17.15.1' };
    const run = async (devices: readonly string[], more = {}) =>
      ok(
        await who.member('POST', '/mop/RunCommandTemplate', {
          template: 'Upgrade pre-check',
          devices,
          variables: { ...variables, ...more },
        }),
      );
    const good = await run(['lab-01', 'lab-02']);
    assert.equal(good.result, true, JSON.stringify(good));
    assert.deepEqual(good.commands_results.map(({ device, evaluated }: any) => [device, evaluated]).slice(0, 3), [
      ['lab-01', 'show version'],
      ['lab-01', 'show interfaces GigabitEthernet2'],
      ['lab-01', 'show ip bgp summary'],
    ]); // as the route answers
    assert.match(good.commands_results[0].response, /Version 17\.12/);
    assert.deepEqual(good.commands_results[1].rules[0], {
      rule: 'GigabitEthernet2 is up, line protocol is up',
      eval: 'contains',
      severity: 'error',
      raw: '<!uplink!> is up, line protocol is up',
      result: true,
    });
    assert.equal((await run(['lab-01'], { target_version: '17.9.4' })).result, false);
    assert.equal(
      (await run(['lab-01'], { uplink: 'GigabitEthernet3' })).result,
      false,
      'an interface that is shut down',
    );
    assert.equal((await run(['lab-01', 'lab-03'])).result, false);
  });
});
