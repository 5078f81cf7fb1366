import assert from 'node:assert/strict';
import { deviceTypes, isCommit, isProvisional, judge, refusalIn, showsCandidate, typeOf } from '../../src/index.ts';

/** What devices say when they refuse a line, by vendor. */
const refusals: Readonly<Record<string, readonly string[]>> = {
  'Cisco IOS': [
    "% Invalid input detected at '^' marker.",
    '% Incomplete command.',
    '% Ambiguous command:  "sh"',
    'Bad mask /24 for address 192.0.2.0',
    'Command rejected: An interface whose trunk encapsulation is "Auto" can not be configured to "trunk" mode.',
    'Command authorization failed.',
  ],
  'Cisco IOS XR': [
    '% Failed to commit one or more configuration items during a pseudo-atomic operation.',
    "!!% Invalid argument: 'mtu' out of range",
  ],
  'Cisco NX-OS': [
    'Invalid value/range',
    'ERROR: Ethernet1/1: requested config change not allowed',
    'Invalid command (x)',
  ],
  'Cisco ASA': ["ERROR: % Invalid input detected at '^' marker.", 'ERROR: Invalid hostname'],
  'Cisco WLC': ["Incorrect usage.  Use the '?' or <TAB> key to list commands."],
  'Arista EOS': ['% Invalid input', '% Unavailable command (not supported on this hardware platform)'],
  'Juniper Junos': [
    'syntax error, expecting <command>.',
    'unknown command.',
    'error: configuration database locked by:',
    'commit failed: (statements constraint check failed)',
    'missing argument.',
  ],
  'Palo Alto PAN-OS': ['Invalid syntax.', 'Unknown command: foo', 'Server error : set failed', 'Validation Error:'],
  'Fortinet FortiOS': [
    "command parse error before 'foo'",
    'Command fail. Return code -61',
    'Unknown action 0',
    'entry not found in datasource',
  ],
  'MikroTik RouterOS': [
    'bad command name foo (line 1 column 1)',
    'syntax error (line 1 column 5)',
    'expected end of command (line 1 column 20)',
    'failure: already have such address',
    'input does not match any value of interface',
  ],
  'Nokia SR OS': [
    'MINOR: CLI Cannot configure.',
    'MAJOR: SVCMGR #1005',
    'Error: Bad command.',
    'Error: Invalid parameter.',
  ],
  VyOS: ['Set failed', 'Commit failed', 'Invalid command: [foo]', 'Configuration path: [interfaces foo] is not valid'],
  'HP ProCurve': ['Invalid input: foo', 'Incomplete input: vlan', 'Ambiguous input: s'],
  'Huawei VRP': ["Error: Unrecognized command found at '^' position.", "Error: Wrong parameter found at '^' position."],
  'a shell': ['bash: foo: command not found', 'sh: 1: foo: not found', 'cat: /x: Permission denied'],
};

const types: Readonly<Record<string, string>> = {
  'Cisco IOS': 'ios',
  'Cisco IOS XR': 'cisco.iosxr.iosxr',
  'Cisco NX-OS': 'nxos_ssh',
  'Cisco ASA': 'cisco_asa',
  'Cisco WLC': 'aireos',
  'Arista EOS': 'EOS',
  'Juniper Junos': 'junos',
  'Palo Alto PAN-OS': 'paloalto_panos',
  'Fortinet FortiOS': 'fortinet',
  'MikroTik RouterOS': 'mikrotik_routeros',
  'Nokia SR OS': 'nokia_sros',
  VyOS: 'vyos.vyos.vyos',
  'HP ProCurve': 'hp_procurve',
  'Huawei VRP': 'huawei_vrp',
  'a shell': 'linux',
};

describe('what a device says to a line', () => {
  for (const [vendor, lines] of Object.entries(refusals))
    for (const line of lines)
      it(`is a refusal of ${vendor}: ${line}`, () => {
        const said = `            ^\n  ${line}\r`;
        assert.equal(judge(said, {}, typeOf(types[vendor])).refusal, line);
        assert.equal(judge(said, {}).refusal, line, 'of a device whose type nobody said');
      });

  it('is harmless: nothing, and what is known to be', () => {
    for (const said of [
      '',
      '      ^\n\n',
      'Enter configuration commands, one per line.  End with CNTL/Z.',
      "Enter TEXT message.  End with the character '^'.",
      'Building configuration...\n[OK]',
      '[edit]\n[edit interfaces ge-0/0/0]\ncommit complete',
      '%Warning: portfast should only be enabled on ports connected to a single\n host. Connecting hubs, concentrators, switches, bridges, etc... to this\n interface  when portfast is enabled, can cause temporary bridging loops.\n Use with CAUTION',
    ])
      assert.deepEqual(judge(said, {}), { refusal: undefined, unrecognized: [] }, said);
  });

  it('is unrecognized otherwise, and an adapter can say what it is', () => {
    const said = 'The flux is unstable';
    assert.deepEqual(judge(said, {}), { refusal: undefined, unrecognized: [said] });
    assert.equal(judge(said, { refusals: ['FLUX'] }).refusal, said);
    assert.deepEqual(judge(said, { harmless: ['flux is'] }).unrecognized, []);
    assert.equal(judge('% Invalid input', { harmless: ['% Invalid'] }).refusal, undefined);
    assert.equal(judge(said, { refusals: ['flux'], harmless: ['flux'] }).refusal, said);
  });

  it('is a refusal to show something, unless there is a text', () => {
    assert.equal(
      refusalIn("       ^\n% Invalid input detected at '^' marker.\n", {}),
      "% Invalid input detected at '^' marker.",
    );
    assert.equal(refusalIn('hostname a\nerror: 1\ninterface x\nntp y\n', {}), undefined);
    assert.equal(refusalIn('hostname a', {}), undefined);
  });

  it('shows a candidate by prompts and by what stands above them', () => {
    assert.equal(showsCandidate('r1(config)#', ''), false);
    assert.equal(showsCandidate('RP/0/RP0/CPU0:core(config)#', ''), true);
    assert.equal(showsCandidate('admin@r1#', '\n[edit]\n'), true);
  });

  it('knows commits, and those that the device takes back', () => {
    for (const line of ['commit', ' commit comment "x"', 'commit and-quit', 'commit confirmed accept'])
      assert.deepEqual([isCommit(line), isProvisional(line)], [true, false], line);
    for (const { name, candidate } of deviceTypes)
      if (candidate?.confirmed)
        assert.deepEqual([isCommit(candidate.confirmed), isProvisional(candidate.confirmed)], [true, true], name);
    for (const type of deviceTypes) {
      const { commit, confirmed, confirm, cancel } = type.candidate ?? {};
      for (const [line, isOne] of [
        [commit, false],
        [confirmed?.replace('{minutes}', '1'), true],
        [confirmed?.replace(' ', ' \t').toUpperCase(), true],
        [confirm, false],
        [cancel, false],
      ] as const)
        if (line !== undefined) assert.equal(isProvisional(line, type), isOne, `${type.name}: ${line}`);
    }
    for (const line of ['commit check', 'description commit', 'committee']) assert.equal(isCommit(line), false, line);
  });
});
