import { type TProperties, Type } from 'typebox';
import {
  type Described,
  describeTopics,
  flag,
  nothing,
  sealed,
  text,
  textOrNull,
  texts,
  whole,
} from '../engine/topics.ts';
import { account } from './accounts.ts';
import { group } from './groups.ts';
import { login } from './logins.ts';
import { denied, handedOut } from './requestRecords.ts';
import { role } from './roles.ts';

const accountContent = {
  username: text,
  provenance: text,
  firstname: text,
  email: text,
  inactive: flag,
  memberOf: texts,
  assignedRoles: texts,
  externalGroups: texts,
};
const counted = <Row extends TProperties>(row: Row) =>
  Type.Object({ rows: Type.Array(Type.Object({ ...row, count: whole })), first: text, last: text });
const who = { account: textOrNull, address: textOrNull, operation: textOrNull };
const resource = Type.Union([Type.Object({ kind: text, id: text }), Type.Null()]);
const groupContent = Type.Object({
  name: text,
  provenance: text,
  description: text,
  assignedRoles: texts,
  memberOf: texts,
});
const roleContent = Type.Object({
  name: text,
  description: text,
  allowedMethods: Type.Array(Type.Object({ provenance: text, name: text })),
});

export const authorizationTopics: readonly Described[] = [
  describeTopics(account, {
    accountCreated: ['An account was created', Type.Object({ ...accountContent, password: sealed })],
    accountUpdated: ['Members of an account changed', Type.Partial(Type.Object(accountContent))],
    accountPasswordSet: ['An account got a new password', Type.Object({ password: sealed })],
    accountDeleted: ['An account was deleted', nothing],
  }),
  describeTopics(group, {
    groupCreated: ['A group was created', groupContent],
    groupUpdated: ['Members of a group changed', Type.Partial(groupContent)],
    groupDeleted: ['A group was deleted', nothing],
  }),
  describeTopics(role, {
    roleCreated: ['A role was created', roleContent],
    roleUpdated: ['Members of a role changed', Type.Partial(roleContent)],
    roleDeleted: ['A role was deleted', nothing],
  }),
  describeTopics(login, {
    loggedIn: ['Somebody logged in', Type.Object({ account: text, credential: text, at: text })],
    loginUsed: ['A login was used', Type.Object({ at: text })],
    loggedOut: ['A login ended', Type.Object({ reason: text })],
  }),
  describeTopics(denied, {
    requestsDenied: ['Requests were refused', counted({ ...who, code: textOrNull })],
  }),
  describeTopics(handedOut, {
    exported: ['Resources were exported', counted({ ...who, resource })],
    secretsHandedOut: ['Workers got secrets in clear', counted({ ...who, resource })],
  }),
];
