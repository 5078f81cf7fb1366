import { type Static, Type } from 'typebox';
import { groupRefs, namesOf } from '../authorization/groups.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { refuseUnknownGroups } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { name, nameOrNone } from '../engine/schemas.ts';
import { flag, nothing, text, texts, topicsOf } from '../engine/topics.ts';

const service = Type.Object(
  { id: name('Id of the service'), name: name('Name of the service') },
  { additionalProperties: false, title: 'GatewayService', description: 'Service of a gateway' },
);

/** A service group in a create request. */
export const newServiceGroupSchema = Type.Object(
  {
    name: name('Name, unique among service groups'),
    cluster_id: Type.Optional(nameOrNone('Cluster of gateways that it belongs to; empty: none')),
    description: Type.Optional(Type.String({ description: 'Its purpose', maxLength: 10_000 })),
    is_default: Type.Optional(
      Type.Boolean({ description: 'True if it is the default of its cluster; a cluster has one at most' }),
    ),
    groups: Type.Optional(groupRefs('Groups whose members use it')),
    services: Type.Optional(Type.Array(service, { description: 'Services of the group', maxItems: 1000 })),
  },
  { additionalProperties: false, title: 'NewServiceGroup', description: 'New service group' },
);

type NewServiceGroup = Static<typeof newServiceGroupSchema>;

const content = Type.Object({
  name: text,
  cluster_id: text,
  description: text,
  is_default: flag,
  groups: texts,
  services: Type.Array(Type.Object({ id: text, name: text })),
});
export type ServiceGroupContent = SchemaData<typeof content>;

const topics = topicsOf({
  serviceGroupCreated: ['A service group was created', content],
  serviceGroupDeleted: ['A service group was deleted', nothing],
});
export type ServiceGroupEvent = EventOf<typeof topics>;

type State = { readonly exists: boolean; readonly name: string; readonly defaultOf: string | undefined };

export const serviceGroup = aggregate<State, ServiceGroupEvent>({
  area: 'gateway-manager',
  category: 'serviceGroup',
  topics,
  initial: { exists: false, name: '', defaultOf: undefined },
  evolve: {
    serviceGroupCreated: (_, { name, cluster_id, is_default }) => ({
      exists: true,
      name,
      defaultOf: is_default ? cluster_id : undefined,
    }),
    serviceGroupDeleted: (state) => ({ ...state, exists: false }),
  },
  // To be the default is a unique name too, so that a cluster has one default at most.
  names: ({ exists, name, defaultOf }) => {
    if (!exists) return [];
    const own = { kind: 'serviceGroup', name };
    return defaultOf === undefined
      ? [own]
      : [own, { kind: 'defaultServiceGroup', name: `default of cluster ${defaultOf}` }];
  },
});

export const create = (
  _: State,
  { name, cluster_id = '', description = '', is_default = false, groups = [], services = [] }: NewServiceGroup,
  { refs }: Context<{ readonly unknownGroups: readonly string[] }>,
): readonly ServiceGroupEvent[] => {
  const earlier = new Set<string>();
  for (const [i, { id }] of services.entries()) {
    if (earlier.has(id))
      throw new RequestError('invalid', `The service ${JSON.stringify(id)} is in the group more than once`, {
        path: `/serviceGroup/services/${i}/id`,
      });
    earlier.add(id);
  }
  refuseUnknownGroups(refs.unknownGroups, '/serviceGroup/groups');
  return [
    {
      topic: 'serviceGroupCreated',
      data: { name, cluster_id, description, is_default, groups: namesOf(groups), services },
    },
  ];
};

export const remove = (): readonly ServiceGroupEvent[] => [{ topic: 'serviceGroupDeleted', data: {} }];
