import { Type } from 'typebox';
import { type Described, describeTopics, flag, nothing, text, texts } from '../engine/topics.ts';
import { certificate } from './certificates.ts';
import { serviceGroup } from './serviceGroups.ts';

export const gatewayTopics: readonly Described[] = [
  describeTopics(certificate, {
    certificateAdded: [
      'A gateway got a certificate',
      Type.Object({
        alias: text,
        contractId: text,
        chain: Type.Array(
          Type.Object({
            subject: text,
            issuer: text,
            serialNumber: text,
            fingerprint256: text,
            validFrom: text,
            validTo: text,
            pem: text,
          }),
        ),
      }),
    ],
    certificateDeleted: ['A certificate was deleted', nothing],
  }),
  describeTopics(serviceGroup, {
    serviceGroupCreated: [
      'A service group was created',
      Type.Object({
        name: text,
        cluster_id: text,
        description: text,
        is_default: flag,
        groups: texts,
        services: Type.Array(Type.Object({ id: text, name: text })),
      }),
    ],
    serviceGroupDeleted: ['A service group was deleted', nothing],
  }),
];
