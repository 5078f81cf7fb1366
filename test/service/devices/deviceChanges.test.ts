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

  it('go one after the other, each with its own difference', async () => {
    const vlans = [31, 32, 33, 34];
    const answers = await Promise.all(vlans.map((vlan) => apply('lab-02', { config: `vlan ${vlan}` })));
    for (const [i, answer] of answers.entries()) {
      const added = ok(answer).diff.match(/^\+vlan \d+$/gm);
      assert.deepEqual(added, [`+vlan ${vlans[i]}`]);
    }
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
