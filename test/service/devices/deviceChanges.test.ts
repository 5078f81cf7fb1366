import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

const manager = '/configuration_manager';

describe('Changes of devices', () => {
  const service = useService();
  const who = usePeople(service);
  const apply = (device: string, config: object, options: object = {}, ask = service.ask) =>
    ask('POST', `${manager}/devices/${device}/configuration`, { config, options });
  const get = async (id: string) => ok(await service.ask('GET', `${manager}/backups/${id}`));
  const eventOf = async (before: string) =>
    ok(await service.ask('GET', '/audit/events?topic=deviceConfigurationApplied'))
      .results.map(({ data }: { data: { backups?: { before: string } } }) => data)
      .find(({ backups }: { backups?: { before: string } }) => backups?.before === before);

  it('keep copies before and after, and say what differs, with masked secrets', async () => {
    const config = 'hostname lab-01\nsnmp-server community s3cret RO\nvlan 7\n name seven\n';
    const answer = ok(await apply('lab-01', { config }));
    const { change, diff, backups, status, verified } = answer;
    assert.deepEqual([status, verified], ['success', true]);
    assert.match(diff, /^--- before\n\+\+\+ after\n@@ /);
    assert.match(diff, /^\+snmp-server community \*{8} RO$/m);
    assert.ok(!JSON.stringify(answer).includes('s3cret'));
    const [before, after] = [await get(backups.before), await get(backups.after)];
    assert.deepEqual([before.change, after.change], [change, change]);
    assert.ok(!before.rawConfig.includes('vlan 7') && after.rawConfig.includes('vlan 7\n name seven'));
    const event = await eventOf(backups.before);
    assert.deepEqual([event.diff, event.backups], [diff, backups]);
  });

  it('keep none where that is asked for, and change nothing where the caller may keep none', async () => {
    const { backups, diff } = ok(await apply('lab-01', { config: 'vlan 8' }, { backup: false }));
    assert.deepEqual([backups, diff], [undefined, undefined]);
    refused(await apply('lab-01', { config: 'vlan 9' }, { backup: 'no' }), 400, /options\/backup/);
  });

  it('go one after the other, each with its own difference, however many wait', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    const vlans = Array.from({ length: 12 }, (_, i) => 31 + i);
    const answers = await Promise.all(vlans.map((vlan) => apply('lab-02', { config: `vlan ${vlan}` })));
    for (const [i, answer] of answers.entries()) {
      const added = ok(answer).diff.match(/^\+vlan \d+$/gm);
      assert.deepEqual(added, [`+vlan ${vlans[i]}`]);
    }
    process.off('warning', warned);
    assert.deepEqual(warnings, []);
  });

  it('are tried out, which stores nothing and takes a right of its own', async () => {
    const before = await service.ask('GET', `${manager}/devices/lab-02/configuration`);
    const config = 'hostname lab-02\nvlan 66\n name tried\nsnmp-server community s3cret RO\n';
    const attempts = async () =>
      ok(await service.ask('GET', '/audit/events?topic=deviceConfigurationAttempted')).results.length;
    const stored = await attempts();
    const answer = ok(await apply('lab-02', { config }, { dryRun: true }));
    assert.deepEqual([answer.status, answer.predicted, answer.warnings], ['dryRun', false, []]);
    assert.match(answer.diff, /^\+vlan 66\n\+ name tried$/m);
    assert.match(answer.diff, /^\+snmp-server community \*{8} RO$/m);
    refused(await apply('lab-02', { config: 'gibberish here' }, { dryRun: true }), 502, /refused/);
    assert.deepEqual((await service.ask('GET', `${manager}/devices/lab-02/configuration`)).body, before.body);
    assert.equal(await attempts(), stored);
    const method = { name: 'dryRunDeviceConfig', provenance: 'configuration-manager' };
    const role = { name: 'tries', allowedMethods: [method] };
    const password = 'a long enough password';
    ok(await service.ask('POST', '/authorization/roles', { role }));
    ok(
      await service.ask('POST', '/authorization/groups', {
        name: 'triers',
        description: 'May try',
        assignedRoles: ['tries'],
      }),
    );
    ok(await service.ask('POST', '/authorization/accounts', { username: 'trier', password, memberOf: ['triers'] }));
    const tries = service.as({ user: 'trier', password });
    assert.equal(ok(await apply('lab-02', { config }, { dryRun: true }, tries)).status, 'dryRun');
    refused(await apply('lab-02', { config }, {}, tries), 403, /applyDeviceConfig/);
    refused(await apply('lab-02', { config }, { dryRun: 'yes' }, tries), 400, /dryRun/);
    refused(await apply('lab-02', { config }, { dryRun: true }, who.reader), 403);
  });

  it('are refused where the device cannot do what the options ask for', async () => {
    refused(await apply('lab-02', { config: 'vlan 5' }, { confirm: 5 }), 422, /go back by itself/);
    refused(await apply('lab-02', { config: 'vlan 5' }, { confirm: 0 }), 400, /confirm/);
    refused(await service.ask('POST', `${manager}/devices/lab-02/configuration/confirm`, {}), 409, /waits/);
    const unknown = { change: '0123456789abcdef01234567' };
    refused(await service.ask('POST', `${manager}/devices/lab-02/configuration/confirm`, unknown), 404);
  });

  it('wait for a confirmation where the device goes back by itself', async () => {
    const confirm = (device: string, body: object, headers: Record<string, string> = {}) =>
      service.ask('POST', `${manager}/devices/${device}/configuration/confirm`, body, headers);
    const { change, confirmUntil, status } = ok(await apply('lab-03', { config: 'vlan 55' }, { confirm: 5 }));
    assert.equal(status, 'success');
    assert.ok(Date.parse(confirmUntil) > Date.now());
    ok(await apply('lab-03', { config: 'vlan 56' }, { dryRun: true }));
    refused(await confirm('lab-02', { change }), 409, /waits/);
    refused(
      await service.as({ user: 'reader', password: 'a long enough password' })(
        'POST',
        `${manager}/devices/lab-03/configuration/confirm`,
        {},
      ),
      403,
    );
    const key = { 'Idempotency-Key': 'confirms' };
    for (const _ of [1, 2]) assert.deepEqual(ok(await confirm('lab-03', {}, key)), { status: 'confirmed' });
    refused(await confirm('lab-03', {}), 409, /waits/);
    const [event] = ok(await service.ask('GET', '/audit/events?topic=deviceConfigurationConfirmed')).results;
    assert.equal(event.resource?.id ?? event.stream.split('-').at(-1), change);
    ok(await apply('lab-03', { config: 'vlan 57' }, { confirm: 5 }));
    ok(await apply('lab-03', { config: 'vlan 58' }));
    refused(await confirm('lab-03', {}), 409, /waits/);
  });

  it('go back to a copy, by replacing all or line by line', async () => {
    const rollback = (device: string, body: object, ask = service.ask) =>
      ask('POST', `${manager}/devices/${device}/configuration/rollback`, body);
    const { backups } = ok(await apply('lab-01', { config: 'vlan 71\n name gone\nno ntp server 192.0.2.10' }));
    const tried = ok(await rollback('lab-01', { backup: backups.before, options: { dryRun: true } }));
    assert.match(tried.diff, /^-vlan 71$/m);
    const back = ok(await rollback('lab-01', { backup: backups.before }));
    assert.deepEqual([back.status, back.verified], ['success', true]);
    assert.match(back.diff, /^-vlan 71\n- name gone$/m);
    assert.equal((await get(back.backups.after)).rawConfig, (await get(backups.before)).rawConfig);
    refused(await rollback('lab-02', { backup: backups.before }), 409, /copy of/);
    refused(await rollback('lab-01', { backup: 'none' }), 404);
    refused(await rollback('lab-01', { backup: backups.before }, who.reader), 403);
  });

  it('put back a copy of the same device, and of no other', async () => {
    const { backups } = ok(await apply('lab-03', { config: 'vlan 41' }));
    const back = await apply('lab-03', { backup: backups.after });
    assert.deepEqual([ok(back).status, ok(back).diff], ['success', '']);
    refused(await apply('lab-02', { backup: backups.after }), 409, /copy of/);
    refused(await apply('lab-02', { backup: 'none' }), 404);
    refused(await apply('lab-02', { backup: backups.after, config: 'x' }), 400);
    refused(await apply('lab-02', { backup: backups.after }, {}, who.reader), 403);
  });
});
