import { type ServiceGroupContent, serviceGroup } from '../../domain/gateway-manager/serviceGroups.ts';
import { authorship, idOf, projection } from '../engine/define.ts';

export type ServiceGroup = { readonly _id: string } & ServiceGroupContent & {
    readonly created: string;
    readonly created_by: string;
    readonly last_updated: string;
    readonly last_updated_by: string;
  };

/** Service groups as `getServiceGroup` shows them. Authors are ids of accounts, groups are names. */
export const serviceGroups = projection<ServiceGroup>()(serviceGroup, {
  collection: 'serviceGroups',
  on: {
    serviceGroupCreated: (_, event) => {
      const { name, cluster_id, description, is_default, groups, services } = event.data;
      const { created, createdBy } = authorship(event);
      return {
        _id: idOf(event),
        name,
        cluster_id,
        description,
        created,
        created_by: createdBy ?? '',
        last_updated: created,
        last_updated_by: createdBy ?? '',
        is_default,
        groups,
        services,
      };
    },
    serviceGroupDeleted: () => undefined,
  },
  names: { group: { field: 'groups' } },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: {
    name: (doc) => doc.name,
    cluster_id: (doc) => doc.cluster_id,
    is_default: (doc) => String(doc.is_default),
    groups: (doc) => doc.groups,
    services: (doc) => doc.services.flatMap(({ id, name }) => [id, name]),
  },
});
