import { Type } from 'typebox';
import { createServiceGroup, deleteServiceGroup } from '../../commands/gateway-manager/serviceGroups.ts';
import { newServiceGroupSchema } from '../../domain/gateway-manager/serviceGroups.ts';
import { type ServiceGroup, serviceGroups } from '../../projections/gateway-manager/serviceGroups.ts';
import { signing } from '../authorization/people.ts';
import { withStatus } from '../engine/envelopes.ts';
import type { ChangeEnvelope, Envelope, Join, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';

const path = '/service-groups/:id';
const text = Type.String();

const serviceGroupSchema = Type.Object(
  {
    _id: text,
    name: text,
    cluster_id: text,
    description: text,
    created: text,
    created_by: text,
    last_updated: text,
    last_updated_by: text,
    is_default: Type.Boolean(),
    groups: Type.Array(text),
    services: Type.Array(Type.Object({ id: text, name: text })),
  },
  { title: 'ServiceGroup', description: 'Service group; authors are user names' },
);

const signed: Join<ServiceGroup> = async (doc, { model }) => {
  const authors = {
    created: doc.created,
    createdBy: doc.created_by,
    lastUpdated: doc.last_updated,
    lastUpdatedBy: doc.last_updated_by,
  };
  const { createdBy, lastUpdatedBy } = (await signing(model, [authors]))(authors);
  return { ...doc, created_by: createdBy, last_updated_by: lastUpdatedBy };
};

const state = Type.Literal('Success');
const envelopeOf: ChangeEnvelope = (_, done) =>
  JSON.stringify({ state: 'Success', message: 'Successfully created service group', id: done.id });
const shown: Envelope = (serviceGroup) => `{"state":"Success","result":${serviceGroup}}`;

/** Service groups of gateways (docs/decisions/gateways.md). */
export const serviceGroupRoutes: readonly Route[] = [
  listRoute({
    name: 'getServiceGroups',
    path: '/service-groups',
    access: ['operators', 'readers'],
    summary: 'List service groups',
    list: serviceGroups,
    join: signed,
    answer: listed(serviceGroupSchema),
  }),
  mappedCommandRoute({
    name: 'createServiceGroup',
    method: 'post',
    path: '/service-groups',
    access: ['operators'],
    summary: 'Create a service group',
    command: createServiceGroup,
    body: Type.Object({ serviceGroup: newServiceGroupSchema }, { additionalProperties: false }),
    input: (_, { serviceGroup }) => serviceGroup,
    envelope: envelopeOf,
    answer: Type.Object({ state, message: text, id: text }),
  }),
  getRoute({
    name: 'getServiceGroup',
    path,
    access: ['operators', 'readers'],
    summary: 'Get a service group',
    get: serviceGroups,
    join: signed,
    envelope: shown,
    answer: Type.Object({ state, result: serviceGroupSchema }),
  }),
  commandRoute({
    name: 'deleteServiceGroup',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a service group',
    command: deleteServiceGroup,
    join: signed,
    envelope: withStatus(() => 'Successfully deleted service group'),
    answer: changed(serviceGroupSchema),
  }),
];
