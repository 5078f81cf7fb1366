import type { Kept, Step } from './step.ts';

const uplink = `interface {{ name }}
 description {{ description | default('Uplink to ' ~ neighbor) }}
 mtu {{ mtu | default(9216) }}
{%- for address in addresses %}
 ip address {{ address.ip }} {{ address.mask }}{{ ' secondary' if not loop.first }}
{%- endfor %}
{%- if shutdown %}
 shutdown
{%- else %}
 no shutdown
{%- endif %}
`;

const neighbors = `router bgp {{ asn }}
 bgp router-id {{ router_id }}
{%- for peer in neighbors | sort(attribute='ip') %}
 neighbor {{ peer.ip }} remote-as {{ peer.asn }}
 neighbor {{ peer.ip }} description {{ peer.name | upper }}
{%- if peer.asn == asn %}
 neighbor {{ peer.ip }} update-source Loopback0
{%- endif %}
{%- endfor %}
`;

const interfaces = `Value INTERFACE (\\S+)
Value STATUS (up|down|administratively down)

Start
  ^\${INTERFACE} is \${STATUS} -> Record
`;

const bgp = {
  asn: 65010,
  router_id: '192.0.2.1',
  neighbors: [
    { ip: '192.0.2.2', asn: 65010, name: 'edge-02' },
    { ip: '198.51.100.1', asn: 64500, name: 'transit' },
  ],
};

/** Templates, and an automation that renders one. */
export const templateSteps: readonly ((ids: Kept) => Step)[] = [
  () => ({
    method: 'POST',
    path: '/template_builder/templates',
    keep: ({ data }) => ({ interfaceTemplate: data._id }),
    body: {
      name: 'IOS-XE uplink',
      description: 'A routed uplink with any number of addresses',
      group: 'Edge',
      tags: ['ios-xe', 'interface'],
      template: uplink,
      data: {
        name: 'TenGigabitEthernet0/0/0',
        neighbor: 'core-01',
        addresses: [{ ip: '198.51.100.2', mask: '255.255.255.252' }],
      },
    },
  }),
  () => ({
    method: 'POST',
    path: '/template_builder/templates',
    body: {
      name: 'IOS-XE BGP neighbors',
      description: 'All neighbors of one router',
      group: 'Edge',
      tags: ['ios-xe', 'bgp'],
      template: neighbors,
      data: bgp,
    },
  }),
  () => ({
    method: 'POST',
    path: '/template_builder/templates',
    body: {
      name: 'Interface states',
      type: 'textfsm',
      command: 'show interfaces',
      group: 'Parsers',
      template: interfaces,
    },
  }),
  () => ({
    method: 'POST',
    path: '/operations-manager/automations',
    body: {
      name: 'Render BGP neighbors',
      description: 'Shows what would be configured',
      componentType: 'template',
      componentName: 'IOS-XE BGP neighbors',
    },
  }),
];

const assign = (from: readonly [location: string, name: string | number, ptr: string], to: typeof from) => {
  const [fromEnd, toEnd] = [from, to].map(([location, name, ptr]) => ({ location, name, ptr }));
  return { type: 'assign', from: fromEnd, to: toEnd };
};

/** A transformation that makes one text of each circuit. */
export const transformationSteps: readonly (() => Step)[] = [
  () => ({
    method: 'POST',
    path: '/template_builder/transformations',
    keep: ({ data }) => ({ circuits: data._id }),
    body: {
      name: 'Titles of circuits',
      description: 'One line for each circuit of a ticket',
      incoming: [{ $id: 'circuits', type: 'array', items: { type: 'object' }, default: [] }],
      outgoing: [{ $id: 'titles', type: 'array' }],
      steps: [
        { id: 1, type: 'method', library: 'Array', method: 'map', args: [null, 'title'] },
        assign(['incoming', 'circuits', ''], ['method', 1, '/args/0/value']),
        assign(['method', 1, '/return'], ['outgoing', 'titles', '']),
      ],
      functions: [
        {
          id: 'title',
          name: 'title',
          incoming: [{ $id: 'circuit', type: 'object' }],
          outgoing: [{ $id: 'title', type: 'string' }],
          steps: [
            // biome-ignore lint/suspicious/noTemplateCurlyInString: the words of the document
            { id: 1, type: 'template', library: 'String', method: 'templateLiteral', template: '${id} on ${port}' },
            assign(['incoming', 'circuit', '/id'], ['template', 1, '/args/0/value']),
            assign(['incoming', 'circuit', '/port'], ['template', 1, '/args/1/value']),
            assign(['template', 1, '/return'], ['outgoing', 'title', '']),
          ],
          functions: [],
        },
      ],
    },
  }),
];
