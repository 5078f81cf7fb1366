import { Type } from 'typebox';
import { createServiceGroup, deleteServiceGroup } from '../../commands/gateway-manager/serviceGroups.ts';
import { newServiceGroupSchema } from '../../domain/gateway-manager/serviceGroups.ts';
import { type ServiceGroup, serviceGroups } from '../../projections/gateway-manager/serviceGroups.ts';
import { signing } from '../authorization/people.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { ChangeEnvelope, Envelope, Join, Route } from '../engine/route.ts';
import { mappedCommandRoute } from '../engine/routes.ts';

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
const envelopeOf: ChangeEnvelope = (_, result) =>
  JSON.stringify({ state: 'Success', message: 'Successfully created service group', id: result.id });
const serviceGroupEnvelope: Envelope = (serviceGroup) => `{"state":"Success","result":${serviceGroup}}`;

const usual = resourceRoutes({
  noun: 'service group',
  path: '/service-groups',
  one: '/service-groups/:id',
  documents: serviceGroups,
  schema: serviceGroupSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  join: signed,
});

/** Service groups of gateways (docs/decisions/gateways.md). */
export const serviceGroupRoutes: readonly Route[] = [
  usual.list({ name: 'getServiceGroups', summary: 'List service groups' }),
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
  usual.get({
    name: 'getServiceGroup',
    summary: 'Get a service group',
    envelope: serviceGroupEnvelope,
    answer: Type.Object({ state, result: serviceGroupSchema }),
  }),
  usual.remove({ name: 'deleteServiceGroup', summary: 'Delete a service group', command: deleteServiceGroup }),
];
