/** What a source of truth hands to templates: one device, its site and its neighbours. */
export const network = {
  hostname: 'core1.fra', domain: 'example.net', mgmt: { ip: '10.0.0.11', mask: '255.255.255.0', gw: '10.0.0.1', vrf: 'MGMT' },
  asn: 65001, router_id: '192.0.2.1', mtu: 9214, uptime: 1234567, load: 0.375, serials: ['FOX1234', 'FOX0042'],
  interfaces: [
    { name: 'Ethernet1', description: 'uplink to core2', ip: '192.0.2.1', prefix: 31, enabled: true, mtu: 9214, speed: 100000, tags: ['core', 'isis'] },
    { name: 'Ethernet2', description: '', ip: null, prefix: null, enabled: false, mtu: 1500, speed: 10000, tags: [] },
    { name: 'Ethernet10', description: "customer 'ACME' & <Co>", ip: '198.51.100.1', prefix: 30, enabled: true, mtu: 1500, speed: 1000, vlan: 110, tags: ['customer'] },
    { name: 'Loopback0', description: 'router id', ip: '192.0.2.254', prefix: 32, enabled: true, mtu: 1500, speed: 0, tags: ['loopback', 'isis'] },
  ],
  vlans: [{ id: 20, name: 'voice' }, { id: 10, name: 'users' }, { id: 110, name: 'ACME' }, { id: 11, name: 'printers' }, { id: 12, name: 'Guests' }],
  vlan_ids: [10, 11, 12, 20, 30, 31, 110],
  trunks: { Ethernet3: [10, 20, 30], Ethernet4: [], Ethernet5: [110] },
  neighbors: [
    { peer: '198.51.100.2', remote_as: 65010, group: 'customers', description: 'ACME', password: 's3cret', families: ['ipv4', 'ipv6'], max_prefix: 100 },
    { peer: '203.0.113.9', remote_as: 64500, group: 'transit', description: 'Transit One', families: ['ipv4'], shutdown: true },
    { peer: '192.0.2.2', remote_as: 65001, group: 'core', description: 'core2', families: ['ipv4', 'ipv6', 'evpn'] },
    { peer: '203.0.113.17', remote_as: 64501, group: 'transit', description: 'Transit Two', families: ['ipv4'] },
  ],
  prefix_lists: { 'ACME-IN': [{ seq: 10, action: 'permit', prefix: '198.51.100.0/24', le: 28 }, { seq: 20, action: 'deny', prefix: '0.0.0.0/0', ge: 1, le: 32 }], DEFAULT: [{ seq: 5, action: 'permit', prefix: '0.0.0.0/0' }] },
  acls: [{ name: 'MGMT-IN', rules: [{ action: 'permit', proto: 'tcp', src: '10.0.0.0/8', dst: 'any', port: 22 }, { action: 'permit', proto: 'icmp', src: 'any', dst: 'any' }, { action: 'deny', proto: 'ip', src: 'any', dst: 'any', log: true }] }, { name: 'EMPTY', rules: [] }],
  ntp: { servers: ['10.0.0.5', '10.0.0.6'], prefer: '10.0.0.6', auth: { key: 5, hash: 'md5' } },
  snmp: { location: 'FRA1, Rack 12', contact: 'noc@example.net', communities: [{ name: 'public', mode: 'ro' }, { name: 'secret', mode: 'rw', acl: 'MGMT-IN' }], traps: {} },
  syslog: ['10.0.0.7', '10.0.0.8'], users: [{ name: 'admin', role: 'network-admin', hash: '$6$abc' }, { name: 'ops', role: 'network-operator' }],
  vrfs: { RED: { rd: '65001:1', import: ['65001:1', '65001:2'], export: ['65001:1'] }, BLUE: { rd: '65001:2', import: ['65001:2'], export: [] } },
  tree: [{ name: 'emea', children: [{ name: 'fra', children: [{ name: 'core1', children: [] }, { name: 'core2', children: [] }] }, { name: 'ams', children: [] }] }, { name: 'apac', children: [] }],
  banner: 'Authorized access only!\nEverything is logged.\n', big: 4294967296, counters: { in: 1234567890123, out: 0, errors: null }, ratio: 0.1, temps: [21.5, 22.25, 19],
};
