import { type Members, own } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { authored } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';
import { withTypedProperties } from '../engine/typedProperties.ts';

const secret = (description: string, pattern = '^[\\x20-\\x7e]+$') =>
  Type.Optional(
    Type.String({
      description: `${description}; kept sealed, shown as ********`,
      minLength: 1,
      maxLength: 16_384,
      pattern,
    }),
  );
const timeout = Type.Optional(
  Type.Integer({ description: 'Longest call, in milliseconds; 30000 unless given', minimum: 100, maximum: 600_000 }),
);
const credential = Type.Optional(name('Name of the credential that it logs in with'));
export const line = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: 1000, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });
const lines = (description: string) => Type.Optional(Type.Array(line('One line'), { description, maxItems: 20 }));
const words = (description: string) =>
  Type.Optional(Type.Array(line('Part of a line, in any case'), { description, maxItems: 100 }));
export const fingerprint = Type.String({
  description: 'SHA256:... as ssh-keygen -l prints it',
  pattern: '^SHA256:[A-Za-z0-9+/]{43}=?$',
});

const labProperties = Type.Object(
  {},
  { additionalProperties: false, title: 'LabAdapterProperties', description: 'Of simulated devices: none' },
);

export const httpPropertiesSchema = Type.Object(
  {
    baseUrl: Type.String({
      description: 'URL of the controller, without query and credentials',
      maxLength: 2048,
      pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
    }),
    auth: secret('Whole Authorization header'),
    token: secret('Bearer token'),
    credential,
    username: Type.Optional(line('Username of HTTP Basic')),
    password: secret('Password of HTTP Basic', '^[^\\u0000-\\u001f\\u007f]+$'),
    timeout,
  },
  { additionalProperties: false, title: 'HttpAdapterProperties', description: 'Of a southbound controller' },
);
export type HttpProperties = Static<typeof httpPropertiesSchema>;

export const sshPropertiesSchema = Type.Object(
  {
    username: Type.Optional(line('Account on the devices')),
    credential,
    password: secret('Its password', '^[^\\u0000-\\u001f\\u007f]+$'),
    privateKey: secret('Its private key, instead of a password', '^[\\x20-\\x7e\\r\\n]+$'),
    passphrase: secret('Of the private key', '^[^\\u0000-\\u001f\\u007f]+$'),
    enablePassword: secret('Gives the rights to configure, where the login does not', '^[^\\u0000-\\u001f\\u007f]+$'),
    jumpHost: Type.Optional(name('Device of an adapter of the type ssh, by whose connection these are reached')),
    keepSession: Type.Optional(
      Type.Integer({
        description: 'Seconds that a session waits for the next call of its device; 30 unless given, 0: never',
        minimum: 0,
        maximum: 600,
      }),
    ),
    hostKey: Type.Optional(
      Type.Union([fingerprint, Type.Record(Type.String(), fingerprint, { description: 'By name of the device' })], {
        description:
          'Fingerprint of the host key: one for all devices, or one for each. Without it, that which is pinned for the device',
      }),
    ),
    timeout,
    prompt: Type.Optional(
      Type.String({
        description: 'Characters that a prompt may end with; the prompts of the type unless given',
        minLength: 1,
        maxLength: 10,
        pattern: '^[\\x21-\\x7e]+$',
      }),
    ),
    setup: lines('Commands at the begin of a session; those of the type unless given'),
    enter: lines('Commands before a configuration; those of the type unless given'),
    leave: lines(
      'Commands after a configuration, also those that commit; those of the type unless given. Add one that saves, if it shall survive a restart of the device',
    ),
    refusals: words('Parts of lines by which the devices refuse a line, besides those that are known'),
    harmless: words('Parts of lines that mean nothing, besides those that are known'),
    show: Type.Optional(line('Command that prints the running configuration; that of the type unless given')),
  },
  { additionalProperties: false, title: 'SshAdapterProperties', description: 'Of CLI sessions over SSH' },
);
export type SshProperties = Static<typeof sshPropertiesSchema>;

const propertiesOf = { lab: labProperties, http: httpPropertiesSchema, ssh: sshPropertiesSchema };
export type AdapterType = keyof typeof propertiesOf;

const needed: Readonly<Record<AdapterType, readonly string[]>> = { lab: [], http: ['baseUrl'], ssh: ['username'] };

/** The first property that a type needs and that is missing; undefined if there is none. */
export const missingProperty = (type: AdapterType, properties: Members): string | undefined =>
  needed[type].find((member) => own(properties, member) === undefined);

export const deviceSchema = Type.Object(
  {
    name: name('Name, unique within the adapter'),
    host: Type.Optional(
      Type.String({
        description: 'Host name or address; the name unless given',
        minLength: 1,
        maxLength: 255,
        pattern: '^[A-Za-z0-9._:%-]+$',
      }),
    ),
    port: Type.Optional(Type.Integer({ description: 'Port', minimum: 1, maximum: 65_535 })),
    ostype: Type.Optional(name('Operating system')),
  },
  { additionalProperties: false, title: 'Device', description: 'Device as its adapter lists it' },
);

const members = {
  type: Type.Enum(['lab', 'http', 'ssh'], {
    description: 'lab: simulated devices; http: a controller; ssh: CLI sessions',
  }),
  properties: Type.Unsafe<Readonly<Record<string, unknown>>>(
    Type.Object({}, { additionalProperties: true, description: 'As the type needs them' }),
  ),
  devices: Type.Array(deviceSchema, { description: 'Devices that it knows', maxItems: 10_000 }),
};

const changeable = {
  type: members.type,
  ...Type.Partial(Type.Object({ properties: members.properties, devices: members.devices })).properties,
};

export const newAdapterSchema = withTypedProperties(
  Type.Object(
    { name: name('Name, unique among adapters'), ...changeable },
    { additionalProperties: false, title: 'NewAdapter', description: 'New adapter' },
  ),
  propertiesOf,
  ['lab'],
);
export const adapterReplacementSchema = withTypedProperties(
  Type.Object(
    { name: Type.Optional(name('That of the path, if given')), ...changeable },
    {
      additionalProperties: false,
      title: 'AdapterReplacement',
      description: 'The new definition of an adapter; ******** keeps a secret',
    },
  ),
  propertiesOf,
  ['lab'],
);

/** An adapter in answers. */
export const adapterSchema = Type.Object(
  { name: name('Name'), ...members, ...authored },
  { title: 'Adapter', description: 'Way to some devices; secrets are shown as ********' },
);
