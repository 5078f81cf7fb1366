import assert from 'node:assert/strict';
import { deviceTypeOf, isBuiltInType, isChange } from '@automation-platform/configurations';
import { deviceTypes, generic, typeOf } from '../../src/index.ts';

/** A prompt of each type when somebody has logged in, and in the mode of configurations; the name in both. */
const prompts: Readonly<Record<string, readonly [string, string, string]>> = {
  'cisco-ios': ['core-1#', 'core-1(config-if)#', 'core-1'],
  'cisco-ios-xr': ['RP/0/RP0/CPU0:core-1#', 'RP/0/RP0/CPU0:core-1(config-if)#', 'core-1'],
  'cisco-nx': ['core-1#', 'core-1(config-if-range)#', 'core-1'],
  'cisco-asa': ['fw-1>', 'fw-1/act/pri(config-if)#', 'fw-1'],
  'cisco-wlc': ['(Cisco Controller) >', '(Cisco Controller) config>', 'Cisco Controller'],
  'arista-eos': ['sw1>', 'sw1(config-s-sess-1-if-Et1)#', 'sw1'],
  'juniper-junos': ['admin@r1>', 'admin@r1#', 'r1'],
  'paloalto-panos': ['admin@PA-VM(active)>', 'admin@PA-VM(active)#', 'PA-VM'],
  'fortinet-fortios': ['FGT60 #', 'FGT60 (port1) #', 'FGT60'],
  'mikrotik-routeros': ['[admin@MikroTik] >', '[admin@MikroTik] /ip/address>', 'MikroTik'],
  'nokia-sros': ['A:admin@r1#', '*A:admin@r1#', 'r1'],
  vyos: ['vyos@r1:~$', 'vyos@r1#', 'vyos@r1'],
  'huawei-vrp': ['<r1>', '[~r1]', 'r1'],
  'hp-procurve': ['sw1#', 'sw1(vlan-10)#', 'sw1'],
  linux: ['ops@host:~$', '[ops@host etc]$', 'ops@host'],
};

describe('The types of devices', () => {
  it('are found by all their names, each of which is of one type', () => {
    const names = deviceTypes.flatMap(({ name, aliases }) => [name, ...aliases]);
    assert.deepEqual(new Set(names).size, names.length);
    for (const type of deviceTypes)
      for (const name of [type.name, ...type.aliases]) {
        assert.equal(typeOf(name), type);
        assert.equal(typeOf(name.toUpperCase().replaceAll('-', '_')), type);
      }
    for (const name of [undefined, '', 'toaster', 'constructor', '__proto__']) assert.equal(typeOf(name), generic);
  });

  for (const { name, prompt, viewAfter } of deviceTypes)
    it(`know the prompts of ${name}`, () => {
      const [first, later, device] = prompts[name]!;
      assert.deepEqual([prompt?.exec(first)?.[1], prompt?.exec(later)?.[1]], [device, device]);
      if (viewAfter) assert.equal(prompt?.exec(`[${device}${viewAfter}Vlanif3]`)?.[1], `${device}${viewAfter}Vlanif3`);
    });

  it('undo lines by the word that comparing knows', () => {
    for (const { name, undoneBy } of deviceTypes) {
      assert.ok(isBuiltInType(name), name);
      const { form, negation = 'no' } = deviceTypeOf(name);
      if (form !== 'sections') continue;
      const [, by] = undoneBy?.find(([line]) => line.test('ip http')) ?? [];
      assert.equal(by, negation === null ? undefined : `${negation} $1`, name);
    }
  });

  it('call nothing harmless that they refuse', () => {
    for (const { name, refusals, harmless } of deviceTypes)
      for (const line of ['% Invalid input', 'Error: no', 'error: syntax', 'Commit failed', 'Set failed'])
        assert.ok(!harmless.some((form) => form.test(line)) || !refusals.some((form) => form.test(line)), name);
  });

  it('name the lines that always change, which make no change', () => {
    const volatile = (type: string) => typeOf(type).volatile ?? [];
    for (const [type, line, other] of [
      [
        'ios',
        '! Last configuration change at 10:00:01 UTC Mon Jan 1 2024',
        '! Last configuration change at 11:00:00 UTC',
      ],
      ['ios', 'ntp clock-period 17180089', 'ntp clock-period 17180090'],
      ['iosxr', 'Mon Jan  1 10:00:00.123 UTC', 'Tue Jan  2 11:00:00.456 UTC'],
      ['nxos', '!Time: Mon Jan  1 10:00:00 2024', '!Time: Tue Jan  2 10:00:00 2024'],
      ['junos', '## Last commit: 2024-01-01 10:00:00 UTC by a', '## Last commit: 2024-01-02 10:00:00 UTC by b'],
      ['fortios', 'set passwd ENC AAAA', 'set passwd ENC BBBB'],
      ['routeros', '# jan/01/2024 10:00:00 by RouterOS 6.48', '# jan/02/2024 10:00:00 by RouterOS 6.48'],
    ] as const) {
      const config = (of: string) => `hostname a\n${of}\nend\n`;
      assert.equal(isChange(config(line), config(other), volatile(type)), false, line);
      assert.equal(isChange(config(line), `${config(other)}more\n`, volatile(type)), true, line);
      assert.equal(isChange(config(line), config(other), volatile('linux')), true, line);
    }
  });
});
