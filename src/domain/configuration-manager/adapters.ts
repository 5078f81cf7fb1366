import { type Static, Type } from 'typebox';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type Frozen, type SchemaData } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import type { Sealed } from '../engine/sealed.ts';
import { sealBy } from '../engine/secretFields.ts';
import { anyMembers, nothing, text, topicsOf, typed } from '../engine/topics.ts';
import type { AdapterType, adapterReplacementSchema, deviceSchema, newAdapterSchema } from './adapterSchemas.ts';
import { isReference } from './credentialReferences.ts';
import { sshPlaceOf } from './deviceSources.ts';

type Properties = Readonly<Record<string, unknown>>;

const content = Type.Object({
  type: typed<AdapterType>()(text),
  properties: anyMembers,
  devices: typed<readonly Frozen<Static<typeof deviceSchema>>[]>()(
    Type.Array(Type.Object({ name: text }), { description: 'Devices, with what is known of each' }),
  ),
});
export type AdapterContent = SchemaData<typeof content>;

const topics = topicsOf({
  adapterCreated: ['An adapter was created', Type.Object({ name: text, ...content.properties })],
  adapterReplaced: ['An adapter got new content', content],
  adapterDeleted: ['An adapter was deleted', nothing],
});
export type AdapterEvent = EventOf<typeof topics>;

/** `known`: whether the adapter exists or ever existed. */
export type AdapterState = { readonly known: boolean; readonly content?: AdapterContent };

const now = (_: unknown, { type, properties, devices }: AdapterContent): AdapterState => ({
  known: true,
  content: { type, properties, devices },
});

/** The id of an adapter is its name. */
export const adapter = aggregate<AdapterState, AdapterEvent>({
  area: 'configuration-manager',
  category: 'adapter',
  topics,
  initial: { known: false },
  evolve: { adapterCreated: now, adapterReplaced: now, adapterDeleted: () => ({ known: true }) },
  exists: ({ content }) => content !== undefined,
});

type Input = Static<typeof newAdapterSchema> | Static<typeof adapterReplacementSchema>;

/**
 * The properties with sealed secrets. The mask keeps a secret only while the destination stays the same. Otherwise
 * anybody who may change the adapter could send its secrets to a server of their own.
 */
export const sealProperties = (
  { content }: AdapterState,
  { type, properties = {}, devices = [] }: Input,
  seal: (secret: string) => Sealed,
): Properties => {
  const before =
    content?.type === type && same(destination(content.properties, content.devices), destination(properties, devices))
      ? content.properties
      : {};
  const { hostKey, ...others } = properties;
  const sealed = sealBy((name, members) => secrets.has(name) && !isReference(members[name]), {
    value: others,
    befores: [before],
    seal,
    path: '/properties',
    keepsEqual: true,
  }) as Properties;
  return hostKey === undefined ? sealed : { ...sealed, hostKey };
};

const secrets = new Set(['auth', 'token', 'password', 'privateKey', 'passphrase', 'enablePassword']);
/** Without a host key of its own, whoever pins one decides which server a device is. */
const destination = ({ baseUrl, hostKey }: Properties, devices: AdapterContent['devices']): unknown =>
  baseUrl === undefined && hostKey === undefined ? devices.map(sshPlaceOf) : { baseUrl, hostKey };

/** `properties`: gives the result of `sealProperties`. Throws what that throws, which a retry must not meet. */
export type AdapterRefs = { readonly properties: () => Properties };

const checked = ({ type, devices = [] }: Input, refs: AdapterRefs): AdapterContent => {
  const properties = refs.properties();
  const names = new Set<string>();
  devices.forEach(({ name }, i) => {
    if (names.size === names.add(name).size)
      throw new RequestError('invalid', `The device ${JSON.stringify(name)} is there twice`, {
        path: `/devices/${i}/name`,
      });
  });
  const fault = faultOf(type, properties, names);
  if (fault) throw new RequestError('invalid', fault[1], { path: `/properties/${fault[0]}` });
  return { type, properties, devices };
};

/** A property that does not fit the other properties, with the reason. */
const faultOf = (
  type: AdapterType,
  p: Properties,
  devices: ReadonlySet<string>,
): readonly [string, string] | undefined => {
  if (type === 'http') {
    if ([p.auth, p.token, p.username, p.credential].filter((way) => way !== undefined).length > 1)
      return ['auth', 'Only one of auth, token, username and credential says who calls'];
    if ((p.username === undefined) !== (p.password === undefined))
      return [p.username === undefined ? 'username' : 'password', 'username and password go together'];
  }
  if (type === 'ssh') {
    const ways = [p.password, p.privateKey, p.credential].filter((way) => way !== undefined);
    if (ways.length !== 1) return ['password', 'One of password, privateKey and credential is needed'];
    if ((p.username === undefined) === (p.credential === undefined))
      return ['username', 'Either username or credential is needed'];
    if (p.passphrase !== undefined && p.privateKey === undefined)
      return ['passphrase', 'A passphrase belongs to a privateKey'];
    const without =
      typeof p.hostKey === 'object' && [...devices].find((name) => !Object.hasOwn(p.hostKey as object, name));
    if (without) return ['hostKey', `There is no host key for the device ${JSON.stringify(without)}`];
  }
  return undefined;
};

export const create = (
  _: AdapterState,
  input: Static<typeof newAdapterSchema>,
  { refs }: Context<AdapterRefs>,
): readonly AdapterEvent[] => [{ topic: 'adapterCreated', data: { name: input.name, ...checked(input, refs) } }];

export const replace = (
  { content }: AdapterState,
  input: Static<typeof adapterReplacementSchema>,
  { id, refs }: Context<AdapterRefs>,
): readonly AdapterEvent[] => {
  if (input.name !== undefined && input.name !== id)
    throw new RequestError('invalid', 'An adapter keeps its name: it must be that of the path', { path: '/name' });
  const newContent = checked(input, refs);
  return same(content, newContent) ? [] : [{ topic: 'adapterReplaced', data: newContent }];
};

export const remove = (): readonly AdapterEvent[] => [{ topic: 'adapterDeleted', data: {} }];

export const labName = 'lab';

const labDevices: AdapterContent['devices'] = [
  { name: 'lab-01', host: '192.0.2.1', ostype: 'cisco-ios-xe' },
  { name: 'lab-02', host: '192.0.2.2', ostype: 'cisco-ios-xe' },
  { name: 'lab-03', host: '192.0.2.3', ostype: 'arista-eos' },
];

/** Creates the simulated adapter of the first start, but not again after it was deleted. */
export const provideLab = ({ known }: AdapterState): readonly AdapterEvent[] =>
  known ? [] : [{ topic: 'adapterCreated', data: { name: labName, type: 'lab', properties: {}, devices: labDevices } }];
