import { type AccountEvent, account } from '../src/domain/authorization/accounts.ts';
import { type GroupEvent, group } from '../src/domain/authorization/groups.ts';
import { type LoginEvent, login } from '../src/domain/authorization/logins.ts';
import { type RoleEvent, role } from '../src/domain/authorization/roles.ts';
import { type PlanEvent, plan } from '../src/domain/configuration-manager/plans.ts';
import { type TreeEvent, tree } from '../src/domain/configuration-manager/trees.ts';
import type { Aggregate, Event } from '../src/domain/engine/core.ts';
import { type GroupMappingEvent, groupMapping, groupMappingId } from '../src/domain/group-mappings/groupMappings.ts';
import { type AutomationEvent, automation } from '../src/domain/operations-manager/automations.ts';
import { type TriggerEvent, trigger } from '../src/domain/operations-manager/triggers.ts';
import { keyOf, secrets } from '../src/secrets/secrets.ts';
import { secretKey } from './keys.ts';

/**
 * How streams of one aggregate look in a log made for measuring: `n` counts the streams, `k` the changes of one (from
 * 1).
 */
export type Kind = {
  readonly aggregate: Aggregate;
  /** Of all documents. */
  readonly share: number;
  readonly id: (n: number) => string;
  readonly created: (n: number) => Event;
  readonly changed: (n: number, k: number) => Event;
};

const kind = <E extends Event>(
  aggregate: Aggregate<any, E>,
  share: number,
  created: (n: number) => E,
  changed: (n: number, k: number) => E,
  id: (n: number) => string = hexId,
): Kind =>
  // the state is of no concern here
  ({ aggregate, share, id, created, changed });

export const hexId = (n: number): string => n.toString(16).padStart(24, '0');

const two = (n: number): string => String(n).padStart(2, '0');

/** What a mapping made for measuring is called, and where its groups come from. */
export const mappingOf = (n: number) => ({
  externalGroup: `team-${String(n).padStart(6, '0')}`,
  provenance: `ldap-${two((n * 7) % 100)}`,
});

/** Where that mapping is found over HTTP. */
export const mappingPath = (n: number): string => {
  const { provenance, externalGroup } = mappingOf(n);
  return `/group-mappings/${provenance}/${externalGroup}`;
};
const groupsOf = (n: number): readonly string[] =>
  [0, 1, 2].map((i) => `platform-${String((n * 31 + i * 101) % 500).padStart(3, '0')}`);

/** Group mappings: 100 provenances, three of 500 groups each. */
export const mappings = kind<GroupMappingEvent>(
  groupMapping,
  0.2,
  (n) => ({ topic: 'groupMappingCreated', data: { ...mappingOf(n), platformGroups: [...groupsOf(n)] } }),
  (n, k) => ({ topic: 'groupMappingUpdated', data: { platformGroups: [...groupsOf(n + k)] } }),
  (n) => {
    const { provenance, externalGroup } = mappingOf(n);
    return groupMappingId(provenance, externalGroup);
  },
);

const text = (n: number, k: number): string =>
  `Number ${n} of a set of documents that were made to be measured, as of change ${k}`;
const gbac = (n: number) =>
  n % 2 === 0 ? { read: [], write: [] } : { read: [`platform-${two(n % 50)}`], write: [`platform-${two(n % 40)}`] };
// About as long as a sealed hash of a password.
const sealed = secrets({ key: keyOf(secretKey) }).seal('x'.repeat(120));

const triggerOf = (n: number): Extract<TriggerEvent, { topic: 'triggerCreated' }>['data'] => {
  const common = {
    name: `trigger-${n}`,
    description: text(n, 0),
    enabled: n % 3 === 0,
    actionType: 'automations' as const,
    actionId: hexId(n % 20_000),
    migrationVersion: 3,
  };
  if (n % 2 === 0)
    return {
      ...common,
      type: 'endpoint',
      verb: 'POST',
      routeName: `route-${n}`,
      schema: { type: 'object', properties: { device: { type: 'string' } } },
      jst: null,
    };
  return {
    ...common,
    type: 'schedule',
    formData: { device: `edge-${n}`, site: 'north' },
    formId: null,
    formSchemaHash: null,
    legacyWrapper: true,
    firstRunAt: 1_767_225_600_000 + n,
    processMissedRuns: 'last',
    repeatInterval: 3_600_000,
    repeatUnit: 'hour',
    repeatFrequency: 1,
  };
};

/** All kinds of documents there are. */
export const kinds: readonly Kind[] = [
  mappings,
  kind<AutomationEvent>(
    automation,
    0.2,
    (n) => ({
      topic: 'automationCreated',
      data: {
        name: `automation-${n}`,
        description: text(n, 0),
        componentType: 'workflows',
        componentName: `workflow-${n % 300}`,
        gbac: gbac(n),
      },
    }),
    (n, k) => ({ topic: 'automationChanged', data: { description: text(n, k) } }),
  ),
  kind<TriggerEvent>(
    trigger,
    0.3,
    (n) => ({ topic: 'triggerCreated', data: triggerOf(n) }),
    (n, k) => ({ topic: 'triggerChanged', data: k % 2 === 0 ? { enabled: k % 4 === 0 } : { description: text(n, k) } }),
  ),
  kind<TreeEvent>(
    tree,
    0.1,
    (n) => ({
      topic: 'treeCreated',
      data: { name: `tree-${n}`, deviceType: 'router', root: { name: 'base', configId: hexId(n) } },
    }),
    (n, k) =>
      k % 2 === 0
        ? {
            topic: 'treeNodeAdded',
            data: { version: 'initial', parent: hexId(n), name: `node-${k}`, configId: hexId(n * 100 + k) },
          }
        : { topic: 'treeVariablesSet', data: { version: 'initial', variables: { mtu: 1500 + k, site: `site-${n}` } } },
  ),
  kind<PlanEvent>(
    plan,
    0.1,
    (n) => ({
      topic: 'planCreated',
      data: { name: `plan-${n}`, description: text(n, 0), status: 'draft', nodes: [], gbac: gbac(n) },
    }),
    (n, k) =>
      k % 2 === 0
        ? { topic: 'planDescribed', data: { description: text(n, k) } }
        : {
            topic: 'planNodesAdded',
            data: { nodes: [{ treeId: hexId(n), version: 'initial', nodeId: hexId(n), devices: [`edge-${k}`] }] },
          },
  ),
  kind<AccountEvent>(
    account,
    0.04,
    (n) => ({
      topic: 'accountCreated',
      data: {
        username: `user-${n}`,
        provenance: 'local',
        firstname: `User ${n}`,
        email: `user-${n}@example.com`,
        inactive: false,
        memberOf: ['readers'],
        assignedRoles: [],
        externalGroups: [],
        password: sealed,
      },
    }),
    (n, k) =>
      k % 3 === 0
        ? { topic: 'accountPasswordSet', data: { password: sealed } }
        : { topic: 'accountUpdated', data: { firstname: `User ${n} ${k}` } },
  ),
  kind<GroupEvent>(
    group,
    0.02,
    (n) => ({
      topic: 'groupCreated',
      data: { name: `group-${n}`, provenance: 'local', description: text(n, 0), assignedRoles: [], memberOf: [] },
    }),
    (n, k) => ({ topic: 'groupUpdated', data: { description: text(n, k) } }),
  ),
  kind<RoleEvent>(
    role,
    0.02,
    (n) => ({
      topic: 'roleCreated',
      data: {
        name: `role-${n}`,
        description: text(n, 0),
        allowedMethods: [{ provenance: 'group-mappings', name: 'getGroupMappings' }],
      },
    }),
    (n, k) => ({ topic: 'roleUpdated', data: { description: text(n, k) } }),
  ),
  kind<LoginEvent>(
    login,
    0.02,
    (n) => ({
      topic: 'loggedIn',
      data: { account: hexId(n % 4000), credential: sealed.tag, at: '2026-01-01T00:00:00.000Z' },
    }),
    (_, k) => ({ topic: 'loginUsed', data: { at: `2026-01-01T00:${two(k)}:00.000Z` } }),
    (n) => Buffer.from(hexId(n)).toString('base64url'),
  ),
];
