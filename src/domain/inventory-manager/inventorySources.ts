import { type Static, Type } from 'typebox';
import { aggregate, type EventOf, type SchemaData } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { type Seal, sealBy } from '../engine/secretFields.ts';
import { anyMembers, sealed, text, topicsOf } from '../engine/topics.ts';

const types = ['csv', 'ansible', 'netbox', 'nautobot'] as const;
type SourceType = (typeof types)[number];

/** How much of an inventory a source may remove, in percent, unless it says otherwise. */
export const usualMostRemoved = 20;

const filterValue = Type.String({ maxLength: 1000 });

/** The body of `setInventorySource`, and `source` of `syncInventory`. */
export const newSourceSchema = Type.Object(
  {
    type: Type.Enum(types, { description: 'Form of the nodes' }),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32 * 1024 * 1024,
        description: 'Of csv and ansible: the nodes; sealed, and never answered',
      }),
    ),
    url: Type.Optional(
      Type.String({ maxLength: 2048, description: 'Of netbox and nautobot: the address of the server' }),
    ),
    token: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'Of netbox and nautobot: the token; sealed' }),
    ),
    filters: Type.Optional(
      Type.Record(
        Type.String({ maxLength: 100 }),
        Type.Union([filterValue, Type.Array(filterValue, { maxItems: 100 })]),
        {
          maxProperties: 50,
          description: 'Of netbox and nautobot: parameters of the query, such as site',
        },
      ),
    ),
    mostRemoved: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        default: usualMostRemoved,
        description: 'How many of the nodes, in percent, it may remove; more changes nothing',
      }),
    ),
  },
  { additionalProperties: false, title: 'InventorySource', description: 'Source of the nodes of an inventory' },
);
export type NewSource = Static<typeof newSourceSchema>;

/** A source as it is stored: text and token are sealed. */
const source = Type.Object({
  type: Type.Enum(types),
  text: Type.Optional(sealed),
  url: Type.Optional(text),
  token: Type.Optional(sealed),
  filters: Type.Optional(anyMembers),
  mostRemoved: Type.Optional(Type.Integer()),
});
export const sourceInEvents = source;
export type InventorySource = SchemaData<typeof source>;

const ofServer: readonly string[] = ['netbox', 'nautobot'] satisfies SourceType[];

/** True if the nodes come from a server, and not with the source. */
export const isServer = ({ type }: Pick<NewSource, 'type'>): boolean => ofServer.includes(type);

/** True if a source may have the URL: http or https, without credentials, query and fragment. */
const isPlainUrl = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password, search, hash } = new URL(url);
  return ['http:', 'https:'].includes(protocol) && username + password + search + hash === '';
};

/** Throws `invalid` with the place of the first member that does not belong to the type, is missing, or wrong. */
export const refuseSource = (newSource: NewSource, path: string): void => {
  const needed = isServer(newSource) ? (['url', 'token'] as const) : (['text'] as const);
  const foreign = isServer(newSource) ? (['text'] as const) : (['url', 'token', 'filters'] as const);
  const refuse = (member: string, message: string): never => {
    throw new RequestError('invalid', message, { path: `${path}/${member}` });
  };
  for (const member of foreign)
    if (newSource[member] !== undefined) refuse(member, `A source of the type ${newSource.type} has none`);
  for (const member of needed) if (newSource[member] === undefined) refuse(member, 'It is needed');
  if (newSource.url !== undefined && !isPlainUrl(newSource.url))
    refuse('url', 'It must be a URL of http or https, without credentials, query and fragment');
  if (newSource.token !== undefined && /[^\x21-\x7e]/.test(newSource.token))
    refuse('token', 'It must have visible characters of ASCII alone');
};

/** The source with its secrets sealed. The mask keeps the token of the source before, unless it would go elsewhere. */
export const sealedSource = (
  source: NewSource,
  before: InventorySource | undefined,
  seal: Seal,
  path: string,
): InventorySource =>
  sealBy((name, members) => members === source && ['text', 'token'].includes(name), {
    value: source,
    befores: before?.type === source.type && before.url === source.url ? [before] : [],
    seal,
    path,
    keepsEqual: true,
  }) as InventorySource; // its secrets are sealed

const request = Type.Object({ inventory: text, source: Type.Optional(source) });
export type SyncRequest = SchemaData<typeof request>;

const topics = topicsOf({
  inventorySyncRequested: ['A job is to give an inventory the nodes of a source', request],
});
type InventorySyncEvent = EventOf<typeof topics>;

export type InventorySyncState = { readonly requested?: SyncRequest };

/** The source that a job reads, if it is not that of the inventory. The id is that of the job. */
export const inventorySync = aggregate<InventorySyncState, InventorySyncEvent>({
  area: 'inventory-manager',
  category: 'inventorySync',
  topics,
  internal: true,
  initial: {},
  evolve: { inventorySyncRequested: (_, requested) => ({ requested }) },
  exists: ({ requested }) => requested !== undefined,
});

export const requestSync = ({ requested }: InventorySyncState, input: SyncRequest): readonly InventorySyncEvent[] =>
  requested ? [] : [{ topic: 'inventorySyncRequested', data: input }];
