import { ago, type Kept, longAgo, type MakeStep, type Step } from './step.ts';

const groups = [
  { name: 'Edge', description: 'Edge routers of all sites', devices: ['edge-01', 'edge-02', 'edge-03', 'edge-04'] },
  {
    name: 'Data centre leaves',
    description: 'Leaf switches, Frankfurt',
    devices: ['fra-leaf-101', 'fra-leaf-102', 'fra-leaf-103', 'fra-leaf-104'],
  },
  {
    name: 'Branches',
    description: 'Branch routers, reached through the bastion',
    devices: ['branch-bonn-01', 'branch-koeln-01', 'branch-trier-01'],
  },
  { name: 'Lab', devices: ['lab-01', 'lab-02', 'lab-03'] },
];

const hardening = `! Baseline hardening, change CHG0041822
service tcp-keepalives-in
service tcp-keepalives-out
no ip http server
ip ssh version 2
ip ssh time-out 60
ntp server 192.0.2.10
ntp server 192.0.2.11
logging host 192.0.2.20
logging trap informational
snmp-server location Lab, rack 4
banner login ^C
Authorised access only. Activity is recorded.
^C
interface GigabitEthernet2
 description Uplink to lab-02
 mtu 9000
interface GigabitEthernet3
 description Test stub
 ip address 10.20.30.1 255.255.255.0
 no shutdown
router ospf 1
 router-id 10.255.0.1
 passive-interface default
 no passive-interface GigabitEthernet2
 network 10.0.0.0 0.255.255.255 area 0
line vty 0 4
 exec-timeout 10 0
 transport input ssh
`;

/** Device groups, adapters, and a configuration applied to a simulated device. */
export const deviceSteps: readonly MakeStep[] = [
  () => ({ method: 'POST', path: '/configuration_manager/import/groups', body: { groups } }),
  () => ({
    method: 'POST',
    path: '/configuration_manager/adapters',
    body: {
      name: 'frankfurt-controller',
      type: 'http',
      properties: {
        baseUrl: 'https://controller.fra.example.net/api',
        username: 'automation',
        password: 'demo-controller-password',
        timeout: 60_000,
      },
      devices: [101, 102, 103, 104].map((n) => ({ name: `fra-leaf-${n}`, ostype: 'arista-eos' })),
    },
  }),
  () => ({
    method: 'POST',
    path: '/configuration_manager/adapters',
    body: {
      name: 'branches',
      type: 'ssh',
      properties: {
        username: 'netops',
        password: 'demo-device-password',
        hostKey: 'SHA256:uNiVztksCsDhcc0u9e8BrSDGj3WhtSrHiG1Hyr9pJyo',
        leave: ['end', 'write memory'],
      },
      devices: [
        ['branch-bonn-01', '198.51.100.11'],
        ['branch-koeln-01', '198.51.100.12'],
        ['branch-trier-01', '198.51.100.13'],
      ].map(([name, host]) => ({ name, host, port: 22, ostype: 'cisco-ios-xe' })),
    },
  }),
  ago(longAgo, () => ({
    method: 'POST',
    path: '/configuration_manager/devices/lab-01/configuration',
    isOnce: true,
    body: { config: { device: 'lab-01', config: hardening }, options: {} },
  })),
];

/** A credential, and an inventory whose nodes are devices that name it. */
export const campusSteps: readonly ((values: Kept) => Step)[] = [
  () => ({
    method: 'POST',
    path: '/configuration_manager/credentials',
    body: { name: 'campus', username: 'netops', password: 'demo-campus-password', groups: ['network-operations'] },
  }),
  () => ({
    method: 'POST',
    path: '/inventory_manager/v1/inventories',
    body: {
      name: 'Campus',
      description: 'Switches of the campus: devices without an adapter',
      devices: ['core-01', 'core-02', 'access-11'].map((name, i) => ({
        name,
        attributes: { host: `192.0.2.${101 + i}`, platform: 'cisco_ios', protocol: 'lab', credential: 'campus' },
        tags: [name.startsWith('core') ? 'core' : 'access'],
      })),
    },
  }),
  () => ({
    method: 'POST',
    path: '/configuration_manager/devicegroup',
    keep: ({ id }) => ({ campusCore: id }),
    body: { name: 'Campus core', query: { inventory: 'Campus', tags: ['core'] } },
  }),
];

/** A copy of the configuration of a device. */
export const backupSteps: readonly ((values: Kept) => Step)[] = [
  () => ({
    method: 'POST',
    path: '/configuration_manager/devices/backups',
    keep: ({ id }) => ({ labBackup: id }),
    body: { name: 'lab-01', options: { description: 'After the hardening', notes: 'Reviewed on Monday' } },
  }),
];

/** A device template, a change of several devices with its differences and copies, and a parser. */
export const changeSteps: readonly ((values: Kept) => Step)[] = [
  () => ({
    method: 'POST',
    path: '/configuration_manager/templates',
    keep: ({ data }) => ({ locationTemplate: data._id }),
    body: {
      name: 'Location',
      template: 'snmp-server location {{ location }}, {{ device.name }}',
      variables: { location: 'Bonn' },
      deviceOSTypes: ['cisco-ios'],
    },
  }),
  () => ({
    method: 'POST',
    path: '/configuration_manager/changes',
    keep: ({ jobId }) => ({ labChange: jobId }),
    body: {
      devices: ['lab-02', 'lab-03'],
      config: 'snmp-server location Bonn, second floor',
      options: { dryRunFirst: true },
      stopAfterFailures: 1,
    },
  }),
  () => ({
    method: 'POST',
    path: '/configuration_manager/configurations/parser',
    keep: ({ parser }) => ({ ringParser: parser.id }),
    body: {
      name: 'ring-os',
      template: 'juniper-junos',
      lexRules: [
        ['--[^\\n]*', 'comment'],
        ['"[^"]*"', 'word'],
        ['[^\\s;{}]+', 'word'],
        [';', 'end_line'],
        ['\\{', 'open_statement_block'],
        ['\\}', 'close_statement_block'],
      ],
    },
  }),
];
