import type { Step } from './step.ts';

const checks = {
  name: 'Upgrade pre-check',
  description: 'Tells if an edge router may be upgraded now',
  os: 'cisco-ios-xe',
  passRule: true,
  commands: [
    {
      command: 'show version',
      passRule: true,
      rules: [
        { rule: 'Cisco IOS XE Software', eval: 'contains', severity: 'error' },
        { rule: '/uptime is (?:\\d+ years?, )?(\\d+) weeks?/', eval: 'RegEx', severity: 'info' },
        {
          rule: '/Version (\\d+(?:\\.\\d+)+)/',
          eval: '#comparison',
          evaluator: '<',
          ruleB: '<!target_version!>',
          severity: 'error',
        },
      ],
    },
    {
      command: 'show interfaces <!uplink!>',
      passRule: true,
      rules: [
        { rule: '<!uplink!> is up, line protocol is up', eval: 'contains', severity: 'error' },
        { rule: '/(\\d+) input errors/', eval: '#comparison', evaluator: '<=', ruleB: '100', severity: 'warning' },
      ],
    },
    {
      command: 'show ip bgp summary',
      passRule: true,
      rules: [
        { rule: '\\s(Idle|Active|Connect)\\b', eval: '!RegEx', severity: 'error', flags: { case: true } },
        { rule: 'BGP router identifier', eval: 'contains1', severity: 'warning' },
      ],
    },
  ],
};

const comparison = {
  name: 'Upgrade before and after',
  description: 'The state that an upgrade must leave as it was',
  os: 'cisco-ios-xe',
  passRule: true,
  prepostCommands: [
    {
      preRawCommand: 'show version',
      postRawCommand: 'show version',
      passRule: true,
      rules: [
        {
          type: 'regex',
          preRegex: '/Version (\\d+(?:\\.\\d+)+)/',
          postRegex: '/Version (\\d+(?:\\.\\d+)+)/',
          evaluation: '<',
        },
      ],
    },
    {
      preRawCommand: 'show ip interface brief',
      postRawCommand: 'show ip interface brief',
      passRule: true,
      rules: [{ type: 'table', preRegex: '^(\\S+)\\s.*\\sup\\s+up', evaluation: 'contains', severity: 'error' }],
    },
    {
      preRawCommand: 'show ip bgp summary',
      postRawCommand: 'show ip bgp summary',
      passRule: true,
      rules: [
        {
          type: 'table',
          preRegex: '^(\\d+\\.\\d+\\.\\d+\\.\\d+)\\s+4\\s+(\\d+)\\s.*\\s\\d+$',
          evaluation: 'contains',
          severity: 'error',
        },
        { type: '!matches', preRegex: '\\s(Idle|Active|Connect)\\b', severity: 'error' },
      ],
    },
  ],
};

/** Command templates and analytic templates. */
export const mopSteps: readonly (() => Step)[] = [
  () => ({
    method: 'POST',
    path: '/mop/createTemplate',
    keep: ({ data }) => ({ precheck: data._id }),
    body: { mop: checks },
  }),
  () => ({
    method: 'POST',
    path: '/mop/createAnalyticTemplate',
    keep: ({ data }) => ({ comparison: data._id }),
    body: { template: comparison },
  }),
];
