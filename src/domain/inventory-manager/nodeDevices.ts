import { type Members, own } from '@automation-platform/json';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  deviceSchema,
  fingerprint,
  httpPropertiesSchema,
  sshPropertiesSchema,
} from '../configuration-manager/adapterSchemas.ts';
import { defined } from '../engine/defined.ts';
import { RequestError } from '../engine/requestError.ts';

/** The attributes that say how a device is reached, and the words for each; the first one counts. */
const words = {
  host: ['host'],
  port: ['port'],
  ostype: ['ostype', 'platform', 'network_os'],
  protocol: ['protocol'],
  baseUrl: ['baseUrl'],
  username: ['user'],
  password: ['password'],
  privateKey: ['privateKey'],
  passphrase: ['passphrase'],
  enablePassword: ['enablePassword', 'become_password'],
  credential: ['credential'],
  hostKey: ['hostKey'],
  jumpHost: ['jumpHost'],
  timeout: ['timeout'],
  keepSession: ['keepSession'],
  show: ['show'],
  prompt: ['prompt'],
} as const;
type Member = keyof typeof words;

/** The first prefix that an attribute has counts. */
const prefixes = ['', 'itential_', 'platform_', 'ansible_'];

/** The name and value of the attribute that gives this member; undefined if there is none. */
const attributeOf = (attributes: Members, member: Member): readonly [name: string, value: unknown] | undefined => {
  for (const prefix of prefixes)
    for (const word of words[member]) {
      const value = own(attributes, prefix + word);
      if (value !== undefined && value !== null && value !== '') return [prefix + word, value];
    }
  return undefined;
};

const protocols = ['ssh', 'http', 'lab'] as const;
type Protocol = (typeof protocols)[number];

type Fits = (value: unknown) => boolean;

const fits = (schema: TSchema): Fits => {
  const compiled = Compile(schema);
  return (value) => compiled.Check(value);
};
/** Numbers may be texts. */
const fitsAsNumber = (schema: TSchema): Fits => {
  const isFit = fits(schema);
  return (value) => isFit(typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value);
};
const ssh = sshPropertiesSchema.properties;
const line = fits(ssh.show);

/** The form that each of these attributes must have, and its words. */
const forms = {
  host: [fits(deviceSchema.properties.host), 'a host name or an address'],
  port: [fitsAsNumber(deviceSchema.properties.port), 'a number from 1 to 65535'],
  ostype: [fits(deviceSchema.properties.ostype), 'the name of a type'],
  protocol: [(value) => protocols.some((one) => one === value), 'ssh, http or lab'],
  baseUrl: [fits(httpPropertiesSchema.properties.baseUrl), 'a URL without query and credentials'],
  username: [line, 'one line'],
  credential: [fits(ssh.credential), 'the name of a credential'],
  hostKey: [fits(fingerprint), 'SHA256:... as ssh-keygen -l prints it'],
  jumpHost: [fits(ssh.jumpHost), 'the name of a device'],
  timeout: [fitsAsNumber(ssh.timeout), 'a number from 100 to 600000'],
  keepSession: [fitsAsNumber(ssh.keepSession), 'a number from 0 to 600'],
  show: [line, 'one line'],
  prompt: [fits(ssh.prompt), '1 to 10 visible characters'],
} as const satisfies Partial<Record<Member, readonly [is: Fits, form: string]>>;
type Plain = keyof typeof forms;

const numbers: readonly string[] = ['port', 'timeout', 'keepSession'];

/** These attributes, which are no secrets, in the form of an adapter's properties. Those that do not fit are left out. */
const plainOf = (attributes: Members, members: readonly Plain[]): Members => {
  const found: [string, unknown][] = [];
  for (const member of members) {
    const [, value] = attributeOf(attributes, member) ?? [];
    const [isFit] = forms[member];
    if (value !== undefined && isFit(value)) found.push([member, numbers.includes(member) ? Number(value) : value]);
  }
  return Object.fromEntries(found);
};

/** Where a device is, and its type; and all else that says how it is reached. */
const placeMembers = ['host', 'port', 'ostype', 'protocol'] as const satisfies readonly Plain[];
const wayMembers = (Object.keys(forms) as Plain[]).filter((member) => !placeMembers.some((one) => one === member));

/** A node as a device: its place and type. */
export type NodeDevice = {
  readonly name: string;
  readonly host: string;
  readonly port?: number;
  readonly ostype?: string;
  readonly protocol: Protocol;
};

type Node = { readonly name: string; readonly attributes: Members };

/** The device that a node is; undefined for a node without a host. */
export const deviceOf = ({ name, attributes }: Node): NodeDevice | undefined => {
  const { host, port, ostype, protocol = 'ssh' } = plainOf(attributes, placeMembers) as Partial<NodeDevice>; // by `forms`
  return host === undefined ? undefined : { name, host, protocol, ...defined({ port, ostype }) };
};

/** How a node's device is reached, as an adapter's properties say it. Secrets are as they are stored. */
export const propertiesOf = ({ attributes }: Pick<Node, 'attributes'>): Members => {
  // Earlier versions sealed the name of a credential, too.
  const maybeSealed = (['credential', 'password', 'privateKey', 'passphrase', 'enablePassword'] as const).flatMap(
    (member) => {
      const [, value] = attributeOf(attributes, member) ?? [];
      return value === undefined ? [] : [[member, value] as const];
    },
  );
  return { ...plainOf(attributes, wayMembers), ...Object.fromEntries(maybeSealed) };
};

/** Where a node's secrets are sent. The mask keeps them only while that stays the same. */
export const destinationOf = (attributes: Members): Members =>
  plainOf(attributes, ['host', 'port', 'protocol', 'baseUrl', 'hostKey', 'jumpHost']);

/** Throws `invalid` for the first attribute that says how a device is reached and cannot be that. */
export const checkAttributes = (attributes: Members, path: string): void => {
  for (const [member, [isFit, form]] of Object.entries(forms)) {
    const [name, value] = attributeOf(attributes, member as Member) ?? [];
    if (name !== undefined && !isFit(value) && typeof value !== 'object')
      throw new RequestError('invalid', `The attribute ${name} must be ${form}`, { path: `${path}/${name}` });
  }
};
