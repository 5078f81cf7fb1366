import type { Kept, Step } from './step.ts';

/** A certificate that is valid until 2119; nobody has its key. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBxjCCAW2gAwIBAgICEAMwCgYIKoZIzj0EAwIwOjEZMBcGA1UECgwQRXhhbXBs
ZSBOZXR3b3JrczEdMBsGA1UEAwwUR2F0ZXdheSBJc3N1aW5nIENBIDEwIBcNMjAw
MTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMDsxGTAXBgNVBAoMEEV4YW1wbGUg
TmV0d29ya3MxHjAcBgNVBAMMFWdhdGV3YXktMi5leGFtcGxlLm5ldDBZMBMGByqG
SM49AgEGCCqGSM49AwEHA0IABJTmXZffPtMxgBQaV7rMX8EZjepb3XEorjn5xftH
AjeMkW9IOiujjy3TVUQxAHZnn8chuGJnpPB/PYf0jASPdEejYDBeMAwGA1UdEwEB
/wQCMAAwDgYDVR0PAQH/BAQDAgeAMB0GA1UdDgQWBBTjZrERmIzE6D7SSPc2/UWP
t2sMrTAfBgNVHSMEGDAWgBTaLk/hBYvd7XsZiS1XZBtzQ8iRrzAKBggqhkjOPQQD
AgNHADBEAiAMEK83uoAMJdGnXmX4drCQPkqgfB22aMAEhfcHy72L2wIgI0RGxrxp
ryzmtzi9hOwQ0vk+XmlX+xEXcMmp+sbK7JQ=
-----END CERTIFICATE-----
`;

const sites = ['ber', 'fra', 'ham', 'muc', 'vie', 'zrh'];

/** Access switches and edge routers of six branches. */
const branchNodes = sites.flatMap((site, at) => [
  {
    name: `edge-${site}-01`,
    tags: ['edge', site],
    attributes: {
      host: `192.0.2.${at + 10}`,
      port: 22,
      platform: 'cisco-ios-xe',
      version: '17.09.04a',
      serial: `FDO26${100 + at}0ABC`,
      site: { code: site, rack: 'R1', unit: 40 },
      login: { username: 'automation', password: `demo-${site}-password` },
    },
  },
  ...[1, 2, 3].map((n) => ({
    name: `access-${site}-0${n}`,
    tags: n === 1 ? ['access', site, 'stack-master'] : ['access', site],
    attributes: {
      host: `198.51.100.${at * 10 + n}`,
      platform: 'arista-eos',
      version: '4.30.5M',
      serial: `JPE22${at}${n}1234`,
      site: { code: site, rack: `R${n}`, unit: 20 },
    },
  })),
]);

/** Service groups, certificates and inventories of the sample. */
export const gateways: readonly ((ids: Kept) => Step)[] = [
  () => ({
    method: 'POST',
    path: '/gateway_manager/v1/service-groups',
    keep: ({ id }) => ({ configServices: id }),
    body: {
      serviceGroup: {
        name: 'Configuration services',
        cluster_id: 'gateway-cluster-eu',
        description: 'Scripts and playbooks that change devices',
        is_default: true,
        groups: ['network-engineering'],
        services: [
          { id: 'svc-netconf-push', name: 'NETCONF push' },
          { id: 'svc-ansible-backup', name: 'Ansible backup' },
          { id: 'svc-tofu-aws', name: 'OpenTofu AWS transit' },
        ],
      },
    },
  }),
  () => ({
    method: 'POST',
    path: '/gateway_manager/v1/service-groups',
    body: {
      serviceGroup: {
        name: 'Read-only checks',
        cluster_id: 'gateway-cluster-eu',
        description: 'Show commands alone',
        groups: ['network-operations', 'compliance'],
        services: [{ id: 'svc-show', name: 'Show commands' }],
      },
    },
  }),
  () => ({
    method: 'POST',
    path: '/gateway_manager/v1/certificates',
    body: { raw_certificate: certificate, contract_id: 'contract-0042', alias: 'gateway-fra' },
  }),
  () => ({
    method: 'POST',
    path: '/inventory_manager/v1/inventories',
    keep: ({ data }) => ({ branches: data._id }),
    body: {
      name: 'Branches',
      description: 'Switches and routers of all branch offices',
      groups: ['network-operations'],
    },
  }),
  ({ branches }) => ({
    method: 'POST',
    path: `/inventory_manager/v1/inventories/${branches}/nodes`,
    body: { nodes: branchNodes },
  }),
  () => ({
    method: 'POST',
    path: '/inventory_manager/v1/inventories',
    body: { name: 'Staging', description: 'Devices on the bench' },
  }),
];
